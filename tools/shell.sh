#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Inside the VM, for `make shell`: the demo's namespaces, then a shell.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/topology.sh
. tools/topology.sh
# shellcheck source=tools/stock.sh
. tools/stock.sh

topo_veth
cat <<EOF

Namespaces a ($IP4_A, $IP6_A, $DEV_A on va) and b ($IP4_B, $IP6_B, $DEV_B on vb).
  in_b rping -s -a $IP4_B &        in_a rping -c -a $IP4_B -C 10 -V -v
  in_b ib_write_bw -F -d $DEV_B -x \$(gid_index $DEV_B v4) &
  in_a ib_write_bw -F -d $DEV_A -x \$(gid_index $DEV_A v4) $IP4_B
  rdma link; rdma statistic show; rdma resource
Changes stay in this VM. exit or ctrl-D ends it.

EOF
cat >/tmp/bashrc <<EOF
. /etc/bash.bashrc 2>/dev/null
. $PWD/tools/topology.sh
. $PWD/tools/stock.sh
PS1='sroce-vm:\w# '
set +e
EOF
SROCE_KO=$SROCE_KO exec bash --rcfile /tmp/bashrc -i
