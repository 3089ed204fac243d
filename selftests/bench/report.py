#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""From the raw results of selftests/bench/measure.sh to tables and plots.

usage: report.py [--title TEXT] [--out DIR] [--limits FILE]
                 [--bars FILE] [--figures FILE] raw.csv...

Prints a table: medians over the repetitions, half the range that they spread
over, and what sroce's median is of the others' (more is better where it is a
rate, less where it is a time or a count). --out leaves table.txt, table.csv and plots
(SVG, by gnuplot) in DIR. --limits compares counted figures with those in a file;
one beyond its limit makes the exit status 1. --bars says which of the bars in
a file are met. --figures writes what figures.py shows of a run.
"""
import argparse
import csv
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import namedtuple

import figures
from figures import TITLES, number

COLUMNS = ("topology kernel mtu contender test transport size qps mode rep"
           " metric unit value").split()
Key = namedtuple("Key", COLUMNS[:9] + ["metric"])
Stat = namedtuple("Stat", "median spread n unit")

ORDER = ["sroce", "sroce-stack", "rxe", "siw", "tcp", "memcpy"]
COLOURS = {"sroce": "#1f5fa8", "sroce-stack": "#55a3d9", "rxe": "#c0392b",
           "siw": "#8e5ea2", "tcp": "#2e8b57", "memcpy": "#888888"}
# What has no verbs: its figure is beside all of a kind
REFERENCES = ("tcp", "memcpy")
TOPOLOGIES = ["native-wire-gro", "native-wire", "native-veth", "native-nvme-wire-gro",
              "native-nvme-wire", "native-nvme-veth", "wire-gro", "wire", "veth", "vms", "same-host",
              "icount", "icount-wire-gro", "icount-wire"]
QUANTILES = [("p25", 25), ("p50", 50), ("p75", 75), ("p90", 90), ("p99", 99),
             ("p99.9", 99.9), ("p99.99", 99.99)]


def read_raw(paths):
    """Raw lines, as {Key: [(rep, unit, value)]}"""
    runs = {}
    for path in paths:
        with open(path, newline="") as f:
            lines = (l for l in f if l.strip() and not l.startswith("#"))
            for n, row in enumerate(csv.reader(lines)):
                if row == COLUMNS:
                    continue
                if len(row) != len(COLUMNS):
                    raise ValueError(f"{path}: {len(row)} columns: {row}")
                d = dict(zip(COLUMNS, row))
                d["mtu"] = int(d["mtu"])
                d["size"] = int(d["size"])
                d["qps"] = int(d["qps"])
                key = Key(*(d[k] for k in Key._fields))
                runs.setdefault(key, []).append(
                    (int(d["rep"]), d["unit"], float(d["value"])))
    return runs


def summarize(runs):
    """{Key: Stat}"""
    out = {}
    for key, rows in runs.items():
        values = [v for _, _, v in rows]
        med = statistics.median(values)
        spread = (max(values) - min(values)) / med if med else 0.0
        out[key] = Stat(med, spread, len(values), rows[0][1])
    return out


def ratio(a, b):
    """a / b of two Stats, or None"""
    if a is None or b is None or not b.median:
        return None
    return a.median / b.median


def size_name(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def by_order(names, order):
    return sorted(names, key=lambda n: (order.index(n) if n in order
                                        else len(order), n))


def shown(key):
    """Is a metric one for the table? Others are for plots and the CSV."""
    if key.metric == "bandwidth":
        return key.size >= 4096 or key.contender in REFERENCES
    if key.metric == "rate":
        return key.size < 4096
    return key.metric not in ("min", "max", "p25", "p75", "p90", "p99",
                              "p99.99")


def label(key):
    test, _, kind = key.test.rpartition("_")
    words = [(test or kind).upper()]
    if key.transport not in ("", "RC"):
        words.append(key.transport)
    if key.size:
        words.append(size_name(key.size))
    if key.qps > 1:
        words.append(f"{key.qps} QPs")
    if key.mode not in ("", "poll", "counted"):
        words.append(key.mode)
    if kind == "lat":
        words.append("median" if key.metric == "p50" else key.metric)
    if key.metric not in ("bandwidth", "rate", "goodput", "p50", "p99.9",
                          "instructions"):
        words.append(key.metric)
    return " ".join(words)


def sections(stats):
    """The (topology, kernel, mtu) that there are, in order"""
    found = {(k.topology, k.kernel, k.mtu) for k in stats}
    return sorted(found, key=lambda s: (s[1], TOPOLOGIES.index(s[0])
                                        if s[0] in TOPOLOGIES else 99, s[2]))


def reference(stats, key, who):
    """What TCP or memcpy has to compare with a line: of the same metric, and
    with the same loss, where there is one"""
    if stats[key].unit == "us" and key.size > 64:
        return None     # TCP's are of small messages
    matters = key.metric == "goodput" or key.mode == "counted"
    for k, s in stats.items():
        if (k[:4] == key[:3] + (who,) and k.metric == key.metric and
                s.unit == stats[key].unit and
                (not matters or k.mode == key.mode)):
            return s
    return None


Line = namedtuple("Line", "section label unit values ratios key")


def lines(stats):
    """One per case, with all contenders: what the tables show"""
    out = []
    for sec in sections(stats):
        mine = {k: s for k, s in stats.items() if k[:3] == sec}
        who = by_order({k.contender for k in mine}, ORDER)
        seen = set()
        for key in mine:
            case = key._replace(contender="")
            if key.contender in REFERENCES and key.test in (
                    "stream", "pingpong", "memcpy"):
                continue
            if case in seen or not shown(key):
                continue
            seen.add(case)
            values = {}
            for w in who:
                s = mine.get(key._replace(contender=w))
                if s is None and w in REFERENCES:
                    s = reference(mine, key, w)
                values[w] = s
            first = values.get("sroce")
            ratios = {w: ratio(first, values[w]) for w in who if w != "sroce"}
            out.append(Line(sec, label(key), mine[key].unit, values, ratios,
                            case))
    return out


def ratio_width(who):
    return max(9, len(who) + 3)


def text_table(stats):
    out = []
    current = None
    for line in lines(stats):
        if line.section != current:
            current = line.section
            top, kernel, mtu = current
            if out:
                out.append("")
            out.append(f"Linux {kernel}, {TITLES.get(top, top)}, MTU {mtu}")
            head = f"{'':30}{'':>14}"
            for w in line.values:
                head += f"{w:>12}{'':6}"
            head += "".join(f"{'/' + w:>{ratio_width(w)}}" for w in line.ratios)
            out.append(head.rstrip())
        row = f"{line.label:30}{line.unit:>14}"
        for s in line.values.values():
            row += f"{number(s and s.median):>12}"
            row += f" {'±%.0f%%' % (s.spread * 50):<5}" if s and s.n > 1 \
                else f"{'':6}"
        row += "".join(f"{'-' if r is None else '%.2f' % r:>{ratio_width(w)}}"
                       for w, r in line.ratios.items())
        out.append(row.rstrip())
    return "\n".join(out) + "\n"


def write_csv(stats, path):
    with open(path, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(list(Key._fields) + ["unit", "median", "spread",
                                        "repetitions", "sroce_to_this"])
        for key, s in stats.items():
            mine = stats.get(key._replace(contender="sroce"))
            r = ratio(mine, s)
            w.writerow(list(key) + [s.unit, f"{s.median:g}", f"{s.spread:.4f}",
                                    s.n, "" if r is None else f"{r:.4f}"])


# ---- limits ---------------------------------------------------------------

def rows_of(path):
    """(line, its words) of each line that has some besides a comment"""
    with open(path) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                yield line.strip(), words


def read_limits(path):
    """Lines of: contender test size metric limit; >N is the least"""
    out = []
    for line, words in rows_of(path):
        if len(words) != 5:
            raise ValueError(f"{path}: {line}")
        who, test, size, metric, limit = words
        out.append((who, test, int(size), metric, limit[0] == ">",
                    float(limit.lstrip(">"))))
    return out


def beyond(stats, limits):
    """What is over its limit or was not counted, as lines of text"""
    bad = []
    for who, test, size, metric, least, limit in limits:
        found = [(k, s) for k, s in stats.items() if k.mode == "counted" and
                 (k.contender, k.test, k.size, k.metric) ==
                 (who, test, size, metric)]
        name = f"{who} {test} {size_name(size)} {metric}"
        if not found:
            bad.append(f"{name}: was not counted")
        for k, s in found:
            if s.median < limit if least else s.median > limit:
                bad.append(f"{name}: {number(s.median)} {s.unit}, the limit is "
                           f"{number(limit)} (Linux {k.kernel})")
    return bad


# ---- bars -----------------------------------------------------------------

Bar = namedtuple("Bar", "name case metric below value of kernel")


def read_bars(path):
    """Lines of: bar case metric comparison [of] [kernel=]"""
    out = []
    for line, words in rows_of(path):
        found = re.fullmatch(r"([<>])=([0-9.]+)", words[3]) \
            if 4 <= len(words) <= 6 else None
        case = words[1].split("/") if found else []
        if len(case) != 8:
            raise ValueError(f"{path}: {line}")
        rest = words[4:]
        kernel = "".join(w[7:] for w in rest if w.startswith("kernel="))
        rest = [w for w in rest if not w.startswith("kernel=")]
        case[1], case[5], case[6] = int(case[1]), int(case[5]), int(case[6])
        out.append(Bar(words[0], case, words[2], found.group(1) == "<",
                       float(found.group(2)), "".join(rest), kernel))
    return out


# What a case of sroce's own is called that a bar compares with
OTHERS = {"metric=p50": "median", "qps=1": "one QP"}


def series(kernel):
    """6.1 of 6.1.0-56-amd64"""
    return ".".join(kernel.split(".")[:2])


def compared_with(stats, key, of):
    """The Stat that a bar's figure is divided by"""
    if of in REFERENCES:
        return stats.get(key._replace(contender=of)) or reference(stats, key, of)
    name, eq, value = of.partition("=")
    if not eq:
        name, value = "contender", of
    value = int(value) if name in ("size", "qps", "mtu") else value
    return stats.get(key._replace(**{name: value}))


