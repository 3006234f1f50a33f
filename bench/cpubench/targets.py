# SPDX-License-Identifier: Apache-2.0
"""What the static loop is meant to reach, as data, and how far a run got.

A figure's value is the ratio of the medians over the rounds; with it go the
least and greatest of the ratios round by round, because the rounds of those
compared were taken side by side.
"""

from collections import namedtuple

from . import stats

# figure: what the table says. scenarios: the first that was measured counts.
# key: of a run, or p99. base: a contestant; "SCENARIO:CONTESTANT" when it is
# of another scenario; None: the value itself is bounded.
Target = namedtuple("Target", "figure scenarios key base sense bound who",
                    defaults=("fixedstatic",))

C32 = ("wrk-1k-ka-c32",)
C128 = ("wrk-1k-ka-c128",)
CPU = "server CPU per request"
GB = "server CPU per byte"


def compressed(what, scenario):
    """The targets of a compressed text."""
    return [Target(f"{CPU}, {what}, compressed", (scenario,), "cpu_us", base,
                   "≤", bound)
            for base, bound in (("nginx-gzstatic", 1.0),
                                ("nginx-gzsendfile", 1.0),
                                ("nginx-gzip", 0.05), ("stock", 0.03))]


TARGETS = (
    Target(f"{CPU}, 1 KiB, wrk -t2 -c32", C32, "cpu_us", "nginx", "≤", 0.60),
    Target(f"{CPU}, 1 KiB, wrk -t2 -c32", C32, "cpu_us", "stock", "≤", 0.10),
    Target(f"{CPU}, 1 KiB, wrk -t2 -c32", C32, "cpu_us", "floor", "≤", 1.15),
    Target(f"{CPU}, 1 KiB, wrk -t4 -c128", C128, "cpu_us", "nginx", "≤",
           0.50),
    Target(f"{CPU}, 1 KiB, wrk -t4 -c128", C128, "cpu_us", "stock", "≤",
           0.10),
    Target(f"{CPU}, 1 KiB, wrk -t4 -c128", C128, "cpu_us", "floor", "≤",
           1.15),
    Target(f"{GB}, 100 KiB", ("static-100k-ka-c10",), "cpu_s_per_gb",
           "nginx", "≤", 0.75),
    Target(f"{GB}, 1 MiB", ("static-1m-ka-c10",), "cpu_s_per_gb", "nginx",
           "≤", 0.90),
    Target(f"{GB}, 10 MiB", ("static-10m-ka-c10",), "cpu_s_per_gb", "nginx",
           "≤", 0.95),
    Target("requests/s, 1 KiB, wrk -t2 -c32", C32, "rps", "nginx", "≥", 1.4),
    Target("requests/s, 1 KiB, wrk -t4 -c128", C128, "rps", "nginx", "≥",
           2.0),
    Target("p99, 1 KiB, wrk -t2 -c32", C32, "p99", "nginx", "≤", 0.1),
    Target("p99, 1 KiB, wrk -t4 -c128", C128, "p99", "nginx", "≤", 0.2),
    Target("requests/s, pipelined ×16", ("wrk-1k-ka-c32-p16",), "rps",
           "nginx", "≥", 5),
    Target("requests/s, a connection per request",
           ("static-1k-close-c250", "static-1k-close-c100"), "rps", "nginx",
           "≥", 1.2),
    Target("requests/s, a connection per request",
           ("static-1k-close-c250", "static-1k-close-c100"), "rps", "stock",
           "≥", 3),
    Target(f"{CPU}, access log on", ("logs-1k-ka-c250", "logs-1k-ka-c100"),
           "cpu_us", "nginx", "≤", 0.6),
    Target(f"{CPU}, hello through the door", ("hello",), "cpu_us", "stock",
           "≤", 1.1),
    Target("user memory per idle connection, 10 000 connections", ("c10k",),
           "kib_per_idle_connection", "nginx", "≤", 0.5),
    Target("p99, 10 000 connections of which 100 are active, as fast as can "
           "be", ("c10k",), "p99", "c10k-active:fixedstatic", "≤", 1.2),
    Target("p99, 10 000 connections of which 100 are active, 10 000 "
           "requests/s", ("c10k-paced",), "p99",
           "c10k-active-paced:fixedstatic", "≤", 1.2),
    Target("busiest process over mean: CPU time, 1000 connections",
           ("balance-c1000",), "balance_cpu", None, "≤", 1.10),
    *compressed("a script of 80 KiB", "compressed-script"),
    *compressed("a page of 20 KiB", "compressed-page"),
    Target(f"{CPU}, TLS 1.3, 1 KiB", ("https-1k-ka",), "cpu_us", "nginx", "≤",
           0.85),
    Target(f"{CPU}, TLS 1.3, 100 KiB", ("https-100k-ka",), "cpu_us", "nginx",
           "≤", 0.70),
    Target(f"{CPU}, TLS 1.2, 1 KiB", ("https12-1k-ka",), "cpu_us", "nginx",
           "≤", 0.85),
    Target("requests/s, TLS 1.3, 1 KiB", ("https-1k-ka",), "rps", "nginx", "≥",
           1.2),
    Target("requests/s, TLS 1.3, 100 KiB", ("https-100k-ka",), "rps", "nginx",
           "≥", 1.2),
    Target(f"{CPU}, a full handshake each", ("https-close",), "cpu_us",
           "stock", "≤", 1.0),
    Target(f"{CPU}, a resumed session each", ("https-resume",), "cpu_us",
           "stock", "≤", 1.0),
    Target("user memory per idle TLS connection",
           ("https-c10k", "https-c2k"), "kib_per_idle_connection", "nginx",
           "≤", 1.2),
    Target("requests/s, 100 000 distinct files", ("many",), "rps", "nginx",
           "≥", 1.2),
)

