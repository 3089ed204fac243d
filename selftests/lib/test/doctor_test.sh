#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce-doctor: what it says of rulesets of nftables, and how it writes addresses.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

# shellcheck source=tools/doctor-firewall.sh
. tools/doctor-firewall.sh
eval "$(sed -n '/^ROCE_PORT=/p; /^full_address()/,/^}/p' tools/sroce-doctor)"

# verdict HOOK WANTED: of the ruleset on stdin; WANTED is its beginning, or nothing
verdict()
{
	local got
	# shellcheck disable=SC2034 # of nft_verdict
	RULESET=$(cat)
	got=$(nft_verdict "$1")
	if [ -z "$2" ]; then [ -z "$got" ]; else [[ $got == "$2"* ]]; fi || {
		echo "of $1 it says \"$got\", not \"$2\""
		return 1
	}
}

# input RULE...: a chain of input whose policy is POLICY
POLICY=accept
input()
{
	printf 'table inet filter {\n\tchain input {\n'
	printf '\t\ttype filter hook input priority filter; policy %s;\n' $POLICY
	printf '\t\t%s\n' "$@"
	printf '\t}\n}\n'
}

drops() { input "udp dport $1 drop" | verdict input "rule: udp dport"; }
passes() { input "udp dport $1 drop" | verdict input ""; }

accepted_before_drop()
{
	input "udp dport 4791 accept" "udp dport 4791 drop" | verdict input "" &&
		input "udp dport 4791 drop" "udp dport 4791 accept" | verdict input "rule:"
}

closed()
{
	POLICY=drop
	input "ct state established,related accept" 'iifname "lo" accept' |
		verdict input "chain input has policy drop" &&
		input "udp dport $1 accept" | verdict input ""
}

# An accept for packets that leave does not open the way in.
accepted_on_output()
{
	POLICY=drop
	{
		input "ct state established accept"
		printf 'table inet o {\n\tchain output {\n\t\ttype filter hook output priority 0; policy drop;\n'
		printf '\t\tudp dport 4791 accept\n\t}\n}\n'
	} | verdict input "chain input has policy drop"
}

# As iptables with nftables has them: one table for each family
other_family()
{
	local family
	for family in ip ip6; do
		printf 'table %s filter {\n\tchain INPUT {\n' $family
		printf '\t\ttype filter hook input priority filter; policy drop;\n'
		[ $family = ip ] || printf '\t\tmeta l4proto udp udp dport 4791 counter packets 0 bytes 0 accept\n'
		printf '\t}\n}\n'
	done | verdict input "chain INPUT has policy drop"
}

# As firewalld has them
zones()
{
	cat <<-EOF
	table inet firewalld {
		chain filter_INPUT {
			type filter hook input priority filter + 10; policy accept;
			ct state { established, related } accept
			ct status dnat accept
			iifname "lo" accept
			ct state invalid drop
			jump filter_INPUT_ZONES
			reject with icmpx admin-prohibited
		}
		chain filter_OUTPUT {
			type filter hook output priority filter + 10; policy accept;
		}
		chain filter_INPUT_ZONES {
			iifname "eth0" goto filter_IN_public
		}
		chain filter_IN_public {
			ip6 daddr fe80::/64 udp dport 546 accept
			tcp dport 22 accept
			$1
		}
	}
	EOF
}

zone_is() { zones "$1" | verdict input "$2" && zones "$1" | verdict output ""; }

unclear() { POLICY=drop && input "$1" | verdict input unclear; }

refused() { POLICY=drop && input "$1" | verdict input "chain input has policy drop"; }

dropped_by_address() { input "ip saddr != 10.0.0.0/8 udp dport 4791 drop" | verdict input unclear; }

# The doctor's own remedy, where the rule that drops is in another chain
accepted_by_caller()
{
	{
		input "udp dport 4791 accept" "jump user"
		printf 'table inet filter {\n\tchain user {\n\t\tudp dport 4791 drop\n\t}\n}\n'
	} | verdict input ""
}

# As ufw has them
ufw()
{
	cat <<-EOF | verdict input "$2"
	table ip filter {
		chain INPUT {
			type filter hook input priority filter; policy drop;
			counter packets 1 bytes 2 jump ufw-before-input
			counter packets 1 bytes 2 jump ufw-user-input
		}
		chain ufw-before-input {
			iifname "lo" counter packets 0 bytes 0 accept
			ct state related,established counter packets 9 bytes 8 accept
			ip protocol icmp icmp type echo-request counter packets 0 bytes 0 accept
			ip protocol udp udp sport 67 udp dport 68 counter packets 0 bytes 0 accept
			ip daddr 224.0.0.251 udp dport 5353 counter packets 0 bytes 0 accept
		}
		chain ufw-user-input {
			$1
		}
	}
	EOF
}