def bar_figure(stats, bar, kernel):
    """(Key, Stat, figure): what there is of it, None where there is nothing"""
    key = Key(bar.case[0], kernel, *bar.case[1:], bar.metric)
    stat = stats.get(key)
    if stat is None:
        return key, None, None
    if not bar.of:
        return key, stat, stat.median
    return key, stat, ratio(stat, compared_with(stats, key, bar.of))


def bar_lines(stats, bars):
    """(kernel, bar, what, measured, figure, wanted, verdict) of each"""
    out = []
    for kernel in sorted({k.kernel for k in stats}):
        for bar in bars:
            if bar.kernel and series(kernel) != bar.kernel or \
               bar.case[0].startswith("native-") != kernel.endswith("-uml"):
                continue
            key, stat, figure = bar_figure(stats, bar, kernel)
            what = f"{label(key)}, {TITLES.get(key.topology, key.topology)}" \
                   f", MTU {key.mtu}"
            of = f" of {OTHERS.get(bar.of, bar.of)}" if bar.of else ""
            wanted = (f"{'at most' if bar.below else 'at least'} "
                      f"{bar.value:.10g}")
            if figure is None:
                verdict = "not measured"
            elif figure <= bar.value if bar.below else figure >= bar.value:
                verdict = "met"
            else:
                verdict = "NOT MET"
            out.append((kernel, bar.name, what,
                        f"{number(stat.median)} {stat.unit}" if stat else "-",
                        number(figure) + (of if figure is not None else ""),
                        wanted + of, verdict))
    return out


