#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Heads of scripts, the list of clauses, and reports of made-up records. Prints TAP."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
WIRE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(WIRE))
sys.path.insert(0, os.path.join(WIRE, "..", "lib"))
import clauses  # noqa: E402
import report  # noqa: E402
from tap import Tap  # noqa: E402

# What is wrong with a head, and what is said of it
HEADS = {
    "title a\n": "has no clause",
    "clause must 9.7\n": "has no title",
    "title a\nclause should 9.7\n": "neither must, may nor sroce",
    "title a\nclause must\n": "without a section",
    "title a\nclause must 9.\n": "is no section",
    "title a\nclause must nine\n": "is no section",
    "title a\nclause must 9..7\n": "is no section",
    "title a\nclause must 9.7\nclause may 9.8\n": "one clause is enough",
    "title a\nclause must 9.7\nneeds money\n": "nobody needs money",
    "title a\nclause must 9.7\nchecks cheques\n": "no rule is called cheques",
    "title a\nclause must 9.7\nfor x 1 2\nqp\n": "for without end",
}

LIST = """\
rule\tcredits\tmust\t9.7.7.2\tcredits are right
rule\tother\tmust\t9.7.7.2\tthe rest is right
script\tone\tmust\t9.7\tthe first
script\ttwo\tmay\t9.7 9.8\tthe second
script\tthree\tsroce\t9.8\tthe third
"""

CLAUSES = """\
# a comment
9.7 what is reliable
\tone two
9.7.7.2 credits
\trule:credits rule:other
9.8 what is not
\tthree
\ttwo
9.8 what is ours
\tthree
9.9 the moon
\tnone: too far
"""

RECORDS = """\
case\tone\tthe first (A=1)\tIPv4\tpass\t
case\tone\tthe first (A=2)\tIPv4\tfail\tline 3: > ACK: no packet <came>
note\tone\tthe first (A=1)\tIPv4\tcredits\tsyndrome is 0x1f
case\ttwo\tthe second\tIPv6\tpass\t
note\tthree\tthe third\tIPv6\tother\tnot so in ACK
found\tthree\tcrash\tBUG: unable
"""

TABLE = """\
| level | rdma_rxe 6.1 |
| --- | --- |
| must | 2 of 3 fail |
| may | 0 of 1 fail |
| sroce | 1 of 1 fail |

| must: section | script or rule | what | rdma_rxe 6.1 | how, first |
| --- | --- | --- | --- | --- |
| 9.7 | one | the first | fails 1 of 2 | no packet <came> |
| 9.7.7.2 | rule:credits | credits are right | fails | syndrome is 0x1f |

| may: section | script or rule | what | rdma_rxe 6.1 | how, first |
| --- | --- | --- | --- | --- |
"""


def wire_list(*paths):
    """Status, output and errors of wire --list"""
    done = subprocess.run([WIRE / "wire", "--list", *paths], text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_heads(tap, directory):
    """A head that is wrong is refused, and for its reason."""
    path = directory / "x.wire"
    for text, why in HEADS.items():
        path.write_text(text)
        status, _, errors = wire_list(path)
        tap.result(status == 1 and why in errors, f"a head: {why}", errors)
    path.write_text("title a\nclause may 9.7.4.1.5 A17\nchecks credits\nneeds srq vlan\n")
    status, out, errors = wire_list(path)
    tap.result(status == 0 and "script\tx\tmay\t9.7.4.1.5 A17\ta\n" in out,
               "a head that is right", errors)


def test_list(tap):
    """The list and the scripts agree, and it would be noticed if not."""
    status, out, errors = wire_list(*sorted((WIRE / "scripts").glob("*.wire")),
                                    *sorted((WIRE / "selftest").glob("*.wire")))
    tap.result(status == 0, "all scripts have a head", errors)
    with (WIRE / "clauses").open(encoding="utf-8") as lines:
        listed = clauses.read_clauses(lines)
    items = clauses.read_list(out.splitlines())
    bad = clauses.mistakes(listed, items)
    tap.result(not bad and len(items) > 200, "each script is in the list, each clause "
               "has one or a reason", "\n".join(bad))
    listed[3].names.append("no-such")
    listed[-1].names, listed[-1].reason = [], ""
    items["new"] = clauses.Item("new", "must", ["9.7"], "not listed")
    items["resp-dup"].sections.append("9.11")
    bad = "\n".join(clauses.mistakes(listed, items))
    for text in ("no-such: no such script", "or a reason for none", "new: is not in the list",
                 "resp-dup: is not in the list at 9.11"):
        tap.result(text in bad, f"the list: {text}", bad)


def test_report(tap, directory, monkey):
    """Records become reports and a table."""
    run = directory / "rxe-6.1"
    run.mkdir()
    (run / "list").write_text(LIST)
    (run / "records").write_text(RECORDS)
    (directory / "clauses").write_text(CLAUSES)
    monkey.HERE = directory
    made = monkey.Report(run)
    tap.result("\n".join(monkey.as_table([made])) + "\n" == TABLE, "the table",
               "\n".join(monkey.as_table([made])))
    data = json.loads(json.dumps(monkey.as_data(made)))
    verdicts = [c["verdict"] for c in data["clauses"]]
    tap.result(verdicts == ["fails", "fails", "passes", "sroce's only", "no script"], "verdicts of clauses",
               str(verdicts))
    text = "\n".join(monkey.as_text(made))
    tap.result("crash: BUG: unable" in text and "(A=2), IPv4: line 3" in text, "the text", text)
    page = "\n".join(monkey.as_html(made))
    tap.result("&lt;came&gt;" in page and "<came>" not in page, "the page", page)
    for what, records in (("what must be and is not", RECORDS.splitlines(True)[:2]),
                          ("a crash of what is ours", RECORDS.splitlines(True)[-1:])):
        (run / "records").write_text("".join(records))
        tap.result(monkey.Report(run).is_bad(), f"{what} is a failure of the command")
    (run / "records").write_text(RECORDS.splitlines(True)[0])
    tap.result(not monkey.Report(run).is_bad(), "what passes is none")


def main():
    """The cases"""
    tap = Tap()
    subprocess.run(["make", "-s", "-C", WIRE], check=True)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        test_heads(tap, directory)
        test_list(tap)
        test_report(tap, directory, report)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
