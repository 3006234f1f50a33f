# SPDX-License-Identifier: Apache-2.0
"""Medians over rounds, with min and max, and ratios within the run.

A run with errors is counted and named, and never averaged in.
"""

from . import stats

# key, title, digits, scale to the unit shown, +1 when higher is better
FIGURES = (
    ("rps", "requests/s", 0, 1, 1),
    ("cpu_us", "server CPU per request, µs", 1, 1, -1),
    ("cpu_s_per_gb", "server CPU per GB, s", 3, 1, -1),
    ("mb_per_s", "MB/s", 0, 1, 1),
    ("switches_per_request", "context switches per request", 3, 1, -1),
    ("migrations_per_1000", "migrations per 1000 requests", 2, 1, -1),
    ("generator_share", "generator's CPU, % of what it may use", 0, 100, 0),
    ("balance_requests", "busiest process over mean: requests", 2, 1, -1),
    ("balance_cpu", "busiest process over mean: CPU time", 2, 1, -1),
    ("server_mib", "MiB of user memory of the server", 1, 1, -1),
    ("kib_per_idle_connection", "KiB of user memory per idle connection",
     2, 1, -1),
)
LATENCIES = (("min", "Min"), ("q1", "1st Qu."), ("median", "Median"),
             ("mean", "Mean"), ("q3", "3rd Qu."), ("max", "Max"),
             ("p99", "p99"), ("p999", "p99.9"))
BALANCE = ("balance_requests", "balance_cpu")


def shown(entry):
    """Figures that this scenario's tables have."""
    scenario = entry["scenario"]
    large = (scenario["size"] or 0) >= 100 * 1024
    keys = []
    for figure in FIGURES:
        key = figure[0]
        if key in ("cpu_s_per_gb", "mb_per_s") and not large:
            continue
        if key in BALANCE and scenario["group"] != "balance":
            continue
        if key == "server_mib" and scenario["kind"] != "many":
            continue
        if key.startswith("kib") and scenario["kind"] != "idle":
            continue
        keys.append(figure)
    return keys


def summarise(entry):
    """{contestant: {figures, latency_ms, ratio, good, bad, flags}}"""
    rows = {}
    for name in entry["order"]:
        runs = [r for r in entry["runs"] if r["contestant"] == name]
        good = [r for r in runs if not r["errors"]]
        row = {
            "good": len(good), "bad": [r["errors"] for r in runs
                                       if r["errors"]],
            "limited": sum(r["generator_limited"] for r in good),
            "vanished": sum(r["vanished_threads"] for r in good),
            "figures": {}, "latency_ms": {}, "ratio": {},
        }
        for key, *_ in FIGURES:
            spread = stats.spread([r.get(key) for r in good])
            if spread:
                row["figures"][key] = spread
        for key, _ in LATENCIES:
            spread = stats.spread([r["latency_us"][key] / 1e3 for r in good
                                   if r["latency_us"]])
            if spread:
                row["latency_ms"][key] = spread
        rows[name] = row
    add_ratios(rows)
    return rows


def bases(rows):
    """[(label, name)] of those that everybody is compared with."""
    found = []
    for label, names in (("httpd", ("stock", "proxy-httpd")),
                         ("nginx", ("nginx", "proxy-nginx"))):
        found += [(label, name) for name in names if name in rows]
    return found


def add_ratios(rows):
    for label, base in bases(rows):
        for row in rows.values():
            ratios = {}
            for part in ("figures", "latency_ms"):
                for key, spread in row[part].items():
                    value = stats.ratio(spread, rows[base][part].get(key))
                    if value is not None:
                        ratios[key] = value
            row["ratio"][label] = ratios


def error_text(bad):
    """One phrase for the runs that were not used."""
    totals = {}
    for errors in bad:
        for name, value in errors.items():
            if isinstance(value, int):
                totals[name] = totals.get(name, 0) + value
            else:
                totals[name] = value
    listed = ", ".join(f"{name}: {value}" for name, value in totals.items())
    return f"{len(bad)} run{'s' if len(bad) > 1 else ''} not used ({listed})"
