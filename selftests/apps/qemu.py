#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Migrate a guest from one QEMU to another, and save the memory of both.

usage: qemu.py SOURCE-MONITOR DESTINATION-MONITOR URI BYTES [CAPABILITY...]

The memory is in the files /tmp/guest.source and /tmp/guest.destination.
"""

import json
import socket
import sys
import time


class Monitor:
    """QMP by a socket"""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rw")
        self.lines.readline()
        self.run("qmp_capabilities")

    def run(self, command, **arguments):
        """What a command returns"""
        self.lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.lines.flush()
        while True:
            line = self.lines.readline()
            if not line:
                sys.exit(f"{command}: QEMU is gone")
            answer = json.loads(line)
            if "error" in answer:
                sys.exit(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def wait(self, states):
        """Until the migration is in one of the states"""
        end = time.monotonic() + 150
        while time.monotonic() < end:
            info = self.run("query-migrate")
            if info.get("status") in states:
                return info
            time.sleep(0.2)
        sys.exit(f"the migration does not end: {info}")


def main():
    """Exit status 0: migrated"""
    source, destination = Monitor(sys.argv[1]), Monitor(sys.argv[2])
    uri, size = sys.argv[3], int(sys.argv[4])
    capabilities = [{"capability": name, "state": True} for name in sys.argv[5:]]
    for monitor in source, destination:
        monitor.run("migrate-set-capabilities", capabilities=capabilities)
    destination.run("migrate-incoming", uri=uri)
    source.run("migrate", uri=uri)
    info = source.wait(("completed", "failed"))
    if info["status"] == "failed":
        sys.exit(f"the migration failed: {info}")
    destination.wait(("completed",))
    source.run("pmemsave", val=0, size=size, filename="/tmp/guest.source")
    destination.run("pmemsave", val=0, size=size, filename="/tmp/guest.destination")
    print(info["ram"]["transferred"])
    source.run("quit")
    destination.run("quit")


if __name__ == "__main__":
    main()
