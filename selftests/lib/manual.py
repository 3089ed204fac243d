#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Is all that the manual names in the conformance table?

Reads `conform --names` from stdin and rdma-core's pages from /usr/share/man:
every function, opcode, flag, status, event and option that a page of verbs or
of rdma_cm names has to be in a row. One TAP case per page. Other documents,
given as arguments, are held to the same.

What a page names without there being such a thing in the headers (a slip of
the pen, an environment variable) is told, and asked of nobody.
"""

import glob
import gzip
import os
import re
import sys

from tap import Tap

MAN = "/usr/share/man"
PAGES = ["man3/ibv_*.3.gz", "man3/rdma_*.3.gz", "man7/rdma_cm.7.gz"]
HEADERS = ["infiniband/verbs.h", "infiniband/verbs_api.h",
           "infiniband/ib_user_ioctl_verbs.h", "rdma/rdma_cma.h",
           "rdma/rdma_verbs.h", "rdma/ib_user_ioctl_verbs.h",
           "rdma/ib_user_verbs.h"]
# for whoever builds rdma-core into his program
NOT_VERBS = {"RDMA_STATIC_PROVIDERS"}
CONSTANT = re.compile(r"\b(?:IBV|RDMA|RAI)_[A-Z0-9_]*[A-Z0-9]\b")
FUNCTION = re.compile(r"\b((?:ibv|rdma)_[a-z0-9_]+)\s*\(")
WORD = re.compile(r"\b((?:ibv|rdma)_[a-z0-9_]+)")


def headers():
    text = ""
    for name in HEADERS:
        path = os.path.join("/usr/include", name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text += f.read()
    return text


def plain(roff):
    """A page without its fonts, its comments and its title."""
    text = re.sub(r'(?m)^(\.\\"|\'\\"|\.TH).*$', "", roff)
    text = re.sub(r"\\f(\[\w*\]|\(..|.)|\\&|\\:", "", text)
    return text.replace("\\-", "-").replace("\\_", "_").replace('"', " ")


def names(text):
    """What is named: constants, what is called, and the page's own functions."""
    found = set(CONSTANT.findall(text)) | set(FUNCTION.findall(text))
    title = re.search(r"(?m)^\.SH\s+NAME\s*\n(.*)$", text)
    if title:
        found |= set(WORD.findall(title.group(1)))
    return found


def main():
    have = set(sys.stdin.read().split())
    api = headers()
    is_there = {}
    tap = Tap()
    odd = {}
    seen = set()

    def exists(name):
        if name not in is_there:
            call = r"\s*\(" if name.islower() else r"\b"
            is_there[name] = bool(re.search(r"\b%s%s" % (name, call), api))
        return is_there[name]

    texts = []
    for pattern in PAGES:
        for path in sorted(glob.glob(os.path.join(MAN, pattern))):
            with gzip.open(path, "rt", errors="replace") as f:
                texts.append((os.path.basename(path)[:-3], plain(f.read())))
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            texts.append((path, f.read()))
    if not have or not api or not texts:
        tap.skip("the manual's names", "no table, no headers, or no manual")
        return tap.done()
    for page, text in texts:
        named = names(text)
        if not named or text in seen:
            continue        # it leads to another one, or is its copy
        seen.add(text)
        real = {n for n in named - NOT_VERBS if exists(n)}
        lacking = sorted(real - have)
        tap.result(not lacking, "%s: %d names are in the table" %
                   (page, len(real)),
                   "\n".join("%s has no row" % name for name in lacking))
        for name in sorted(named - real - NOT_VERBS):
            odd.setdefault(name, page)
    for name, page in sorted(odd.items()):
        print("# %s names %s, which is in no header" % (page, name))
    return tap.done()


sys.exit(main())
