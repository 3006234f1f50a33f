#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The bench's quantiles and medians against R's: recorded raw files of h2load
in t/data, with R's answers beside them (quantiles.R made quantiles.tsv).
Where R is installed it is asked again. And wrk's output, recorded, as it is
read."""

import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402
from cpubench import load, stats, wrk  # noqa: E402

FILES = sorted(glob.glob(f"{benchtest.DATA}/h2load-*.tsv"))


def parse_r(text):
    """{file: {figure: value}} of R's table."""
    found = {}
    for line in text.splitlines():
        name, figure, value = line.split("\t")
        if name != "file":
            found.setdefault(name, {})[figure] = float(value)
    return found


def ours():
    found = {}
    for path in FILES:
        with open(path, "rb") as file:
            _, times, bad = stats.parse_samples(file.read())
        found[os.path.basename(path)] = (stats.summary(times), bad,
                                         stats.curve(times))
    return found


class Quantiles(unittest.TestCase):
    def compare(self, r):
        mine = ours()
        self.assertEqual(sorted(r), sorted(mine), "an answer for every file")
        for name, figures in r.items():
            for key, value in figures.items():
                self.assertLessEqual(abs(mine[name][0][key] - value),
                                     1e-6 * (1 + abs(value)), (name, key))

    def test_as_r_said(self):
        self.compare(parse_r(benchtest.slurp(
            f"{benchtest.DATA}/quantiles.tsv")))

    @unittest.skipUnless(shutil.which("Rscript"), "Rscript is not installed: "
                         "only its recorded answers were compared")
    def test_as_r_says(self):
        done = subprocess.run(
            ["Rscript", "--vanilla", f"{benchtest.DATA}/quantiles.R", *FILES],
            stdout=subprocess.PIPE, text=True, check=True, timeout=60)
        self.compare(parse_r(done.stdout))

    def test_errors_are_no_samples(self):
        self.assertEqual(ours()["h2load-errors.tsv"][1], {"503": 42})

    def test_the_curve_ends_where_the_samples_do(self):
        curve = ours()["h2load-keepalive.tsv"][2]
        self.assertLessEqual(max(p for p, _ in curve), 0.9995,
                             "1501 samples carry no more")

    def test_few_samples(self):
        self.assertEqual(stats.summary([7])["p999"], 7)
        self.assertEqual(stats.median([4, 1, 3, 2]), 2.5)
        self.assertIsNone(stats.spread([None, None]))
        self.assertIsNone(stats.summary([]))


class Wrk(unittest.TestCase):
    text = benchtest.slurp(f"{benchtest.DATA}/wrk-keepalive.txt")

    def parsed(self, text):
        result = load.Load("")
        wrk.parse(text, result)
        return result

    def number(self, pattern):
        return float(re.search(pattern, self.text, re.S)[1])

    def test_counts(self):
        got = self.parsed(self.text)
        self.assertEqual(got.requests, self.number(r"(\d+) requests in"))
        self.assertAlmostEqual(got.requests / got.seconds(),
                               self.number(r"Requests/sec:\s*([\d.]+)"), 1)
        self.assertEqual(got.errors, {})

    def test_latency(self):
        latency = stats.summary(self.parsed(self.text).samples)
        self.assertLessEqual(
            abs(latency["median"] - self.number(r"50%\s+([\d.]+)us")), 1)
        self.assertLessEqual(
            abs(latency["p99"] / 1000
                - self.number(r"99%\s+([\d.]+)ms")), 0.011)

    def test_errors_have_names(self):
        bad = self.parsed(self.text.replace(" 0 0 0 0 0\n", " 0 7 0 3 0\n"))
        self.assertEqual(bad.errors, {"read errors": 7,
                                      "status not 2xx or 3xx": 3})

    def test_no_counts(self):
        none = self.parsed("unable to connect to 127.0.0.1:1\n")
        self.assertRegex(none.errors["generator"], "unable to connect")


if __name__ == "__main__":
    tap.main()
