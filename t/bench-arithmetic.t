#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One tiny scenario with two contestants; the figures of results.json and of
report.html are computed once more here, from the raw samples."""

import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
import benchtest  # noqa: E402
import tap  # noqa: E402
from cpubench.summary import error_text, summarise  # noqa: E402


class Arithmetic(benchtest.BenchCase):
    def close_to(self, got, want, name):
        self.assertIsNotNone(got, name)
        self.assertLessEqual(abs(got - want), 1e-9 * (1 + abs(want)), name)

    def figures(self, run):
        """requests/s, CPU µs and p99 in ms of a run, from its samples."""
        rows = self.raw(run)
        seconds = (max(r[0] + r[2] for r in rows)
                   - min(r[0] for r in rows)) / 1e6
        us = sorted(r[2] for r in rows)
        at = 0.99 * (len(us) - 1)
        low = int(at)
        p99 = us[low] + (at - low) * (us[min(low + 1, len(us) - 1)] - us[low])
        name = f"{run['contestant']} round {run['round']}"
        self.assertEqual(run["errors"], {}, name)
        self.assertEqual(run["requests"], len(rows), name)
        self.assertGreater(run["server_cpu_s"], 0, name)
        if not run["vanished_threads"]:
            self.assertLessEqual(sum(run["process_cpu_s"].values()),
                                 run["server_cpu_s"] + 1e-6, name)
        cpu = run["server_cpu_s"] * 1e6 / len(rows)
        for key, want in (("seconds", seconds), ("rps", len(rows) / seconds),
                          ("cpu_us", cpu)):
            self.close_to(run[key], want, f"{name}: {key}")
        self.close_to(run["latency_us"]["mean"], sum(us) / len(us), name)
        self.close_to(run["latency_us"]["p99"], p99, name)
        return {"rps": len(rows) / seconds, "cpu_us": cpu, "p99": p99 / 1e3}

    def check_summary(self, row, own, base, report):
        for key in ("rps", "cpu_us", "p99"):
            v = sorted(f[key] for f in own)
            got = row["latency_ms" if key == "p99" else "figures"][key]
            for part, want in zip(("min", "median", "max"), v):
                self.close_to(got[part], want, f"{key}: {part} of 3")
            self.close_to(row["ratio"]["httpd"][key],
                          v[1] / sorted(f[key] for f in base)[1],
                          f"{key}: ratio to stock")
            if key == "cpu_us":
                self.assertIn(f"{v[1]:.1f}<small>{v[0]:.1f}–{v[2]:.1f}"
                              "</small>", report)

    def check_errors(self, entry):
        """A run with errors is named and left out of every figure."""
        entry = copy.deepcopy(entry)
        first = next(r for r in entry["runs"] if r["contestant"] == "cpu")
        first["errors"] = {"failed": 3}
        first["rps"] = 1e9
        row = summarise(entry)["cpu"]
        self.assertEqual(row["good"], 2)
        self.assertLess(row["figures"]["rps"]["max"], 1e9)
        self.assertEqual(error_text(row["bad"]), "1 run not used (failed: 3)")

    def test_figures(self):
        """figures, medians, ratios and the report, computed once more"""
        code, log = self.bench("--rounds", 3, "--seconds", 0.4,
                               "--contestants", "stock,cpu", "--keep-raw",
                               "--only", "static-1k-ka-c10$")
        self.assertEqual(code, 0, log)
        results = self.results()
        self.assertTrue(results["complete"])
        self.assertEqual([c["absent"] for c in results["contestants"]],
                         [None, None], log)
        entry = results["scenarios"][0]
        self.assertEqual(
            [f"{r['round']}{r['contestant']}" for r in entry["runs"]],
            ["1cpu", "1stock", "2stock", "2cpu", "3cpu", "3stock"],
            "interleaved, turns rotate")
        found = {"stock": [], "cpu": []}
        for run in entry["runs"]:
            found[run["contestant"]].append(self.figures(run))
        for who, own in found.items():
            self.check_summary(entry["summary"][who], own, found["stock"],
                               self.report())
        self.check_errors(entry)
        self.assertIn("httpd + CPUAffinity cpu", self.report())
        self.assertRegex(log, "req/s.*CPU", "a table on the terminal")


if __name__ == "__main__":
    tap.main()