# Who is accepted before it, and who not, is not known.
accepted_in_part() { input "$1" "udp dport 4791 drop" | verdict input unclear; }

dropped_in_part() { input "$1 drop" | verdict input unclear; }

# A drop is one, whatever is logged or counted, and if it is of new connections.
dropped_all_the_same()
{
	input "$1 counter packets 0 bytes 0 log prefix \"a \" level warn drop comment \"b\"" |
		verdict input "rule: $1"
}

in_part_elsewhere()
{
	{
		input "jump some" "jump user"
		printf 'table inet filter {\n\tchain some {\n\t\tip saddr 10.0.0.0/8 accept\n\t}\n'
		printf '\tchain user {\n\t\tudp dport 4791 drop\n\t}\n}\n'
	} | verdict input unclear
}

logs_and_drops()
{
	{
		input "tcp dport 22 accept" "jump logdrop"
		printf 'table inet filter {\n\tchain logdrop {\n\t\tlog prefix "x "\n\t\t%s\n\t}\n}\n' drop
	} | verdict input unclear
}

usual()
{
	{
		input "$1"
		printf 'table inet filter {\n\tchain rejects {\n\t\treject\n\t}\n}\n'
	} | verdict input ""
}

# A rule after a drop has no say.
accepted_in_part_later()
{
	{
		input "$1" "ip saddr 10.0.0.0/8 accept"
		printf 'table inet filter {\n\tchain block {\n\t\tudp dport 4791 drop\n\t}\n}\n'
	} | verdict input "rule: udp dport 4791 drop"
}

# family_is FAMILY WANTED: a host whose GIDs are of IPv4
family_is()
{
	FAMILIES='inet ip'
	printf 'table %s t {\n\tchain c {\n\t\ttype filter hook input priority 0; policy drop;\n\t}\n}\n' "$1" |
		verdict input "$2"
}

# What iptables-restore-translate 1.8.9 has printed of such rules
legacy()	# policy rule...
{
	{
		echo "# Translated by iptables-restore-translate v1.8.9 on Mon Nov 30 21:31:43 2026"
		echo "add table ip filter"
		echo "add chain ip filter INPUT { type filter hook input priority 0; policy $1; }"
		echo "add chain ip filter OUTPUT { type filter hook output priority 0; policy accept; }"
		echo "add chain ip filter user"
		echo 'add rule ip filter INPUT iifname "lo" counter accept'
		printf '%s\n' "${@:2}"
	} | as_listed ip
}

legacy_is() { legacy "${@:2}" | verdict input "$1"; }

full() { [ "$(full_address "$1")" = "$2" ] || { full_address "$1"; return 1; }; }

check "a rule that drops the port" drops 4791
check "by its name" drops roce
check "in a set" drops "{ 53, 4791 }"
check "in a range" drops 4000-5000
check "in a range of a set" drops "{ 53, 4000-5000 }"
check "a rule of other ports" passes "{ 53, 4000-4790, 47910 }"
check "what is accepted before it is dropped" accepted_before_drop
check "a policy, and a rule for the port" closed 4791
check "a policy, and a rule for a range" closed 4000-5000
check "a rule for packets that leave does not open the way in" accepted_on_output
check "a rule for IPv6 does not open the way for IPv4" other_family
check "a zone that has no rule for the port" zone_is "tcp dport 23 accept" \
	"chain filter_INPUT ends with drop"
check "a zone that has one" zone_is "udp dport 4791 accept" ""
check "a zone that drops it, and only what comes in" zone_is "udp dport 4791 drop" "rule:"
check "a zone that accepts all is not interpreted" zone_is "accept" unclear
check "ufw without a rule for the port" ufw "tcp dport 22 accept" "chain INPUT has policy drop"
check "ufw with one" ufw "ip protocol udp udp dport 4791 counter packets 0 bytes 0 accept" ""
for rule in "ip saddr 10.0.0.0/8 accept" 'iifname { "lo", "eth0" } accept' \
	    'iifname != "lo" accept' 'iifname vmap { "lo" : accept, "eth0" : accept }' \
	    "meta l4proto udp accept" "ip protocol { tcp, udp } accept" "udp dport @open accept" \
	    "udp dport >= 1024 accept" "udp dport vmap { 4791 : accept }" accept; do
	check "not interpreted: $rule" unclear "$rule"
