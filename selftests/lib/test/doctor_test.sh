#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sroce-doctor: what it says of rulesets of nftables, and how it writes addresses.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

eval "$(sed -n '/^ROCE_PORT=/p; /^nft_verdict()/,/^}/p; /^full_address()/,/^}/p' tools/sroce-doctor)"

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
			iifname "lo" accept
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
			$1
		}
	}
	EOF
}

zone_is() { zones "$1" | verdict input "$2" && zones "$1" | verdict output ""; }

unclear() { POLICY=drop && input "$1" | verdict input unclear; }

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
check "a zone that has no rule for the port" zone_is "tcp dport 22 accept" \
	"chain filter_INPUT ends with drop"
check "a zone that has one" zone_is "udp dport 4791 accept" ""
check "a zone that drops it, and only what comes in" zone_is "udp dport 4791 drop" "rule:"
check "a zone that accepts all is not interpreted" zone_is "accept" unclear
check "nor is a rule by address" unclear "ip saddr 10.0.0.0/8 accept"
check "IPv6 addresses as GIDs are written" full fd07::2 fd07:0000:0000:0000:0000:0000:0000:0002
check "with zeros at the end" full 2001:db8:: 2001:0db8:0000:0000:0000:0000:0000:0000
check "IPv4 addresses stay" full 10.0.0.1 10.0.0.1
done_testing
