# SPDX-License-Identifier: GPL-2.0
# make help lists the targets. The kernel's own rules are in Kbuild; this file
# chooses what they build against and runs the VM.

SHELL := /bin/bash

# The headers to build against: KDIR= as it is, or KERNEL=6.1, 6.12-cloud, 7.3-rt ... for
# those of Debian's kernel, or else the running kernel's.
ifdef KERNEL
HEADERS := $(shell . tools/kernel.sh && kernel_headers $(KERNEL))
KDIR    ?= $(HEADERS)
ARCH_IS := $(shell . tools/kernel.sh && kernel_arch $(KERNEL))
endif
ifneq ($(filter %-uml,$(KERNEL)),)
export ARCH := um
endif
ifneq ($(filter-out amd64,$(ARCH_IS)),)
export CROSS_COMPILE := $(shell . tools/kernel.sh && arch_cross $(ARCH_IS))
PROGRAM_ARGS = $(shell . tools/kernel.sh && arch_program_args $(ARCH_IS))
endif
KDIR    ?= /lib/modules/$(shell uname -r)/build
VMKERNEL := $(or $(KERNEL),6.1)

# One build directory per kernel, so that two of them never mix objects. The file
# kernel.release has the same name for all flavours of Debian's 6.1; this is what modprobe
# compares.
RELEASE := $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
# not of the environment, where the word may mean anything
ifneq ($(origin BUILD),command line)
BUILD   := $(CURDIR)/.build/$(or $(KERNEL),$(RELEASE))
endif
VM       = tools/vm.sh --kernel $(VMKERNEL) $(VMFLAGS)
VMENV    = --env SROCE_KO=$(CURDIR)/.build/$(VMKERNEL)/sroce.ko

# Debian's headers were configured with gcc and ask for options that its clang
# does not have: tell Kbuild which compiler it is run with, and do without those
# that only matter for a module that is loaded.
CLANG_IS := CC=clang CONFIG_CC_IS_GCC= CONFIG_GCC_VERSION=0 CONFIG_CC_IS_CLANG=y \
	CONFIG_CLANG_VERSION=140000 CONFIG_RETHUNK= CONFIG_MITIGATION_RETHUNK= \
	CONFIG_SLS= CONFIG_MITIGATION_SLS= \
	CONFIG_FTRACE_MCOUNT_USE_CC= CONFIG_INIT_STACK_ALL_ZERO= \
	CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough \
	KCFLAGS=-Wno-duplicate-decl-specifier

# Headers that have a vmlinux want pahole for BTF, but their package does not depend on it.
NO_BTF := $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)

# What the version of a module that is built in a git tree ends with: sources of packages, and
# those of a tag, have the version alone.
GIT_IS = $(if $(wildcard .git),SROCE_GIT=$(shell tools/version.sh --git))

.DEFAULT_GOAL := all
.PHONY: all module kverbs oddbuf programs vm-module setup demo check fuzz fuzz-vm sim links links-plot coverage shell
.PHONY: bench bench-quick bench-core bench-readme profile
.PHONY: intree check-intree kernels netem interop router txqueues hostile stalled check-userland
.PHONY: apps conformance check-packages features deb rpm
.PHONY: check-be lint compile_commands clean install uninstall help

## all: build sroce.ko for the running kernel, KDIR= or KERNEL=6.1, 6.12-cloud, 7.3-rt ... (W=1, C=1, CC= go to Kbuild)
all: module
	@cp $(BUILD)/sroce.ko sroce.ko

HAS_HEADERS = test -e "$(KDIR)/Makefile" || { \
	echo "No kernel headers in '$(KDIR)'." \
		"Install them, or give KDIR=, or KERNEL=6.1 after make setup KERNEL=6.1." >&2; \
	exit 1; }

