# SPDX-License-Identifier: Apache-2.0
"""What the tests of the bench share: where things are, and running it."""

import contextlib
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.join(TOP, "build"))
DATA = os.path.join(TOP, "t", "data")
sys.path.insert(0, os.path.join(TOP, "bench"))


def slurp(path):
    """Text of a file, empty when it is gone."""
    try:
        with open(path, encoding="utf8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def wait_for(condition, seconds):
    """Whether it came true in time; what it returned last."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class BenchCase(unittest.TestCase):
    """A directory for results, and bench/run writing there."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="benchtest-")
        self.addCleanup(folder.cleanup)
        self.out = folder.name

    def argv(self, *flags):
        return [os.path.join(TOP, "bench", "run"), "--build", BUILD,
                "--out", self.out, "--no-plots", *map(str, flags)]

    def bench(self, *flags, prefix=(), limit=60, **more):
        """(exit code, output) of one run."""
        done = subprocess.run([*prefix, *self.argv(*flags)], timeout=limit,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, **more)
        return done.returncode, done.stdout.decode(errors="replace")

    def results(self):
        return json.loads(slurp(os.path.join(self.out, "results.json")))

    def report(self):
        return slurp(os.path.join(self.out, "report.html"))

    def raw(self, run):
        """Rows of the raw file of a run, as numbers."""
        text = slurp(os.path.join(self.out, run["raw"]))
        return [list(map(int, line.split())) for line in text.splitlines()]


class Marked:
    """Processes known by their environment, as others may bench here too."""

    def __init__(self):
        self.name = f"BENCHTEST={os.getpid()}.{time.monotonic_ns()}"

    def environ(self):
        key, _, value = self.name.partition("=")
        return {**os.environ, key: value}

    def left(self):
        """Command lines of those that live, by pid."""
        found = {}
        for path in glob.glob("/proc/[0-9]*"):
            with contextlib.suppress(OSError):
                if self.name in slurp(f"{path}/environ").split("\0"):
                    found[int(path[6:])] = slurp(
                        f"{path}/cmdline").replace("\0", " ")
        return found
