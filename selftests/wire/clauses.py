# SPDX-License-Identifier: GPL-2.0
"""The list of clauses, and what `wire --list` says of scripts and rules."""
import dataclasses


@dataclasses.dataclass
class Clause:
    """A line of the list: what has to be so, and who notices if not"""
    section: str
    text: str
    names: list = dataclasses.field(default_factory=list)
    reason: str = ""


@dataclasses.dataclass
class Item:
    """A script or a rule"""
    name: str
    level: str
    sections: list
    text: str


def read_clauses(lines):
    """The list; ValueError names the line that is none."""
    found = []
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if not line.startswith("\t"):
            section, _, text = line.partition(" ")
            if not text:
                raise ValueError(f"line {number}: SECTION TEXT")
            found.append(Clause(section, text))
        elif not found:
            raise ValueError(f"line {number}: of which clause?")
        elif line.startswith("\tnone: "):
            found[-1].reason = line[7:]
        else:
            found[-1].names += line.split()
    return found


def read_list(lines):
    """What `wire --list` prints, by name; those of rules begin with "rule:"."""
    items = {}
    for line in lines:
        kind, name, level, sections, text = line.rstrip("\n").split("\t")
        if kind == "rule":
            name = "rule:" + name
        items[name] = Item(name, level, sections.split(), text)
    return items


def mistakes(clauses, items):
    """What the list and the heads of scripts don't agree on."""
    bad = []
    listed = {}
    for clause in clauses:
        if bool(clause.names) == bool(clause.reason):
            bad.append(f"{clause.section} {clause.text}: scripts, or a reason for none")
        for name in clause.names:
            listed.setdefault(name, set()).add(clause.section)
    for name, sections in listed.items():
        if name not in items:
            bad.append(f"{name}: no such script")
        elif not name.startswith("rule:") and sections - set(items[name].sections):
            bad.append(f"{name}: has no clause {' '.join(sections)}")
    for name, item in items.items():
        for section in item.sections:
            if section not in listed.get(name, ()):
                bad.append(f"{name}: is not in the list at {section}")
    return bad
