#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Write RoCEv2 frames with their ICRC as a C file.

The packets are built by scapy. For IPv4 the ICRC is scapy's own as well
(scapy.contrib.roce); scapy has none for IPv6, so there it is computed here from
IBTA Annex A17.3.3, by a function that has to agree with scapy on every IPv4
frame first.

usage: vectors.py > vectors.c
"""
import random
import struct
import zlib

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw

# (opcode, bytes of extended headers)
OPCODES = [
    (0x00, 0), (0x01, 0), (0x03, 4), (0x04, 0), (0x05, 4), (0x06, 16),
    (0x09, 4), (0x0A, 16), (0x0B, 20), (0x0C, 16), (0x0D, 4), (0x0E, 0),
    (0x10, 4), (0x11, 4), (0x12, 12), (0x13, 28), (0x14, 28), (0x16, 4),
    (0x24, 0), (0x2A, 16), (0x64, 8), (0x65, 12),
]
NO_PAYLOAD = {0x0C, 0x11, 0x12, 0x13, 0x14}
LENGTHS = [0, 1, 2, 3, 4, 31, 256, 333]


def icrc(network, size):
    """ICRC of a frame from its network header to its pad."""
    masked = bytearray(network[:-4])
    if size == 20:
        masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
    else:
        masked[0] |= 0x0F
        masked[1] = masked[2] = masked[3] = masked[7] = 0xFF
    masked[size + 6] = masked[size + 7] = 0xFF
    masked[size + 8 + 4] = 0xFF
    crc = zlib.crc32(b"\xff" * 8 + bytes(masked)) & 0xFFFFFFFF
    return struct.pack("<I", crc)


def frame(rnd, family, opcode, ext, length):
    """Bytes from the network header on, as scapy builds them."""
    pad = -length & 3
    bth = BTH(opcode=opcode, solicited=rnd.getrandbits(1), migreq=1,
              padcount=pad, pkey=0xFFFF, fecn=rnd.getrandbits(1),
              becn=rnd.getrandbits(1), dqpn=rnd.getrandbits(24),
              ackreq=rnd.getrandbits(1), psn=rnd.getrandbits(24))
    body = bytes(rnd.getrandbits(8) for _ in range(ext + length)) + b"\0" * pad
    udp = UDP(sport=0xC000 | rnd.getrandbits(14), dport=4791,
              chksum=rnd.choice([0, 0x1234]))
    if family == 4:
        ip = IP(src="192.0.2.%d" % rnd.randint(1, 254), dst="198.51.100.7",
                ttl=rnd.randint(1, 255), tos=rnd.getrandbits(8),
                id=rnd.getrandbits(16), flags="DF")
        return bytes(ip / udp / bth / Raw(body)), 20
    ip = IPv6(src="2001:db8::%x" % rnd.randint(1, 9999), dst="fd00::7",
              hlim=rnd.randint(1, 255), tc=rnd.getrandbits(8),
              fl=rnd.getrandbits(20))
    bth.icrc = 0
    data = bytes(ip / udp / bth / Raw(body))
    return data[:-4] + icrc(data, 40), 40


def main():
    """All opcodes over both families, the payload lengths in turn."""
    rnd = random.Random(4791)
    print("// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause")
    print("/* Written by vectors.py; see there. */\n")
    print('#include "vectors.h"\n')
    print("const struct vector vectors[] = {")
    turn = 0
    for family in (4, 6):
        for opcode, ext in OPCODES:
            lengths = [0]
            if opcode not in NO_PAYLOAD:
                lengths = [LENGTHS[(turn + i * 3) % 8] for i in range(2)]
                turn += 1
            for length in lengths:
                data, size = frame(rnd, family, opcode, ext, length)
                assert data[-4:] == icrc(data, size), "scapy disagrees"
                print("\t{ %d, %d, %d, (const unsigned char *)"
                      % (size, length, len(data)))
                for i in range(0, len(data), 16):
                    print('\t  "%s"' % "".join(
                        "\\x%02x" % b for b in data[i:i + 16]))
                print("\t},")
    print("};\n")
    print("const unsigned int vectors_nr = sizeof(vectors) / "
          "sizeof(vectors[0]);")


if __name__ == "__main__":
    main()
