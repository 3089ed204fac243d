#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What mpirun and mpiexec take for ssh: a host of lib.sh, and what to run there
#
# usage: mpi-rsh.sh [-OPTION]... HOST COMMAND...
while [[ ${1:-} == -* ]]; do shift; done
pid=$(<"/run/app-hosts/$1")
shift
exec nsenter -t "$pid" -n -i -u -p -m -- sh -c "$*"
