#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Check every RoCEv2 frame of captures, and count what is there.

Written from IBTA Annex A17, RFC 768, 791, 6864 and 8200, and sharing nothing with the
module: headers, lengths that agree, checksums, and the ICRC. Of some frames of each opcode
over IPv4 scapy's own implementation has to agree with the ICRC (it has none for IPv6).

Who segments a train counts the identification up from one segment to the next; the ICRC
covers it.

usage: frames.py [--scapy N] [--limit BYTES[:FROM:TO]]... [--want NAME=N]... FILE...

--scapy: frames of each opcode that scapy looks at, 3 unless given. --limit: no IP packet is
larger, ever or from one time to another. --want: at least so many are counted of: v4, v6,
tagged (VLAN), mtu4096 (and the other path MTUs: packets of as many bytes), counted (packets
whose identification is one more than that of the packet before, of the same kind),
full (right UDP checksums), unfinished (UDP checksums left to a NIC), none (no checksum).
"""
import argparse
import collections
import struct
import sys
import zlib

ROCE = 4791
VLAN_TAGS = (0x8100, 0x88A8)
# Of RC, UC, RD, UD and XRC, and the packets of a message of several, which are full
SERVICES = (0x00, 0x20, 0x40, 0x60, 0xA0)
FULL = {0x00, 0x01, 0x06, 0x07, 0x0D, 0x0E}
# Extended headers by opcode: FETCH_ADD, WRITE with immediate and so on
EXTENDED = {0x03: 4, 0x05: 4, 0x06: 16, 0x09: 20, 0x0A: 16, 0x0B: 20, 0x0C: 16, 0x0D: 4,
            0x0F: 4, 0x10: 4, 0x11: 4, 0x12: 12, 0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4}
CNP = 0x81
BTH, UD_HEADER, ICRC = 12, 8, 4


class Wrong(Exception):
    """What is wrong with a frame"""


def ones_sum(data):
    """Of 16-bit words, in one's complement"""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def need(true, text):
    if not true:
        raise Wrong(text)


class Frame:
    """A frame whose headers make sense; @time is when it was seen."""

    def __init__(self, time, data):
        self.time = time
        self.tags = 0
        self.l3 = 14
        while struct.unpack_from("!H", data, self.l3 - 2)[0] in VLAN_TAGS:
            self.tags += 1
            self.l3 += 4
        self.kind = struct.unpack_from("!H", data, self.l3 - 2)[0]
        self.ip = data[self.l3:]
        self.data = data
        self.size = 40 if self.kind == 0x86DD else 20
        proto = self.ip[6 if self.kind == 0x86DD else 9] if len(self.ip) > 20 else 0
        self.is_roce = (self.kind in (0x0800, 0x86DD) and proto == 17 and
                        struct.unpack_from("!H", self.ip, self.size + 2)[0] == ROCE)

    def check(self):
        """All but the ICRC"""
        if self.kind == 0x0800:
            self.check_v4()
        else:
            self.check_v6()
        rest = len(self.data) - self.l3 - self.length
        need(rest == 0 or 0 < rest and len(self.data) == 60,
             f"IP length {self.length}, {rest} bytes behind it")
        self.udp = self.ip[self.size:self.size + 8]
        self.bth = self.ip[self.size + 8:self.length]
        length = struct.unpack_from("!H", self.udp, 4)[0]
        need(length == self.length - self.size, f"UDP length {length} in {self.length} of IP")
        self.check_udp_sum()
        self.check_bth()

    def check_v4(self):
        need(self.ip[0] == 0x45, "an IPv4 header with options")
        self.length, self.ident, fragment = struct.unpack_from("!HHH", self.ip, 2)
        need(fragment == 0x4000, f"IPv4 flags and offset {fragment:#x}")
        need(ones_sum(self.ip[:20]) == 0xFFFF, "IPv4 checksum")
        self.pseudo = self.ip[12:20]

    def check_v6(self):
        need(self.ip[0] >> 4 == 6, "IPv6 version")
        self.length = 40 + struct.unpack_from("!H", self.ip, 4)[0]
        self.ident = None
        self.pseudo = self.ip[8:40]

    def check_udp_sum(self):
        """Without a NIC that fills it in, its place has the sum of the pseudo header."""
        here = struct.unpack_from("!H", self.udp, 6)[0]
        pseudo = self.pseudo + struct.pack("!II", self.length - self.size, 17)
        if here == 0:
            self.udp_sum = "none"
        elif here == ones_sum(pseudo):
            self.udp_sum = "unfinished"
        else:
            need(ones_sum(pseudo + self.udp + self.bth) == 0xFFFF, f"UDP checksum {here:#x}")
            self.udp_sum = "full"

    def check_bth(self):
        need(len(self.bth) >= BTH + ICRC, f"{len(self.bth)} bytes of UDP")
        self.opcode, flags = self.bth[0], self.bth[1]
        self.qpn = int.from_bytes(self.bth[5:8], "big")
        self.psn = int.from_bytes(self.bth[9:12], "big")
        need(flags & 15 == 0, "transport version")
        if self.opcode == CNP:
            self.payload = 0
            return
        service, op = self.opcode & 0xE0, self.opcode & 0x1F
        need(service in SERVICES, f"opcode {self.opcode:#x}")
        pad = flags >> 4 & 3
        headers = BTH + EXTENDED.get(op, 0) + (UD_HEADER if service == 0x60 else 0)
        self.payload = len(self.bth) - headers - pad - ICRC
        need(self.payload >= 0 and (self.payload + pad) % 4 == 0,
             f"{self.payload} bytes of payload and {pad} of pad")
        need(self.payload <= 4096, f"{self.payload} bytes of payload")
        if op in FULL:
            need(self.payload in (256, 512, 1024, 2048, 4096) and not pad,
                 f"opcode {self.opcode:#x} with {self.payload} bytes")

    def icrc(self):
        """What it should be: of masked IP and UDP headers, the masked BTH and the rest"""
        ip = bytearray(self.ip[:self.size])
        if self.kind == 0x0800:
            ip[1] = ip[8] = ip[10] = ip[11] = 0xFF
        else:
            ip[0] |= 0x0F
            ip[1] = ip[2] = ip[3] = ip[7] = 0xFF
        masked = self.udp[:6] + b"\xff\xff" + self.bth[:4] + b"\xff" + self.bth[5:-ICRC]
        return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(ip) + masked))

    def check_icrc(self):
        want = self.icrc()
        need(self.bth[-ICRC:] == want, f"ICRC {self.bth[-ICRC:].hex()}, should be {want.hex()}")

    def check_scapy(self):
        """scapy knows no VLAN tag"""
        from scapy.contrib.roce import BTH as ScapyBTH
        from scapy.layers.inet import IP, UDP
        packet = IP(self.ip[:self.length])
        need(ScapyBTH in packet, "no BTH to scapy")
        packet[UDP].payload = packet[ScapyBTH]
        need(packet[ScapyBTH].compute_icrc(b"") == self.bth[-ICRC:],
             "scapy does not agree with the ICRC")


