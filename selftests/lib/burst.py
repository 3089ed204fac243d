#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send packets of one flow, each with headers of its own, by a raw socket.

Datagrams of UD to QP 1, whose Q_Key is wrong: who receives one counts it, and does nothing.
Each letter is a packet; those between begin where the last left off:

  .  plain: the identification counts up
  c  marked: congestion experienced	t  another TTL
  i  its identification leaves five out	f  the don't-fragment bit is missing
  l  longer than the others		s  shorter than the others
  k  with a UDP checksum		o  of another flow: another source port
  q  to another QP, which is not there	m  too short for a packet
  x  its ICRC is wrong
  u  its UDP header says less than its IP header

usage: burst.py FROM TO LETTERS
       burst.py -	for each such line of its input; it says when they are sent
"""
import socket
import struct
import sys
import zlib

QP = 1
NO_QP = 0xFFFFFE
PORT = 4791
SOURCE_PORT = 50000
DATA = 64


def checksum(data):
    """That of IP and UDP."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


class Flow:
    """What a packet needs to know of those before it."""

    def __init__(self, source, dest):
        self.family = socket.AF_INET6 if ":" in dest else socket.AF_INET
        self.source = socket.inet_pton(self.family, source)
        self.dest = socket.inet_pton(self.family, dest)
        self.ident = 0x4FF0
        self.psn = 0xFF00

    def network(self, size, tos, ttl, df):
        """The network header before @size bytes of UDP."""
        if self.family == socket.AF_INET6:
            return struct.pack("!IHBB", 6 << 28 | tos << 20 | 0x12345, size, 17, ttl) + \
                self.source + self.dest
        return struct.pack("!BBHHHBBH", 0x45, tos, 20 + size, self.ident,
                           0x4000 if df else 0, ttl, 17, 0) + self.source + self.dest

    def icrc(self, network, udp, data):
        """The ICRC: fields that routers change are ones."""
        net = bytearray(network)
        if self.family == socket.AF_INET6:
            net[0:4] = struct.pack("!I", 0x6FFFFFFF)
            net[7] = 0xFF
        else:
            net[1] = net[8] = net[10] = net[11] = 0xFF
        masked = data[:4] + b"\xff" + data[5:]
        return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(net) + udp[:6] + b"\xff\xff" +
                                            masked))

    def packet(self, kind):
        """The next one."""
        size = DATA + {"l": 16, "s": -16}.get(kind, 0)
        self.ident = (self.ident + (6 if kind == "i" else 1)) & 0xFFFF
        self.psn += 1
        data = struct.pack("!BBHII", 0x64, 0, 0xFFFF, NO_QP if kind == "q" else QP, self.psn) + \
            struct.pack("!II", 0x1234, 77) + bytes(i & 0xFF for i in range(size))
        if kind == "m":
            data = data[:4]
        udp_size = 8 + len(data) + 4
        network = self.network(udp_size, 3 if kind == "c" else 2,
                               63 if kind == "t" else 64, kind != "f")
        udp = struct.pack("!HHHH", SOURCE_PORT + (kind == "o"), PORT,
                          udp_size - (4 if kind == "u" else 0), 0)
        data += self.icrc(network, udp, data) if kind != "m" else b"\0" * 4
        if kind == "x":
            data = data[:-1] + bytes([data[-1] ^ 1])
        if kind == "k":
            pseudo = self.source + self.dest + struct.pack("!II", udp_size, 17)
            udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp + data) or 0xFFFF)
        return network + udp + data


def send(source, dest, letters):
    """A burst."""
    flow = Flow(source, dest)
    with socket.socket(flow.family, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
        packets = [flow.packet(kind) for kind in letters]
        for packet in packets:
            sock.sendto(packet, (dest, 0))


def main():
    """Send them."""
    if sys.argv[1] != "-":
        send(*sys.argv[1:4])
        return 0
    for line in sys.stdin:
        send(*line.split())
        print("sent", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
