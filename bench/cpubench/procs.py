# SPDX-License-Identifier: Apache-2.0
"""What a tree of processes has used, as the kernel counts it.

CPU time comes from the scheduler's nanosecond counters of every thread. When
a thread vanished between two snapshots its share is lost there, so the
10 ms ticks of /proc/PID/stat, which keep the dead, are taken instead.
"""

import os
import re
import time

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
SCHED = re.compile(rb"^(?:se\.)*(sum_exec_runtime|nr_migrations"
                   rb"|nr_voluntary_switches|nr_involuntary_switches)"
                   rb"\s*:\s*([0-9.]+)", re.M)


def slurp(path):
    """Bytes of a file, empty when it is gone or may not be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def parents():
    """{pid: parent} of every process."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = slurp(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if fields and fields[0] != b"Z":
                table[int(name)] = int(fields[1])
    return table


def tree(root):
    """pids of a process and all its living descendants, root first."""
    table = parents()
    found = [root] if root in table else []
    for pid in found:
        found += [child for child, ppid in table.items() if ppid == pid]
    return found


def children(root):
    return sorted(p for p, parent in parents().items() if parent == root)


def threads(pid):
    try:
        return [int(t) for t in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def proportional_kib(root):
    """User memory of the tree: shared pages divided by who shares them."""
    total = 0
    for pid in tree(root):
        for line in slurp(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                total += int(line.split()[1])
    return total


def settled_kib(root, step=0.4, limit=6.0):
    """proportional_kib once it has stopped growing: a server that answers
    may still be starting threads."""
    end = time.monotonic() + limit
    last = proportional_kib(root)
    while time.monotonic() < end:
        time.sleep(step)
        now = proportional_kib(root)
        if abs(now - last) < 16:
            return now
        last = now
    return last


def _thread(pid, tid):
    """(ns, migrations, switches) of one thread, None when it is gone."""
    text = slurp(f"/proc/{pid}/task/{tid}/sched")
    found = dict(SCHED.findall(text))
    if b"sum_exec_runtime" not in found:
        return None
    milli, _, nano = found[b"sum_exec_runtime"].partition(b".")
    ns = int(milli) * 1_000_000 + int(nano.ljust(6, b"0")[:6])
    return (ns, int(found.get(b"nr_migrations", 0)),
            int(found.get(b"nr_voluntary_switches", 0))
            + int(found.get(b"nr_involuntary_switches", 0)))


class Snapshot:
    """Counters of a tree at one moment."""

    def __init__(self, root):
        self.threads = {}
        self.ticks = {}
        for pid in tree(root):
            fields = slurp(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            if not fields:
                continue
            # utime stime, and cutime cstime: what was reaped
            self.ticks[pid] = sum(int(f) for f in fields[11:15]) * TICK_NS
            for tid in threads(pid):
                row = _thread(pid, tid)
                if row:
                    self.threads[pid, tid] = row


def usage(before, after):
    """What happened between two snapshots.

    cpu_ns, migrations, switches; processes {pid: cpu_ns} of those alive at
    the end; vanished, the number of threads that ended on the way (their
    migrations and switches are not in the sums).
    """
    zero = (0, 0, 0)
    sums = [0, 0, 0]
    by_pid = {pid: 0 for pid in after.ticks}
    for key, row in after.threads.items():
        old = before.threads.get(key, zero)
        for i in range(3):
            sums[i] += row[i] - old[i]
        by_pid[key[0]] = by_pid.get(key[0], 0) + row[0] - old[0]
    vanished = sum(1 for key in before.threads if key not in after.threads)
    cpu = sums[0]
    if vanished or not after.threads:
        cpu = ticks(before, after)
    return {"cpu_ns": cpu, "migrations": sums[1], "switches": sums[2],
            "vanished": vanished, "processes": by_pid}


def ticks(before, after):
    """CPU time by ticks: a process that died is in its parent's sum."""
    return max(0, sum(after.ticks.values()) - sum(before.ticks.values()))
