#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""RDMA-UNIT-TEST.md cites our cases by their text: is it there? Prints TAP."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
SELFTESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SELFTESTS / "lib"))
from tap import Tap  # noqa: E402

KINDS = ("same", "nearly", "none")


def rows(text):
    """Name, kind and last cell of each case, the name with its suite"""
    suite = ""
    for line in text.splitlines():
        if line.startswith("## "):
            suite = line[3:]
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) == 4 and suite and cells[0].strip() not in ("case", "---"):
            name, _, kind, ours = (c.strip() for c in cells)
            yield f"{suite}.{name}", kind, ours


def mistakes(text):
    """What is wrong with the table, by case"""
    counts = dict.fromkeys(KINDS, 0)
    for name, kind, ours in rows(text):
        counts[kind] = counts.get(kind, 0) + 1
        cited = [c[1] for c in re.findall(r"(`+)(.*?)\1(?!`)", ours)
                 if re.match(r"[\w./-]+: ", c[1])]
        if kind not in KINDS:
            yield f"{name}: {kind} is no kind"
        if kind in ("same", "nearly") and not cited:
            yield f"{name}: cites nothing"
        if kind == "none" and not ours:
            yield f"{name}: has no reason"
        for cite in cited:
            path, what = cite.replace("\\|", "|").split(": ", 1)
            file = SELFTESTS / path
            if not file.exists() or what not in file.read_text(encoding="utf-8"):
                yield f"{name}: not in {path}: {what}"
    for kind, number in counts.items():
        if f"* **{kind}** ({number})" not in text:
            yield f"{kind}: there are {number}"


def main():
    """The cases"""
    tap = Tap()
    text = (SELFTESTS / "verbs" / "RDMA-UNIT-TEST.md").read_text(encoding="utf-8")
    bad = "\n".join(mistakes(text))
    tap.result(not bad and len(list(rows(text))) > 200, "what is cited is there", bad)
    for what, old, new in (("a text", "SRQ full, then larger", "SRQ full, then wider"),
                           ("a file", "func/mrgone.c", "func/gone.c"),
                           ("a count", "**none** (", "**none** (1")):
        tap.result(any(mistakes(text.replace(old, new))), f"{what} that is not is noticed")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
