#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Take compat out of the sources, for one kernel.

usage: flatten.py PROBED_H DIRECTORY

DIRECTORY has a copy of drv/, which is changed in place: unifdef removes the branches that
the kernel of PROBED_H (drv/compat/probe.sh) does not take; macros of compat.h are expanded;
Coccinelle puts what a function of compat.h does in the place of its calls.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

NAME = r'[A-Za-z_]\w*'
INCLUDE = re.compile(r'#include "drv/compat/(\w+\.h)"\n')

# What a replaced call leaves: &x of a pointer's member, flags that are 0
TIDY = '''
@@ expression E; identifier f; @@
-(&E)->f
+E.f
@@ expression E; @@
-0 | E
+E
'''


def run(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def unifdef(directory, probed):
    """Keep what this kernel takes, in all files below @directory."""
    files = sorted(str(f) for f in directory.rglob('*.[ch]'))
    text = '\n'.join(pathlib.Path(f).read_text() for f in files)
    have = set(re.findall(r'#define (SROCE_HAVE_\w+)', probed.read_text()))
    asked = set(re.findall(r'\bSROCE_HAVE_\w+', text))
    flags = ['-D__KERNEL__', '-DCONFIG_64BIT']
    flags += [('-D' if name in have else '-U') + name for name in sorted(asked)]
    # -x2: a status other than 0 is an error, not a changed file
    subprocess.run(['unifdef', '-x2', '-B', '-m', *flags, *files], check=True)


class Compat:
    """compat.h without conditionals: its functions and macros."""

    def __init__(self, text):
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S).replace('\\\n', ' ')
        self.functions = []
        self.rules = []
        self.macros = {}
        self.calls = {}
        for name, args, body in re.findall(
                rf'^static inline [^;{{]*?({NAME})\(([^{{]*?)\)\n{{\n(.*?)^}}', text, re.S | re.M):
            # the name is the last word of a parameter, or of a pointer to a function
            params = [re.search(rf'\(\*({NAME})\)|({NAME})$', a.strip()) for a in
                      re.split(r',(?![^(]*\))', args)]
            self.add_rule(name, [p[1] or p[2] for p in params], body.strip())
        for name, params, body in re.findall(
                rf'^#define ({NAME})(\([^)]*\))?(.*)$', text, re.M):
            if name == 'SROCE_COMPAT_H':
                continue
            if body.strip() == 'do { } while (0)':
                self.add_rule(name, params[1:-1].split(', '), '')
            elif params:
                self.calls[name] = (params[1:-1], body.strip())
            else:
                self.macros[name] = body.strip()

    def add_rule(self, name, params, body):
        """Replace calls of @name by @body: an expression that is returned, or statements."""
        call = f'{name}({", ".join(params)})'
        if name.lower().startswith('sroce_'):
            self.functions.append(name)
        value = re.fullmatch(r'return (.*);', body, re.S)
        end = '' if value else ';'
        new = (value[1] if value else body).splitlines()
        self.rules.append('\n'.join(['@@', f'expression {", ".join(params)};', '@@',
                                     f'-{call}{end}', *('+' + line.strip() for line in new)]))

    def names(self):
        return '|'.join([*self.functions, *self.macros, *self.calls])

    def script(self):
        return '\n'.join(self.rules) + '\n' + TIDY

    def expand(self, text):
        """Macros may have other macros in their bodies."""
        before = None
        while text != before:
            before, text = text, self.expand_once(text)
        return text

    def expand_once(self, text):
        for name, body in self.macros.items():
            if body:
                text = re.sub(rf'\b{name}\b', body, text)
            else:
                text = re.sub(rf'^[ \t]*{name}\n|(?<=\S)[ \t]+{name}\b|\b{name}\b[ \t]*',
                              '', text, flags=re.M)
        for name, (param, body) in self.calls.items():
            body = re.sub(rf'#{param}\b', r'"\\1"', body)
            body = re.sub(rf'\b{param}\b', r'\\1', body)
            text = re.sub(rf'\b{name}\(({NAME})\)', body, text)
        return text


def add_include(text, line):
    """Put @line among the other #include <...>, in the order of their names."""
    lines = text.splitlines(keepends=True)
    if line in lines:
        return text
    others = [i for i, other in enumerate(lines) if other.startswith('#include <')]
    later = [i for i in others if lines[i] > line]
    first_own = next(i for i, other in enumerate(lines) if other.startswith('#include "'))
    lines.insert(later[0] if later else others[-1] + 1 if others else first_own, line)
    return ''.join(lines)


def explain_unused(text):
    """kernel-doc lines for arguments unused_... that this kernel passes and others don't."""
    def explain(match):
        doc, declaration = match.groups()
        names = re.findall(rf'({NAME})\s*[,)]', declaration[declaration.index('('):])
        for before, name in zip(names, names[1:]):
            if name.startswith('unused_') and f'@{name}:' not in doc:
                doc = re.sub(rf'( \* @{before}:.*\n(?: \*\t.*\n)*)',
                             rf'\1 * @{name}: unused\n', doc)
        return doc + declaration
    return re.sub(rf'(/\*\*\n(?: \*.*\n)+? \*/\n)([^;{{}}#]*?\)\n{{)', explain, text)


def main():
    probed, directory = map(pathlib.Path, sys.argv[1:])
    unifdef(directory, probed)
    home = directory / 'drv' / 'compat'
    compat = Compat((home / 'compat.h').read_text())
    unaligned = re.search(r'^#include <.*\n', (home / 'unaligned.h').read_text(), re.M)[0]
    files = [f for f in sorted(directory.rglob('*.[ch]')) if home not in f.parents]
    for f in files:
        text = f.read_text()
        if '"drv/compat/unaligned.h"' in text:
            text = add_include(text, unaligned)
        f.write_text(compat.expand(INCLUDE.sub('', text)))
    with tempfile.NamedTemporaryFile('w', suffix='.cocci') as script:
        script.write(compat.script())
        script.flush()
        run('spatch', '--very-quiet', '--in-place', '--max-width', '100',
            '--sp-file', script.name, *map(str, files))
    for f in files:
        f.write_text(explain_unused(f.read_text()))
        left = re.search(rf'.*(SROCE_HAVE_|drv/compat/|\b({compat.names()})\b).*', f.read_text())
        if left:
            sys.exit(f'{f}: left of compat: {left[0]}')


main()
