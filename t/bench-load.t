#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the load generators are asked and what is made of their figures: by
the bench's own functions, against the bare epoll loop."""

import os
import shutil
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402
from cpubench import load, scenarios, wrk  # noqa: E402


class Self:
    """A server whose memory can be asked for."""

    pid = os.getpid()


class Generators(benchtest.BenchCase):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.out, "1k.txt")
        self.raw_file = os.path.join(self.out, "raw.tsv")
        with open(self.file, "w", encoding="ascii") as file:
            file.write("abcdefghijklmno\n" * 64)
        self.port = benchtest.free_port()
        self.floor = subprocess.Popen(
            [f"{benchtest.BUILD}/bench/floor", "127.0.0.1", str(self.port),
             self.file, "Floor"])
        self.addCleanup(self.end)
        self.assertTrue(benchtest.wait_for(self.answers, 10))

    def end(self):
        self.floor.kill()
        self.floor.wait()

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @unittest.skipUnless(shutil.which("h2load"), "h2load is not installed "
                         "(make bench installs it)")
    def test_h2load_has_only_its_own_samples(self):
        # it appends to its log; another generator's may be there
        with open(self.raw_file, "w", encoding="ascii") as file:
            file.write("104\t1\n" * 1000)
        last = 0
        for _ in range(2):
            got = load.h2load(scenarios.static("1k.txt", 4), self.port, 0.5,
                              self.raw_file, self.out)
            self.assertEqual(got.errors, {})
            starts = sorted(int(line.split("\t")[0]) for line in
                            benchtest.slurp(self.raw_file).splitlines())
            self.assertEqual(got.requests, len(starts))
            self.assertGreater(starts[0], last)
            last = starts[-1]

    def idle(self, scenario):
        return load.idle(scenario, self.port, 1, self.raw_file,
                         benchtest.BUILD, Self)

    def test_requests_at_a_rate(self):
        for few in (20, 300):
            with self.subTest(f"{few} connections"):
                got, _, _ = self.idle(scenarios.idle(few, 10, "test",
                                                     rate=200))
                self.assertEqual(got.errors, {})
                self.assertLessEqual(got.requests, 201, "no more than due")
                self.assertGreaterEqual(got.requests, 100)

    @unittest.skipUnless(shutil.which("wrk"), "wrk is not installed (make "
                         "bench installs it)")
    def test_pipelining_by_wrk(self):
        got = wrk.run(scenarios.pipelined(), self.port, 1, self.raw_file)
        self.assertEqual(got.errors, {})
        self.assertRegex(got.command, " -- 16$")
        self.assertGreater(got.requests, 16)

    def test_no_server_is_an_error_of_the_run(self):
        self.end()
        got, _, each = self.idle(scenarios.idle(5, 1, "test"))
        self.assertRegex(got.errors["connections"], r"\S")
        self.assertIsNone(each, "and no memory is told")


if __name__ == "__main__":
    tap.main()
