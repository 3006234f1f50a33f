# SPDX-License-Identifier: Apache-2.0
"""The machine the figures were taken on, and the versions of everything."""

import glob
import os
import re
import shutil
import subprocess

from .net import congestion_control
from .procs import slurp


def text(path):
    return slurp(path).decode(errors="replace").strip()


def output(*argv):
    """First lines a command prints on either stream, empty if it cannot."""
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, timeout=10,
                              stderr=subprocess.STDOUT, check=False,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def cpus():
    return sorted(os.sched_getaffinity(0))


def cpu_map():
    """Rows of cpu, package, core, siblings, L3 as sysfs tells them."""
    rows = []
    for cpu in cpus():
        base = f"/sys/devices/system/cpu/cpu{cpu}"
        node = glob.glob(f"{base}/node[0-9]*")
        rows.append({
            "cpu": cpu,
            "package": text(f"{base}/topology/physical_package_id") or "?",
            "core": text(f"{base}/topology/core_id") or "?",
            "siblings": text(f"{base}/topology/thread_siblings_list") or "?",
            "l3": text(f"{base}/cache/index3/shared_cpu_list") or "?",
            "numa": node[0].rpartition("node")[2] if node else "?",
        })
    return rows


def versions(httpd):
    asked = {
        "httpd": (httpd, "-v"), "nginx": ("nginx", "-v"),
        "lighttpd": ("lighttpd", "-v"), "haproxy": ("haproxy", "-v"),
        "openssl": ("openssl", "version"),
        "h2load": ("h2load", "--version"), "wrk": ("wrk", "-v"),
        "R": ("Rscript", "--version"),
        "gcc": ("cc", "--version"),
    }
    found = {}
    for name, argv in asked.items():
        first = output(*argv).strip().splitlines()
        found[name] = first[0] if first and shutil.which(argv[0]) else "absent"
    return found


def sysctl(name):
    return text("/proc/sys/" + name.replace(".", "/")) or "?"


def describe(httpd):
    info = slurp("/proc/cpuinfo").decode(errors="replace")
    model = re.search(r"model name\s*:\s*(.*)", info)
    memory = re.search(rb"MemTotal:\s*(\d+)", slurp("/proc/meminfo"))
    uname = os.uname()
    holes = {}
    for path in sorted(glob.glob("/sys/devices/system/cpu/vulnerabilities/*")):
        state = text(path)
        if state != "Not affected":
            holes[os.path.basename(path)] = state
    hypervisor = "yes" if re.search(r"^flags.*\bhypervisor\b", info, re.M) \
        else "no"
    return {
        "cpu": model.group(1) if model else uname.machine,
        "cpus": len(cpus()), "cpu_map": cpu_map(),
        "virtual": hypervisor,
        "memory_mib": int(memory.group(1)) // 1024 if memory else 0,
        "kernel": f"{uname.sysname} {uname.release} {uname.version}",
        "distribution": output("sh", "-c",
                               ". /etc/os-release; echo $PRETTY_NAME").strip(),
        "congestion_control": congestion_control(),
        "somaxconn": sysctl("net.core.somaxconn"),
        "autogroup": sysctl("kernel.sched_autogroup_enabled"),
        "mitigations": holes,
        "load_at_start": text("/proc/loadavg"),
        "versions": versions(httpd),
    }
