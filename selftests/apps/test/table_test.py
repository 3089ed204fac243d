#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/apps/table.py, on logs made up here. Prints TAP."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
APPS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, os.path.join(APPS, "..", "lib"))
from tap import Tap  # noqa: E402

LOGS = {
    "6.1-sroce-x.log": "ok 1 - one\n# value: 7 MB/s\nok 2 - two\n1..2\n# vm: 0\n",
    "6.12-sroce-x.log": "ok 1 - one\nnot ok 2 - two\n#   why\n# cause: the moon\n"
                        "# value: 3 s\n1..2\n# vm: 1\n",
    "6.1-rxe-x.log": "ok 1 - one\nvm: the kernel complained\n# vm: 125\n",
    "6.1-sroce-y.log": "ok 1 - three # SKIP no such module\n1..1\n# vm: 0\n",
    "6.12-rxe-y.log": "vm: VM 1: command still running after 9 s\n# vm: 125\n",
    "6.1-rxe-y.log": "vm: VM 1: command still running after 9 s\n"
                     "vm: VM 1: the kernel complained:\n# vm: 125\n",
    "6.1-sroce-w.log": "lib.sh: line 7: syntax error\n# vm: 1\n",
    "6.12-sroce-w.log": "vm: failed: a command\n# vm: 127\n",
    "6.12-rxe-w.log": "vm: VM 1: command still running after 9 s\n"
                      "vm: VM 1: rmmod rdma_rxe hangs\n# vm: 125\n",
    "6.1-sroce-z.log.tmp": "ok 1 - not yet\n",
}

TABLE = """\
| application | what | sroce, 6.1 | sroce, 6.12 | rdma_rxe, 6.1 | rdma_rxe, 6.12 |
| --- | --- | --- | --- | --- | --- |
| w | the kernel has no complaint, all ends | no | no | not run | no |
| x | one | yes, 7 MB/s | yes | yes | not run |
| x | two | yes | no | not reached | not run |
| x | the kernel has no complaint, all ends | yes | yes | no | not run |
| y | three | not there | not run | not reached | not reached |
| y | the kernel has no complaint, all ends | yes | not run | no | out of time |

* x, sroce: two: the moon
* y, sroce: three: no such module
"""

# What was measured anew is only y, on 6.12
OLD = TABLE.replace("three | not there | not run |", "three | not there | no |")
NEW_LOG = "ok 1 - three\nok 2 - four\n1..2\n# vm: 0\n"
MERGED = TABLE.replace(
    "| y | three | not there | not run | not reached | not reached |\n",
    "| y | three | not there | yes | not reached | not reached |\n"
    "| y | four | not reached | yes | not reached | not reached |\n").replace(
        "complaint, all ends | yes | not run | no |",
        "complaint, all ends | yes | yes | no |")


def run(name, *args):
    """Exit status and output of a script"""
    done = subprocess.run([sys.executable, APPS / name, *args], text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stdout


def main():
    """The cases"""
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        for name, text in LOGS.items():
            (pathlib.Path(directory) / name).write_text(text)
        status, out = run("table.py", directory)
        tap.result(status == 0 and out == TABLE, "logs become a table", out)
    with tempfile.TemporaryDirectory() as directory:
        old = pathlib.Path(directory) / "old.md"
        old.write_text("# A document\n\n| a | b |\n" + OLD + "<!-- end -->\n" + TABLE)
        (pathlib.Path(directory) / "6.12-sroce-y.log").write_text(NEW_LOG)
        status, out = run("table.py", directory, old)
        tap.result(status == 0 and out == MERGED,
                   "what has no log is as in the table that was", out)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
