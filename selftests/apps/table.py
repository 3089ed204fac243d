#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Logs KERNEL-LINK-APPLICATION.log of a directory as one table in Markdown.

usage: table.py DIRECTORY

A log is TAP. A line "# value: TEXT" is shown beside the result of the case before it, if
that has passed; "# cause: TEXT" below the table, if it has not. The last line says how
the VM ended.
"""

import pathlib
import re
import sys

CASE = re.compile(r"^(not )?ok \d+ - (.*?)(?: # (SKIP) ?(.*))?$")
LOG = re.compile(r"^(\d[\d.]*)-(sroce|rxe)-(.+)\.log$")
NAMES = {"sroce": "sroce", "rxe": "rdma_rxe"}


def read(lines):
    """Results by case, causes by case, and how the VM ended: 0, another number or None."""
    results, causes = {}, {}
    name = ended = None
    for line in lines:
        line = line.rstrip("\n")
        case = CASE.match(line)
        if case:
            failed, name, skipped, reason = case.groups()
            results[name] = "not there" if skipped else "no" if failed else "yes"
            if skipped and reason:
                causes[name] = reason
        elif line.startswith("# value: ") and results.get(name) == "yes":
            results[name] += ", " + line[9:]
        elif line.startswith("# cause: ") and results.get(name) == "no":
            causes[name] = line[9:]
        elif line.startswith("# vm: "):
            ended = int(line[6:])
    return results, causes, ended


def end_of(ended):
    """The cell for the VM itself."""
    return "no" if ended in (None, 125) else "yes"


def merge(directory):
    """(columns, rows): rows are application, case, and results by column."""
    runs = {}
    for path in sorted(directory.glob("*.log")):
        log = LOG.match(path.name)
        if log:
            kernel, link, app = log.groups()
            with path.open(errors="replace") as lines:
                runs[app, link, kernel] = read(lines)
    columns = sorted({(link, kernel) for _, link, kernel in runs},
                     key=lambda c: (c[0] != "sroce", [int(n) for n in c[1].split(".")]))
    return runs, columns


def rows_of(app, runs, columns):
    """The rows of an application."""
    logs = [runs.get((app, *column)) for column in columns]
    names = list(dict.fromkeys(name for log in logs if log for name in log[0]))
    for name in names:
        yield app, name, [log[0].get(name, "not reached") if log else "not run"
                          for log in logs]
    yield app, "the kernel has no complaint, all ends", [
        end_of(log[2]) if log else "not run" for log in logs]


def main():
    """Print the table, and what is said of its failures."""
    runs, columns = merge(pathlib.Path(sys.argv[1]))
    head = [f"{NAMES[link]}, {kernel}" for link, kernel in columns]
    print("| application | what |", " | ".join(head), "|")
    print("|", " | ".join(["---"] * (2 + len(head))), "|")
    for app in sorted({app for app, _, _ in runs}):
        for row in rows_of(app, runs, columns):
            print("|", row[0], "|", row[1], "|", " | ".join(row[2]), "|")
    causes = dict.fromkeys(f"* {app}, {NAMES[link]}: {name}: {cause}"
                           for (app, link, _), run in sorted(runs.items())
                           for name, cause in run[1].items())
    if causes:
        print()
        print("\n".join(causes))


if __name__ == "__main__":
    main()
