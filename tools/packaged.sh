#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whether a file came with a package, which alone may remove it.
#
# usage: tools/packaged.sh FILE
FILE=$(realpath "$1")
dpkg -S "$FILE" >/dev/null 2>&1 || rpm -qf "$FILE" >/dev/null 2>&1
