#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The figures that the repository shows: a table in Markdown, and a picture.

usage: selftests/bench/figures.py [--add figures.csv]... [DIR]

Reads DIR/figures.csv and puts its tables between the marks in DIR/README.md and
its picture into DIR/bench.svg. The picture is of the oldest kernel that was
measured. DIR is the directory of this program, if none is given.

--add takes what `report.py --figures` has written of a run. The rows of all that
are given replace those that DIR/figures.csv has of the same series of Linux and
the same place; the others stay.
"""
import argparse
import csv
import os
import re
from xml.sax.saxutils import escape

import marks

COLUMNS = "run kernel place mtu case unit sroce rxe siw tcp".split()
CONTENDERS = ("sroce", "rxe", "siw", "tcp")
NAMES = {"sroce": "sroce", "rxe": "rxe", "siw": "siw", "tcp": "TCP"}
COLOURS = {"sroce": "#1f5fa8", "rxe": "#c0392b", "siw": "#8e5ea2", "tcp": "#2e8b57"}
TITLES = {"native-wire-gro": "a real CPU, wire, GRO", "native-wire": "a real CPU, wire, no GRO",
          "native-veth": "a real CPU, a veth pair",
          "native-nvme-wire-gro": "a real CPU, NVMe over Fabrics, wire, GRO",
          "native-nvme-wire": "a real CPU, NVMe over Fabrics, wire, no GRO",
          "native-nvme-veth": "a real CPU, NVMe over Fabrics, a veth pair",
          "wire-gro": "wire, GRO", "wire": "wire, no GRO",
          "veth": "a veth pair", "vms": "two VMs", "same-host": "same host",
          "icount": "guest instructions, one CPU",
          "icount-wire-gro": "guest instructions, wire, GRO",
          "icount-wire": "guest instructions, wire, no GRO",
          "nvme-wire-gro": "NVMe over Fabrics, wire, GRO",
          "nvme-wire": "NVMe over Fabrics, wire, no GRO",
          "nvme-veth": "NVMe over Fabrics, a veth pair"}


def number(x):
    if x is None:
        return "-"
    if abs(x) >= 1e5:
        return f"{x:.0f}"
    return f"{x:.1f}" if abs(x) >= 100 else f"{x:.2f}"


def read(path):
    """Rows as dicts; a figure that there is not is None."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        for who in CONTENDERS:
            # older files lack the younger contenders
            row[who] = float(row[who]) if row.get(who) else None
    return rows


def write(path, rows):
    """Rows of COLUMNS, figures as the table shows them"""
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        out.writeheader()
        for row in rows:
            cells = {who: "" if row[who] is None else number(row[who])
                     for who in CONTENDERS}
            out.writerow({**row, **cells})


def series(kernel):
    """(6, 1) of 6.1.0-56-amd64"""
    return tuple(int(n) for n in re.findall(r"\d+", kernel)[:2])


def setting(row):
    return series(row["kernel"]), row["place"]


def merged(old, new):
    """
    The rows of both, by kernel, those of a real CPU first; of a kernel and place that is in new,
    only those
    """
    measured = {setting(row) for row in new}
    kept = [row for row in old if setting(row) not in measured]
    return sorted(kept + new, key=lambda row: (series(row["kernel"]),
                                               not row["place"].startswith("native-")))


# ---- table ------------------------------------------------------------------

def ratio(row, who):
    if row["sroce"] is None or not row[who]:
        return "-"
    return f"{row['sroce'] / row[who]:.2f}"


HEAD = "| | | " + " | ".join([NAMES[who] for who in CONTENDERS] +
                             [f"sroce/{NAMES[who]}" for who in CONTENDERS[1:]]) + " |"


def table(rows):
    """One table for each run and kernel"""
    out = []
    current = None
    for row in rows:
        if (row["run"], row["kernel"]) != current:
            current = (row["run"], row["kernel"])
            out += ["", f"`{row['run']}`; Linux {row['kernel']}, medians:", "",
                    HEAD, "| --- | ---" + " | ---:" * (2 * len(CONTENDERS) - 1) + " |"]
        where = TITLES.get(row["place"], row["place"])
        cells = [f"{where}, MTU {row['mtu']}: {row['case']}", row["unit"]]
        cells += [number(row[who]) for who in CONTENDERS]
        cells += [ratio(row, who) for who in CONTENDERS[1:]]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out[1:]) + "\n"


# ---- picture ----------------------------------------------------------------

# A panel: title, unit, place, MTU and the cases, as (label, case)
WAYS = [("WRITE", "WRITE 64 KiB"), ("SEND", "SEND 64 KiB"),
        ("READ", "READ 64 KiB")]
ONE_CPU = [("WRITE", "WRITE 1 MiB"), ("SEND", "SEND 1 MiB event"),
           ("READ", "READ 1 MiB event")]
