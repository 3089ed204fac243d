#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Send packets of RC that are early, in bursts, to QPs that expect PSN 0 and never get it.

usage: early.py FROM TO PACKETS QPN...
"""
import socket
import struct
import sys
import time

from burst import Flow, PORT, SOURCE_PORT

SEND_ONLY = 0x04
SIZE = 1024
BURST = 128
# Between bursts, in seconds: more than the slot of the qdisc
PAUSE = 0.03


def send_only(flow, qpn, psn):
    """The packet of a SEND."""
    flow.ident = (flow.ident + 1) & 0xFFFF
    data = struct.pack("!BBHII", SEND_ONLY, 0, 0xFFFF, qpn, psn) + bytes(SIZE)
    size = 8 + len(data) + 4
    network = flow.network(size, 2, 64, True)
    udp = struct.pack("!HHHH", SOURCE_PORT, PORT, size, 0)
    return network + udp + data + flow.icrc(network, udp, data)


def main():
    """Send them all, QP by QP."""
    source, dest, packets = sys.argv[1:4]
    flow = Flow(source, dest)
    with socket.socket(flow.family, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
        for qpn in sys.argv[4:]:
            for psn in range(1, int(packets) + 1):
                sock.sendto(send_only(flow, int(qpn), psn), (dest, 0))
                if psn % BURST == 0:
                    time.sleep(PAUSE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
