#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A run with wrk: the scenario decides who takes part, and the figures are
those that wrk counted."""

import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402


@unittest.skipUnless(shutil.which("wrk"), "wrk is not installed (make bench "
                     "installs it)")
class Wrk(benchtest.BenchCase):
    def test_run(self):
        """who takes part, figures and samples"""
        code, log = self.bench(
            "--quick", "--rounds", 1, "--seconds", 1, "--keep-raw",
            "--contestants", "stock,taskset,floor", "--only",
            "^wrk-1k-ka-c32$")
        self.assertEqual(code, 0, log)
        runs = self.results()["scenarios"][0]["runs"]
        self.assertEqual(sorted(r["contestant"] for r in runs),
                         ["floor", "stock"], "those that the scenario names")
        for run in runs:
            self.assertEqual(run["errors"], {})
            self.assertGreater(run["requests"], 0)
            self.assertGreater(run["server_cpu_s"], 0)
            self.assertAlmostEqual(run["rps"],
                                   run["requests"] / run["seconds"], 5)
            rows = self.raw(run)
            self.assertGreaterEqual(sum(r[1] for r in rows), run["requests"])
            self.assertEqual(run["latency_us"]["max"], rows[-1][0])
        self.assertIn("bare epoll loop (a limit, no server)", self.report())
        self.assertRegex(log, r"≤ 1.15 × a bare epoll loop\s+fixedstatic did "
                         "not take part")


if __name__ == "__main__":
    tap.main()
