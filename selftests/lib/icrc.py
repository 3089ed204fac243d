#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Check the ICRC of every RoCEv2 frame in a capture, and count what is there.

Written from IBTA Annex A17 and sharing nothing with the module; for IPv4,
scapy's own implementation has to agree (it has none for IPv6).

usage: icrc.py FILE [FRAMES-FOR-SCAPY]
"""
import struct
import sys
import zlib

from scapy.contrib.roce import BTH
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

ROCE = 4791


def icrc(header, udp, bth):
    """ICRC of a frame: masked IP and UDP header, masked BTH and the rest."""
    udp = udp[:6] + b"\xff\xff"
    bth = bth[:4] + b"\xff" + bth[5:]
    return zlib.crc32(b"\xff" * 8 + header + udp + bth[:-4]) & 0xFFFFFFFF


def split(frame):
    """(family, masked IP header, UDP header, BTH on) or None."""
    kind, ip = struct.unpack("!H", frame[12:14])[0], frame[14:]
    if kind == 0x0800 and ip[9] == 17:
        size = (ip[0] & 15) * 4
        total = struct.unpack("!H", ip[2:4])[0]
        masked = bytearray(ip[:size])
        masked[1] = 0xFF
        masked[8] = 0xFF
        masked[10:12] = b"\xff\xff"
        family = 4
    elif kind == 0x86DD and ip[6] == 17:
        size = 40
        total = 40 + struct.unpack("!H", ip[4:6])[0]
        masked = bytearray(ip[:size])
        masked[0] |= 0x0F
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xFF
        family = 6
    else:
        return None
    udp = ip[size:size + 8]
    if struct.unpack("!H", udp[2:4])[0] != ROCE:
        return None
    return family, bytes(masked), udp, ip[size + 8:total]


def scapy_agrees(frame):
    """What scapy computes is what the frame has."""
    packet = Ether(frame)
    if BTH not in packet:
        return False
    packet[UDP].payload = packet[BTH]
    wire = struct.pack("!I", packet[BTH].icrc)
    return packet[BTH].compute_icrc(b"") == wire


def main():
    checked = {4: 0, 6: 0}
    opcodes = set()
    bad = 0
    by_scapy, limit = 0, int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for number, (frame, _) in enumerate(RawPcapReader(sys.argv[1]), 1):
        parts = split(frame)
        if not parts:
            continue
        family, header, udp, bth = parts
        checked[family] += 1
        opcodes.add(bth[0])
        want = struct.pack("<I", icrc(header, udp, bth))
        if want != bth[-4:]:
            bad += 1
            print(f"frame {number}: IPv{family} opcode {bth[0]:#x}: "
                  f"ICRC {bth[-4:].hex()}, should be {want.hex()}")
        if family == 4 and by_scapy < limit:
            by_scapy += 1
            if not scapy_agrees(frame):
                bad += 1
                print(f"frame {number}: scapy does not agree with the ICRC")
    print(f"v4={checked[4]} v6={checked[6]} scapy={by_scapy} bad={bad} "
          f"opcodes={','.join(f'{o:#04x}' for o in sorted(opcodes))}")
    return bad > 0 or not checked[4] or not checked[6]


if __name__ == "__main__":
    sys.exit(main())
