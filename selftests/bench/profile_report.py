#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tables of what profile.sh has counted: instructions of a unit by what they are
for, and for each case a list of functions. Of cases of 1, 2 and 4 CPUs another table says what
each of them does of a unit, and how much more that is in all than with one; the exit
status is 1 if it is more than may be.

usage: profile_report.py DIR <cases
       profile_report.py --figures WHERE [DIR <cases]

DIR has CASE-CONTENDER.blocks (see profile_plugin.c) and CASE-CONTENDER.symbols,
as /proc/kallsyms; CASE-CONTENDER.txt is added. With --figures, rows of WHERE/profile.csv
are replaced by those of DIR, if one is given, and the others stay; and from profile.csv
the tables between the marks in WHERE/README.md.
"""

import argparse
import bisect
import collections
import csv
import os
import re
import sys

import marks

# A doorbell, which a user's send queue has in common with any driver's
DOORBELL = "ib_uverbs_post_send"
CONTENDERS = ("sroce", "rxe")

# The first that matches; a symbol of a module is "name [module]".
GROUPS = [
    ("CRC", r"crc32|\[crc32_pclmul\]|crypto_shash|clmul|sroce_icrc|sroce_train_icrc|rxe_icrc|"
            r"kernel_fpu|irq_fpu"),
    ("copying, clearing", r"memcpy|memmove|copy_page|memset|clear_page"),
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

# What a unit may cost with as many QPs as CPUs, of what it costs with one of each
VCPUS_BAR = 1.10
VCPUS = [str(i) for i in range(4)]


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
        self.vcpus = collections.Counter()
        addrs, names = symbols(path + ".symbols")
        with open(path + ".blocks") as f:
            for line in f:
                addr, n, *vcpus = line.split()
                addr, n, vcpus = int(addr, 16), int(n), [int(runs) for runs in vcpus]
                runs = sum(vcpus)
                if addr < 1 << 63:
                    self.insns[PROGRAM] += n * runs
                    continue
                for vcpu, times in zip(VCPUS, vcpus):
                    self.vcpus[vcpu] += n * times
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
        """It polls while it waits; vcpus are without it anyway"""
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


def table(rows):
    """What the instructions of a unit are for"""
    yield "| | all | %s |" % " | ".join(ORDER)
    yield "| --- |" + " ---: |" * (len(ORDER) + 1)
    for row in rows:
        yield "| %s, %s | %s |" % (row["case"], row["contender"], " | ".join(
            "-" if row[g] is None else format(row[g], ",")
            for g in ["all"] + ORDER))


def percent(part, whole):
    return "%.0f %%" % (100 * part / whole) if whole else "-"


def shares(rows):
    """Which parts of that bound it"""
    by = {(r["case"], r["contender"]): r for r in rows}
    yield ("| | sroce, of rxe | CRC and copying, of sroce | neither the driver nor CRC,"
           " of sroce | the same, of all of rxe |")
    yield "| --- | ---: | ---: | ---: | ---: |"
    for case in dict.fromkeys(r["case"] for r in rows):
        own, rxe = by.get((case, "sroce")), by.get((case, "rxe"))
        if not own or not rxe:
            continue
        data = (own["CRC"] or 0) + (own["copying, clearing"] or 0)
        other = own["all"] - own["the driver"] - (own["CRC"] or 0)
        yield "| %s | %s |" % (case, " | ".join([
            percent(own["all"], rxe["all"]), percent(data, own["all"]),
            percent(other, own["all"]), percent(other, rxe["all"])]))


def vcpus(rows):
    """What a unit costs with several CPUs, of what it does with one, and who pays for it"""
    alone = {}
    yield "| | all | of one CPU's | the least and the most of a CPU |"
    yield "| --- | ---: | ---: | ---: |"
    for row in rows:
        kind, n = of_vcpus(row)
        if n == 1:
            alone[kind] = row["all"]
        each = [row["CPU " + v] for v in VCPUS[:n]]
        yield "| %s, %s | %s | %s | %s |" % (
            row["case"], row["contender"], format(row["all"], ","),
            percent(row["all"], alone.get(kind)),
            format(min(each), ",") + " - " + format(max(each), ","))


def of_vcpus(row):
    """(PLACE and contender, CPUs) of a case vcpus-PLACE-CPUS; otherwise nothing"""
    m = re.match(r"vcpus-(\w+)-(\d+):", row["case"])
    return m and ((m[1], row["contender"]), int(m[2]))


def dearer(rows):
    """Cases of several CPUs that cost more than they may; of sroce, the others' are theirs"""
    own = {of_vcpus(r): r for r in rows if r["contender"] == "sroce" and of_vcpus(r)}
    for (kind, n), row in own.items():
        one = own.get((kind, 1))
        if one and row["all"] > VCPUS_BAR * one["all"]:
            yield "%s: %d, of one CPU %d" % (row["case"], row["all"], one["all"])


