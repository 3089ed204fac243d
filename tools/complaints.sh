# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What a kernel log must not contain. Sourced by tools/vm.sh; tested, line by
# line, by selftests/harness/run.sh.

# How the kernel prints its complaints, not just words in them: a message that
# merely mentions a warning is none.
COMPLAINTS='WARNING: |BUG: |BUG [a-z][^ ]* \(|kernel BUG at|Oops|cut here'
COMPLAINTS+='|general protection fault|divide error: |double fault: |invalid opcode'
COMPLAINTS+='|Kernel panic|Call Trace:|segfault at'
# locks, contexts, RCU
COMPLAINTS+='|possible (circular|recursive|irq lock|deadlock)|inconsistent lock'
COMPLAINTS+='|suspicious RCU|held lock freed|lock held when returning'
COMPLAINTS+='|scheduling while atomic|sleeping function called|RTNL: assertion failed'
# memory
COMPLAINTS+='|K(A|C|M)SAN: |UBSAN: |KFENCE: |refcount_t: |list_(add|del) corruption'
COMPLAINTS+='|ODEBUG: |DMA-API: |page allocation failure|Out of memory: '
# somebody waits for ever
COMPLAINTS+='|blocked for more than|soft lockup|hard LOCKUP|NETDEV WATCHDOG'
COMPLAINTS+='|rcu.*(detected stalls|self-detected stall|expedited stalls|kthread starved)'
# something is left behind
COMPLAINTS+='|kmemleak: [0-9]+ new suspected|leaked|detected leak|Objects remaining|still has objects'
COMPLAINTS+='|unregister_netdevice: waiting|cannot create duplicate filename'

# KCSAN reports the races of the whole kernel, which has many. Those are left out whose
# two accesses are both of code outside our modules.
without_foreign_races()
{
	awk '
	/====================/ && race { if (ours) printf "%s%s\n", block, $0
		block = ""; race = ours = 0; next }
	/====================/ { printf "%s", block; block = $0 "\n"; next }
	/BUG: KCSAN: / { race = 1 }
	access && /\[(sroce|kverbs|trouble)\]/ { ours = 1 }
	{ access = / by (task|interrupt)/ }
	race { block = block $0 "\n"; next }
	{ printf "%s%s\n", block, $0; block = "" }
	END { printf "%s", block }'
}

# Print the first complaint in a log with what is around it, and the lines of
# all others; false when there is none. The stacks that the guest asked for at a
# time limit are no complaint.
complaint()	# log...
{
	local log found
	for log in "$@"; do
		[ -e "$log" ] || continue
		found=$(tr -d '\r\0' <"$log" |
			sed '/blocked tasks and CPUs follow/,/end of blocked tasks and CPUs/d' |
			without_foreign_races)
		grep -aE -m1 -B3 -A45 "$COMPLAINTS" <<<"$found" || continue
		echo "all complaints:"
		# all of them are read: who writes to a pipe that was closed has failed
		grep -aE "$COMPLAINTS" <<<"$found" | uniq | sed -n 1,30p
		return 0
	done
	return 1
}

# The first line of a complaint that says what it is about, from where it says so
first_complaint()	# file
{
	grep -aoE "($COMPLAINTS).*" "$1" |
		awk '!/^cut here/ && !n++; END { if (!n) print "none" }'
}
