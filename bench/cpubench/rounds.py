# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios: sweep, warm-up, interleaved rounds.

Everything that was measured is in self.results at any moment, so that an
interrupted bench can be saved and reported.
"""

import os
import random
import sys
import time

from . import load as loads
from . import procs, stats, targets, wrk
from .contestants import (nginx, nginx_tls_variants, nginx_variants,
                          open_files)
from .scenarios import TLS
from .server import BenchError, Server

SAMPLES_FOR_PLOTS = 2000


def one_run(server, scenario, seconds, raw, bench):
    """One load on one server. Returns (run record, Load)."""
    memory = None
    if scenario.kind == "idle":
        load, before, memory = loads.idle(
            scenario, server.port, seconds, raw, bench.build, server,
            bench.client_cpus)
    elif scenario.kind == "handshakes":
        before = procs.Snapshot(server.pid)
        load = loads.handshakes(scenario, server.port, seconds, raw,
                                bench.build, bench.client_cpus)
    elif scenario.kind in ("wrk", "many"):
        before = procs.Snapshot(server.pid)
        load = wrk.run(scenario, server.port, seconds, raw,
                       bench.client_cpus)
    else:
        before = procs.Snapshot(server.pid)
        load = loads.h2load(scenario, server.port, seconds, raw, server.root,
                            bench.client_cpus,
                            bench.rates.get((scenario.name, server.root)))
    if not server.alive():
        load.errors["server"] = "ended during the run"
        used = {"cpu_ns": 0, "migrations": 0, "switches": 0, "vanished": 0,
                "processes": {}}
    else:
        used = procs.usage(before, procs.Snapshot(server.pid))
    run = record(load, used, server.pid, memory)
    if "rps" in run:
        bench.rates[scenario.name, server.root] = run["rps"]
    return run, load


def record(load, used, root_pid, memory):
    """Figures of one run; per request ones are None when none was answered."""
    run = {
        "seconds": load.seconds(), "requests": load.requests,
        "bytes": load.bytes, "errors": load.errors,
        "server_cpu_s": used["cpu_ns"] / 1e9,
        "migrations": used["migrations"], "switches": used["switches"],
        "vanished_threads": used["vanished"],
        "generator_cpu_s": load.cpu, "generator_share": load.share(),
        "generator_limited": load.share() > 0.95,
        "command": load.command,
        "latency_us": stats.summary(load.samples),
        "process_cpu_s": {pid: ns / 1e9 for pid, ns in
                          used["processes"].items() if pid != root_pid},
    }
    if memory is not None:
        run["kib_per_idle_connection"] = memory
    run.update(derive(run))
    return run


def derive(run):
    """What is computed from the counts of one run."""
    n, wall = run["requests"], run["seconds"]
    if not n or not wall:
        return {}
    cpu = run["server_cpu_s"]
    figures = {
        "rps": n / wall,
        "cpu_us": cpu / n * 1e6,
        "switches_per_request": run["switches"] / n,
        "migrations_per_1000": run["migrations"] / n * 1000,
    }
    if run["bytes"]:
        figures["cpu_s_per_gb"] = cpu / run["bytes"] * 1e9
        figures["mb_per_s"] = run["bytes"] / wall / 1e6
    return figures


def busiest_over_mean(values):
    """1 is even; N is all on one of N. None when nothing was done."""
    values = list(values)
    mean = sum(values) / len(values) if values else 0
    return max(values) / mean if mean else None


def pid_counts(server, offset):
    """Requests per process from the log of pids, and the log's new size."""
    path = os.path.join(server.root, "pids.log")
    data = procs.slurp(path)
    counts = {}
    for pid in data[offset:].split():
        counts[pid.decode()] = counts.get(pid.decode(), 0) + 1
    return counts, len(data)