done
for rule in "ip saddr 10.0.0.0/8 tcp dport 22 accept" 'iif "lo" accept' "ct state established accept" \
	    "ct state vmap { established : accept, related : accept }" "meta l4proto icmp accept" \
	    'iifname vmap { "lo" : accept, "eth0" : jump none }'; do
	check "does not accept it: $rule" refused "$rule"
done
check "nor is a drop by address" dropped_by_address
check "what is accepted before another chain drops it" accepted_by_caller
for rule in 'iifname "eth0" accept' "ip saddr 10.0.0.0/8 accept" "meta mark 0x1 accept"; do
	check "accepts some before the port is dropped: $rule" accepted_in_part "$rule"
done
for rule in 'iifname != "eth0" udp dport 4791' "meta skuid 1000 udp dport 4791" \
	    "ct state invalid udp dport 4791" "udp dport 4791 limit rate over 10/second" \
	    "udp dport != 53"; do
	check "drops some: $rule" dropped_in_part "$rule"
done
for rule in "udp dport 4791" "meta l4proto udp udp dport 4791" "ct state new udp dport 4791" \
	    "ct state { established, new } th dport { 53, 4791 }" \
	    "meta l4proto { tcp, udp } th dport 4791" "meta nfproto ipv4 udp dport 4791" \
	    'udp dport 4791 counter name "c"'; do
	check "drops all: $rule" dropped_all_the_same "$rule"
done
check "accepts some after the port is dropped" accepted_in_part_later "udp dport 4791 drop"
check "accepts some after a chain that drops the port" accepted_in_part_later "jump block"
check "what leaves by lo is not what is dropped" eval '
	input "oifname \"lo\" accept" "udp dport 4791 drop" | verdict input "rule:"'
check "accepts some in a chain that is run before" in_part_elsewhere
check "a chain that logs and drops what comes to it" logs_and_drops
for rule in "ct state invalid drop" 'iifname != "lo" ip daddr 127.0.0.0/8 drop' \
	    "ip saddr @addr-set-sshd tcp dport 22 reject" "meta l4proto icmp drop" \
	    "rt type 0 counter packets 0 bytes 0 drop" 'xt match "rt" counter packets 0 bytes 0 drop' \
	    "meta mark & 0x00008000 == 0x00008000 drop" "meta pkttype { broadcast, multicast } drop" \
	    "meta l4proto 4 drop" 'log prefix "dropped by: "' "jump dropped" "ct count over 20 drop" \
	    "tcp dport 22 jump rejects"; do
	check "as many hosts have it: $rule" usual "$rule"
done
check "a policy for IPv4, and its table" family_is ip "chain c has policy drop (table ip t)"
check "a policy for all" family_is inet "chain c has policy drop (table inet t)"
check "a policy for IPv6, which is not used" family_is ip6 ""
check "a policy for bridged packets" family_is bridge ""
check "iptables: the port is dropped" legacy_is "rule: udp dport 4791" accept \
	"add rule ip filter INPUT udp dport 4791 counter drop"
check "iptables: in a chain" legacy_is "rule: udp dport" accept \
	"add rule ip filter INPUT counter jump user" \
	"add rule ip filter user udp dport { 53, 4791 } counter reject"
check "iptables: a policy" legacy_is "chain INPUT has policy drop" drop
check "iptables: all that is left is rejected" legacy_is "chain INPUT ends with drop" accept \
	"add rule ip filter INPUT counter reject with icmp type host-prohibited"
check "iptables: the port is accepted" legacy_is "" drop \
	"add rule ip filter INPUT udp dport 4791 counter accept"
check "iptables: some are accepted" legacy_is unclear accept \
	"add rule ip filter INPUT ip saddr 192.168.1.0/24 udp dport 4000-4100 counter accept" \
	"add rule ip filter INPUT ip saddr 192.168.1.0/24 counter accept" \
	"add rule ip filter INPUT udp dport 4791 counter drop"
check "iptables: a rule that was not translated" legacy_is unclear accept \
	"# -t filter -A INPUT -p udp -m udp --dport 4791 -m string --string foo --algo bm -j DROP "
check "iptables: one that is not about UDP" legacy_is "" accept \
	"# -t filter -A INPUT -p tcp -m set --match-set f2b-sshd src -j REJECT "
check "iptables: one that was not translated may accept" legacy_is unclear drop \
	"# -t filter -A INPUT -m string --string foo --algo bm -j ACCEPT "
check "IPv6 addresses as GIDs are written" full fd07::2 fd07:0000:0000:0000:0000:0000:0000:0002
check "with zeros at the end" full 2001:db8:: 2001:0db8:0000:0000:0000:0000:0000:0000
check "IPv4 addresses stay" full 10.0.0.1 10.0.0.1
done_testing