# Kbuild leaves its objects beside the sources, so the build directory is a
# tree of links to them; links to files that are gone are dropped.
module:
	@$(HAS_HEADERS)
	@mkdir -p $(BUILD)
	@ln -sf $(CURDIR)/Kbuild $(BUILD)/
	@for d in $$(find drv uapi -name '*.[ch]' -printf '%h\n' | sort -u); do \
		mkdir -p $(BUILD)/$$d && \
		ln -sf $$(find $(CURDIR)/$$d -maxdepth 1 -name '*.[ch]') $(BUILD)/$$d/; \
	done
	@ln -sf $(CURDIR)/drv/compat/probe.sh $(BUILD)/drv/compat/
	@find $(BUILD) -xtype l -delete
	$(MAKE) --no-print-directory -C $(KDIR) M=$(BUILD) $(NO_BTF) $(GIT_IS) $(or $(MODULE_GOAL),modules)

# dma-bufs that are hard to import, for selftests/verbs/func/dmabuf.c
oddbuf:
	@$(HAS_HEADERS)
	@mkdir -p $(BUILD)/oddbuf
	@ln -sf $(CURDIR)/selftests/oddbuf/{Kbuild,*.[ch]} $(BUILD)/oddbuf/
	$(MAKE) --no-print-directory -C $(KDIR) M=$(BUILD)/oddbuf $(NO_BTF) modules

# The test module for kernel users, beside the module.
kverbs:
	@$(HAS_HEADERS)
	@mkdir -p $(BUILD)/kverbs
	@ln -sf $(CURDIR)/selftests/kverbs/{Kbuild,*.[ch]} $(BUILD)/kverbs/
	@find $(BUILD)/kverbs -xtype l -delete
	$(MAKE) --no-print-directory -C $(KDIR) M=$(BUILD)/kverbs $(NO_BTF) modules

# What tests run in the VM; those of wire/ only for the host's architecture
programs:
	@for d in verbs fuzzvm; do \
		$(MAKE) -s -C selftests/$$d $(PROGRAM_ARGS) all || exit; \
	done

## setup: install what is needed, and fetch a kernel and its headers (KERNEL=)
setup:
	@tools/setup.sh --kernel $(VMKERNEL)

# The headers may only exist once setup has run, so make has to look again.
vm-module: setup
	@$(MAKE) --no-print-directory KERNEL=$(VMKERNEL) module

## demo: build, boot a VM and show every stock tool working (LINK=rxe to compare)
demo: vm-module
	@$(VM) --timeout 300 $(VMENV) --env SROCE_LINK_TYPE=$(or $(LINK),sroce) -- tools/demo.sh

## check: build, unit tests, and all selftests in a VM (KERNEL=, TESTS="stock links", ROUNDS=, VMS=1)
check:
	@VMS=$(or $(VMS),1) KERNEL=$(VMKERNEL) VMFLAGS='$(VMFLAGS)' tools/check.sh $(TESTS)

## fuzz: fuzz the protocol core; what is found stays for make -C selftests/fuzz merge (TIME=3600)
fuzz:
	@$(MAKE) --no-print-directory -s -C selftests/fuzz run $(if $(TIME),TIME=$(TIME))

## fuzz-vm: random calls, rings and packets against the module in a VM (TIME=600, SEED=1)
fuzz-vm: vm-module
	@$(MAKE) -s -C selftests/fuzzvm
	@$(VM) --timeout $$((300 + 2 * $(or $(TIME),600))) $(VMENV) \
		$(if $(filter %-debug %-kcsan,$(VMKERNEL)),--env SLOWNESS=4) \
		--env FUZZ_SECONDS=$(or $(TIME),600) --env FUZZ_SEED=$(or $(SEED),1) -- \
		selftests/vm/fuzzvm.test.sh

## sim: the protocol core against SEEDS=10000 seeds (JOBS=, CLASS=), or SEED=n (TRACE=1, SHRINK=1)
sim:
	@$(MAKE) --no-print-directory -s -C selftests/sim run