def bars_text(stats, bars):
    out = []
    current = None
    for kernel, *line in bar_lines(stats, bars):
        if kernel != current:
            current = kernel
            if out:
                out.append("")
            out.append(f"Bars, Linux {kernel}")
        out.append("{:3}{:57}{:>20}{:>20}   {:26}{}".format(*line))
    return "\n".join(out) + "\n"


# ---- figures ------------------------------------------------------------

# What figures.csv has of a run
# Both ends have one CPU: who waits for messages sleeps.
ONE_CPU = (("write_bw", "poll"), ("send_bw", "event"), ("read_bw", "event"))
NVME = (("nvme_bw", 65536, 1, "qd32", "bandwidth"), ("nvme_lat", 4096, 1, "qd1", "p50"))
FIGURES = [
    *((place, mtu, test, size, 1, mode, "bandwidth")
      for place in ("native-wire-gro", "native-wire") for mtu in (1500, 4500, 9000)
      for size in (65536, 1048576) for test, mode in ONE_CPU),
    *(("native-veth", 1500, test, size, 1, mode, "bandwidth")
      for size in (65536, 1048576) for test, mode in ONE_CPU),
    *((place, 1500, "write_bw", 64, 1, mode, "rate")
      for place in ("native-wire-gro", "native-wire", "native-veth")
      for mode in ("poll", "list32")),
    ("native-veth", 1500, "send_lat", 8, 1, "event", "p50"),
    *((place, 1500, *case)
      for place in ("native-nvme-wire-gro", "native-nvme-wire", "native-nvme-veth")
      for case in NVME),
    *((place, mtu, test, 65536, 1, "poll", "bandwidth")
      for place in ("wire-gro", "wire") for mtu in (1500, 4500, 9000)
      for test in ("write_bw", "send_bw", "read_bw")),
    ("wire", 1500, "send_bw", 64, 1, "poll", "rate"),
    ("wire", 1500, "send_bw", 64, 1, "list32", "rate"),
    ("wire", 1500, "write_lat", 8, 1, "poll", "p50"),
    ("veth", 1500, "write_bw", 65536, 1, "poll", "bandwidth"),
    ("veth", 1500, "send_bw", 65536, 1, "poll", "bandwidth"),
    ("veth", 1500, "read_bw", 65536, 1, "poll", "bandwidth"),
    ("veth", 1500, "write_bw", 1048576, 1, "poll", "bandwidth"),
    ("veth", 1500, "send_bw", 1048576, 1, "poll", "bandwidth"),
    ("veth", 1500, "read_bw", 1048576, 1, "poll", "bandwidth"),
    ("veth", 1500, "write_bw", 1048576, 1, "counted", "ip_trips"),
    ("veth", 1500, "send_bw", 64, 1, "poll", "rate"),
    ("veth", 1500, "send_bw", 64, 1, "list32", "rate"),
    ("veth", 1500, "write_lat", 8, 1, "poll", "p50"),
    ("veth", 1500, "send_lat", 8, 1, "poll", "p50"),
    ("veth", 1500, "write_lat", 8, 1, "poll", "p99.9"),
    ("veth", 1500, "write", 1048576, 1, "loss1", "goodput"),
    ("veth", 4500, "write_bw", 65536, 1, "poll", "bandwidth"),
    ("veth", 4500, "send_bw", 65536, 1, "poll", "bandwidth"),
    ("veth", 4500, "read_bw", 65536, 1, "poll", "bandwidth"),
    ("veth", 4500, "write_bw", 1048576, 1, "poll", "bandwidth"),
    ("veth", 4500, "send_bw", 1048576, 1, "poll", "bandwidth"),
    ("veth", 4500, "read_bw", 1048576, 1, "poll", "bandwidth"),
    ("vms", 1500, "write_bw", 65536, 1, "poll", "bandwidth"),
    ("vms", 1500, "write_lat", 8, 1, "poll", "p50"),
    ("same-host", 1500, "write_bw", 65536, 1, "poll", "bandwidth"),
    ("same-host", 1500, "write_lat", 8, 1, "poll", "p50"),
    ("icount", 1500, "write_bw", 65536, 1, "poll", "instructions"),
    ("icount", 1500, "send_bw", 65536, 1, "event", "instructions"),
    ("icount", 1500, "read_bw", 65536, 1, "event", "instructions"),
    ("icount", 1500, "write_bw", 1048576, 1, "poll", "instructions"),
    ("icount", 1500, "write_bw", 64, 1, "poll", "instructions"),
    ("icount", 1500, "write_bw", 64, 1, "list32", "instructions"),
    ("icount", 1500, "send_bw", 64, 1, "event", "instructions"),
    ("icount", 1500, "send_lat", 8, 1, "event", "instructions"),
    *((place, mtu, test, 65536, 1, mode, "instructions")
      for place in ("icount-wire-gro", "icount-wire") for mtu in (1500, 4500, 9000)
      for test, mode in ONE_CPU),
    *((place, 1500, "write_bw", 64, 1, mode, "instructions")
      for place in ("icount-wire-gro", "icount-wire") for mode in ("poll", "list32")),
    *((place, 1500, *case)
      for place in ("nvme-veth", "nvme-wire-gro", "nvme-wire") for case in NVME),
]


