# SPDX-License-Identifier: Apache-2.0
"""Writes everything that is read afterwards from one results structure."""

import json
import os

from . import html, tables, targets
from .summary import summarise


def summaries(results):
    return {e["scenario"]["name"]: summarise(e) for e in results["scenarios"]}


def write(results, out):
    rows = summaries(results)
    for entry in results["scenarios"]:
        entry["summary"] = rows[entry["scenario"]["name"]]
        # they are in the plots; ten megabytes of JSON help nobody
        entry.pop("samples", None)
    with open(os.path.join(out, "results.json"), "w", encoding="utf8") as f:
        json.dump(results, f, indent=1)
    path = os.path.join(out, "report.html")
    with open(path, "w", encoding="utf8") as file:
        file.write(html.page(results, rows, out))
    print(tables.terminal(results, rows))
    print(targets.terminal(results))
    print(f"\n{path}")


def load(out):
    with open(os.path.join(out, "results.json"), encoding="utf8") as file:
        return json.load(file)