## links: flows that share a simulated link, what they transfer, lose and wait for; a table, half a minute (CASE=READ)
links:
	@$(MAKE) --no-print-directory -s -C selftests/sim links

## links-plot: windows, rates and the queue of some of them over time, as SVG in selftests/sim/.out
links-plot:
	@$(MAKE) --no-print-directory -s -C selftests/sim links-plot

## bench: sroce, rdma_rxe, siw and TCP; tables and plots in .build/bench, an hour (BENCH_REPS=, BENCH_ONLY=, BENCH_PARTS=)
bench: vm-module
	@$(MAKE) -s -C selftests/verbs
	@KERNEL=$(VMKERNEL) VMFLAGS='$(VMFLAGS)' selftests/bench/run.sh $(BENCH_PARTS)

## bench-quick: the same on one veth pair, some minutes; counted figures have limits
bench-quick: vm-module
	@$(MAKE) -s -C selftests/verbs
	@KERNEL=$(VMKERNEL) VMFLAGS='$(VMFLAGS)' selftests/bench/run.sh quick

## bench-core: what the protocol core takes of this machine's CPU, in ns and cycles; half a minute
bench-core:
	@selftests/bench/core.sh

## bench-readme: the figures and the picture in selftests/bench from the last runs (RUN="directory...")
bench-readme:
	@selftests/bench/run.sh figures $(RUN)
	@! [ -e .build/bench-core/table.md ] || selftests/bench/core.sh figures
	@! [ -e .build/profile/title ] || selftests/bench/profile.sh figures

## profile: what a message's instructions are for, sroce and rdma_rxe; in .build/profile, 5 minutes (PROFILE_ONLY=)
profile: vm-module
	@KERNEL=$(VMKERNEL) VMFLAGS='$(VMFLAGS)' selftests/bench/profile.sh

## netem: all faults on RC, and goodput beside rdma_rxe and TCP, some minutes
netem: vm-module
	@$(MAKE) -s -C selftests/verbs
	@$(VM) --timeout 1500 $(VMENV) -- selftests/vm/netem-all.sh

## hostile: users who hold others up, all at once: latency, a thread of the highest priority, memory (HOSTILE_ROUNDS=)
hostile: vm-module
	@$(MAKE) -s -C selftests/verbs
	@$(VM) --timeout 1200 $(VMENV) --env HOSTILE_ROUNDS=$(HOSTILE_ROUNDS) -- selftests/vm/hostile.sh

## stalled: perftest while the VM is stopped, or gets no CPU: is that taken for a dead peer? (ROUNDS=, ITERS=200, SPINNING="4 16")
stalled: vm-module
	@$(MAKE) -s -C selftests/verbs
	@KERNEL=$(VMKERNEL) ROUNDS=$(ROUNDS) ITERS=$(ITERS) SPINNING='$(SPINNING)' \
		selftests/harness/stalled.sh $(VMFLAGS)

## features: FEATURES.md, from the conformance test on 6.1 and 6.12
features:
	@tools/features.sh

## kernels: each of Debian's kernels: does it build, boot and run? A table in .build/kernels (KERNELS="7.3 6.1-rt")
kernels:
	@tools/kernels.sh $(KERNELS)

## intree: the module into a kernel's source, as drivers/infiniband/sw/sroce (LINUX=DIR, KDIR= where that is configured)
intree:
	@tools/setup.sh --intree
	@tools/intree.sh $(or $(LINUX),$(error LINUX= names the source of a kernel)) \
		$(if $(filter command environment,$(word 1,$(origin KDIR))),$(KDIR))

## check-intree: that, in Debian's sources: builds, checkers, a boot with the module built in (SERIES="6.12 7.3", TESTS=)
check-intree:
	@tools/check-intree.sh $(SERIES)

## apps: applications that Debian packages, on sroce and rdma_rxe; a table in .build/apps, long (APPS="ucx mpich", APPS_KERNELS=, APPS_LINKS=)
apps:
	@tools/apps.sh $(APPS)

