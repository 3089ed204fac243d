#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How long functions and files of the module are; fails if they are too long.

usage: tools/sizes.py [DIR]        [drv]

A function is counted from its first line to its closing brace.
"""
import os
import statistics
import sys

LONGEST = 60
MEDIAN = 11
FILE_LINES = 900


def first_line(lines, brace):
    """Where the function begins whose body opens in line @brace"""
    start = brace - 1
    while start > 0 and lines[start - 1] and \
            lines[start - 1][0] not in "#}/ *" and \
            not lines[start - 1].endswith((";", "*/")):
        start -= 1
    return start


def functions(path, lines):
    """(length, where) of each"""
    for brace, line in enumerate(lines):
        if line != "{":
            continue
        start = first_line(lines, brace)
        end = lines.index("}", brace)
        yield end - start + 1, f"{path}:{start + 1}"


def sources(directory):
    for where, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as f:
                    yield path, f.read().splitlines()


def main():
    found = []
    bad = []
    for path, lines in sources(sys.argv[1] if len(sys.argv) > 1 else "drv"):
        if len(lines) >= FILE_LINES:
            bad.append(f"{path}: {len(lines)} lines, fewer than {FILE_LINES} "
                       "are allowed")
        if path.endswith(".c"):
            found += functions(path, lines)
    if not found:
        sys.exit("sizes.py: no functions")
    found.sort()
    lengths = [n for n, _ in found]
    median = statistics.median(lengths)
    print(f"{len(found)} functions: median {median:g} lines, longest "
          f"{lengths[-1]} ({found[-1][1]})")
    bad += [f"{where}: {n} lines, at most {LONGEST} are allowed"
            for n, where in found if n > LONGEST]
    if median > MEDIAN:
        bad.append(f"the median is above {MEDIAN} lines")
    print("\n".join(bad), end="\n" if bad else "")
    sys.exit(1 if bad else 0)


main()