def figure_rows(stats, run):
    """Rows of figures.csv: some cases of a run, by kernel"""
    rows = []
    for line in lines(stats):
        k = line.key
        case = (k.topology, k.mtu, k.test, k.size, k.qps, k.mode, k.metric)
        if case not in FIGURES or k.transport != "RC":
            continue
        row = {"run": run, "kernel": k.kernel, "place": k.topology,
               "mtu": k.mtu, "case": line.label, "unit": line.unit}
        for who in figures.CONTENDERS:
            s = line.values.get(who)
            row[who] = s and s.median
        rows.append((k.kernel, FIGURES.index(case), row))
    if not rows:
        sys.exit("report.py: nothing that figures.csv has was measured")
    return [row for _, _, row in sorted(rows, key=lambda r: r[:2])]


# ---- plots ----------------------------------------------------------------

class Plot:
    """A gnuplot script with its data inline"""

    def __init__(self, title, xlabel, ylabel):
        self.head = [f'set title "{title}"', f'set xlabel "{xlabel}"',
                     f'set ylabel "{ylabel}"', "set grid",
                     "set key outside right top noenhanced"]
        self.blocks = []
        self.curves = []

    def set(self, *commands):
        self.head += commands

    def curve(self, name, colour, points, dash=1):
        if not points:
            return
        block = f"$d{len(self.blocks)}"
        self.blocks.append("\n".join(
            [f"{block} << EOD"] + [f"{x:g} {y:g}" for x, y in points] + ["EOD"]))
        self.curves.append(
            f'{block} using 1:2 with linespoints lw 2 pt {dash + 4} ps 0.6 '
            f'dt {dash} lc rgb "{colour}" title "{name}"')

    def level(self, name, colour, y):
        self.curves.append(f'{y:g} with lines lw 2 dt 3 lc rgb "{colour}" '
                           f'title "{name}"')

    def script(self, path):
        return "\n".join(
            ['set terminal svg size 900,540 dynamic font "sans,13" '
             'background "white"', f'set output "{path}"'] + self.head +
            self.blocks + ["plot " + ", \\\n  ".join(self.curves)]) + "\n"

    def draw(self, path):
        if not self.curves:
            return False
        subprocess.run(["gnuplot"], input=self.script(path), text=True,
                       check=True)
        return True