## conformance: RoCE scripts on a device, a report by clause in .build/conformance (DEV=sroce|rxe, or DEV= NETDEV= PEER= of this machine)
conformance:
	@DEV=$(or $(DEV),sroce) NETDEV=$(NETDEV) PEER=$(PEER) KERNEL=$(VMKERNEL) tools/conformance.sh $(SCRIPTS)

## interop: sroce in one VM against rdma_rxe in another (ROUNDS=, INTEROP=reads for long READs with losses only)
interop: vm-module
	@$(MAKE) -s -C selftests/verbs
	@$(VM) --timeout $$((900 + 600 * $(or $(ROUNDS),1))) --two $(VMENV) \
		--env INTEROP=$(INTEROP) -- selftests/vm/interop.test.sh

## txqueues: two VMs whose NICs have several transmit queues (ROUNDS=, NIC="igb virtio-mq")
txqueues: vm-module
	@for nic in $(or $(NIC),igb virtio-mq); do \
		$(VM) --timeout $$((300 + 240 * $(or $(ROUNDS),1))) --two --nic $$nic $(VMENV) -- \
			selftests/vm/txqueues.test.sh || rc=1; \
	done; exit $${rc:-0}

## router: sroce and TCP through a bottleneck, a table, 15 minutes (ROUTER_RATES=, ROUTER_QUEUES=, ROUTER_DELAYS=, ROUTER_SECONDS=, VMFLAGS="--icount --shift 1")
router: vm-module
	@$(VM) --timeout 2400 $(VMENV) $(foreach v,$(filter-out ROUTER_RATES,$(filter ROUTER_%,$(.VARIABLES))),--env $(v)='$($(v))') \
		--env ROUTER_RATES='$(or $(ROUTER_RATES),20 100)' -- selftests/vm/router.test.sh

## coverage: lines and branches of the protocol core that its tests reach
coverage:
	@tools/coverage.sh

# All that is about the module, and not about what transfers cost.
DEBUG_TESTS = verbs/4/func verbs/4/stress verbs/4/conform verbs/6 kverbs pyverbs ulp wire stock links show steer txq gro forged pages fuzzvm chaos nomem

## check-debug: selftests on a kernel with KASAN, lockdep, kmemleak, fault injection, or KIND=kcsan, built once (KERNEL=, TESTS=, KMEMLEAK=off, VMS=2)
check-debug:
	@VMS=$(or $(VMS),2) KERNEL=$(VMKERNEL)-$(or $(KIND),debug) CHECK_HERE=no CHECK_TIMEOUT=10800 SROCE_BOOT_LIMIT=400 SROCE_GRACE=1200 \
		VMFLAGS='--env TEST_TIMEOUT=5400 --env PAIR_TIMEOUT=400 --env SLOWNESS=4 --append kmemleak=$(or $(KMEMLEAK),on) $(VMFLAGS)' \
		tools/check.sh $(or $(TESTS),$(DEBUG_TESTS))

## check-userland: selftests in a VM with the user space of Debian 13, made once (SUITE=, TESTS=)
check-userland: vm-module
	@$(MAKE) --no-print-directory -s KERNEL=$(VMKERNEL) oddbuf
	@$(MAKE) -s -C selftests/verbs
	@tools/userland.sh $(or $(SUITE),trixie) >/dev/null
	@$(VM) --root $(or $(SUITE),trixie) --timeout 1800 $(VMENV) --env VERBS_ALL=yes --env PYVERBS_RXE=run -- \
		selftests/vm/run.sh $(or $(TESTS),stock verbs pyverbs)

## check-packages: what make deb and make rpm make, installed, used and purged in Debians of their own (TESTS=)
check-packages:
	@selftests/packages/run.sh $(TESTS)

DEB_KDIR = $(if $(KERNEL)$(filter command environment,$(word 1,$(origin KDIR))),$(KDIR))

