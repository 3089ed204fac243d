#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write compile_commands.json, which clangd and other tools read.

usage: tools/compile-commands.py BUILD KDIR >compile_commands.json

Modules: what Kbuild has left in BUILD, the tree of links that it built; the
entries name the sources that the links point to. User space: what make would
run in the directories of selftests/ that have a Makefile. A file that both
compile has the kernel's entry.
"""
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of a .cmd file: the compiler's command, up to what runs after it
COMMAND = re.compile(r"^(?:saved)?cmd_\S+\.o := +(.*?\S+\.c) *(?:;|$)", re.M)
ENTERING = re.compile(r"make(?:\[\d+\])?: Entering directory '(.*)'")
LEAVING = re.compile(r"make(?:\[\d+\])?: Leaving directory")


def entry(directory, words, source):
    real = os.path.realpath(os.path.join(directory, source))
    return {"directory": directory, "file": real,
            "arguments": [real if w == source else w for w in words]}


def modules(build, kdir):
    """What Kbuild ran, with the sources in place of the links to them"""
    for where, _, names in sorted(os.walk(build)):
        for name in sorted(names):
            if not name.endswith(".o.cmd"):
                continue
            with open(os.path.join(where, name), encoding="utf-8") as f:
                found = COMMAND.search(f.read())
            words = shlex.split(found.group(1)) if found else [""]
            if not os.path.islink(words[-1]):
                continue        # made by Kbuild, such as sroce.mod.c
            yield entry(kdir, [w.replace(f"-I{build}", f"-I{ROOT}")
                               for w in words], words[-1])


def user_space(directory):
    """What make would run, if nothing had been built"""
    done = subprocess.run(["make", "-nBw", "-C", directory], text=True,
                          capture_output=True, check=False)
    at = [directory]
    for line in done.stdout.splitlines():
        found = ENTERING.match(line)
        if found:
            at.append(found.group(1))
        elif LEAVING.match(line):
            at.pop()
        elif re.search(r" -c .*\.c$", line):
            words = shlex.split(line)
            yield entry(at[-1], words, words[-1])


def refused(words):
    """Those of a command's options that clang does not know"""
    done = subprocess.run(["clang", "-###", "-x", "c", *words, os.devnull],
                          text=True, capture_output=True, check=False)
    return set(re.findall(r"error: [^']*'(-[^']*)'", done.stderr))


def for_clang(entries):
    """The same without options that only gcc has, or that write dependencies"""
    known = {}
    for e in entries:
        options = tuple(w for w in e["arguments"][1:-1]
                        if re.match(r"-[fmW](?!p,)", w))
        if options not in known:
            known[options] = refused(options)
        e["arguments"] = [w for w in e["arguments"] if w not in known[options]
                          and not re.match(r"-(Wp,-)?M", w)]
        yield e


def main():
    build, kdir = (os.path.realpath(p) for p in sys.argv[1:3])
    entries = list(modules(build, kdir))
    if not entries:
        sys.exit(f"compile-commands.py: nothing was built in {build}")
    tests = os.path.join(ROOT, "selftests")
    for name in sorted(os.listdir(tests)):
        if os.path.exists(os.path.join(tests, name, "Makefile")):
            entries += user_space(os.path.join(tests, name))
    first = {}
    for e in for_clang(entries):
        first.setdefault(e["file"], e)
    json.dump(list(first.values()), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
