# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Programs that want all of a CPU, beside what is tested. Sourced.

SPINNERS=()

spin_begin()	# number
{
	local i
	for ((i = 0; i < $1; i++)); do
		while :; do :; done &
		SPINNERS+=($!)
	done
}

spin_end()
{
	[ ${#SPINNERS[@]} -eq 0 ] || kill "${SPINNERS[@]}"
	wait "${SPINNERS[@]}" 2>/dev/null
	SPINNERS=()
}
