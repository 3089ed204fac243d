#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""rdma-core's own suite, as TAP.

usage: run.py [--dev NAME] [--skips FILE] [--limit SECONDS] TESTS-DIR [ID...]

Each test is a line. A skip that FILE does not explain is a failure; so is a
test that runs longer than the limit. Tests run in a child process, so that one
that hangs or crashes is lost alone: the rest goes on in a new child.
"""

import argparse
import errno
import fnmatch
import os
import re
import select
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'lib'))
from tap import Tap  # noqa: E402


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument('--dev')
    p.add_argument('--skips', help='FILE with lines: [!]PATTERN[<KERNEL] reason')
    p.add_argument('--limit', type=int, default=60)
    p.add_argument('dir')
    p.add_argument('ids', nargs='*')
    return p.parse_args()


def get_ip_mac(self, dev, port, idx):
    """The suite looks for a netdev that has the same parent as the device. One
    in software has no parent, and says itself which netdev it stands on."""
    with open(f'/sys/class/infiniband/{dev}/parent') as f:
        name = f.read().strip()
    self.args.append([dev, port, idx, *self.get_ip_mac_address(name)])


def load(args):
    """The suite as it loads itself, as a list of cases."""
    sys.path[:0] = [os.path.dirname(os.path.abspath(args.dir)),
                    os.path.abspath(args.dir)]
    sys.argv[1:] = ['--dev', args.dev] if args.dev else []
    import tests
    import tests.base
    from args_parser import parser
    parser.parse_args()
    tests.base.RDMATestCase._get_ip_mac = get_ip_mac
    todo, found = [unittest.defaultTestLoader.loadTestsFromModule(tests)], []
    while todo:
        item = todo.pop(0)
        if isinstance(item, unittest.TestSuite):
            todo[:0] = list(item)
        else:
            found.append(item)
    return found


# What stands before the reason of a skip that is an error for the suite's own runner
ERROR = 'unittest counts an error: '


class Report(unittest.TestResult):
    """Tell the parent what starts and how it ends, a line each."""

    def say(self, *words):
        text = ' '.join(str(w) for w in words)
        os.write(self.out, ' '.join(text.split()).encode() + b'\n')

    def startTest(self, test):
        super().startTest(test)
        self.failed = False
        self.say('START', test.id())

    def bad(self, test, err):
        self.failed = True
        for line in self._exc_info_to_string(err, test).splitlines():
            os.write(self.out, b'NOTE ' + line.encode() + b'\n')

    def addError(self, test, err):
        """Where the suite does not expect that a call isn't there, it is a skip
        all the same, with a reason to be given like that of any."""
        if getattr(err[1], 'error_code', 0) == errno.EOPNOTSUPP:
            self.say('SKIP', test.id(), ERROR, err[1])
            return
        if not hasattr(test, '_testMethodName'):  # setUpClass
            self.say('START', test.id())
            self.bad(test, err)
            self.say('FAIL', test.id())
            return
        self.bad(test, err)
        self.say('FAIL', test.id())

    def addFailure(self, test, err):
        self.bad(test, err)
        self.say('FAIL', test.id())

    def addSubTest(self, test, subtest, err):
        if err:
            self.bad(test, err)

    def addSkip(self, test, reason):
        self.say('SKIP', test.id(), reason)

    def addSuccess(self, test):
        self.say('FAIL' if self.failed else 'PASS', test.id())


def child(cases, out):
    """Run the cases, in order; what they print is not for us."""
    report = Report()
    report.out = out
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    for case in cases:
        unittest.TestSuite([case]).run(report)
    os._exit(0)


class SuiteTap(Tap):
    """Skips have to be explained by a list, if there is one."""

    def __init__(self, skips):
        super().__init__()
        self.skips = skips

    def skip(self, name, reason):
        if self.skips is None:
            super().skip(name, reason)
            return
        for pattern, why in self.skips:
            if fnmatch.fnmatchcase(name, pattern.lstrip('!')):
                error = ERROR if reason.startswith(ERROR.strip()) else ''
                super().skip(name, error + why)
                return
        self.result(False, name,
                    f'skipped, and the list does not say why: {reason}')


def not_run(tap, todo):
    """Skip those of @todo that the list says are not to be run, and take them off."""
    for pattern, why in tap.skips or []:
        for name in fnmatch.filter(todo, pattern[1:]) if pattern[0] == '!' else []:
            Tap.skip(tap, name, why)
            del todo[name]


def version(text):
    """(6, 1) of 6.1.0-56-amd64"""
    return tuple(int(n) for n in re.match(r'(\d+)\.(\d+)', text).groups())


def read_skips(path):
    """PATTERN, perhaps with <6.2 (only on kernels before that), white space,
    reason; first match counts. What has a ! in front is not run."""
    if not path:
        return None
    with open(path) as f:
        lines = [l.strip() for l in f]
    skips = []
    for line in lines:
        if not line or line[0] == '#':
            continue
        pattern, why = line.split(None, 1)
        pattern, _, before = pattern.partition('<')
        if not before or version(os.uname().release) < version(before):
            skips.append((pattern, why))
    return skips


def lines_of(fd, limit):
    """Lines of a child; None and the end when it is silent for too long."""
    buf = b''
    end = time.monotonic() + limit
    while True:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        if not ready:
            yield None
            return
        data = os.read(fd, 65536)
        if not data:
            return
        *whole, buf = (buf + data).split(b'\n')
        for line in whole:
            yield line.decode(errors='replace')
        if whole:
            end = time.monotonic() + limit


def relay(fd, limit, tap, todo):
    """Pass results on and take them off @todo; returns what was running last
    and why nothing more came."""
    now, notes = None, []
    for line in lines_of(fd, limit):
        if line is None:
            return now, f'silent for {limit} s'
        word, _, rest = line.partition(' ')
        if word == 'START':
            now, notes = rest, []
        elif word == 'NOTE':
            notes.append(rest)
        elif word == 'SKIP':
            now, _, reason = rest.partition(' ')
            tap.skip(now, reason)
        else:
            tap.result(word == 'PASS', rest, '\n'.join(notes))
            now = rest
        if word in ('SKIP', 'PASS', 'FAIL'):
            todo.pop(now, None)
            now = None
    return now, 'its process died'


def run_some(args, tap, todo):
    """Run as many of @todo (id: case) as one child lives for."""
    fd, out = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(fd)
        child(todo.values(), out)
    os.close(out)
    now, why = relay(fd, args.limit, tap, todo)
    os.close(fd)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(pid, 0)
    if todo:
        name = now or next(iter(todo))
        tap.result(False, name, why)
        todo.pop(name, None)


def main():
    args = parse_args()
    cases = {t.id(): t for t in load(args)
             if not args.ids or
             any(fnmatch.fnmatchcase(t.id(), f'*{i}*') for i in args.ids)}
    tap = SuiteTap(read_skips(args.skips))
    # a process for each module
    for module in sorted({n.split('.')[-3] for n in cases}):
        todo = {n: c for n, c in cases.items() if n.split('.')[-3] == module}
        not_run(tap, todo)
        while todo:
            run_some(args, tap, todo)
    sys.exit(tap.done())


if __name__ == '__main__':
    main()
