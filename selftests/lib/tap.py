# SPDX-License-Identifier: GPL-2.0
"""The one writer of TAP for Python scripts."""


class Tap:
    """Numbers cases as they come; done() prints the plan."""

    def __init__(self):
        self.n = self.failed = 0

    def result(self, good, name, why=""):
        """A case, with the reason in case it failed"""
        self.n += 1
        self.failed += not good
        print(f"{'' if good else 'not '}ok {self.n} - {name}", flush=True)
        if not good and why:
            self.note(why)
        return good

    def skip(self, name, reason):
        self.result(True, f"{name} # SKIP {reason}")

    def note(self, text):
        for line in str(text).splitlines():
            print(f"#   {line}", flush=True)

    def done(self):
        """The plan; what is to be the exit status"""
        print(f"1..{self.n}")
        return 1 if self.failed or not self.n else 0
