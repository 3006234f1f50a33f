# SPDX-License-Identifier: Apache-2.0
"""The short table of the terminal, README's headline and docs' tables."""

import re

from .summary import error_text, shown


def value(spread, digits, scale=1):
    return f"{spread['median'] * scale:,.{digits}f}".replace(",", " ")


def mark(row, label, key):
    found = row["ratio"].get(label, {}).get(key)
    return f"×{found:.2f}" if found is not None else "–"


def terminal(results, summaries):
    """A line per scenario and contestant, in plain text."""
    titles = {c["name"]: c["title"] for c in results["contestants"]}
    lines = []
    for entry in results["scenarios"]:
        rows = summaries[entry["scenario"]["name"]]
        if not entry["runs"]:
            continue
        lines.append("\n" + entry["scenario"]["title"])
        lines.append(f"  {'':34}{'req/s':>9}{'CPU µs':>9}{'×httpd':>8}"
                     f"{'×nginx':>8}{'median':>9}{'p99 ms':>9}")
        for name, row in rows.items():
            if not row["good"]:
                lines.append(f"  {titles[name][:33]:34}"
                             f"{error_text(row['bad']) if row['bad'] else '–'}")
                continue
            figures, times = row["figures"], row["latency_ms"]
            lines.append(
                f"  {titles[name][:33]:34}{value(figures['rps'], 0):>9}"
                f"{value(figures['cpu_us'], 1):>9}"
                f"{mark(row, 'httpd', 'cpu_us'):>8}"
                f"{mark(row, 'nginx', 'cpu_us'):>8}"
                f"{value(times['median'], 2):>9}{value(times['p99'], 1):>9}"
                + ("  errors in others" if row["bad"] else "")
                + ("  generator at its limit" if row["limited"] else ""))
    lines.append("\n(CPU µs: server CPU per request; × its ratio.)")
    return "\n".join(lines)


def where(results):
    machine = results["machine"]
    versions = ", ".join(
        short(name, machine["versions"][name])
        for name in ("httpd", "nginx", "lighttpd", "haproxy")
        if machine["versions"][name] != "absent")
    return f"{results['started'][:10]}, {machine['cpus']} × " \
        f"{machine['cpu']}{' (virtual)' if machine['virtual'] == 'yes' else ''}"\
        f", Linux {machine['kernel'].split()[1]}, TCP " \
        f"{machine['congestion_control']}; {versions}"


def short(name, version):
    """"Server version: Apache/2.4.71 (Debian)" → "httpd 2.4.71"."""
    found = re.search(r"\d+\.\d+(\.\d+)*", version)
    return f"{name} {found.group() if found else version}"


def noise(results):
    """A sentence about others on the machine, empty when it was quiet."""
    machine = results["machine"]
    load = float(machine["load_at_start"].split()[0])
    if load < 0.5 * machine["cpus"]:
        return ""
    return f" Other work ran on this machine (load average {load:.1f} at " \
        "the start): requests/s and response times say little, ratios of " \
        "CPU time more."


def markdown(results, entry, rows, keys):
    """One scenario as a Markdown table of the figures named."""
    titles = {c["name"]: c["title"] for c in results["contestants"]}
    figures = [f for f in shown(entry) if f[0] in keys]
    head = ["" if not figures else entry["scenario"]["title"]]
    head += [f[1] for f in figures] + ["median, ms", "p99, ms"]
    lines = ["| " + " | ".join(head) + " |",
             "|---|" + "---:|" * (len(head) - 1)]
    for name, row in rows.items():
        title = titles[name]
        if not row["good"]:
            lines.append(f"| {title} | {error_text(row['bad'])} |"
                         + " |" * (len(head) - 2))
            continue
        cells = [title]
        for key, _, digits, scale, _ in figures:
            spread = row["figures"].get(key)
            text = value(spread, digits, scale) if spread else "–"
            if key in ("rps", "cpu_us"):
                text += f" ({mark(row, 'httpd', key)})"
            cells.append(text)
        cells += [value(row["latency_ms"]["median"], 2),
                  value(row["latency_ms"]["p99"], 2)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def replace_between(path, marker, text):
    """Puts text between <!-- marker --> and <!-- /marker --> of a file."""
    with open(path, encoding="utf8") as file:
        whole = file.read()
    start, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
    if start not in whole or end not in whole:
        raise ValueError(f"{path} has no {start} … {end}")
    before, _, rest = whole.partition(start)
    after = rest.partition(end)[2]
    with open(path, "w", encoding="utf8") as file:
        file.write(f"{before}{start}\n{text}{end}{after}")
