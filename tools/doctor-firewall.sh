# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A part of sroce-doctor: whether nftables or iptables drop RoCE on this host, by their rules. What
# is not understood is said to be unclear.

RULESET='' FAMILIES='inet ip ip6'

# For awk, with hook and port: reads `nft list ruleset`.
NFT_VERDICT='
function is_port(rule, list, n, i, range) {
	if (!match(rule, /(udp|th) dport (\{[^}]*\}|[^ ]+)/))
		return 0
	list = substr(rule, RSTART, RLENGTH)
	sub(/^(udp|th) dport /, "", list)
	gsub(/[{}, ]+/, " ", list)
	n = split(list, range, " ")
	for (i = 1; i <= n; i++) {
		if (range[i] == port || range[i] == "roce")
			return 1
		if (range[i] ~ /^[0-9]+-[0-9]+$/ && port >= range[i] + 0 &&
		    port <= substr(range[i], index(range[i], "-") + 1) + 0)
			return 1
	}
	return 0
}
# A rule without words that are names
function plain(rule) {
	gsub(/(comment|prefix|counter name) "[^"]*"|(jump|goto) [^ ,}]+/, "", rule)
	return rule
}
# Whether a rule that drops asks for more than the port
function is_conditional(rule) {
	rule = plain(rule)
	gsub(/counter( packets [0-9]+ bytes [0-9]+)?|log( +(level|flags|group) [a-z0-9]+)*/, "", rule)
	gsub(/meta nfproto ipv[46]/, "", rule)
	gsub(/(meta l4proto|ip protocol|ip6 nexthdr) (\{[^}]*(udp|17)[^}]*\}|udp|17)/, "", rule)
	gsub(/(udp|th) dport (\{[^}]*\}|[^ ]+)/, "", rule)
	if (rule ~ /ct state (\{[^}]*|[^ ]*)new/)
		sub(/ct state (\{[^}]*\}|[^ ]+)/, "", rule)
	sub(/(drop|reject).*/, "", rule)
	return rule ~ /[^ \t]/
}
# Whether a rule that does not name the port may be about it
function may_match(rule) {
	if (rule ~ /[ds]port/)
		return rule ~ /(udp|th) dport (@|vmap|[<>!])/
	return rule !~ /icmp|igmp|tcp|esp |ah |vrrp/ || rule ~ /udp/
}
# Likewise: whether it may drop it, whoever sends it
function may_drop(rule) {
	rule = plain(rule)
	return rule ~ /(drop|reject)/ && may_match(rule) &&
	       (rule ~ /dport/ || !is_conditional(rule))
}
# Likewise: whether it may accept it
function may_accept(rule) {
	rule = plain(rule)
	if (rule ~ /[io]if(name)? "lo" / || rule ~ /ct status/)
		return 0
	gsub(/"lo" : accept/, "", rule)
	if (rule !~ /accept/ || (rule ~ /ct state/ && rule !~ /new/))
		return 0
	return may_match(rule)
}
# Chains that rules run which may be about the port; @early: what may accept it is before that.
function note_calls(rule) {
	if (!is_port(rule) && !may_match(plain(rule)))
		return
	while (match(rule, /(jump|goto) [^ ,}]+/)) {
		callee[chain, ++calls[chain]] = table " " substr(rule, RSTART + 5, RLENGTH - 5)
		early[chain, calls[chain]] = maybe_open[chain]
		rule = substr(rule, RSTART + RLENGTH)
	}
}
# @opened: a chain that called this one accepts the port, most likely before. @maybe: a rule before
# may have accepted it, which leaves a drop in doubt. Return: whether one of this chain may.
function walk(c, opened, maybe, i) {
	if (c in seen)
		return 0
	seen[c] = 1
	if (drops[c] && !opened && maybe)
		any_doubt = 1
	else if (drops[c] && !opened && !dropped)
		dropped = drops[c] where[c]
	any_open = any_open || opens[c]
	any_maybe = any_maybe || maybe_open[c]
	any_doubt = any_doubt || maybe_drop[c]
	any_vague = any_vague || vague[c]
	for (i = 1; i <= calls[c]; i++)
		maybe = walk(callee[c, i], opened || opens[c], maybe || early[c, i]) || maybe
	return maybe || maybe_open[c]
}
$1 == "table" { table = $2 " " $3; passed = index(" " families " ", " " $2 " ") }
$1 == "chain" {
	name = $2
	chain = table " " name
	where[chain] = " (table " table ")"
	base = chain in is_base
}
/type [a-z]+ hook / {
	base = passed && $0 ~ "type filter hook " hook " "
	if (base) {
		is_base[chain] = 1
		bases[++nbases] = chain
	}
	if (base && /policy drop/)
		closed[chain] = "chain " name " has policy drop"
	next
}
{ note_calls($0) }
is_port($0) && / accept/ { opens[chain] = 1; next }
is_port($0) && / (drop|reject)/ {
	sub(/^[ \t]+/, "")
	if (opens[chain] || drops[chain])
		next
	if (is_conditional($0) || maybe_open[chain])
		maybe_drop[chain] = 1
	else
		drops[chain] = $0
	next
}
may_accept($0) { maybe_open[chain] = 1 }
base && /^[ \t]*(counter (packets [0-9]+ bytes [0-9]+ )?)?(drop|reject)/ {
	closed[chain] = "chain " name " ends with drop"
	next
}
may_drop($0) { vague[chain] = 1 }
END {
	for (i = 1; i <= nbases && !dropped; i++) {
		split("", seen)
		any_open = any_maybe = any_doubt = any_vague = dropped = ""
		walk(bases[i], 0, 0)
		shut = closed[bases[i]] && !any_open
		if (dropped)
			verdict = "rule: " dropped
		else if (shut && !any_maybe && !verdict)
			verdict = closed[bases[i]] where[bases[i]] \
				  ", and no rule accepts UDP port " port
		else if (shut || any_doubt || (any_vague && !any_open))
			doubt = "unclear"
	}
	print verdict ? verdict : doubt
}'

