# SPDX-License-Identifier: GPL-2.0
"""Parts of a document that a command writes, between marks of their own."""
import sys


def replace(path, name, text):
    """Put @text between the marks that the file @path has for @name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    with open(path, encoding="utf-8") as f:
        old = f.read()
    if old.count(begin) != 1 or old.count(end) != 1:
        sys.exit(f"{path} has no marks {begin.strip()} and {end}")
    before, rest = old.split(begin)
    after = rest.split(end)[1]
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{before}{begin}{text.rstrip()}\n{end}{after}")
