#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Containers: what CONTAINERS.md says. A user's own namespaces, and crun, which runs what
# docker, podman and Kubernetes ask for; shared and exclusive mode.
set -uo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

[ "$LINK_TYPE" = sroce ] || { skip "containers" "about sroce only"; done_testing; exit; }

BUNDLE=/tmp/bundle
HOLDER=
trap 'end_userns' EXIT

# ---- a user's own namespaces -----------------------------------------------

AS_NOBODY=(setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all)

# A user namespace and a network namespace of an ordinary user, with a netdev in it. All
# exec, so that $! is the process that stays.
start_userns()
{
	"${AS_NOBODY[@]}" unshare -Urn sh -c 'ip link set lo up
		ip link add d0 type dummy
		ip addr add 10.66.0.1/24 dev d0
		ip link set d0 up
		echo ready >/tmp/userns
		exec sleep 300' &
	HOLDER=$!
	wait_until 20 grep -q ready /tmp/userns
}

end_userns()
{
	[ -z "$HOLDER" ] || { kill "$HOLDER"; wait "$HOLDER"; } 2>/dev/null
	HOLDER=
}

# As root outside, in the network namespace only
root_in_userns() { nsenter -t "$HOLDER" -n "$@"; }

# As the user, who is root of the user namespace
user_in_userns()
{
	"${AS_NOBODY[@]}" nsenter -t "$HOLDER" -U -n --preserve-credentials "$@"
}

rping_in_userns()
{
	local srv rc=0
	user_in_userns timeout 30 rping -s -a 10.66.0.1 -C 3 >/tmp/rping.s 2>&1 &
	srv=$!
	wait_until 10 listens_cm us0 7174
	user_in_userns timeout 20 rping -c -a 10.66.0.1 -C 3 -v || rc=$?
	wait $srv || { cat /tmp/rping.s; rc=1; }
	return $rc
}

memory_is_limited()
{
	(ulimit -l 64; user_in_userns timeout 10 ibv_rc_pingpong -d us0 -g 1 -s 1000000)
}

test_userns()
{
	start_userns || { not_ok "a user's namespaces"; return; }
	check_fails "a user's namespace: its root may not add a device" \
		'Operation not permitted' user_in_userns rdma link add us0 type sroce netdev d0
	check "root of the host may, for it" \
		root_in_userns rdma link add us0 type sroce netdev d0
	wait_until 10 gid_index us0 v4
	check "the user sees the device" user_in_userns ibv_devinfo -d us0
	check "rping as that user" rping_in_userns
	check_fails "locked memory is limited there, too" "Couldn't register MR" memory_is_limited
	check_fails "its root may not delete it either" 'Operation not permitted' \
		user_in_userns rdma link delete us0
	end_userns
	check "the device ends with the namespace" wait_until 20 gone us0
}

gone() { ! link_exists "$1"; }

# ---- an OCI runtime ---------------------------------------------------------

# bundle NETNS DEVICE... -- command...: config.json for an ordinary user without
# capabilities, who has the device nodes that belong to DEVICEs, and that of rdma_cm
bundle()
{
	mkdir -p $BUNDLE/rootfs
	mountpoint -q $BUNDLE/rootfs || mount --bind / $BUNDLE/rootfs
	python3 - "$@" >$BUNDLE/config.json <<-'END'
	import json, os, stat, sys
	args = sys.argv[1:]
	netns, names, command = args[0], args[1:args.index("--")], args[args.index("--") + 1:]
	nodes = []
	for name in names:
	    nodes.append("/dev/infiniband/rdma_cm")
	    for entry in os.listdir("/sys/class/infiniband_verbs"):
	        path = f"/sys/class/infiniband_verbs/{entry}/ibdev"
	        if os.path.exists(path) and open(path).read().strip() == name:
	            nodes.append(f"/dev/infiniband/{entry}")
	def device(path):
	    st = os.stat(path)
	    return {"path": path, "type": "c", "major": os.major(st.st_rdev),
	            "minor": os.minor(st.st_rdev), "fileMode": 0o666}
	devices = [device(node) for node in sorted(set(nodes))]
	def mount(dest, kind, *options):
	    return {"destination": dest, "type": kind, "source": kind, "options": list(options)}
	json.dump({
	    "ociVersion": "1.0.0",
	    "process": {
	        "user": {"uid": 65534, "gid": 65534}, "cwd": "/", "args": command,
	        "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], "noNewPrivileges": True,
	        "capabilities": {},
	        "rlimits": [{"type": "RLIMIT_MEMLOCK", "hard": 1 << 26, "soft": 1 << 26}],
	    },
	    "root": {"path": "rootfs", "readonly": True},
	    "mounts": [mount("/proc", "proc"), mount("/dev", "tmpfs", "mode=755"),
	               mount("/tmp", "tmpfs", "mode=1777"), mount("/sys", "sysfs", "ro")],
	    "linux": {
	        "namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "ipc"},
	                       {"type": "network", "path": f"/run/netns/{netns}"}],
	        "devices": devices,
	        "resources": {"devices": [{"allow": False, "access": "rwm"}] +
	                      [{"allow": True, "type": "c", "major": d["major"],
	                        "minor": d["minor"], "access": "rw"} for d in devices]},
	    },
	}, sys.stdout)
	END
}