# nft_verdict HOOK: "rule TEXT" if a rule of a chain that is run in HOOK drops the port, or TEXT if
# a chain drops what no rule accepts that is run by it; "unclear" if that depends on rules that are
# not interpreted.
nft_verdict() { awk -v hook="$1" -v port=$ROCE_PORT -v families="$FAMILIES" "$NFT_VERDICT" <<<"$RULESET"; }

# as_listed FAMILY: what iptables-restore-translate prints as nft lists it. Rules that it does not
# know are comments.
as_listed()
{
	awk -v family="$1" '
	function rule(table, chain, text) { printf "table %s\nchain %s\n\t%s\n", table, chain, text }
	/^add (chain|rule) / {
		table = $3 " " $4
		chain = $5
		sub(/^add [a-z]+ [^ ]+ [^ ]+ [^ ]+ ?/, "")
		gsub(/^\{ | \}$/, /type [a-z]+ hook/ ? "" : "&")
		rule(table, chain, $0)
	}
	/^# -t filter -A / {
		action = /-j ACCEPT/ ? "accept" : /-j (DROP|REJECT)/ ? "drop" : ""
		if (/--dports? ([0-9:,]*,)?'$ROCE_PORT'[ ,]/)
			action = "udp dport '$ROCE_PORT' " action
		if (!/-p [^u]/)
			rule(family " filter", $5, "xt " action)
	}'
}

# Adds the rules of iptables that does not use nftables to RULESET.
read_legacy_rules()
{
	local ip
	for ip in ip ip6; do
		have ${ip}tables-legacy-save || continue
		# it would load the modules of a table that is not there
		grep -qsx filter "/proc/net/${ip}_tables_names" || continue
		if have ${ip}tables-restore-translate; then
			RULESET+=$'\n'$(${ip}tables-restore-translate -f \
				<(${ip}tables-legacy-save -t filter 2>/dev/null) 2>/dev/null |
				as_listed $ip)
		else
			unchecked "firewall" "no ${ip}tables-restore-translate"
		fi
	done
}

# Sets FAMILIES to those of nftables that RoCE passes here: of the GIDs, and of PEER.
find_families()
{
	local dev used
	used=$(for dev in ${DEVICES[@]+"${DEVICES[@]}"}; do gids "$dev"; done | grep -v ' fe80:'
		[ -z "$PEER" ] || echo "to $PEER")
	[ -n "$used" ] || return 0
	FAMILIES=inet
	! grep -q '\.' <<<"$used" || FAMILIES+=' ip'
	! grep -q ':' <<<"$used" || FAMILIES+=' ip6'
}

check_firewall()
{
	local hook verdict
	if [ $EUID -ne 0 ]; then
		unchecked "firewall" "needs root"
		return
	fi
	if ! have nft; then
		unchecked "firewall" "no nft"
	elif ! RULESET=$(nft list ruleset 2>/dev/null); then
		unchecked "firewall" "nft list ruleset is refused"
	fi
	find_families
	read_legacy_rules
	for hook in input output; do
		verdict=$(nft_verdict $hook)
		if [ "$verdict" = unclear ]; then
			unchecked "firewall" "rules of $hook that ask for more than ports are not interpreted"
			continue
		fi
		[ -n "$verdict" ] || continue
		found "firewall-$hook" "a firewall drops RoCE on $hook" "$verdict" \
			"nft insert rule FAMILY TABLE CHAIN udp dport $ROCE_PORT accept; firewall-cmd --add-port=$ROCE_PORT/udp; ufw allow $ROCE_PORT/udp"
	done
}