class Bench:
    def __init__(self, field, contestants, options):
        self.field = field
        self.contestants = contestants
        self.build = field.build
        self.client_cpus = options.client_cpus
        self.rounds = options.rounds
        self.seconds = options.seconds
        # what was asked for explicitly goes before a scenario's own
        self.asked = {}
        self.sweep_seconds = max(0.3, options.seconds / 2)
        self.keep_raw = options.keep_raw
        self.out = options.out
        self.limit = options.limit
        self.plain_variants = nginx_variants(options.quick)
        self.tls_variants = nginx_tls_variants()
        self.rates = {}
        # {scenario: nginx's variant with most requests/s}, and the names of
        # all scenarios of this bench
        self.best = {}
        self.planned = set()
        self.running = {}
        self.extra = []
        self.site = None
        self.results = []
        self.on_scenario = None
        self.done = 0
        self.total = 0
        self.began = time.monotonic()

    # servers

    def server(self, contestant, site):
        key = (contestant.name, site)
        server = self.running.get(key)
        if server is None or not server.alive():
            extra = {f"BACKEND{i + 1}": str(b.port)
                     for i, b in enumerate(self.extra)}
            server = self.field.start(contestant, site, extra)
            self.running[key] = server
        return server

    def stop_all(self):
        for server in [*self.running.values(), *self.extra]:
            server.stop()
        self.running.clear()
        self.extra.clear()

    def stop_one(self, contestant, site):
        server = self.running.pop((contestant.name, site), None)
        if server:
            server.stop()

    def enter_site(self, site):
        if self.site != site:
            self.stop_all()
            self.site = site

    def start_backends(self):
        """Fresh ones for each proxy and round: the same service times."""
        for backend in self.extra:
            backend.stop()
        old = [b.port for b in self.extra]
        self.extra.clear()
        for i in range(3):
            port = old[i] if old else self.field.ports.take("a backend")
            argv = [os.path.join(self.build, "bench", "backend"), str(port),
                    str(i + 1), "10"]
            self.extra.append(Server(f"backend {i}", argv, self.field.root,
                                     port).start())

    # measuring

    def progress(self, scenario, what):
        spent = time.monotonic() - self.began
        line = f"[{self.done}/{self.total}] {spent:4.0f} s  " \
            f"{scenario.name}: {what}"
        if sys.stderr.isatty():
            print("\r\033[K" + line[:110], end="", file=sys.stderr,
                  flush=True)
        elif what.startswith("round") or self.done == self.total:
            print(line, file=sys.stderr, flush=True)

    def sweep(self, scenario):
        """nginx's variants once each; the one with most requests/s wins."""
        rows, best = [], None
        seconds = self.seconds_of(scenario, self.sweep_seconds, 0.5)
        for i, (settings, words) in enumerate(self.variants(scenario)):
            contestant = nginx(settings, words, i)
            self.progress(scenario, f"sweep of nginx: {words}")
            server = self.server(contestant, scenario.site)
            raw = os.path.join(self.field.root, "sweep.tsv")
            run, _ = one_run(server, scenario, seconds, raw, self)
            rows.append({"settings": words, "rps": run.get("rps"),
                         "cpu_us": run.get("cpu_us"),
                         "errors": run["errors"]})
            rate = run.get("rps") or 0
            if run["errors"]:
                rate = 0
            if best is None or rate > best[0]:
                best = (rate, contestant)
            self.done += 1
        return rows, best[1]

    def entrants(self, scenario):
        """[(name, contestant)] of this scenario, nginx's best among them."""
        found = [(c.name, c) for c in self.contestants
                 if c.enters(scenario) and c.name != "nginx"]
        sweep = None
        if self.swept(scenario):
            best = self.best.get(scenario.sweep_of)
            if not best:
                sweep, best = self.sweep(scenario)
                self.best[scenario.name] = best
            found.append(("nginx", best))
        return found, sweep

    def scenario(self, scenario):
        self.enter_site(scenario.site)
        if scenario.kind == "flaky":
            self.start_backends()
        entry = {"scenario": scenario.describe(), "runs": [], "sweep": None,
                 "plots": scenario.plots, "samples": {}, "notes": {}}
        self.results.append(entry)
        entrants, entry["sweep"] = self.entrants(scenario)
        entry["notes"] = {n: c.note for n, c in entrants if c.note}
        if scenario.tree and "nginx" in entry["notes"]:
            entry["notes"]["nginx"] += ", room for " \
                f"{open_files(scenario.site)[0]} files in its cache"
        entry["order"] = [name for name, _ in entrants]
        seconds = self.seconds_of(scenario, self.seconds)
        rounds = self.rounds_of(scenario)
        if scenario.kind not in ("flaky", "idle") and not scenario.warm:
            for name, contestant in entrants:
                self.progress(scenario, f"warm-up {name}")
                self.warm(self.server(contestant, scenario.site), scenario)
        for number in range(1, rounds + 1):
            # rotated, so that nobody always follows the same neighbour
            turn = number % len(entrants) if entrants else 0
            for name, contestant in entrants[turn:] + entrants[:turn]:
                self.progress(scenario, f"round {number} of {rounds}, {name}")
                self.run(entry, scenario, name, contestant, number, seconds)

    def warm(self, server, scenario):
        raw = os.path.join(self.field.root, "warm.tsv")
        if scenario.kind == "wrk":
            # h2load knows less than a second
            loads.h2load(scenario, server.port, 0.3, raw, server.root,
                         self.client_cpus)
        else:
            one_run(server, scenario, scenario.warm or 0.3, raw, self)

    def run(self, entry, scenario, name, contestant, number, seconds):
        if scenario.kind == "flaky":
            self.start_backends()
        fresh = scenario.kind == "idle" and number == 1
        if fresh:
            # memory that an earlier run left in the heap would hide what
            # this one needs
            self.stop_one(contestant, scenario.site)
        server = self.server(contestant, scenario.site)
        if scenario.warm:
            self.warm(server, scenario)
        raw = self.raw_path(scenario, name, number)
        offset = pid_counts(server, 0)[1] if scenario.site == "pids" else 0
        run, load = one_run(server, scenario, seconds, raw, self)
        run.update(contestant=name, round=number)
        if not fresh:
            run.pop("kib_per_idle_connection", None)
        if scenario.tree:
            run["server_mib"] = procs.proportional_kib(server.pid) / 1024
        if scenario.site == "pids":
            self.add_balance(run, server, offset)
        if self.keep_raw:
            run["raw"] = os.path.relpath(raw, self.out)
        entry["runs"].append(run)
        self.done += 1
        if scenario.plots and load.samples and not run["errors"]:
            if load.starts:
                entry["samples"][name] = thin(load)
            entry.setdefault("curves", {})[name] = stats.curve(load.samples)
        if not self.keep_raw and os.path.exists(raw):
            os.unlink(raw)

    def add_balance(self, run, server, offset):
        time.sleep(0.1)
        counts, _ = pid_counts(server, offset)
        serving = run["process_cpu_s"]
        if counts:
            for pid in serving:
                counts.setdefault(str(pid), 0)
            run["process_requests"] = counts
            run["balance_requests"] = busiest_over_mean(counts.values())
        run["balance_cpu"] = busiest_over_mean(serving.values())

    def raw_path(self, scenario, name, number):
        if not self.keep_raw:
            return os.path.join(self.field.root, "run.tsv")
        folder = os.path.join(self.out, "raw")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"{scenario.name}.{name}.{number}.tsv")

    def all(self, scenarios):
        scenarios = in_order(scenarios)
        self.total = sum(map(self.count, scenarios))
        for at, scenario in enumerate(scenarios):
            if time.monotonic() - self.began > self.limit:
                raise BenchError(
                    f"the limit of {self.limit} s is reached; left out: "
                    + ", ".join(s.name for s in scenarios[at:]))
            try:
                self.scenario(scenario)
                if self.on_scenario:
                    self.on_scenario()
            except BenchError as error:
                raise BenchError(f"{scenario.name}: {error}") from error

    def count(self, scenario):
        """Measured runs of a scenario, the sweep's included."""
        here = [c for c in self.contestants if c.enters(scenario)]
        swept = self.swept(scenario) \
            and scenario.sweep_of not in self.planned
        return len(here) * self.rounds_of(scenario) \
            + swept * len(self.variants(scenario))

    def variants(self, scenario):
        return self.tls_variants if scenario.site in TLS \
            else self.plain_variants

    def swept(self, scenario):
        return any(c.name == "nginx" and c.enters(scenario)
                   for c in self.contestants)

    def rounds_of(self, scenario):
        return self.asked.get("rounds") or scenario.rounds or self.rounds

    def seconds_of(self, scenario, otherwise, part=1.0):
        own = self.asked.get("seconds") or scenario.seconds
        return max(0.3, own * part) if own else otherwise


def in_order(scenarios):
    """What the targets need comes first, as a limit in time takes from the
    end; within that, sites together, as servers are started for a site."""
    needed = targets.scenarios()
    order = list(dict.fromkeys(s.site for s in scenarios))
    return sorted(scenarios, key=lambda s: (s.name not in needed,
                                            order.index(s.site)))


def thin(load):
    """[(seconds since the run's start, ms)]: a random part for the plots."""
    first = min(load.starts)
    rows = list(zip(load.starts, load.samples))
    if len(rows) > SAMPLES_FOR_PLOTS:
        rows = random.Random(1).sample(rows, SAMPLES_FOR_PLOTS)
    return [((start - first) / 1e6, us / 1e3) for start, us in sorted(rows)]
