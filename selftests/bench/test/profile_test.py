#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/bench/profile_report.py, on blocks and symbols made up here. Prints TAP."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from tap import Tap  # noqa: E402

PROGRAM = os.path.join(HERE, "..", "profile_report.py")
K = 0xffffffff81000000
TAP = Tap()

SYMBOLS = f"""\
{K:x} T ip_output
{K + 0x100:x} T memcpy_erms
{K + 0x200:x} t __pfx_of_something
{K + 0x280:x} D data
{K + 0x300:x} T xa_load
{K + 0x1000:x} t ib_uverbs_post_send\t[ib_uverbs]
{K + 0x1100:x} t sroce_req_run\t[sroce]
{K + 0x1200:x} t sroce_icrc_net\t[sroce]
"""
# 200 doorbells; an inner block is a part of its function, and none of its calls.
BLOCKS = f"""\
400000 5 400
{K:x} 10 400
{K + 0x20:x} 5 400
{K + 0x100:x} 8 200
{K + 0x210:x} 1 200
{K + 0x290:x} 2 200
{K + 0x300:x} 3 200
{K + 0x1000:x} 4 200
{K + 0x1010:x} 6 100
{K + 0x1100:x} 50 200
{K + 0x1200:x} 7 600
"""


def check(name, good, why=""):
    TAP.result(good, f"profile: {name}", why)


def report(where, cases, *args):
    return subprocess.run([PROGRAM, *args, where], input=cases, text=True,
                          capture_output=True, check=False)


def cells(out, name):
    rows = [[c.strip() for c in line.strip("|").split("|")]
            for line in out.splitlines() if line.startswith("|")]
    head = rows[0] if rows else []
    for row in rows:
        if row[0] == name:
            return dict(zip(head, row))
    return {}


def vcpus(where, put):
    """A QP and a CPU, and two of each, of which one has to do more"""
    cases = ("vcpus-veth-1:p1:veth:1500:1:message:write_bw\n"
             "vcpus-veth-2:p2:veth:1500:1:message:write_bw\n")
    for n, more in ((1, 0), (2, 20), (2, 60)):
        put(f"vcpus-veth-{n}-sroce.symbols", SYMBOLS)
        put(f"vcpus-veth-{n}-sroce.blocks",
            f"400000 5 400 400\n{K + 0x1000:x} 4 200 {200 * (n - 1)}\n"
            f"{K + 0x1100:x} 100 200 {200 * (n - 1) + more}\n")
        if n == 1:
            continue
        r = report(where, cases)
        row = cells(r.stdout, "vcpus-veth-2: message, sroce")
        all_of = format(104 + more / 4, ".0f")
        check(f"what {all_of} instructions are of one CPU's, and each CPU's share",
              f"| vcpus-veth-2: message, sroce | {all_of} |" in r.stdout and
              f" % | 52 - {52 + more // 4} |" in r.stdout and
              row.get("the program") == "-", r.stdout + r.stderr)
        check(f"{all_of} of 104 are " + ("within the bar" if more < 40 else "beyond it"),
              r.returncode == (more > 40) and ("beyond the bar" in r.stderr) == (more > 40),
              r.stderr)


def main():
    with tempfile.TemporaryDirectory() as where:
        def put(name, text):
            with open(os.path.join(where, name), "w", encoding="ascii") as f:
                f.write(text)

        put("title", "a run\n")
        put("one-sroce.symbols", SYMBOLS)
        put("one-sroce.blocks", BLOCKS)
        one = "one:1:veth:1500:1:message:write_bw -s 64\n"
        r = report(where, one)
        row = cells(r.stdout, "one: message, sroce")
        check("each doorbell is a unit", r.returncode == 0 and
              row.get("all") == "132", r.stdout + r.stderr)
        check("instructions go to what they are for",
              row.get("CRC") == "21" and row.get("the driver") == "50" and
              row.get("the system call") == "7" and
              row.get("the IP stack and the veth") == "30" and
              row.get("copying, clearing") == "11" and
              row.get("the program") == "10" and
              row.get("the rest") == "3", row)
        with open(os.path.join(where, "one-sroce.txt"), encoding="ascii") as f:
            text = f.read()
        check("calls are entries of a function",
              "2.00 calls  ip_output" in text and
              "3.00 calls  sroce_icrc_net" in text, text)
        check("marks of symbols and data are no functions",
              "__pfx" not in text and "data" not in text, text)

        row = cells(report(where, one.replace(":1:message", ":10:message")).stdout,
                    "one: message, sroce")
        check("of a list it is a part", row.get("CRC") == "2", row)
        row = cells(report(where, one.replace("one:1", "one:2")).stdout,
                    "one: message, sroce")
        check("programs that poll are left out",
              row.get("all") == "122" and row.get("the program") == "-", row)

        put("README.md", "before\n<!-- profile: begin -->\nold\n"
            "<!-- profile: end -->\nafter\n")
        r = report(where, one, "--figures", where)
        with open(os.path.join(where, "README.md"), encoding="ascii") as f:
            text = f.read()
        check("a table is replaced, and nothing else",
              text.startswith("before\n<!-- profile: begin -->\na run\n") and
              "old" not in text and "| one: message, sroce | 132 |" in text and
              text.endswith("<!-- profile: end -->\nafter\n"), text)
        put("one-rxe.symbols", SYMBOLS)
        put("one-rxe.blocks", BLOCKS.replace(" 50 200", " 182 200"))
        report(where, one, "--figures", where)
        subprocess.run([PROGRAM, "--figures", where], check=False)
        with open(os.path.join(where, "README.md"), encoding="ascii") as f:
            text = f.read()
        check("shares are of the run that profile.csv is of",
              "| one: message | 50 % | 24 % | 46 % | 23 % |" in text, text)
        put("two-sroce.symbols", SYMBOLS)
        put("two-sroce.blocks", BLOCKS)
        put("title", "another run\n")
        report(where, one.replace("one:", "two:"), "--figures", where)
        with open(os.path.join(where, "README.md"), encoding="ascii") as f:
            text = f.read()
        check("what a run has not counted stays, with its title",
              text.index("another run\n") > text.index("| one: message, sroce | 132 |") >
              text.index("a run\n") and "| two: message, sroce | 132 |" in text, text)
        put("README.md", "no marks\n")
        r = report(where, one, "--figures", where)
        with open(os.path.join(where, "README.md"), encoding="ascii") as f:
            text = f.read()
        check("a file without marks is refused",
              r.returncode != 0 and text == "no marks\n", r.stderr)
        put("one-sroce.blocks", f"{K + 0x1000:x} 4 7\n")
        r = report(where, one)
        check("a handful of doorbells is no profile",
              r.returncode != 0 and "doorbells" in r.stderr, r.stderr)
        vcpus(where, put)
        r = report(where, "three:1:veth:1500:1:message:write_bw\n")
        check("nor is nothing", r.returncode != 0 and "nothing" in r.stderr,
              r.stderr)
    sys.exit(TAP.done())


main()
