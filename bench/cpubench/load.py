# SPDX-License-Identifier: Apache-2.0
"""The load generators h2load, and the bench's own: bench/idle.c for C10K,
bench/handshakes.c for TLS connections of one request (wrk.py has wrk).
Each run is bounded in time; a generator that does not end is killed and says
so."""

import contextlib
import os
import re
import shlex
import subprocess
import time

from . import procs, stats
from .machine import cpus

GRACE = 10
# bench/idle.c's connections that are being opened
AT_A_TIME = 64
# seconds in which it opens them
LIMIT = {"http": 30, "https": 55}


class Load:
    """What one run of a generator gave."""

    def __init__(self, command):
        self.command = command
        self.requests = 0
        self.bytes = 0
        self.errors = {}
        self.starts = []
        self.samples = []
        self.duration = None
        self.cpu = 0.0
        self.wall = 0.0
        self.threads = 1

    def read_samples(self, path):
        self.starts, self.samples, bad = stats.parse_samples(
            procs.slurp(path))
        for status, count in bad.items():
            # h2load's -1 are in its own counts
            if status != "-1":
                self.errors[f"status {status}"] = count
        self.requests = len(self.samples)

    def seconds(self):
        """As the generator says, or from the first request's start to the
        last answer's end."""
        if self.duration is not None:
            return self.duration
        if not self.samples:
            return 0.0
        ends = max(map(int.__add__, self.starts, self.samples))
        return (ends - min(self.starts)) / 1e6

    def share(self):
        """Part of the CPUs that the generator could use, that it used."""
        able = min(self.threads, len(cpus())) * self.wall
        return self.cpu / able if able else 0.0


def prefix(client_cpus):
    return ["taskset", "-c", client_cpus] if client_cpus else []


def h2load_argv(scenario, port, amount, raw, scratch, client_cpus):
    threads = min(len(cpus()), scenario.connections)
    if scenario.kind == "flaky":
        threads = 1
    base = f"{scenario.scheme}://127.0.0.1:{port}"
    argv = prefix(client_cpus) + [
        "h2load", "--h1", *amount, "-c", str(scenario.connections),
        "-t", str(threads), "--log-file", raw]
    if scenario.pipeline > 1:
        argv += ["-m", str(scenario.pipeline)]
    if scenario.close:
        argv += ["-H", "Connection: close"]
    if scenario.kind == "mixed":
        uris = os.path.join(scratch, "mixed.uris")
        with open(uris, "w", encoding="ascii") as file:
            file.write("/1k.txt\n" * 9 + "/hello?name=World\n")
        return argv + ["-B", base, "-i", uris], threads
    return argv + [base + scenario.path], threads


def finish(process, limit):
    """Waits by wait4 for the CPU time. Returns (output, cpu, in time)."""
    chunks = []
    os.set_blocking(process.stdout.fileno(), False)
    end = time.monotonic() + limit
    in_time = True
    while True:
        data = process.stdout.read()
        if data:
            chunks.append(data)
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            in_time = False
            process.kill()
        time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    chunks.append(process.stdout.read() or b"")
    process.stdout.close()
    return (b"".join(chunks).decode(errors="replace"),
            used.ru_utime + used.ru_stime, in_time)


def spawn(argv, **more):
    return subprocess.Popen(argv, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT,
                            start_new_session=True, **more)


def amount_of(scenario, seconds, rate):
    """How much load: seconds of it, but h2load 1.52 does not end by time
    when every answer closes its connection: there a number of requests that
    take about as long at the rate known so far."""
    if not scenario.close:
        return ["-D", f"{round(seconds * 1000)}ms"]
    c = scenario.connections
    each = max(4, round((rate or 2000) * seconds / c))
    return ["-n", str(each * c)]


def h2load(scenario, port, seconds, raw, scratch, client_cpus=None,
           rate=None):
    argv, threads = h2load_argv(scenario, port,
                                amount_of(scenario, seconds, rate), raw,
                                scratch, client_cpus)
    load = Load(shlex.join(argv))
    load.threads = threads
    # h2load appends to its log
    with contextlib.suppress(FileNotFoundError):
        os.unlink(raw)
    started = time.monotonic()
    process = spawn(argv, stdin=subprocess.DEVNULL)
    try:
        text, load.cpu, in_time = finish(process, seconds + GRACE)
    except BaseException:
        process.kill()
        process.wait()
        raise
    load.wall = time.monotonic() - started
    load.read_samples(raw)
    if in_time:
        parse_h2load(text, load)
    else:
        load.errors["generator"] = "did not end in time"
    return load