# container NAME NETNS DEVICE... -- command...
container()
{
	bundle "${@:2}" && timeout 60 crun run --bundle $BUNDLE "$1" </dev/null
}

rping_of_container()	# name
{
	local srv rc=0
	in_b timeout 60 rping -s -a $IP4_B -C 3 >/tmp/rping.s 2>&1 &
	srv=$!
	wait_until 10 server_listens
	container "$1" a "$DEV_A" -- rping -c -a $IP4_B -C 3 -v || rc=$?
	wait $srv || { cat /tmp/rping.s; rc=1; }
	return $rc
}

server_listens() { in_b rdma resource show cm_id | grep -q LISTEN; }

shows_only()	# device other
{
	local out
	out=$(container c3 a "$1" -- ibv_devices) || { echo "$out"; return 1; }
	grep -qw "$1" <<<"$out" && ! grep -qw "$2" <<<"$out" && return
	echo "$out"
	return 1
}

mount_cgroups()
{
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
}

# In shared mode whoever has the node of a device can use it with verbs, wherever its
# netdev is: what keeps containers apart is which nodes they are given.
test_shared()
{
	topo_veth
	gid_index "$DEV_A" v4 >/dev/null && gid_index "$DEV_B" v4 >/dev/null
	check "crun: rping of a container with the device's nodes" rping_of_container c1
	check_fails "crun: without nodes there is no device" 'No IB devices found|Failed' \
		container c2 a -- ibv_devinfo
	check_fails "crun: a container without another device's node does not find it" "wasn't found" \
		container c4 a "$DEV_A" -- ibv_devinfo -d "$DEV_B"
	check "crun: with its node it may, as the mode is shared" \
		container c7 a "$DEV_B" -- ibv_devinfo -d "$DEV_B"
	check_fails "crun: it may not add a device" 'Operation not permitted' \
		container c5 a "$DEV_A" -- rdma link add t0 type sroce netdev va
	topo_down
}

test_exclusive()
{
	check "exclusive mode, while there is no other network namespace" \
		wait_until 20 rdma system set netns exclusive
	topo_netdevs
	in_a rdma link add "$DEV_A" type sroce netdev va
	in_b rdma link add "$DEV_B" type sroce netdev vb
	check "exclusive: moved to the container's namespace" rdma dev set "$DEV_A" netns a
	check "exclusive: the other one, too" rdma dev set "$DEV_B" netns b
	wait_until 10 in_a test -e "/sys/class/infiniband/$DEV_A"
	check "exclusive: a container sees its own device only" shows_only "$DEV_A" "$DEV_B"
	check_fails "exclusive: not another one, even with its node" "wasn't found" \
		container c8 a "$DEV_B" -- ibv_devinfo -d "$DEV_B"
	check "exclusive: rping of a container" rping_of_container c6
	check_fails "the mode can't change while there are others" 'busy' \
		rdma system set netns shared
	rdma_delete a "$DEV_A"
	rdma_delete b "$DEV_B"
	topo_down
	check "shared again" wait_until 20 rdma system set netns shared
}

rdma_delete() { ip netns exec "$1" rdma link delete "$2"; }

load_module || { not_ok "loading the module"; done_testing; exit 1; }
mount_cgroups
chmod 666 /dev/infiniband/rdma_cm
test_userns
test_shared
test_exclusive
umount $BUNDLE/rootfs
done_testing
