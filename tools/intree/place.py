#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Put the flattened sources into a kernel's source, and make its files know of them.

usage: place.py FLAT LINUX DOCUMENT

FLAT has drv/, uapi/ and Kbuild, without compat (flatten.py). DOCUMENT is the file for
Documentation/infiniband. Whatever was put there before is replaced.
"""

import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).parent
HOME = pathlib.Path('drivers/infiniband/sw/sroce')
DOCUMENT = pathlib.Path('Documentation/infiniband/sroce.rst')


def home_of(path):
    """The place in HOME of drv/core/qp.h or uapi/sroce_abi.h."""
    return pathlib.PurePath(*pathlib.PurePath(path).parts[1:])


def adapt(text, place):
    """Includes by paths from the file itself: include/net has a raw.h, too."""
    def include(match):
        target = home_of(match[1])
        return f'#include "{os.path.relpath(target, place.parent)}"'
    text = re.sub(r'#include "((?:drv|uapi)/[^"]*)"', include, text)
    text = text.replace('#define TRACE_INCLUDE_PATH drv\n',
                        f'#define TRACE_INCLUDE_PATH ../../{HOME}\n')
    text = text.replace('drv/README.md', str(DOCUMENT))
    return re.sub(r'\bdrv/(?=\w)', '', text)


def sources(flat, linux):
    home = linux / HOME
    shutil.rmtree(home, ignore_errors=True)
    for source in sorted([*flat.glob('drv/**/*.[ch]'), *flat.glob('uapi/*.h')]):
        relative = source.relative_to(flat)
        if relative.parts[1] == 'compat':
            continue
        place = home_of(relative)
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text(adapt(source.read_text(), place))
    shutil.copy(HERE / 'Kconfig', home / 'Kconfig')


def makefile(flat, linux):
    """Kbuild, without compat and what only a module out of the tree needs."""
    text = (flat / 'Kbuild').read_text()
    text = text[:text.index("# What this kernel's interfaces are like")].rstrip() + '\n'
    text = text.replace('obj-m := sroce.o', 'obj-$(CONFIG_RDMA_SROCE) += sroce.o')
    text = re.sub(r'\n# #include paths .*\nccflags-y := -I.*\n', '', text)
    text = re.sub(r'(# The floors: .*\n(?:#.*\n)*?).*tools/floors\.py.*\n',
                  lambda m: m[1] + '# core/env.h.\n', text)
    text = re.sub(r'\bdrv/(?=\w)', '', text).replace('(addprefix drv/', '(addprefix ')
    (linux / HOME / 'Makefile').write_text(text)


def insert(path, line, before=None, after=None):
    """Add @line to the file @path, before or after the first line with that pattern."""
    text = path.read_text()
    if line in text:
        return
    match = re.search(f'^.*(?:{before or after}).*\n', text, re.M)
    if not match:
        sys.exit(f'{path}: has no {before or after}')
    at = match.start() if before else match.end()
    path.write_text(text[:at] + line + text[at:])


def maintainers(path):
    """The entries are in the order of their names."""
    entry = (HERE / 'MAINTAINERS').read_text()
    text = path.read_text()
    start = text.index('Maintainers List')
    title = entry.split('\n', 1)[0]
    # an older form of it
    text = text[:start] + re.sub(rf'(?<=\n\n){re.escape(title)}\n(.+\n)+\n', '', text[start:])
    for section in re.finditer(r'(?<=\n\n)(\S.*)\n(?=[A-Z]:\t)', text[start:]):
        if section[1].upper() > title.upper():
            at = start + section.start()
            path.write_text(text[:at] + entry + text[at:])
            return
    sys.exit(f'{path}: no place found')


def main():
    flat, linux, document = map(pathlib.Path, sys.argv[1:])
    sources(flat, linux)
    makefile(flat, linux)
    shutil.copy(document, linux / DOCUMENT)
    infiniband = linux / 'drivers/infiniband'
    insert(infiniband / 'Kconfig', 'source "drivers/infiniband/sw/sroce/Kconfig"\n',
           after='sw/siw/Kconfig')
    insert(infiniband / 'sw/Makefile', 'obj-$(CONFIG_RDMA_SROCE)\t\t+= sroce/\n',
           after=r'\+= siw/')
    insert(linux / DOCUMENT.parent / 'index.rst', '   sroce\n', before='^   sysfs')
    maintainers(linux / 'MAINTAINERS')


main()