def parse_h2load(text, load):
    found = re.search(r"requests: (\d+) total, (\d+) started, (\d+) done, "
                      r"(\d+) succeeded, (\d+) failed, (\d+) errored, "
                      r"(\d+) timeout", text)
    if not found:
        load.errors["generator"] = text.strip()[-300:] or "no output"
        return
    failed, errored, timeout = map(int, found.groups()[4:])
    for name, count in (("failed", failed), ("errored", errored),
                        ("timeout", timeout)):
        if count:
            load.errors[name] = count
    # with Connection: close h2load's total stays 0, the parts are right
    total, head, body = map(int, re.search(
        r"traffic: \S+ \((\d+)\) total, \S+ \((\d+)\) headers.*"
        r", \S+ \((\d+)\) data", text).groups())
    load.bytes = max(total, head + body)
    if not load.requests:
        load.errors["generator"] = "no request was answered"


def handshakes(scenario, port, seconds, raw, build, client_cpus=None):
    """A connection for each request, full handshakes or resumed sessions."""
    load = Load("")
    load.threads = min(len(cpus()), scenario.connections)
    argv = prefix(client_cpus) + [
        os.path.join(build, "bench", "handshakes"), str(port), scenario.path,
        str(scenario.connections), str(load.threads), str(seconds), raw,
        "resumed" if scenario.resumed else "full"]
    load.command = shlex.join(argv)
    started = time.monotonic()
    process = spawn(argv, stdin=subprocess.DEVNULL)
    try:
        text, load.cpu, in_time = finish(process, seconds + GRACE)
    except BaseException:
        process.kill()
        process.wait()
        raise
    load.wall = time.monotonic() - started
    load.read_samples(raw)
    found = re.search(r"bytes (\d+) resumed \d+ errors (\d+)", text)
    if not in_time or not found:
        load.errors["generator"] = text.strip()[-300:] or "did not end"
    else:
        load.bytes = int(found.group(1))
        if int(found.group(2)):
            load.errors["errored"] = int(found.group(2))
        if not load.requests:
            load.errors["generator"] = "no request was answered"
    return load


def first_use(scenario, port, client_cpus=None):
    """As many requests at a time as idle makes when it opens connections:
    what the first ones need once is not part of what each connection needs."""
    argv = prefix(client_cpus) + [
        "h2load", "--h1", "-n", "2560", "-c", str(AT_A_TIME), "-t", "1",
        f"{scenario.scheme}://127.0.0.1:{port}{scenario.path}"]
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   timeout=30, check=False)


def idle(scenario, port, seconds, raw, build, server, client_cpus=None):
    """C10K. Returns (load, snapshot before, KiB per idle connection)."""
    argv = prefix(client_cpus) + [
        os.path.join(build, "bench", "idle"),
        *(["--tls"] if scenario.scheme == "https" else []), str(port),
        scenario.path, str(scenario.connections), str(scenario.active), str(seconds), raw] \
        + ([str(scenario.rate)] if scenario.rate else [])
    load = Load(shlex.join(argv))
    first_use(scenario, port, client_cpus)
    empty = procs.settled_kib(server.pid)
    opened = time.monotonic()
    process = spawn(argv, stdin=subprocess.PIPE)
    try:
        first = read_line(process, LIMIT[scenario.scheme])
        if not first.startswith(b"ready"):
            load.errors["connections"] = \
                first.decode().strip() or "not opened in time"
            process.kill()
            process.wait()
            load.wall = time.monotonic() - opened
            return load, procs.Snapshot(server.pid), None
        time.sleep(0.5)
        each = (procs.proportional_kib(server.pid) - empty) \
            / scenario.connections
        before = procs.Snapshot(server.pid)
        at_ready = child_cpu(process.pid)
        started = time.monotonic()
        try:
            process.stdin.write(b"go\n")
            process.stdin.close()
        except BrokenPipeError:
            pass
        text, cpu, in_time = finish(process, seconds + GRACE)
    except BaseException:
        process.kill()
        process.wait()
        raise
    load.wall = time.monotonic() - started
    load.cpu = cpu - at_ready
    load.read_samples(raw)
    found = re.search(r"bytes (\d+) closed (\d+) errors (\d+)", text)
    if not in_time or not found:
        load.errors["generator"] = text.strip()[-300:] or "did not end"
    else:
        load.bytes = int(found.group(1))
        for name, group in (("closed by the server", 2), ("errored", 3)):
            if int(found.group(group)):
                load.errors[name] = int(found.group(group))
    return load, before, each


def read_line(process, limit):
    """One line of a child, or what came until the limit or its end."""
    os.set_blocking(process.stdout.fileno(), False)
    line = b""
    end = time.monotonic() + limit
    while not line.endswith(b"\n") and time.monotonic() < end:
        line += process.stdout.read() or b""
        if process.poll() is not None:
            break
        time.sleep(0.01)
    return line


def child_cpu(pid):
    """CPU seconds of a living process so far."""
    fields = procs.slurp(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return sum(map(int, fields[11:13])) * procs.TICK_NS / 1e9 if fields else 0
