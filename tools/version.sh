#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Print the version, from drv/version.h.
set -euo pipefail
awk '/^#define SROCE_(MAJOR|MINOR|PATCH)\t/ { printf "%s%s", dot, $3; dot = "." }
	END { print "" }' "$(dirname "${BASH_SOURCE[0]}")/../drv/version.h"
