#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The table of targets: its arithmetic on results made here, and what is said
of figures that a run does not have."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402,F401  pylint: disable=unused-import
import tap  # noqa: E402
from cpubench import contestants, rounds, scenarios, targets  # noqa: E402


def run(who, number, **more):
    return {"contestant": who, "round": number, "errors": {}, **more}


def entry(name, *runs):
    return {"scenario": {"name": name}, "runs": list(runs)}


def results():
    c32 = []
    for number, (own, nginx) in enumerate(((6, 10), (4, 20), (5, 10)), 1):
        c32 += [run("fixedstatic", number, cpu_us=own, rps=150),
                run("nginx", number, cpu_us=nginx, rps=100),
                run("stock", number, cpu_us=100)]
    # a run with errors does not count, nor does the other of its round
    c32 += [run("fixedstatic", 4, cpu_us=1) | {"errors": {"failed": 1}},
            run("nginx", 4, cpu_us=10)]
    return {"scenarios": [
        entry("wrk-1k-ka-c32", *c32),
        entry("c10k", run("fixedstatic", 1, latency_us={"p99": 2600},
                          kib_per_idle_connection=0.5),
              run("nginx", 1, kib_per_idle_connection=0)),
        entry("c10k-active", run("fixedstatic", 1,
                                 latency_us={"p99": 2000})),
        entry("balance-c1000", run("fixedstatic", 1, balance_cpu=1.05)),
        entry("hello", run("fixedstatic", 1, cpu_us=90),
              run("stock", 1) | {"errors": {"failed": 3}}),
        entry("many", run("nginx", 1, rps=3)),
        entry("static-1k-close-c100", run("fixedstatic", 1, rps=30),
              run("nginx", 1, rps=25), run("stock", 1, rps=10)),
    ]}


class Targets(unittest.TestCase):
    rows = targets.rows(results())

    def row(self, figure, target):
        found = [r for r in self.rows if re.search(figure, r["figure"])
                 and re.search(target, r["target"])]
        self.assertEqual(len(found), 1, f"{figure} {target}: one row")
        return found[0]

    def test_ratio(self):
        r = self.row("CPU per request.*c32", "nginx")
        self.assertAlmostEqual(r["ratio"], 5 / 10)
        self.assertAlmostEqual(r["min"], 4 / 20)
        self.assertAlmostEqual(r["max"], 6 / 10)
        self.assertEqual(r["rounds"], 3)
        self.assertTrue(r["reached"])
        self.assertAlmostEqual(
            self.row("CPU per request.*c32", "stock")["ratio"], 0.05)

    def test_more_is_better(self):
        r = self.row("requests/s.*c32", "nginx")
        self.assertAlmostEqual(r["ratio"], 1.5)
        self.assertTrue(r["reached"])

    def test_base_of_another_scenario(self):
        r = self.row("p99, 10 000.*fast", "100 alone")
        self.assertAlmostEqual(r["ratio"], 1.3)
        self.assertIs(r["reached"], False)

    def test_bound_without_base(self):
        r = self.row("busiest", "^≤ 1.1$")
        self.assertAlmostEqual(r["ratio"], 1.05)
        self.assertEqual(r["medians"], [1.05])
        self.assertTrue(r["reached"])

    def test_second_scenario_when_the_first_is_missing(self):
        r = self.row("a connection per request", "nginx")
        self.assertEqual(r["scenario"], "static-1k-close-c100")
        self.assertAlmostEqual(r["ratio"], 1.2)
        self.assertTrue(r["reached"], "a bound met exactly is reached")

    def test_why_there_is_no_ratio(self):
        for figure, target, why in (
                ("CPU per request.*c32", "epoll", "floor did not take part"),
                ("p99.*c32", "nginx", "fixedstatic: no run without errors"),
                ("CPU per request.*c128", "nginx", "not measured in this run"),
                ("user memory per idle connection", "nginx", "nothing to divide by"),
                ("hello", "stock", "stock: no run without errors"),
                ("distinct", "nginx", "fixedstatic did not take part")):
            with self.subTest(figure):
                r = self.row(figure, target)
                self.assertEqual(r["why"], why)
                self.assertIsNone(r["reached"])

    def test_table(self):
        lines = targets.markdown(results()).splitlines()
        self.assertIn("| server CPU per request, 1 KiB, wrk -t2 -c32 "
                      "| ≤ 0.6 × best nginx | ×0.50 (0.20–0.60) "
                      "| 5.0 : 10.0 µs | reached |", lines)
        for pattern in (
                r"\| p99, 10 000 .*fast.* \| ×1.30 \| 2.60 : 2.00 ms "
                r"\| \*\*not reached\*\* \|",
                r"\| busiest .* \| 1.05 \| – \| reached \|"):
            self.assertTrue(any(re.fullmatch(pattern, x) for x in lines),
                            pattern)


class Scenarios(unittest.TestCase):
    def test_targets_exist_and_come_first(self):
        names = [s.name for s in rounds.in_order(scenarios.full_list())]
        quick = [s.name for s in scenarios.quick_list()]
        needed = targets.scenarios()
        self.assertEqual(needed - set(names) - set(quick), set())
        self.assertLessEqual(set(names[:len(needed & set(names))]), needed)
        self.assertEqual(len(names), len(set(names)), "no scenario twice")

    def test_the_bare_loop_answers_1_kib_only(self):
        every = scenarios.full_list() + scenarios.quick_list()
        self.assertEqual([s.name for s in every for c in contestants.table()
                          if c.name == "floor" and c.enters(s) and s.size != 1024], [])

    def test_pinning_alone_compares_three(self):
        found = [s for s in scenarios.full_list() if s.group == "affinity"]
        self.assertEqual([s.connections for s in found], [200, 1000])
        for s in found:
            self.assertEqual([c.name for c in contestants.table()
                              if c.enters(s)], ["stock", "taskset", "cpu"])


if __name__ == "__main__":
    tap.main()
