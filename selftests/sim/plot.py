#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Windows, rates and queue length over time, from `links -p NAME`, as SVG.

The first line is the title, the second ns per packet and the number of our flows. Each
other line has the time in us, the packets in the queue, and for each flow its window
and the packets that have arrived so far. A flow beyond ours is TCP.
"""
import sys
from html import escape

WIDTH, HEIGHT = 760, 150            # of a panel, without its labels
LEFT, TOP, GAP, RIGHT = 70, 60, 50, 110
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]
TICKS = 8


def nice(most):
    """A step of 1, 2 or 5 times a power of ten that divides an axis"""
    step = 1.0
    while most / step > TICKS * 10:
        step *= 10
    while most / step < TICKS / 2:
        step /= 10
    for factor in (1, 2, 5, 10, 20):
        if most / (step * factor) <= TICKS:
            return step * factor
    return step * 50


def number(x):
    return f"{x:.10g}"


class Panel:
    def __init__(self, nr, label, end, series):
        self.top = TOP + nr * (HEIGHT + GAP)
        self.label, self.end, self.series = label, end, series
        most = max(max(y for _, y in points) for points in series) or 1
        self.step = nice(most)
        self.most = -(-most // self.step) * self.step

    def at(self, x, y):
        return (LEFT + WIDTH * x / self.end,
                self.top + HEIGHT * (1 - y / self.most))

    def axis(self):
        y = 0
        while y <= self.most * 1.001:
            _, py = self.at(0, y)
            yield (f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" '
                   f'y1="{py:.1f}" y2="{py:.1f}"/>')
            yield (f'<text class="y" x="{LEFT - 8}" y="{py + 4:.1f}">'
                   f'{number(y)}</text>')
            y += self.step
        step = nice(self.end)
        x = 0
        while x <= self.end * 1.001:
            px, _ = self.at(x, 0)
            yield (f'<text class="x" x="{px:.1f}" y="{self.top + HEIGHT + 16}">'
                   f'{number(x)}</text>')
            x += step
        yield (f'<text class="label" x="{LEFT}" y="{self.top - 10}">'
               f'{escape(self.label)}</text>')

    def lines(self):
        for i, points in enumerate(self.series):
            color = COLORS[i % len(COLORS)] if len(self.series) > 1 else COLORS[0]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in
                            (self.at(*p) for p in points))
            yield f'<polyline points="{path}" stroke="{color}"/>'

    def svg(self):
        yield from self.axis()
        yield from self.lines()


def legend(names):
    for i, name in enumerate(names):
        y = TOP + 8 + 20 * i
        yield (f'<line x1="{LEFT + WIDTH + 14}" x2="{LEFT + WIDTH + 34}" '
               f'y1="{y}" y2="{y}" stroke="{COLORS[i % len(COLORS)]}" '
               'stroke-width="3"/>')
        yield f'<text x="{LEFT + WIDTH + 40}" y="{y + 4}">{name}</text>'


def rates(times, arrived, ns):
    """Percent of the link, over some samples: ACKs come in portions"""
    points = [(times[0], 0)]
    for i in range(1, len(times)):
        since = max(i - 4, 0)
        could = (times[i] - times[since]) * 1e6 / ns
        points.append((times[i], 100 * (arrived[i] - arrived[since]) / could
                       if could else 0))
    return points


def read(lines):
    title = lines[0].strip()
    ns, ours = (int(x) for x in lines[1].split())
    rows = [[float(x) for x in line.split()] for line in lines[2:]]
    if len(rows) < 2:
        sys.exit("plot.py: there are no samples")
    return title, ns, ours, rows


def main():
    title, ns, ours, rows = read(sys.stdin.readlines())
    times = [row[0] / 1000 for row in rows]
    n = (len(rows[0]) - 2) // 2
    windows = [[(t, row[2 + 2 * i]) for t, row in zip(times, rows)]
               for i in range(n)]
    shares = [rates(times, [row[3 + 2 * i] for row in rows], ns)
              for i in range(n)]
    queue = [(t, row[1]) for t, row in zip(times, rows)]
    panels = [Panel(0, "window, packets", times[-1], windows),
              Panel(1, "rate, % of the link", times[-1], shares),
              Panel(2, "queue, packets", times[-1], [queue])]
    names = [f"flow {i + 1}" if i < ours else "TCP" for i in range(n)]
    width = LEFT + WIDTH + RIGHT
    height = TOP + 3 * (HEIGHT + GAP) + 10
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
          f'height="{height}" viewBox="0 0 {width} {height}">')
    print("<style>text{font:12px sans-serif;fill:#333}.y{text-anchor:end}"
          ".x{text-anchor:middle}.label{font-weight:bold}"
          ".grid{stroke:#ddd}polyline{fill:none;stroke-width:1.5}</style>")
    print('<rect width="100%" height="100%" fill="#fff"/>')
    print(f'<text x="{LEFT}" y="24" style="font-size:15px">'
          f'{escape(title)}</text>')
    for panel in panels:
        print("\n".join(panel.svg()))
    print("\n".join(legend(names)))
    print(f'<text class="x" x="{LEFT + WIDTH / 2}" y="{height - 12}">'
          'time, ms</text>\n</svg>')


main()
