#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Two ends of RDS: the receiver wants each datagram once, in order and unchanged.

usage: rds.py receive ADDRESS PORT
       rds.py send ADDRESS PEER PORT SIZE SECONDS

The sender goes on for so many seconds, but sends a thousand at least; the last one is
empty of data, and is answered. Each prints how many it has seen.
"""

import ctypes
import errno
import hashlib
import os
import socket
import struct
import sys
import time

AF_RDS = 21
HEAD = struct.Struct("!QQ")
LAST = 1 << 63
LIBC = ctypes.CDLL(None, use_errno=True)


def address(ip, port):
    """A struct sockaddr_in"""
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(ip))


def call(function, *args):
    """A function of libc, again when it was only early or interrupted"""
    while True:
        done = function(*args)
        if done >= 0:
            return done
        error = ctypes.get_errno()
        if error not in (errno.EAGAIN, errno.EINTR, errno.ENOBUFS):
            raise OSError(error, os.strerror(error))
        time.sleep(0.01)


def bound(ip, port):
    """A socket of RDS, which Python has no addresses for"""
    fd = call(LIBC.socket, AF_RDS, socket.SOCK_SEQPACKET, 0)
    name = address(ip, port)
    call(LIBC.bind, fd, name, len(name))
    return fd


def data_of(number, size):
    """What datagram NUMBER carries"""
    seed = hashlib.sha256(HEAD.pack(number, size)).digest()
    return (seed * (size // len(seed) + 1))[:size]


def receive(ip, port):
    """Until the last one"""
    fd, want = bound(ip, int(port)), 0
    buffer = ctypes.create_string_buffer(1 << 20)
    name, name_len = ctypes.create_string_buffer(16), ctypes.c_uint32(16)
    print("receiving", flush=True)
    while True:
        length = call(LIBC.recvfrom, fd, buffer, len(buffer), 0, name, ctypes.byref(name_len))
        number, size = HEAD.unpack(buffer[:HEAD.size])
        if number & ~LAST != want:
            sys.exit(f"datagram {number & ~LAST} instead of {want}")
        if buffer[HEAD.size:length] != data_of(number, size):
            sys.exit(f"datagram {want} is damaged")
        if number & LAST:
            break
        want += 1
    packet = HEAD.pack(want, 0)
    call(LIBC.sendto, fd, packet, len(packet), 0, name, 16)
    # the socket's end would drop what its peer has not acknowledged
    time.sleep(5)
    print(want)


def send(ip, peer, port, size, seconds):
    """At least a thousand, for so many seconds"""
    fd, name, number = bound(ip, 0), address(peer, int(port)), 0
    end = time.monotonic() + float(seconds)
    while number < 1000 or time.monotonic() < end:
        packet = HEAD.pack(number, int(size)) + data_of(number, int(size))
        call(LIBC.sendto, fd, packet, len(packet), 0, name, len(name))
        number += 1
    packet = HEAD.pack(number | LAST, 0)
    call(LIBC.sendto, fd, packet, len(packet), 0, name, len(name))
    buffer = ctypes.create_string_buffer(HEAD.size)
    call(LIBC.recv, fd, buffer, HEAD.size, 0)
    print(number)


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])