NVME = [("64 KiB reads, 32 at once", "NVME 64 KiB qd32")]
ROWS = [[
    ("Real CPU: wire, 1 MiB", "MB/s, more is better", "native-wire-gro", "1500", ONE_CPU),
    ("Real CPU: veth, 1 MiB", "MB/s, more is better", "native-veth", "1500", ONE_CPU),
], [
    ("Real CPU: NVMe, wire", "MB/s, more is better", "native-nvme-wire-gro", "1500", NVME),
    ("Real CPU: NVMe, veth", "MB/s, more is better", "native-nvme-veth", "1500", NVME),
], [
    ("Emulated: wire, 64 KiB", "MB/s, more is better", "wire-gro", "1500", WAYS),
    ("Emulated: veth, 64 KiB", "MB/s, more is better", "veth", "1500", WAYS),
], [
    ("Emulated: veth, 64 B messages", "k/s, more is better", "veth", "1500",
     [("SEND", "SEND 64 B"), ("SEND, lists of 32", "SEND 64 B list32")]),
    ("Emulated: veth, 8 B latency", "us, less is better", "veth", "1500",
     [("WRITE", "WRITE 8 B median"), ("SEND", "SEND 8 B median")]),
]]
WIDTH, MARGIN, LEGEND, TITLE, HEIGHT, LABEL = 700, 10, 34, 54, 120, 30
BAR = 26
FONT = "font-family='DejaVu Sans, Verdana, Arial, sans-serif'"


def text(x, y, words, size=12, anchor="middle", more=""):
    return (f"<text x='{x:g}' y='{y:g}' font-size='{size}' "
            f"text-anchor='{anchor}' {more}>{escape(words)}</text>")


def short(value):
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}"


def groups_of(rows, panel):
    """(label, [(contender, value)]) of each case that was measured"""
    _, _, place, mtu, cases = panel
    for label, case in cases:
        for row in rows:
            if (row["place"], row["mtu"], row["case"]) == (place, mtu, case):
                yield label, [(who, row[who]) for who in CONTENDERS
                              if row[who] is not None]
                break


def bars(x, base, group, scale):
    """The bars of a case, each with its value above it"""
    out = []
    for who, value in group:
        high = max(value * scale, 1)
        out.append(f"<rect x='{x + 1:g}' y='{base - high:.1f}' "
                   f"width='{BAR - 2}' height='{high:.1f}' "
                   f"fill='{COLOURS[who]}'/>")
        out.append(text(x + BAR / 2, base - high - 4, short(value), 10))
        x += BAR
    return out


def draw_panel(left, top, width, panel, groups):
    scale = HEIGHT / max(v for _, group in groups for _, v in group)
    base = top + TITLE + HEIGHT
    room = width / len(groups)
    out = [text(left + width / 2, top + 16, panel[0], 15,
                more="font-weight='bold'"),
           text(left + width / 2, top + 33, panel[1], 13)]
    for n, (label, group) in enumerate(groups):
        middle = left + room * (n + 0.5)
        out += bars(middle - BAR * len(group) / 2, base, group, scale)
        out.append(text(middle, base + 17, label, 13))
    out.append(f"<path d='M{left:g} {base}h{width:g}' stroke='#444'/>")
    return out


def legend():
    out = []
    x = WIDTH / 2 - 45 * len(CONTENDERS)
    for who in CONTENDERS:
        out.append(f"<rect x='{x:g}' y='10' width='14' height='14' "
                   f"fill='{COLOURS[who]}'/>")
        out.append(text(x + 20, 22, NAMES[who], 15, "start"))
        x += 90
    return out


def picture(rows):
    """SVG: two panels in each row, None if nothing of them was measured"""
    width = WIDTH / 2 - 2 * MARGIN
    top = LEGEND
    out = []
    for row in ROWS:
        panels = [(p, list(groups_of(rows, p))) for p in row]
        if not any(groups for _, groups in panels):
            continue
        for n, (panel, groups) in enumerate(panels):
            if groups:
                out += draw_panel(n * WIDTH / 2 + MARGIN, top, width, panel,
                                  groups)
        top += TITLE + HEIGHT + LABEL
    if not out:
        return None
    return "\n".join(
        [f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' "
         f"height='{top}' viewBox='0 0 {WIDTH} {top}' {FONT}>",
         "<!-- Written by make bench-readme. SPDX-License-Identifier: GPL-2.0 -->",
         f"<rect width='{WIDTH}' height='{top}' fill='white'/>"] +
        legend() + out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--add", action="append", default=[])
    parser.add_argument("dir", nargs="?",
                        default=os.path.dirname(os.path.abspath(__file__)))
    args = parser.parse_args()
    where = args.dir
    path = os.path.join(where, "figures.csv")
    if args.add:
        old = read(path) if os.path.exists(path) else []
        write(path, merged(old, [row for f in args.add for row in read(f)]))
    rows = read(path)
    marks.replace(os.path.join(where, "README.md"), "bench", table(rows))
    drawn = picture(rows)
    if drawn:
        with open(os.path.join(where, "bench.svg"), "w", encoding="utf-8") as f:
            f.write(drawn)


if __name__ == "__main__":
    main()