def frames_of(path):
    """Those of a pcap file, of either byte order, in us or ns"""
    with open(path, "rb") as f:
        head = f.read(24)
        order = "<" if head[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        unit = 1e9 if struct.unpack(order + "I", head[:4])[0] == 0xA1B23C4D else 1e6
        while len(head := f.read(16)) == 16:
            sec, part, length, whole = struct.unpack(order + "4I", head)
            data = f.read(length)
            if len(data) < length:
                return
            if length < whole:
                sys.exit(f"frames.py: {path}: frames are cut off")
            yield Frame(sec + part / unit, data)


class Seen:
    """What has been counted, and what was the last packet of each QP"""

    def __init__(self, args):
        self.args = args
        self.bad = 0
        self.counts = collections.Counter()
        self.opcodes = collections.Counter()
        self.last = {}

    def fits(self, frame):
        for size, begin, end in self.args.limit:
            need(frame.length <= size or not begin <= frame.time <= end,
                 f"{frame.length} bytes of IP, {size} may be")

    def follows(self, frame):
        """Whether a NIC may have made it from the packet before, for the same QP"""
        flow = (frame.pseudo, frame.udp[:2], frame.qpn)
        last = self.last.get(flow)
        self.last[flow] = frame
        return (last and frame.ident is not None and frame.length == last.length and
                frame.psn == (last.psn + 1) & 0xFFFFFF and
                frame.ident == (last.ident + 1) & 0xFFFF)

    def look(self, frame):
        frame.check()
        self.fits(frame)
        frame.check_icrc()
        v4 = frame.kind == 0x0800
        self.opcodes[frame.opcode] += 1
        if v4 and self.opcodes[frame.opcode] <= self.args.scapy:
            frame.check_scapy()
        self.counts["v4" if v4 else "v6"] += 1
        self.counts[frame.udp_sum] += 1
        self.counts["tagged"] += frame.tags > 0
        self.counts["counted"] += bool(self.follows(frame))
        self.counts[f"mtu{frame.payload}"] += 1

    def read(self, path):
        for number, frame in enumerate(frames_of(path), 1):
            if not frame.is_roce:
                continue
            try:
                self.look(frame)
            except Wrong as wrong:
                self.bad += 1
                if self.bad <= 20:
                    print(f"{path}, frame {number}: {wrong}")

    def summary(self):
        shown = ["v4", "v6", "tagged", "counted", "full", "unfinished", "none"]
        shown += [f"mtu{256 << i}" for i in range(5)]
        text = " ".join(f"{name}={self.counts[name]}" for name in shown)
        return f"{text} bad={self.bad} opcodes=" + \
            ",".join(f"{o:#04x}" for o in sorted(self.opcodes))

    def missing(self):
        for name, least in self.args.want:
            if self.counts[name] < int(least):
                yield f"{name}: {self.counts[name]}, not {least}"


def limit(text):
    """BYTES[:FROM:TO]"""
    size, *when = text.split(":")
    begin, end = map(float, when) if when else (0, float("inf"))
    return int(size), begin, end


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--scapy", type=int, default=3)
    args.add_argument("--limit", type=limit, action="append", default=[])
    args.add_argument("--want", type=lambda text: text.split("="), action="append", default=[])
    args.add_argument("file", nargs="+")
    args = args.parse_args()
    seen = Seen(args)
    for path in args.file:
        seen.read(path)
    print(seen.summary())
    missing = list(seen.missing())
    for line in missing:
        print(line)
    return bool(seen.bad or missing or not seen.opcodes)


if __name__ == "__main__":
    sys.exit(main())
