#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Reports of what conformance.sh has found.

usage: report.py DIRECTORY		text, JSON and HTML, in DIRECTORY
       report.py --table DIRECTORY...	a table of what each fails, in Markdown

DIRECTORY is named DEVICE-KERNEL and has
    list      what `wire --list` prints
    records   lines of fields with tabs between them:
              case SCRIPT TITLE FAMILY pass|fail|skip REASON
              note SCRIPT TITLE FAMILY RULE TEXT
              found SCRIPT hang|kernel|crash|died TEXT
    release   of the kernel
"""
import collections
import dataclasses
import html
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import clauses  # noqa: E402

DEVICES = {"rxe": "rdma_rxe"}
LEVELS = {"must": "the specification demands it",
          "may": "the specification leaves it open, or recommends it",
          "sroce": "sroce's own, beyond the specification"}


@dataclasses.dataclass
class Result:
    """What a script, or a rule, has come to"""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: list = dataclasses.field(default_factory=list)  # (where, text)
    found: list = dataclasses.field(default_factory=list)    # (what, text)

    @property
    def verdict(self):
        """One word"""
        if self.failed or self.found:
            return "fails"
        if self.passed:
            return "passes"
        return "skipped" if self.skipped else "not run"

    @property
    def cell(self):
        """The same for a table"""
        if self.found:
            return self.found[0][0]
        if self.failed and self.passed:
            return f"fails {self.failed} of {self.failed + self.passed}"
        return self.verdict


def read_records(lines, items):
    """Results by script and rule"""
    results = collections.defaultdict(Result)
    for line in lines:
        kind, name, *rest = line.rstrip("\n").split("\t")
        result = results[name]
        if kind == "found":
            result.found.append(tuple(rest))
            continue
        title, family, what, text = rest
        where = f"{title}, {family}"
        if kind == "note":
            if name in items and items[name].level == "sroce":
                continue    # by what sroce does, not by what the rule says
            rule = results["rule:" + what]
            rule.failed += 1
            rule.reasons.append((f"{name}: {where}", text))
        elif what == "skip":
            result.skipped += 1
            result.reasons.append((where, text))
        elif what == "fail":
            result.failed += 1
            result.reasons.append((where, text))
        else:
            result.passed += 1
    cases = sum(r.passed + r.failed for n, r in results.items() if not n.startswith("rule:"))
    for name in items:
        # a rule is a matter of all packets: nobody has counted those that keep it
        if name.startswith("rule:") and cases and not results[name].failed:
            results[name].passed = cases
    return results


class Report:
    """A directory of conformance.sh"""

    def __init__(self, directory):
        self.path = pathlib.Path(directory)
        device, _, self.kernel = self.path.resolve().name.partition("-")
        self.device = DEVICES.get(device, device)
        with (self.path / "list").open(encoding="utf-8") as lines:
            self.items = clauses.read_list(lines)
        with (self.path / "records").open(encoding="utf-8", errors="replace") as lines:
            self.results = read_records(lines, self.items)
        release = self.path / "release"
        self.release = release.read_text().strip() if release.exists() else self.kernel
        with (HERE / "clauses").open(encoding="utf-8") as lines:
            self.clauses = clauses.read_clauses(lines)

    def of_level(self, level):
        """Items of a level that were run, and those of them that fail"""
        ran = [n for n, i in self.items.items() if i.level == level and
               self.results[n].verdict in ("passes", "fails")]
        return ran, [n for n in ran if self.results[n].verdict == "fails"]

    def is_bad(self):
        """It does not do what it must, or something else than an answer was found"""
        return bool(self.of_level("must")[1] or any(r.found for r in self.results.values()))

    def verdict(self, clause):
        """fails: where it must not; differs: where it may; passes; or nobody asked"""
        verdicts = {(self.items[n].level, self.results[n].verdict) for n in clause.names
                    if n in self.items}
        if ("must", "fails") in verdicts:
            return "fails"
        if ("may", "fails") in verdicts:
            return "differs"
        if {("must", "passes"), ("may", "passes")} & verdicts:
            return "passes"
        if {("sroce", "passes"), ("sroce", "fails")} & verdicts:
            return "sroce's only"
        return "untested" if clause.names else "no script"

    def summary(self):
        """A line for each level"""
        for level, text in LEVELS.items():
            ran, failed = self.of_level(level)
            yield f"{level}: {len(ran)} scripts and rules, {len(failed)} fail ({text})"


def details(result):
    """Why it fails: each reason once, with the first case and how many there are"""
    first, count = {}, collections.Counter()
    for where, text in result.reasons:
        first.setdefault(text, where)
        count[text] += 1
    for what, text in result.found:
        yield f"{what}: {text}"
    for text, where in first.items():
        more = f" (and {count[text] - 1} more)" if count[text] > 1 else ""
        yield f"{where}{more}: {text}"


def as_text(report):
    """Lines of the text report"""
    yield f"{report.device} on Linux {report.release}"
    yield ""
    yield from report.summary()
    for clause in report.clauses:
        yield ""
        yield f"{clause.section}  {clause.text}: {report.verdict(clause)}"
        if clause.reason:
            yield f"    {clause.reason}"
        for name in clause.names:
            item, result = report.items.get(name), report.results[name]
            if not item:
                continue
            yield f"    {name} ({item.level}): {result.cell}: {item.text}"
            if result.verdict != "passes":
                yield from (f"        {line}" for line in list(details(result))[:8])


def as_data(report):
    """What becomes JSON"""
    def item(name):
        entry, result = report.items[name], report.results[name]
        return {"name": name, "level": entry.level, "text": entry.text,
                "verdict": result.verdict, "passed": result.passed,
                "failed": result.failed, "skipped": result.skipped,
                "found": [{"what": w, "text": t} for w, t in result.found],
                "reasons": [{"case": w, "text": t} for w, t in result.reasons]}
    return {"device": report.device, "kernel": report.release,
            "clauses": [{"section": c.section, "text": c.text, "verdict": report.verdict(c),
                         "reason": c.reason,
                         "items": [item(n) for n in c.names if n in report.items]}
                        for c in report.clauses]}


STYLE = """body{font:15px/1.4 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ccc;padding:.3em;
text-align:left;vertical-align:top}.fails{background:#fdd}.differs{background:#ffd}
.passes{background:#dfd}li{margin:.2em 0}code{font-size:90%}"""


def html_item(report, name):
    """An item of a clause"""
    item, result = report.items[name], report.results[name]
    lines = [] if result.verdict == "passes" else list(details(result))[:8]
    why = "".join(f"<br><code>{html.escape(line)}</code>" for line in lines)
    return (f"<li>{html.escape(name)} ({item.level}): <b>{html.escape(result.cell)}</b>. "
            f"{html.escape(item.text)}{why}</li>")


def as_html(report):
    """The page, line by line"""
    title = html.escape(f"{report.device} on Linux {report.release}")
    yield f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title>"
    yield f"<style>{STYLE}</style><h1>{title}</h1><ul>"
    yield from (f"<li>{html.escape(line)}</li>" for line in report.summary())
    yield "</ul><table><tr><th>section<th>what<th>verdict"
    for clause in report.clauses:
        verdict = report.verdict(clause)
        names = [n for n in clause.names if n in report.items]
        inner = "".join(html_item(report, n) for n in names) or \
            f"<li>{html.escape(clause.reason)}</li>"
        yield (f'<tr class="{verdict}"><td>{clause.section}<td><details><summary>'
               f"{html.escape(clause.text)}</summary><ul>{inner}</ul></details><td>{verdict}")
    yield "</table></html>"


def order(section):
    """Sections as they follow each other, annexes behind chapters"""
    return [section.startswith("A")] + [int(n) for n in section.lstrip("A").split(".")]


def short(text):
    """A reason without the line that it was found at, and without addresses"""
    text = re.sub(r"^line \d+: (.*?): ", "", text)
    return text.replace("|", "\\|")


def how(reports, name):
    """The first reason of the first that fails"""
    for report in reports:
        result = report.results[name]
        if result.found:
            return short(result.found[0][1])
        if result.failed:
            return short(result.reasons[0][1])
    return ""


def as_table(reports):
    """What each fails, by level"""
    heads = [f"{r.device} {r.kernel}" for r in reports]
    yield f"| level | {' | '.join(heads)} |"
    yield "| --- |" + " --- |" * len(heads)
    for level in LEVELS:
        counts = [f"{len(failed)} of {len(ran)} fail"
                  for ran, failed in (r.of_level(level) for r in reports)]
        yield f"| {level} | {' | '.join(counts)} |"
    items = {n: i for r in reports for n, i in r.items.items()}
    for level in ("must", "may"):
        rows = [n for n, i in items.items() if i.level == level and
                any(r.results[n].verdict == "fails" for r in reports)]
        yield ""
        yield f"| {level}: section | script or rule | what | {' | '.join(heads)} | how, first |"
        yield "| --- | --- | --- |" + " --- |" * len(heads) + " --- |"
        for name in sorted(rows, key=lambda n: (order(items[n].sections[0]), n)):
            cells = [r.results[name].cell for r in reports]
            yield (f"| {' '.join(items[name].sections)} | {name} | {items[name].text} | "
                   f"{' | '.join(cells)} | {how(reports, name)} |")


def write(path, text):
    """A file whose last line has an end"""
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def main():
    """Reports, or the table"""
    if len(sys.argv) > 2 and sys.argv[1] == "--table":
        reports = [Report(d) for d in sys.argv[2:]]
        reports.sort(key=lambda r: (r.device != "sroce", [
            int(n) for n in re.findall(r"\d+", r.kernel)[:2]]))
        print("\n".join(as_table(reports)))
        return 0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    report = Report(sys.argv[1])
    write(report.path / "report.txt", "\n".join(as_text(report)))
    write(report.path / "report.json", json.dumps(as_data(report), indent=1))
    write(report.path / "report.html", "\n".join(as_html(report)))
    print("\n".join([f"{report.device} on Linux {report.release}", *report.summary(),
                     f"see {sys.argv[1]}/report.txt, .json, .html"]))
    return 1 if report.is_bad() else 0


if __name__ == "__main__":
    sys.exit(main())
