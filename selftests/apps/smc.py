#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What smc-tools has, of which Debian has no package, and two ends of an SMC connection.

usage: smc.py ueid NAME               add an enterprise ID
       smc.py server ADDRESS PORT     send back what comes
       smc.py client ADDRESS PORT MIB send, receive, compare
"""

import ctypes
import os
import socket
import struct
import sys
import threading

AF_SMC = 43
NETLINK_GENERIC = 16
ADD_UEID, EID_TABLE_ENTRY = 10, 1       # linux/smc.h
CTRL_ID, GETFAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2


def attribute(kind, text):
    """A netlink attribute that is a string."""
    data = text.encode() + b"\0"
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def request(sock, family, command, payload):
    """The answer to a request of generic netlink; an error is raised."""
    message = struct.pack("=BBH", command, 1, 0) + payload
    sock.send(struct.pack("=IHHII", 16 + len(message), family, 5, 1, 0) + message)
    answer = sock.recv(65536)
    if struct.unpack_from("=H", answer, 4)[0] == 2:
        error = -struct.unpack_from("=i", answer, 16)[0]
        if error:
            raise OSError(error, os.strerror(error))
    return answer[20:]


def attributes(data):
    """Kinds and values of the attributes of an answer."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind, data[4:length]
        data = data[(length + 3) & ~3:]


def add_ueid(name):
    """SMCv2 takes a peer that has an ID in common."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as sock:
        answer = request(sock, CTRL_ID, GETFAMILY,
                         attribute(FAMILY_NAME, "SMC_GEN_NETLINK"))
        family = struct.unpack("=H", dict(attributes(answer))[FAMILY_ID])[0]
        sock.recv(65536)                # the acknowledgement
        request(sock, family, ADD_UEID, attribute(EID_TABLE_ENTRY, name.ljust(32)))


def smc_socket():
    """Python has no addresses for this family; they are those of TCP."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.socket(AF_SMC, socket.SOCK_STREAM, 0)
    if number < 0:
        raise OSError(ctypes.get_errno(), "socket")
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=number)


def receive(sock, size):
    """That many bytes, or what came before the end."""
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            break
        data += part
    return bytes(data)


def server(address, port):
    """Serve one client: eight bytes of length, and so many bytes."""
    with smc_socket() as sock:
        sock.bind((address, port))
        sock.listen()
        print("listening", flush=True)
        number, _ = socket.socket._accept(sock)  # pylint: disable=protected-access
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=number) as peer:
            size = struct.unpack("=Q", receive(peer, 8))[0]
            peer.sendall(receive(peer, size))
            peer.recv(1)


def client(address, port, mib):
    """Random bytes out, and the same back."""
    data = os.urandom(mib << 20)
    with smc_socket() as sock:
        sock.connect((address, port))
        sender = threading.Thread(
            target=lambda: sock.sendall(struct.pack("=Q", len(data)) + data))
        sender.start()
        back = receive(sock, len(data))
        sender.join()
    if back != data:
        sys.exit(f"{len(back)} of {len(data)} bytes came back, or others")


def main():
    """As the usage says."""
    what, *rest = sys.argv[1:]
    if what == "ueid":
        add_ueid(rest[0])
    elif what == "server":
        server(rest[0], int(rest[1]))
    else:
        client(rest[0], int(rest[1]), int(rest[2]))


if __name__ == "__main__":
    main()