## deb: Debian packages in .build/deb: sroce-dkms, sroce-tools; with KERNEL= or KDIR= sroce-modules, too (SIGN_KEY=, SIGN_CERT=)
deb:
	@$(if $(KERNEL),$(HAS_HEADERS))
	@packaging/deb.sh .build/deb $(DEB_KDIR)

## rpm: RPM packages in .build/rpm: sroce-dkms, sroce-tools
rpm:
	@packaging/rpm.sh .build/rpm

## shell: a shell in the VM, the module loaded, namespaces a and b ready (VMFLAGS=--gdb)
shell: vm-module
	@$(VM) --interactive $(VMENV) -- tools/shell.sh

## lint: what gcc, clang, sparse, checkpatch, kernel-doc and shellcheck say; SPDX lines, sizes, floors
lint: setup
	@tools/setup.sh --kernel $(VMKERNEL) --scripts
	@KERNEL=$(VMKERNEL) tools/lint.sh '$(CLANG_IS)'

## compile_commands: compile_commands.json for clangd, of the module and the tests (KERNEL=, KDIR=)
compile_commands: module kverbs oddbuf
	@tools/compile-commands.py $(BUILD) $(KDIR) >compile_commands.json.tmp
	@mv compile_commands.json.tmp compile_commands.json

## install: put the module where modprobe and rdma link find it (INSTALL_MOD_PATH=)
# Older Kbuild would put it into extra, which belongs to DKMS on some distributions.
# Kbuild leaves depmod out where the headers have no System.map, as those of packages.
INSTALL_TO = $(if $(INSTALL_MOD_PATH),INSTALL_MOD_PATH='$(abspath $(INSTALL_MOD_PATH))')
install: module
	$(MAKE) -C $(KDIR) M=$(BUILD) $(INSTALL_TO) INSTALL_MOD_DIR=updates modules_install
	PATH="$$PATH:/usr/sbin:/sbin" depmod $(if $(INSTALL_MOD_PATH),-b '$(abspath $(INSTALL_MOD_PATH))') $(RELEASE)

## uninstall: remove what make install has put there, of the running kernel (KERNEL=, INSTALL_MOD_PATH=)
# The headers may be gone; of the running kernel that makes no difference.
UNINSTALL_OF = $(or $(RELEASE),$(if $(KERNEL)$(filter command environment,$(origin KDIR)),,$(shell uname -r)))
UNINSTALL_FROM = $(INSTALL_MOD_PATH)/lib/modules/$(UNINSTALL_OF)
uninstall:
	$(if $(UNINSTALL_OF),,$(error the headers of that kernel are not there, so its release is not known))
	[ ! -d '$(UNINSTALL_FROM)' ] || { \
	find '$(UNINSTALL_FROM)' -path '*/updates/*' -name 'sroce.ko*' ! -path '*/dkms/*' \
		! -exec tools/packaged.sh {} ';' -delete && \
	PATH="$$PATH:/usr/sbin:/sbin" depmod $(if $(INSTALL_MOD_PATH),-b '$(abspath $(INSTALL_MOD_PATH))') $(UNINSTALL_OF); }

## check-be: unit tests of the protocol core on a big-endian CPU, emulated
check-be:
	@tools/setup.sh --arch s390x
	@$(MAKE) -s -C selftests/unit check-be

## clean: remove what was built (.cache, with the kernel images, stays)
clean:
	rm -rf .build
	rm -f sroce.ko compile_commands.json
	@for d in selftests/unit selftests/sim selftests/bench/core selftests/fuzz selftests/fuzzvm selftests/verbs selftests/wire selftests/apps; do \
		if [ -e $$d/Makefile ]; then $(MAKE) -C $$d clean; fi; done

## help: this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST) | \
		awk '{ i = index($$0, ": "); printf "  make %-16s %s\n", substr($$0, 1, i - 1), substr($$0, i + 2) }'
