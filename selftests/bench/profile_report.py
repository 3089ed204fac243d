#!/usr/bin/python3
# Tables of what selftests/bench/profile.sh has counted: instructions of a unit by what they are
# for, and for each case a list of functions.
#
# usage: profile_report.py [--readme FILE] DIR <cases
#
# With --readme the table becomes what is between FILE's marks.
#
# DIR has CASE-CONTENDER.blocks (selftests/bench/profile_plugin.c) and CASE-CONTENDER.symbols, as
# /proc/kallsyms; CASE-CONTENDER.txt is added.

import argparse
import bisect
import collections
import re
import sys

# A doorbell, which a user's send queue has in common with any driver's
DOORBELL = "ib_uverbs_post_send"
CONTENDERS = ("sroce", "rxe")

# The first that matches; a symbol of a module is "name [module]".
GROUPS = [
    ("CRC", r"crc32|\[crc32_pclmul\]|crypto_shash|clmul|sroce_icrc|rxe_icrc|"
            r"kernel_fpu|irq_fpu"),
    ("copying, clearing", r"copy_words|memcpy|memmove|copy_page|memset|clear_page"),
    ("the driver", r"\[(sroce|rdma_rxe|ib_core)\]"),
    ("the system call", r"\[ib_uverbs\]|\[rdma_ucm\]|SYSCALL|syscall|sysret|sys_call|x64_sys|"
     r"user|uobject|ksys|vfs_|fget|fdget|rw_verify|file_perm|file_ioctl|selinux_file|"
     r"inode_security|ioctl|tomoyo|avc_|file_has_perm|__check_object|check_stack_object|"
     r"check_heap_object|virt_addr_valid|fsnotify|memdup|radix_tree|srcu|check_spread|"
     r"inode_has_perm|map_id_range|__get_user|bpf_fd|copy_mc"),
    ("the IP stack and the veth", r"^_?_?(ip|udp|fib|nf_|netif|dev_|eth_|neigh|net_|napi|skb|"
     r"raw_local|selinux_ip|selinux_parse_skb|selinux_xfrm|netlbl|dst_|inet|l3mdev|"
     r"validate_xmit|process_backlog|enqueue_to_backlog|compute_score|build_skb|alloc_skb|"
     r"kfree_skb|consume_skb|netdev|sch_|qdisc|ipv4|udpv4|copy_skb|siphash|"
     r"udp4|kmalloc_reserve|page_frag)|\[veth\]|\[udp_tunnel\]"),
]
REST = "the rest"
PROGRAM = "the program"
ORDER = [PROGRAM] + [g[0] for g in GROUPS] + [REST]


def symbols(path):
    found = []
    with open(path) as f:
        for line in f:
            p = line.split()
            if p[1] in "tTwWaA" and not p[2].startswith(("__pfx_", ".L")):
                found.append((int(p[0], 16), " ".join(p[2:])))
    found.sort()
    return [s[0] for s in found], [s[1] for s in found]


class Profile:
    """Instructions and entries by function, in one case of one contender"""

    def __init__(self, path):
        self.insns = collections.Counter()
        self.calls = collections.Counter()
        addrs, names = symbols(path + ".symbols")
        with open(path + ".blocks") as f:
            for line in f:
                addr, n, runs = line.split()
                addr, n, runs = int(addr, 16), int(n), int(runs)
                if addr < 1 << 63:
                    self.insns[PROGRAM] += n * runs
                    continue
                i = bisect.bisect_right(addrs, addr) - 1
                self.insns[names[i]] += n * runs
                if addrs[i] == addr:
                    self.calls[names[i]] += runs

    def units(self, per, name):
        n = sum(c for s, c in self.calls.items() if s.split(" ")[0] == DOORBELL)
        if n < 100:
            sys.exit("profile_report.py: %s: only %d doorbells" % (name, n))
        return n * per

    def forget_program(self):
        """It polls while it waits"""
        del self.insns[PROGRAM]

    def groups(self):
        by = collections.Counter()
        for name, n in self.insns.items():
            by[group_of(name)] += n
        return by

    def listing(self, units):
        yield "%10.1f instructions" % (sum(self.insns.values()) / units)
        for name, n in self.insns.most_common(150):
            yield "%10.1f %8.2f calls  %s  (%s)" % (
                n / units, self.calls[name] / units, name, group_of(name))


def group_of(name):
    if name == PROGRAM:
        return PROGRAM
    for group, pattern in GROUPS:
        if re.search(pattern, name):
            return group
    return REST


def table(columns):
    yield "| | all | %s |" % " | ".join(ORDER)
    yield "| --- |" + " ---: |" * (len(ORDER) + 1)
    for name, by in columns:
        yield "| %s | %s |" % (name, " | ".join(
            format(round(n), ",") if n else "-"
            for n in [sum(by.values())] + [by.get(g, 0) for g in ORDER]))


def to_readme(path, title, lines):
    with open(path) as f:
        text = f.read()
    new = "\n".join(["<!-- profile: begin -->", title, "", *lines, "<!-- profile: end -->"])
    text, n = re.subn("<!-- profile: begin -->.*<!-- profile: end -->",
                      lambda m: new, text, flags=re.S)
    if n != 1:
        sys.exit("profile_report.py: %s has no marks" % path)
    with open(path, "w") as f:
        f.write(text)


def column(where, line):
    """Of each contender a name, and instructions of a unit by group"""
    case, cpus, _, _, per, unit, _ = line.rstrip("\n").split(":", 6)
    for who in CONTENDERS:
        path = "%s/%s-%s" % (where, case, who)
        try:
            p = Profile(path)
        except FileNotFoundError:
            continue
        units = p.units(int(per), path)
        if int(cpus) > 1:
            p.forget_program()
        with open(path + ".txt", "w") as f:
            print(*p.listing(units), sep="\n", file=f)
        yield ("%s: %s, %s" % (case, unit, who),
               {g: n / units for g, n in p.groups().items()})


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--readme")
    args.add_argument("where")
    args = args.parse_args()
    columns = [c for line in sys.stdin for c in column(args.where, line)]
    if not columns:
        sys.exit("profile_report.py: nothing was counted")
    lines = list(table(columns))
    with open(args.where + "/title") as f:
        title = f.read().strip()
    if args.readme:
        to_readme(args.readme, title, lines)
    else:
        print(title, "", *lines, sep="\n")


main()
