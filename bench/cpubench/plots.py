# SPDX-License-Identifier: Apache-2.0
"""Hands the figures to plots.R as CSV files and runs it."""

import csv
import os
import shutil
import subprocess
import time

from .machine import cpus
from .summary import summarise

HERE = os.path.dirname(os.path.abspath(__file__))


def write_csv(path, head, rows):
    with open(path, "w", encoding="utf8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def tables(results, folder):
    titles = {c["name"]: c["title"] for c in results["contestants"]}
    samples, curves, cpu, balance, ratios = [], [], [], [], []
    for entry in results["scenarios"]:
        scenario = entry["scenario"]["name"]
        for name, rows in entry["samples"].items():
            samples += [(scenario, titles[name], *row) for row in rows]
        for name, rows in entry.get("curves", {}).items():
            curves += [(scenario, titles[name], p, us / 1e3)
                       for p, us in rows]
        for run in entry["runs"]:
            if run["errors"] or "cpu_us" not in run:
                continue
            title = titles[run["contestant"]]
            cpu.append((scenario, title, run["round"], run["cpu_us"]))
            if entry["scenario"]["group"] == "balance":
                times = sorted(run["process_cpu_s"].values(), reverse=True)
                mean = sum(times) / len(times) if times else 0
                balance += [(scenario, title, run["round"], i + 1, t / mean)
                            for i, t in enumerate(times) if mean]
        for name, row in summarise(entry).items():
            for base, values in row["ratio"].items():
                ratios += [(scenario, titles[name], base, key, values[key])
                           for key in ("rps", "cpu_us") if key in values]
    common = ("scenario", "server")
    write_csv(f"{folder}/samples.csv", (*common, "t", "ms"), samples)
    write_csv(f"{folder}/curves.csv", (*common, "p", "ms"), curves)
    write_csv(f"{folder}/cpu.csv", (*common, "round", "us"), cpu)
    write_csv(f"{folder}/balance.csv",
              (*common, "round", "process", "share"), balance)
    write_csv(f"{folder}/ratios.csv", (*common, "base", "figure", "ratio"),
              ratios)
    write_csv(f"{folder}/scenarios.csv", ("scenario", "title"),
              [(e["scenario"]["name"], e["scenario"]["title"])
               for e in results["scenarios"]])
    write_csv(f"{folder}/servers.csv", ("server",),
              [(t,) for t in dict.fromkeys(titles.values())])


def draw(results, out):
    """Returns why there are no plots, or None."""
    folder = os.path.join(out, "plots")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    tables(results, folder)
    if not shutil.which("Rscript"):
        return "no plots: Rscript is missing (apt-get install " \
            "r-base-core r-cran-ggplot2 r-cran-svglite)"
    parts = min(len(cpus()), 4)
    running = [subprocess.Popen(
        ["Rscript", "--vanilla", f"{HERE}/plots.R", folder, str(part),
         str(parts)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True) for part in range(parts)]
    return collect(running, time.monotonic() + 300)


def collect(running, end):
    """Waits for all; the first complaint, or None."""
    problem = None
    try:
        for process in running:
            text = process.communicate(
                timeout=max(0.1, end - time.monotonic()))[0]
            if process.returncode and not problem:
                problem = "not all plots: R said: " + text.strip()[-300:]
    except subprocess.TimeoutExpired:
        problem = "not all plots: R did not end within 300 s"
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()
    return problem