def colour(who):
    return COLOURS.get(who, "#000000")


def select(stats, sec, **want):
    return {k: s for k, s in stats.items() if k[:3] == sec and
            all(getattr(k, n) == v for n, v in want.items())}


def title(sec):
    return f"{TITLES.get(sec[0], sec[0])}, MTU {sec[2]}, Linux {sec[1]}"


def sizes_axis(plot, sizes):
    tics = ", ".join(f'"{size_name(s)}" {s}' for s in sorted(sizes))
    plot.set("set logscale x 2", "set logscale y", f"set xtics ({tics})")


def plot_bandwidth(stats, sec):
    plot = Plot(f"Bandwidth by size: {title(sec)}", "message", "MB/s")
    data = select(stats, sec, metric="bandwidth", transport="RC", qps=1,
                  mode="poll")
    sizes_axis(plot, {k.size for k in data})
    for who in by_order({k.contender for k in data}, ORDER):
        for dash, test in enumerate(("write_bw", "read_bw", "send_bw"), 1):
            pts = sorted((k.size, s.median) for k, s in data.items()
                         if (k.contender, k.test) == (who, test))
            if len(pts) > 1:
                plot.curve(f"{who} {test[:-3].upper()}", colour(who), pts, dash)
    if not plot.curves:
        return plot
    for who in REFERENCES:
        for s in select(stats, sec, metric="bandwidth", contender=who,
                        mode="").values():
            plot.level(who, colour(who), s.median)
    return plot


