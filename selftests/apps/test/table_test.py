#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/apps/table.py and storage.py, on logs and results made up here. Prints TAP."""
import json
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
                        "# value: 3 s\n# vm: 1\n",
    "6.1-rxe-x.log": "ok 1 - one\nvm: the kernel complained\n# vm: 125\n",
    "6.1-sroce-y.log": "ok 1 - three # SKIP no such module\n# vm: 0\n",
    "6.1-sroce-z.log.tmp": "ok 1 - not yet\n",
}

TABLE = """\
| application | what | sroce, 6.1 | sroce, 6.12 | rdma_rxe, 6.1 |
| --- | --- | --- | --- | --- |
| x | one | yes, 7 MB/s | yes | yes |
| x | two | yes | no | not reached |
| x | the kernel has no complaint, all ends | yes | yes | no |
| y | three | not there | not run | not run |
| y | the kernel has no complaint, all ends | yes | not run | not run |

* x, sroce: two: the moon
* y, sroce: three: no such module
"""


def run(name, *args):
    """Exit status and output of a script"""
    done = subprocess.run([sys.executable, APPS / name, *args], text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stdout


def results(directory, way, mbs, latency):
    """Three rounds of fio's output, with a line before it, as fio has it now and then"""
    for number, times in enumerate((1, 3, 2)):
        for kind, read in (("read", {"bw_bytes": mbs * times * 1e6 / 2}),
                           ("latency", {"lat_ns": {"mean": latency * times * 1e3 / 2}})):
            path = pathlib.Path(directory) / f"{way}-{kind}-{number}.json"
            path.write_text("fio: a note\n" + json.dumps({"jobs": [{"read": read}]}))


def main():
    """The cases"""
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        for name, text in LOGS.items():
            (pathlib.Path(directory) / name).write_text(text)
        status, out = run("table.py", directory)
        tap.result(status == 0 and out == TABLE, "logs become a table", out)
    with tempfile.TemporaryDirectory() as directory:
        results(directory, "sroce", 300, 40)
        results(directory, "tcp", 100, 50)
        tap.result(run("storage.py", directory, "sroce", "read") == (0, "300 MB/s\n"),
                   "the median of the rounds")
        tap.result(run("storage.py", directory, "--faster", "sroce", "tcp", "3")[0] == 0,
                   "fast enough")
        tap.result(run("storage.py", directory, "--faster", "sroce", "tcp", "3.1")[0] == 1,
                   "not fast enough")
        tap.result(run("storage.py", directory, "--latency", "sroce", "tcp")[0] == 0,
                   "no more latency")
        tap.result(run("storage.py", directory, "--latency", "tcp", "sroce")[0] == 1,
                   "more latency")
        tap.result(run("storage.py", directory, "rxe", "read")[0] == 1,
                   "no results are an error")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
