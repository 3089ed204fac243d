#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The rule of the floors: Kbuild lists the module's objects from the ground up, and a
file uses only what is listed before it.

usage: tools/floors.py [--names] [TREE]

For each source in Kbuild's order: the names that it uses of other sources, and the
headers that it includes, may be of sources listed before it only. A header belongs to
the source beside it with the same name; one without a source stands on the highest
floor of the headers that it includes. Names that drv/core/env.h declares are what the
protocol core asks of its surroundings: the core uses them wherever they are defined.
Pointers that an upper floor registers are not followed: they are the way up.

--names checks as well that extern names begin with sroce_ and the name of their file,
and fails if fewer than 95 % do. Names of env.h are left out: their file is a matter of
the surroundings.

Prints what breaks the rule, and exits 1 if anything does.
"""
import os
import re
import sys

ENV = 'drv/core/env.h'
NAMES_MIN = 95


def kbuild_order(tree):
    """Sources in the order in which Kbuild lists their objects."""
    text = open(os.path.join(tree, 'Kbuild')).read().replace('\\\n', ' ')
    order = []
    for line in text.split('\n'):
        m = re.match(r'sroce-(?:y|\$\([^)]*\))\s*[:+]?=\s*(.*)', line)
        if not m:
            continue
        a = re.match(r'\$\(addprefix ([^,]*),\s*(.*)\)\s*$', m.group(1))
        prefix, objects = a.groups() if a else ('', m.group(1))
        order += [prefix + o[:-1] + 'c' for o in objects.split() if o.endswith('.o')]
    return order


def code_of(path):
    """A file without comments and strings."""
    text = open(path).read()
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    text = re.sub(r'//[^\n]*', '', text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def externs_of(code):
    """Names that a source defines for others: functions and variables."""
    names = set()
    for m in re.finditer(r'^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \t\*]*?\b(\w+)\s*\('
                         r'[^;{}]*?\)[^;{}]*?\n\{', code, flags=re.M):
        names.add(m.group(1))
    for m in re.finditer(r'^(?!static\b|typedef\b|extern\b|return\b)[A-Za-z_][\w \t\*]*?\b'
                         r'(\w+)(?:\[[^\]]*\])*\s*=', code, flags=re.M):
        names.add(m.group(1))
    return {n for n in names if n.startswith('sroce_')}


def includes_of(tree, path):
    text = open(os.path.join(tree, path)).read()
    return [i for i in re.findall(r'^#include "(drv/[^"]+)"', text, flags=re.M)
            if '/compat/' not in i]


def env_names(tree):
    return set(re.findall(r'\b(sroce_\w+)\s*\(', code_of(os.path.join(tree, ENV))))


class Floors:
    def __init__(self, tree):
        self.tree = tree
        self.order = kbuild_order(tree)
        self.rank = {f: i for i, f in enumerate(self.order)}
        self.bad = []
        self.header_rank = {}
        self.code = {f: code_of(os.path.join(tree, f)) for f in self.order}
        self.externs = {f: externs_of(self.code[f]) for f in self.order}
        self.env = env_names(tree)

    def floor_of_header(self, h, below=()):
        """Where a header stands; a circle of headers is reported."""
        source = h[:-1] + 'c'
        if source in self.rank:
            return self.rank[source]
        if h in below:
            self.bad.append('circle of headers: ' + ' '.join(below[below.index(h):] + (h,)))
            return -1
        if h not in self.header_rank:
            floors = [self.floor_of_header(i, below + (h,)) for i in includes_of(self.tree, h)]
            self.header_rank[h] = max(floors, default=-1)
        return self.header_rank[h]

    def check_includes(self):
        for f in self.order:
            for h in includes_of(self.tree, f):
                if self.floor_of_header(h) > self.rank[f]:
                    self.bad.append(f'{f} includes {h}, which stands above it')
            own = f[:-1] + 'h'
            if not os.path.exists(os.path.join(self.tree, own)):
                continue
            for h in includes_of(self.tree, own):
                if self.floor_of_header(h, (own,)) > self.rank[f]:
                    self.bad.append(f'{own} includes {h}, which stands above it')

    def check_uses(self):
        home = {n: f for f in self.order for n in self.externs[f]}
        for f in self.order:
            words = set(re.findall(r'\bsroce_\w+', self.code[f]))
            for n in sorted(words & home.keys()):
                if f.startswith('drv/core/') and n in self.env:
                    continue
                if self.rank[home[n]] > self.rank[f]:
                    self.bad.append(f'{f} uses {n} of {home[n]}, which stands above it')

    def check_listed(self):
        for top, _, files in os.walk(os.path.join(self.tree, 'drv')):
            for name in files:
                path = os.path.relpath(os.path.join(top, name), self.tree)
                if name.endswith('.c') and '/compat/' not in path and path not in self.rank:
                    self.bad.append(f'{path} is not in Kbuild')

    def check_names(self):
        """Share of extern names that begin with the name of their file."""
        good, others = 0, []
        for f in self.order:
            stem = os.path.basename(f)[:-2]
            for n in self.externs[f] - self.env:
                if n == 'sroce_' + stem or n.startswith(f'sroce_{stem}_') or \
                        n == f'sroce_{stem}s':
                    good += 1
                else:
                    others.append(f'{f}: {n}')
        share = 100 * good / (good + len(others))
        print(f'floors: {good} of {good + len(others)} extern names begin with the name of '
              f'their file ({share:.1f} %)')
        if share < NAMES_MIN:
            self.bad += [f'a name that does not begin with its file\'s: {o}' for o in others]


def main(args):
    names = '--names' in args
    args = [a for a in args if a != '--names']
    floors = Floors(args[0] if args else os.path.join(os.path.dirname(__file__), '..'))
    floors.check_listed()
    floors.check_includes()
    floors.check_uses()
    if names:
        floors.check_names()
    for b in dict.fromkeys(floors.bad):
        print('floors: ' + b)
    print(f'floors: {len(floors.order)} files, {len(set(floors.bad))} looks upwards or circles')
    return 1 if floors.bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
