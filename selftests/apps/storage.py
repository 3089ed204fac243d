#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of fio's results WAY-read-N.json and WAY-latency-N.json in a directory.

usage: storage.py DIRECTORY WAY read|latency        the median, with its unit
       storage.py DIRECTORY --faster WAY WAY TIMES  fails if it is not so
       storage.py DIRECTORY --latency WAY WAY       fails if the first has more
       storage.py DIRECTORY --data                  lines for gnuplot
"""

import json
import pathlib
import statistics
import sys

WAYS = ("sroce", "sroce-stack", "rxe", "tcp")


def results(directory, way, kind):
    """MB/s, or microseconds, of each round."""
    for path in sorted(pathlib.Path(directory).glob(f"{way}-{kind}-*.json")):
        text = path.read_text()
        read = json.loads(text[text.index("{"):])["jobs"][0]["read"]
        yield read["bw_bytes"] / 1e6 if kind == "read" else read["lat_ns"]["mean"] / 1e3


def median(directory, way, kind):
    """The median of the rounds; none is an error."""
    values = list(results(directory, way, kind))
    if not values:
        sys.exit(f"no results of {way}, {kind}")
    return statistics.median(values)


def faster(directory, one, other, times):
    """Whether one way has so many times the bandwidth of another."""
    quick, slow = (median(directory, way, "read") for way in (one, other))
    print(f"{quick:.0f} and {slow:.0f} MB/s, {quick / slow:.2f} times")
    return quick >= times * slow


def no_slower(directory, one, other):
    """Whether one way has no more latency than another."""
    mine, others = (median(directory, way, "latency") for way in (one, other))
    print(f"{mine:.0f} and {others:.0f} us")
    return mine <= others


def main():
    """As the usage says."""
    directory, what, *rest = sys.argv[1:]
    if what == "--faster":
        sys.exit(not faster(directory, rest[0], rest[1], float(rest[2])))
    if what == "--latency":
        sys.exit(not no_slower(directory, rest[0], rest[1]))
    if what == "--data":
        for way in WAYS:
            print(way, *(f"{median(directory, way, kind):.1f}" for kind in ("read", "latency")))
        return
    unit = {"read": "MB/s", "latency": "us"}[rest[0]]
    print(f"{median(directory, what, rest[0]):.0f} {unit}")


if __name__ == "__main__":
    main()
