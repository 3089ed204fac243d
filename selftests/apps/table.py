#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Logs KERNEL-LINK-APPLICATION.log of a directory as one table in Markdown.

usage: table.py DIRECTORY [FILE]

FILE has the table as it was: what has no log now is as there.

A log is TAP. A line "# value: TEXT" is shown beside the result of the case before it, if
that has passed; "# cause: TEXT" below the table, if it has not. The last line says how
the VM ended.
"""

import itertools
import pathlib
import re
import sys

PLAN = re.compile(r"^1\.\.(\d+)$")
CASE = re.compile(r"^(not )?ok \d+ - (.*?)(?: # (SKIP) ?(.*))?$")
LOG = re.compile(r"^(\d[\d.]*)-(sroce|rxe)-(.+)\.log$")
ROW = re.compile(r"^\| (?!---)(.+) \|$")
CAUSE = re.compile(r"^\* ([^ ,]+), (\S+): (.+)$")
NAMES = {"sroce": "sroce", "rxe": "rdma_rxe"}
NOT_RUN, NOT_REACHED = "not run", "not reached"
COMPLAINTS = "the kernel has no complaint, all ends"
# How a VM ended: as a shell has it, where a program was ended for its time
LATE, BAD = 124, 125
ENDS = {0: "yes", LATE: "out of time"}


def read(lines):
    """Results by case, causes by case, and how the VM ended: a script that has got to its plan
    ends with 0 or 1; BAD is what the kernel, or the VM, has to say."""
    results, causes = {}, {}
    name = ended = plan = None
    cases, late, complaint = 0, False, False
    for line in lines:
        line = line.rstrip("\n")
        case = CASE.match(line)
        if case:
            failed, name, skipped, reason = case.groups()
            cases += 1
            results[name] = "not there" if skipped else "no" if failed else "yes"
            if skipped and reason:
                causes[name] = reason
        elif line.startswith("# value: ") and results.get(name) == "yes":
            results[name] += ", " + line[9:]
        elif line.startswith("# cause: ") and results.get(name) == "no":
            causes[name] = line[9:]
        elif planned := PLAN.match(line):
            plan = int(planned.group(1))
        elif line.startswith("# vm: "):
            ended = int(line[6:])
        elif line.startswith("vm: VM "):
            if "command still running" in line:
                late = True
            elif "the last of the console" not in line:
                complaint = True
    if ended == BAD and late and not complaint:
        return results, causes, LATE
    return results, causes, 0 if ended in (0, 1) and plan == cases > 0 else BAD


def end_of(ended):
    """The cell for the VM itself."""
    return ENDS.get(ended, "no")


def published(lines):
    """The runs that a table has, as read() returns them, by application and column."""
    runs, columns = {}, []
    for line in itertools.takewhile(lambda line: not line.startswith("<!-- end"), lines):
        row = ROW.match(line)
        cause = CAUSE.match(line)
        if row:
            app, what, *cells = row.group(1).split(" | ")
            if app == "application":
                names = {name: link for link, name in NAMES.items()}
                columns = [(names[link], kernel)
                           for link, kernel in (c.split(", ") for c in cells)]
                continue
            for column, cell in zip(columns, cells):
                if cell != NOT_RUN:
                    add_cell(runs.setdefault((app, *column), [{}, {}, None]), what, cell)
        elif cause:
            add_cause(runs, *cause.groups())
    return runs


def add_cell(run, what, cell):
    """One result of the run of a table."""
    if what == COMPLAINTS:
        run[2] = next((n for n, text in ENDS.items() if text == cell), BAD)
    elif cell != NOT_REACHED:
        run[0][what] = cell


def add_cause(runs, app, device, text):
    """A cause stands for all kernels where the case did not pass."""
    for (name, link, _), run in runs.items():
        for what, result in run[0].items():
            if (name, NAMES[link]) == (app, device) and not result.startswith("yes") and \
               text.startswith(what + ": "):
                run[1][what] = text[len(what) + 2:]


def merge(directory, old):
    """(runs, columns): of the table that was, and of the logs, which are newer."""
    runs = published(old)
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
        yield app, name, [log[0].get(name, NOT_REACHED) if log else NOT_RUN
                          for log in logs]
    yield app, COMPLAINTS, [end_of(log[2]) if log else NOT_RUN for log in logs]


def main():
    """Print the table, and what is said of its failures."""
    old = pathlib.Path(sys.argv[2]).read_text().splitlines() if len(sys.argv) > 2 else []
    runs, columns = merge(pathlib.Path(sys.argv[1]), old)
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
