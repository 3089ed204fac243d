#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/bench/report.py, on results made up here: medians, spread, ratios, limits,
tables and plots. Prints TAP."""
import contextlib
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
PROGRAM = os.path.join(BENCH, "report.py")

sys.path[:0] = [BENCH, os.path.join(BENCH, "..", "lib")]
import figures  # noqa: E402
import report as br  # noqa: E402
from tap import Tap  # noqa: E402

RAW = [",".join(br.COLUMNS)]


def raw(contender, test, values, size=65536, qps=1, mode="poll",
        metric="bandwidth", unit="MB/s", topology="veth", mtu=1500,
        transport="RC"):
    for rep, value in enumerate(values):
        RAW.append(f"{topology},6.1.0-56-amd64,{mtu},{contender},{test},"
                   f"{transport},{size},{qps},{mode},{rep},{metric},{unit},"
                   f"{value}")


def tcp(test, values, **kw):
    raw("tcp", test, values, transport="", **{"size": 0, "mode": "", **kw})


# five, of which one is far off; four, so the median lies between two
raw("sroce", "write_bw", [300, 310, 320, 330, 30])
raw("rxe", "write_bw", [60, 70, 50, 40])
raw("siw", "write_bw", [200])
tcp("stream", [290, 300, 310])
RAW += ["", "# a second file begins", RAW[0]]
raw("sroce", "write_bw", [1000, 1000, 1000], mtu=4500)
raw("sroce", "write_bw", [500], size=1048576)
raw("sroce", "write_bw", [100], size=4096)
raw("rxe", "write_bw", [50], size=1048576)
for q, k in ((1, 200), (8, 250), (64, 240)):
    raw("sroce", "send_bw", [k], size=64, qps=q, metric="rate", unit="k/s")
    raw("rxe", "send_bw", [k / 5], size=64, qps=q, metric="rate", unit="k/s")
for m, us in (("min", 5), ("p25", 6), ("p50", 7), ("p99", 10), ("p99.9", 20)):
    raw("sroce", "write_lat", [us], size=8, metric=m, unit="us")
    raw("rxe", "write_lat", [us * 2], size=8, metric=m, unit="us")
    tcp("pingpong", [us * 4], size=14, metric=m, unit="us")
for loss, mb in (("0", 300), ("1", 150), ("5", 30)):
    raw("sroce", "write", [mb], size=1048576, mode="loss" + loss,
        metric="goodput")
    raw("rxe", "write", [0], size=1048576, mode="loss" + loss,
        metric="goodput")
    tcp("stream", [mb * 2], mode="loss" + loss, metric="goodput")
raw("sroce", "write_bw", [18], size=1048576, mode="counted",
    metric="ip_trips", unit="per MiB")
tcp("stream", [24], mode="counted", metric="ip_trips", unit="per MiB")
raw("sroce", "write_bw", [5000], topology="same-host")
raw("sroce-stack", "write_bw", [400], topology="same-host")
raw("sroce", "write_bw", [900, 920], size=1048576, topology="native-wire-gro")
raw("sroce", "nvme_bw", [720], mode="qd32", topology="native-nvme-veth")
raw("memcpy", "memcpy", [10000], size=0, mode="", transport="",
    topology="same-host")


class Case:
    """The results in a file, and what they come to"""

    def __init__(self, directory):
        self.dir = directory
        self.path = os.path.join(directory, "raw.csv")
        with open(self.path, "w") as f:
            f.write("\n".join(RAW) + "\n")
        self.stats = br.summarize(br.read_raw([self.path]))

    def stat(self, contender="sroce", test="write_bw", size=65536, mode="poll",
             metric="bandwidth", topology="veth", mtu=1500, transport="RC",
             qps=1):
        return self.stats[br.Key(topology, "6.1.0-56-amd64", mtu, contender,
                                 test, transport, size, qps, mode, metric)]

    def line(self, label, topology="veth", mtu=1500):
        found = [l for l in br.lines(self.stats) if l.label == label and
                 (l.section[0], l.section[2]) == (topology, mtu)]
        assert len(found) == 1, f"{len(found)} lines {label}"
        return found[0]

    def limits(self, text):
        path = os.path.join(self.dir, "limits")
        with open(path, "w") as f:
            f.write(text)
        return br.beyond(self.stats, br.read_limits(path)), path

    def run(self, *args):
        return subprocess.run([sys.executable, "-B", PROGRAM, *args],
                              capture_output=True, text=True)


def near(a, b):
    assert abs(a - b) < 1e-9, f"{a} is not {b}"


def medians(c):
    near(c.stat().median, 310)
    near(c.stat("rxe").median, 55)
    assert c.stat().n == 5 and c.stat("rxe").n == 4


def spread(c):
    near(c.stat().spread, 300 / 310)
    near(c.stat(size=1048576).spread, 0)


def ratios(c):
    line = c.line("WRITE 64 KiB")
    near(line.ratios["rxe"], 310 / 55)
    near(line.ratios["tcp"], 310 / 300)


def mtus_apart(c):
    line = c.line("WRITE 64 KiB", mtu=4500)
    near(line.values["sroce"].median, 1000)
    assert line.ratios == {}, "nobody else was there"


def latency(c):
    line = c.line("WRITE 8 B median")
    near(line.ratios["rxe"], 0.5)
    near(line.ratios["tcp"], 0.25)
    near(c.line("WRITE 8 B p99.9").values["sroce"].median, 20)


def missing(c):
    line = c.line("WRITE 4 KiB")
    assert line.values["rxe"] is None and line.ratios["rxe"] is None
    assert " -" in br.text_table(c.stats)


def losses(c):
    line = c.line("WRITE 1 MiB loss1")
    near(line.ratios["tcp"], 0.5)
    near(line.values["tcp"].median, 300)
    assert line.ratios["rxe"] is None, "a ratio to nothing"


def counted(c):
    line = c.line("WRITE 1 MiB ip_trips")
    near(line.ratios["tcp"], 0.75)


def same_host(c):
    line = c.line("WRITE 64 KiB", topology="same-host")
    near(line.ratios["sroce-stack"], 12.5)
    near(line.ratios["memcpy"], 0.5)


def within(c):
    bad, path = c.limits("# made up\nsroce write_bw 1048576 ip_trips 18\n")
    assert bad == [], bad
    done = c.run("--limits", path, c.path)
    assert done.returncode == 0, done.stderr


def beyond(c):
    bad, path = c.limits("sroce write_bw 1048576 ip_trips 17.9 # tight\n")
    assert len(bad) == 1 and "18.00" in bad[0], bad
    done = c.run("--limits", path, c.path)
    assert done.returncode == 1 and "beyond its limit" in done.stdout


def too_little(c):
    bad, _ = c.limits("sroce write_bw 1048576 ip_trips >18\n")
    assert bad == [], bad
    bad, _ = c.limits("sroce write_bw 1048576 ip_trips >18.1\n")
    assert len(bad) == 1 and "18.00" in bad[0], bad


def not_counted(c):
    bad, _ = c.limits("sroce read_bw 1048576 ip_trips 100\n")
    assert len(bad) == 1 and "was not counted" in bad[0], bad


def own_limits(c):
    limits = br.read_limits(os.path.join(BENCH, "limits"))
    assert len(limits) > 10
    assert len({l[:5] for l in limits}) == len(limits), "one twice"


def bars(c, text):
    path = os.path.join(c.dir, "bars")
    with open(path, "w") as f:
        f.write(text)
    return br.bar_lines(c.stats, br.read_bars(path))


def bar_met(c):
    case = "veth/1500/sroce/write_bw/RC/65536/1/poll bandwidth"
    out = bars(c, f"1 {case} >=5.6 rxe\n1 {case} >=5.7 rxe\n"
                  f"1 {case} >=1 tcp # of all sizes\n1 {case} <=310\n")
    verdicts = [l[-1] for l in out]
    assert verdicts == ["met", "NOT MET", "met", "met"], out
    assert out[0][4] == "5.64 of rxe", out[0]


def bar_of_other(c):
    """Against another number of QPs, another metric, another contender"""
    out = bars(c, """
        2 veth/1500/sroce/write_lat/RC/8/1/poll p99.9 <=2.8 metric=p50
        2 veth/1500/sroce/write_lat/RC/8/1/poll p50 <=0.5 rxe kernel=6.1
        2 veth/1500/sroce/write_lat/RC/8/1/poll p50 <=0.2 rxe kernel=6.12
        3 same-host/1500/sroce/write_bw/RC/65536/1/poll bandwidth >=0.5 memcpy
        4 veth/1500/sroce/send_bw/RC/64/8/poll rate >=1.25 qps=1
    """)
    assert [(l[1], l[-1]) for l in out] == [
        ("2", "NOT MET"), ("2", "met"), ("3", "met"), ("4", "met")], out


def bar_missing(c):
    out = bars(c, "5 vms/1500/sroce/write_bw/RC/65536/1/poll bandwidth >=3 rxe\n"
                  "1 veth/4500/sroce/write_bw/RC/65536/1/poll bandwidth >=5 rxe")
    assert [l[-1] for l in out] == ["not measured"] * 2, out


def own_bars(c):
    found = br.read_bars(os.path.join(BENCH, "bars"))
    assert {b.name for b in found} >= set("123457")
    assert len(br.bars_text(c.stats, found).splitlines()) > 30


def figures_of(c, readme):
    """What figures.py makes of a run, in a directory with that README.md"""
    where = os.path.join(c.dir, "shown")
    os.makedirs(where, exist_ok=True)
    path = os.path.join(where, "README.md")
    with open(path, "w") as f:
        f.write(readme)
    done = c.run("--figures", os.path.join(where, "figures.csv"),
                 "--title", "make bench: a date", c.path)
    assert done.returncode == 0, done.stderr
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(BENCH, "figures.py"), where],
            capture_output=True, text=True)
    with open(path) as f:
        return done, f.read(), where


def readme(c):
    done, text, _ = figures_of(c, "before\n<!-- bench: begin -->\nold\n"
                               "<!-- bench: end -->\nafter\n")
    assert done.returncode == 0, done.stderr
    assert text.startswith("before\n") and text.endswith("\nafter\n"), text
    assert "old" not in text and text.count("make bench: a date") == 1, text
    assert ("WRITE 64 KiB | MB/s | 310.0 | 55.00 | 200.0 | 300.0 | 5.64 | 1.55 | 1.03 |"
            in text)


def readme_older(c):
    """A file of figures from before there was one of the contenders"""
    _, _, where = figures_of(c, "<!-- bench: begin -->\n<!-- bench: end -->\n")
    path = os.path.join(where, "figures.csv")
    rows = figures.read(path)
    with open(path, "w", newline="") as f:
        out = csv.DictWriter(f, [n for n in figures.COLUMNS if n != "siw"],
                             extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)
    done = subprocess.run([sys.executable, "-B", os.path.join(BENCH, "figures.py"), where],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(where, "README.md")) as f:
        assert ("WRITE 64 KiB | MB/s | 310.0 | 55.00 | - | 300.0 | 5.64 | - | 1.03 |"
                in f.read())


def readme_unmarked(c):
    done, text, _ = figures_of(c, "no marks\n")
    assert done.returncode != 0 and text == "no marks\n", text


def picture(c):
    """A bar for each contender that was measured, with its value"""
    _, _, where = figures_of(c, "<!-- bench: begin -->\n<!-- bench: end -->\n")
    root = ET.parse(os.path.join(where, "bench.svg")).getroot()
    words = [t.text for t in root.findall(".//{*}text")]
    for value in ("310", "55", "300", "910", "720"):
        assert value in words, f"no {value} in {words}"
    assert "READ" not in words, "nobody has measured it"
    own = [r for r in root.findall(".//{*}rect")
           if r.get("fill") == figures.COLOURS["sroce"]]
    assert len(own) == 6, f"{len(own)}, with that of the legend"


def short_line(c):
    path = os.path.join(c.dir, "short.csv")
    with open(path, "w") as f:
        f.write("veth,6.1,1500,sroce\n")
    try:
        br.read_raw([path])
    except ValueError:
        return
    raise AssertionError("was taken")


def tables(c):
    done = c.run("--out", c.dir, c.path)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(c.dir, "table.txt")) as f:
        assert f.read() == done.stdout
    with open(os.path.join(c.dir, "table.csv"), newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == len(c.stats)
    row = [r for r in rows if (r["contender"], r["test"], r["size"], r["mtu"],
                               r["topology"], r["metric"]) ==
           ("rxe", "write_bw", "65536", "1500", "veth", "bandwidth")]
    near(float(row[0]["median"]), 55)
    assert row[0]["sroce_to_this"] == f"{310 / 55:.4f}"


def plots(c):
    out = os.path.join(c.dir, "plots")
    os.mkdir(out)
    with contextlib.redirect_stderr(io.StringIO()):
        drawn = br.draw_all(c.stats, out)
    names = {os.path.basename(p).split("-")[0] for p in drawn}
    assert names == {"bandwidth", "latency", "messages", "loss"}, names
    for path in drawn:
        root = ET.parse(path).getroot()
        assert root.tag.endswith("svg"), path
        text = "".join(root.itertext())
        assert "sroce" in text, f"{path} shows no sroce"
        assert len(root.findall(".//{*}path")) > 5, f"{path} is empty"


CASES = [
    ("medians of odd and even numbers of repetitions", medians),
    ("spread is the range by the median", spread),
    ("ratios are of medians, and TCP has one figure for all", ratios),
    ("another MTU is another table", mtus_apart),
    ("latency has its median and 99.9 %", latency),
    ("what is missing is missing", missing),
    ("goodput is compared with TCP's at the same loss", losses),
    ("so are counts", counted),
    ("within a host there are the stack and memcpy", same_host),
    ("a count at its limit is well", within),
    ("one beyond it fails", beyond),
    ("one that is less than the least does, too", too_little),
    ("one that is missing does, too", not_counted),
    ("our own limits can be read", own_limits),
    ("a bar is met or not", bar_met),
    ("bars compare with other cases, and know their kernel", bar_of_other),
    ("a bar that was not measured is not met", bar_missing),
    ("our own bars can be read", own_bars),
    ("README's table is replaced, and nothing else", readme),
    ("figures of before a contender took part are read", readme_older),
    ("what has no marks is left alone", readme_unmarked),
    ("the picture has a bar for each figure", picture),
    ("a line cut short is an error", short_line),
    ("the tables have all of it", tables),
    ("plots are SVG, with curves", plots),
]


def main():
    tap = Tap()
    for name, case in CASES:
        if case is plots and not shutil.which("gnuplot"):
            tap.skip(name, "no gnuplot")
            continue
        with tempfile.TemporaryDirectory() as d:
            try:
                case(Case(d))
                tap.result(True, name)
            except Exception:
                tap.result(False, name, traceback.format_exc())
    sys.exit(tap.done())


main()
