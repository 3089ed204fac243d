#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/lib/frames.py, on captures made up here. Prints TAP."""
import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(HERE, "..")
sys.path.insert(0, LIB)
import burst  # noqa: E402
from burst import Flow, checksum  # noqa: E402
from tap import Tap  # noqa: E402

TAP = Tap()
PLAIN, TAGGED = b"", b"\x81\x00\x00\x07"
ADDRESSES = {4: ("10.0.0.1", "10.0.0.2"), 6: ("fd00::1", "fd00::2")}


def ethernet(packet, tag=PLAIN):
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes(12) + tag + struct.pack("!H", kind) + packet


def packets(letters, family):
    """As burst.py sends them, with the checksum that the kernel adds"""
    flow = Flow(*ADDRESSES[family])
    for letter in letters:
        p = bytearray(flow.packet(letter))
        if family == 4:
            p[10:12] = struct.pack("!H", checksum(bytes(p[:20])))
        yield bytes(p)


def changed(packet, at, byte):
    return packet[:at] + bytes([byte]) + packet[at + 1:]


def run(frames, *args):
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for second, frame in enumerate(frames):
            f.write(struct.pack("<4I", second, 0, len(frame), len(frame)) + frame)
        f.flush()
        r = subprocess.run([sys.executable, os.path.join(LIB, "frames.py"), "--scapy", "0",
                            *args, f.name], text=True, capture_output=True, check=False)
    return r.returncode, r.stdout + r.stderr


def good(name, frames, text, *args):
    rc, out = run(frames, *args)
    TAP.result(rc == 0 and text in out, f"frames: {name}", out)


def bad(name, frames, text, *args):
    rc, out = run(frames, *args)
    TAP.result(rc == 1 and text in out, f"frames: {name}", out)


def each(letters, text):
    """Of IPv4 and IPv6, among packets that are right"""
    for family in ADDRESSES:
        bad(f"{text}, IPv{family}", map(ethernet, packets("." + letters + ".", family)),
            f"frame 2: {text}")


def test_kinds():
    v4, v6 = list(packets("...kco", 4)), list(packets("...kco", 6))
    good("all that is right", map(ethernet, v4 + v6),
         "v4=6 v6=6 tagged=0 counted=4 full=2 unfinished=0 none=10", "--want", "v4=6")
    good("tags", [ethernet(p, TAGGED) for p in v4], "v4=6 v6=0 tagged=6")
    bad("less than wanted", map(ethernet, v4), "v6: 0, not 1", "--want", "v6=1")
    bad("nothing at all", [], "v4=0")


def test_wrong():
    each("x", "ICRC")
    each("u", "UDP length")
    each("m", "8 bytes of UDP")
    p = next(packets("k", 4))
    bad("a UDP checksum", [ethernet(changed(p, 27, p[27] ^ 1))], "UDP checksum")
    pseudo = p[12:20] + struct.pack("!II", len(p) - 20, 17)
    sum_of = 0xFFFF ^ checksum(pseudo)
    good("a NIC is to fill it in", [ethernet(p[:26] + struct.pack("!H", sum_of) + p[28:])],
         "unfinished=1")
    p = next(packets(".", 4))
    bad("an IPv4 checksum", [ethernet(changed(p, 8, 9))], "IPv4 checksum")
    bad("IPv4 that may be fragmented", map(ethernet, packets("f", 4)), "IPv4 flags")
    bad("bytes behind the packet", [ethernet(p) + b"\0"], "1 bytes behind it")
    burst.DATA = 63
    bad("no pad", map(ethernet, packets(".", 4)), "63 bytes of payload and 0 of pad")
    burst.DATA = 64
    bad("a version", [ethernet(changed(p, 29, 1))], "transport version")
    bad("an unknown opcode", [ethernet(changed(p, 28, 0xC0))], "opcode 0xc0")
    bad("a first packet that is not full", [ethernet(changed(p, 28, 0))], "opcode 0x0 with")


def test_limits():
    frames = [ethernet(p) for p in packets("...", 4)]
    size = str(len(frames[0]) - 14)
    less = str(len(frames[0]) - 15)
    good("as large as may be", frames, "bad=0", "--limit", size)
    bad("too large", frames, "bad=3", "--limit", less)
    bad("too large for some time", frames, "bad=1", "--limit", f"{less}:0.5:1.5")


def main():
    test_kinds()
    test_wrong()
    test_limits()
    sys.exit(TAP.done())


main()
