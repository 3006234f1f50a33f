# SPDX-License-Identifier: Apache-2.0
"""wrk as the load generator: whole seconds, and the distribution of response
times that wrk.lua prints. wrk 4 has by then added to it what it thinks that
requests would have seen that it did not send while it waited (its correction
of coordinated omission), so there are more samples than requests."""

import os
import re
import shlex
import subprocess
import time

from .load import GRACE, Load, finish, prefix, spawn

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTS = re.compile(r"^bench-counts ((?:\d+ ){7}\d+)$", re.M)
LATENCY = re.compile(r"^bench-latency (\d+) (\d+)$", re.M)
ERRORS = ("not connected", "read errors", "write errors",
          "status not 2xx or 3xx", "timeout")


def whole(seconds):
    """wrk's -d takes whole seconds."""
    return max(1, round(seconds))


def argv(scenario, port, seconds, client_cpus=None):
    words = prefix(client_cpus) + [
        "wrk", f"-t{scenario.threads}", f"-c{scenario.connections}",
        f"-d{whole(seconds)}s", "--timeout", "10s",
        "-s", os.path.join(HERE, "wrk.lua"),
        *(["-H", f"Accept-Encoding: {scenario.accept}"]
          if scenario.accept else []),
        f"{scenario.scheme}://127.0.0.1:{port}{scenario.path}"]
    if scenario.kind == "many":
        words += ["--", *map(str, scenario.tree)]
    elif scenario.pipeline > 1:
        words += ["--", str(scenario.pipeline)]
    return words


def parse(text, load):
    """Fills load from wrk's output."""
    found = COUNTS.search(text)
    if not found:
        load.errors["generator"] = text.strip()[-300:] or "no output"
        return
    load.requests, load.bytes, micros, *errors = map(
        int, found.group(1).split())
    load.duration = micros / 1e6
    for name, count in zip(ERRORS, errors):
        if count:
            load.errors[name] = count
    for value, count in LATENCY.findall(text):
        load.samples += [int(value)] * int(count)
    if not load.requests:
        load.errors["generator"] = "no request was answered"


def run(scenario, port, seconds, raw, client_cpus=None):
    words = argv(scenario, port, seconds, client_cpus)
    load = Load(shlex.join(words))
    load.threads = scenario.threads
    started = time.monotonic()
    process = spawn(words, stdin=subprocess.DEVNULL)
    try:
        text, load.cpu, in_time = finish(process, whole(seconds) + GRACE)
    except BaseException:
        process.kill()
        process.wait()
        raise
    load.wall = time.monotonic() - started
    if in_time:
        parse(text, load)
        with open(raw, "w", encoding="ascii") as file:
            file.write("".join(f"{value}\t{count}\n" for value, count
                               in LATENCY.findall(text)))
    else:
        load.errors["generator"] = "did not end in time"
    return load