def plot_latency(stats, sec):
    plot = Plot(f"Latency: {title(sec)}", "share of messages", "us, log")
    # each nine takes as much room as the one before
    tics = ", ".join(f'"{q:g} %%" {100 / (100 - q):g}' for _, q in QUANTILES
                     if q not in (25, 75))
    plot.set("set logscale xy", f"set xtics ({tics})")
    for who in ORDER:
        for dash, test in enumerate(("write_lat", "send_lat", "pingpong"), 1):
            pts = []
            for name, q in QUANTILES:
                for k, s in select(stats, sec, contender=who, test=test,
                                   metric=name).items():
                    if k.size in (0, 8, 14) and k.mode in ("", "poll") and \
                            k.transport in ("", "RC"):
                        pts.append((100 / (100 - q), s.median))
            kind = "" if test == "pingpong" else " " + test[:-4].upper()
            plot.curve(who + kind, colour(who), sorted(pts), dash)
    return plot


def plot_qps(stats, sec):
    plot = Plot(f"64 B messages by QPs: {title(sec)}", "QPs",
                "thousands per second")
    data = select(stats, sec, metric="rate", size=64, mode="poll",
                  transport="RC")
    plot.set("set logscale x 2", "set yrange [0:*]")
    for who in by_order({k.contender for k in data}, ORDER):
        for dash, test in enumerate(("write_bw", "send_bw"), 1):
            pts = sorted((k.qps, s.median) for k, s in data.items()
                         if (k.contender, k.test) == (who, test))
            if len(pts) > 1:
                plot.curve(f"{who} {test[:-3].upper()}", colour(who), pts, dash)
    return plot


def loss_of(mode):
    found = re.fullmatch(r"loss([0-9.]+)", mode)
    return float(found.group(1)) if found else None


def plot_loss(stats, sec):
    plot = Plot(f"Goodput by loss: {title(sec)}", "packets lost", "MB/s")
    data = {k: s for k, s in select(stats, sec, metric="goodput").items()
            if loss_of(k.mode) is not None}
    losses = sorted({loss_of(k.mode) for k in data})
    tics = ", ".join(f'"{l:g} %%" {i}' for i, l in enumerate(losses))
    plot.set("set logscale y", f"set xtics ({tics})")
    for who in by_order({k.contender for k in data}, ORDER):
        for dash, test in enumerate(("write", "send", "read", "stream"), 1):
            # zero is off a logarithmic scale: it stands for "did not get through"
            pts = sorted((losses.index(loss_of(k.mode)), max(s.median, 0.01))
                         for k, s in data.items()
                         if (k.contender, k.test) == (who, test))
            kind = "" if test == "stream" else " " + test.upper()
            plot.curve(who + kind, colour(who), pts, min(dash, 3))
    return plot


PLOTS = {"bandwidth": plot_bandwidth, "latency": plot_latency,
         "messages": plot_qps, "loss": plot_loss}


def draw_all(stats, directory):
    if not shutil.which("gnuplot"):
        print("report.py: no gnuplot, no plots", file=sys.stderr)
        return []
    drawn = []
    for sec in sections(stats):
        for name, make in PLOTS.items():
            path = os.path.join(directory, "-".join(
                [name, sec[0], str(sec[2]), sec[1].split("-")[0]]) + ".svg")
            if make(stats, sec).draw(path):
                drawn.append(path)
    return drawn


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0])
    parser.add_argument("--title", metavar="TEXT")
    parser.add_argument("--out", metavar="DIR")
    parser.add_argument("--limits", metavar="FILE")
    parser.add_argument("--bars", metavar="FILE")
    parser.add_argument("--figures", metavar="FILE")
    parser.add_argument("raw", nargs="+")
    args = parser.parse_args()
    stats = summarize(read_raw(args.raw))
    if not stats:
        sys.exit("report.py: no results")
    text = (args.title + "\n\n" if args.title else "") + text_table(stats)
    if args.bars:
        text += "\n" + bars_text(stats, read_bars(args.bars))
    sys.stdout.write(text)
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        with open(os.path.join(args.out, "table.txt"), "w") as f:
            f.write(text)
        write_csv(stats, os.path.join(args.out, "table.csv"))
        draw_all(stats, args.out)
    if args.figures:
        figures.write(args.figures,
                      figure_rows(stats, args.title or "make bench"))
    if args.limits:
        bad = beyond(stats, read_limits(args.limits))
        for line in bad:
            print(f"beyond its limit: {line}")
        sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