# how a base is called behind the bound
NAMES = {"nginx": "best nginx", "stock": "stock httpd",
         "floor": "a bare epoll loop", "nginx-gzip": "nginx gzip on",
         "nginx-gzstatic": "nginx gzip_static",
         "nginx-gzsendfile": "nginx gzip_static, sendfile", None: ""}
MISSED = "not reached"
# digits and unit of the medians
SHOWN = {"cpu_us": (1, " µs"), "cpu_s_per_gb": (3, " s/GB"), "rps": (0, "/s"),
         "p99": (2, " ms"), "kib_per_idle_connection": (2, " KiB"),
         "balance_cpu": (2, "")}


def scenarios():
    """Names of all scenarios that a target needs."""
    names = set()
    for target in TARGETS:
        names.update(target.scenarios)
        if target.base and ":" in target.base:
            names.add(target.base.partition(":")[0])
    return names


def value(run, key):
    """A figure of one run, None when it has none."""
    if key == "p99":
        latency = run.get("latency_us")
        return latency["p99"] / 1e3 if latency else None
    return run.get(key)


def by_round(entry, who, key):
    """{round: value} of the runs without errors."""
    found = {run["round"]: value(run, key) for run in entry["runs"]
             if run["contestant"] == who and not run["errors"]}
    return {number: v for number, v in found.items() if v is not None}


def ratios(values, bases):
    """The ratio of the medians, and the least and greatest of those of the
    rounds that both have; None when there is nothing to divide by."""
    if not values or not bases:
        return None
    base = stats.median(bases.values())
    if not base:
        return None
    each = [values[n] / bases[n] for n in values if bases.get(n)]
    middle = stats.median(values.values()) / base
    return {"ratio": middle, "min": min(each, default=middle),
            "max": max(each, default=middle), "rounds": len(each)}


def judge(target, entries):
    """{figure, target, why or ratio, min, max, rounds, medians, reached} of
    one target; entries {scenario name: entry}."""
    row = {"figure": target.figure, "why": None, "reached": None,
           "target": f"{target.sense} {target.bound:g}"
           + (f" × {base_name(target)}" if target.base else "")}
    entry = next((entries[n] for n in target.scenarios if n in entries), None)
    other, base = entry, target.base
    if base and ":" in base:
        name, _, base = base.partition(":")
        other = entries.get(name)
    if not entry or not other:
        row["why"] = "not measured in this run"
        return row
    row["scenario"] = entry["scenario"]["name"]
    values = by_round(entry, target.who, target.key)
    bases = by_round(other, base, target.key) if base \
        else dict.fromkeys(values, 1.0)
    found = ratios(values, bases)
    if not found:
        row["why"] = missing(((target.who, values, entry),
                              (base, bases, other)))
        return row
    row.update(found)
    row["medians"] = [stats.median(values.values())] \
        + ([stats.median(bases.values())] if base else [])
    row["reached"] = row["ratio"] <= target.bound if target.sense == "≤" \
        else row["ratio"] >= target.bound
    return row


def base_name(target):
    if ":" in target.base:
        return "the 100 alone"
    return NAMES[target.base]


def missing(sides):
    """Why there is no ratio, in a few words."""
    for who, values, entry in sides:
        runs = [r for r in entry["runs"] if r["contestant"] == who]
        if not runs:
            return f"{who} did not take part"
        if not values:
            return f"{who}: no run without errors"
    return "nothing to divide by"


def rows(results):
    entries = {e["scenario"]["name"]: e for e in results["scenarios"]
               if e["runs"]}
    return [judge(target, entries) | {"key": target.key}
            for target in TARGETS]


def number(x, digits):
    return f"{x:,.{digits}f}".replace(",", " ")


def cells(row):
    """[figure, target, this run, medians, verdict] as text."""
    if row["why"]:
        return [row["figure"], row["target"], row["why"], "–", "–"]
    digits, unit = SHOWN[row["key"]]
    sign = "×" if len(row["medians"]) > 1 else ""
    text = f"{sign}{row['ratio']:.2f}"
    if row["rounds"] > 1:
        text += f" ({row['min']:.2f}–{row['max']:.2f})"
    medians = " : ".join(number(m, digits) for m in row["medians"]) + unit \
        if sign else "–"
    return [row["figure"], row["target"], text, medians,
            "reached" if row["reached"] else MISSED]


def terminal(results):
    """A line per target that this run has something to say of."""
    lines = []
    for row in rows(results):
        if row["why"] != "not measured in this run":
            figure, bound, text, _, verdict = cells(row)
            lines.append(f"  {figure[:46]:47}{bound:28}{text:22}{verdict}")
    return "\n".join(["\nTargets of httpd fixed + static:", *lines]) \
        if lines else ""


def markdown(results):
    """The table of docs/benchmarks.md."""
    lines = ["| figure | target | this run (round by round) | medians | |",
             "|---|---|---:|---:|---|"]
    for row in rows(results):
        lines.append("| " + " | ".join(
            f"**{c}**" if c == MISSED else c for c in cells(row)) + " |")
    return "\n".join(lines) + "\n"
