#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send a RoCEv2 packet with a right ICRC by an ordinary UDP socket.

A datagram of UD to QP 1, whose Q_Key is wrong: who receives it counts it, and does
nothing. Exits with 1 if the socket says that it may not be sent.

With SECONDS it goes on sending for so long, and says how many.

usage: forge.py FROM TO [PORT [SEGMENTS [SECONDS]]]
"""
import socket
import struct
import sys
import time
import zlib

QP = 1
UDP_SEGMENT = 103


def transport():
    """BTH of a SEND, DETH, no payload; IPv6 and UDP headers are masked or known."""
    bth = struct.pack("!BBHII", 0x64, 0, 0xFFFF, QP, 7)
    return bth + struct.pack("!II", 0x1234, 77)


def icrc(source, dest, sport, dport, data):
    """The ICRC of a packet: IPv4 without options, DF, identification 0, or IPv6."""
    size = 8 + len(data) + 4
    if ":" in dest:
        header = struct.pack("!IHBB", 0x6FFFFFFF, size, 17, 0xFF)
        addresses = socket.AF_INET6
    else:
        header = struct.pack("!BBHHHBBH", 0x45, 0xFF, 20 + size, 0, 0x4000, 0xFF, 17, 0xFFFF)
        addresses = socket.AF_INET
    header += socket.inet_pton(addresses, source) + socket.inet_pton(addresses, dest)
    udp = struct.pack("!HHHH", sport, dport, size, 0xFFFF)
    masked = data[:4] + b"\xff" + data[5:]
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + header + udp + masked))


def flood(sock, data, address, seconds):
    """Send it again and again. What a full queue refuses counts, too."""
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end:
        try:
            sock.sendto(data, address)
        except OSError:
            pass
        sent += 1
    print(sent)


def main():
    """Send it."""
    source, dest = sys.argv[1:3]
    port = int(sys.argv[3]) if len(sys.argv) > 3 else 4791
    segments = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    family = socket.AF_INET6 if ":" in dest else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        if family == socket.AF_INET:
            sock.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: DF
        sock.bind((source, 0))
        data = transport()
        data += icrc(source, dest, sock.getsockname()[1], port, data)
        if segments > 1:
            sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(data))
        if len(sys.argv) > 5:
            flood(sock, data * segments, (dest, port), float(sys.argv[5]))
            return 0
        try:
            sock.sendto(data * segments, (dest, port))
        except PermissionError as error:
            print(error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