COLUMNS = ["run", "case", "contender", "all"] + ORDER + ["CPU " + v for v in VCPUS]


def read_csv(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        for g in COLUMNS[3:]:
            row[g] = int(row[g]) if row.get(g) else None
    return rows


def write_csv(path, rows):
    with open(path, "w", newline="") as f:
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def text_of(rows):
    text = [rows[0]["run"], "", *table(rows)]
    if {row["contender"] for row in rows} == set(CONTENDERS):
        text += ["", *shares(rows)]
    several = [row for row in rows if of_vcpus(row)]
    if several:
        text += ["", *vcpus(several)]
    return "\n".join(text)


def text_of_runs(rows):
    return "\n\n".join(text_of([row for row in rows if row["run"] == run])
                       for run in dict.fromkeys(row["run"] for row in rows))


def merged(old, new):
    """Rows of a run, after those of older ones that it does not have"""
    there = {(row["case"], row["contender"]) for row in new}
    return [row for row in old if (row["case"], row["contender"]) not in there] + new


def column(where, line):
    """Of each contender a row: instructions of a unit by group"""
    case, vm, _, _, per, unit, _ = line.rstrip("\n").split(":", 6)
    for who in CONTENDERS:
        path = "%s/%s-%s" % (where, case, who)
        try:
            p = Profile(path)
        except FileNotFoundError:
            continue
        units = p.units(int(per), path)
        if vm != "1":
            p.forget_program()
        with open(path + ".txt", "w") as f:
            print(*p.listing(units), sep="\n", file=f)
        by = p.groups()
        yield {"case": "%s: %s" % (case, unit), "contender": who,
               "all": round(sum(by.values()) / units),
               **{g: round(by[g] / units) if by[g] else None for g in ORDER},
               **{"CPU " + v: round(n / units) for v, n in p.vcpus.items()
                  if n and vm.startswith("p")}}


def counted(where):
    """Rows of a run, whose cases are on stdin"""
    rows = [row for line in sys.stdin for row in column(where, line)]
    if not rows:
        sys.exit("profile_report.py: nothing was counted")
    with open(os.path.join(where, "title")) as f:
        run = f.read().strip()
    return [{"run": run, **row} for row in rows]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--figures", metavar="WHERE")
    args.add_argument("run", metavar="DIR", nargs="?")
    args = args.parse_args()
    if not args.figures:
        rows = counted(args.run)
        print(text_of(rows))
        missed = list(dearer(rows))
        for line in missed:
            print("profile_report.py: beyond the bar:", line, file=sys.stderr)
        sys.exit(bool(missed))
    path = os.path.join(args.figures, "profile.csv")
    if args.run:
        write_csv(path, merged(read_csv(path), counted(args.run)))
    marks.replace(os.path.join(args.figures, "README.md"), "profile",
                  text_of_runs(read_csv(path)))


main()
