# SPDX-License-Identifier: Apache-2.0
"""report.html: tables from the summary, pictures from plots.R."""

import base64
import html
import os

from . import targets
from .procs import slurp
from .summary import LATENCIES, bases, error_text, shown
from .tables import noise

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881;
  --warn: #b3541e; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem;
  max-width: 70rem; overflow-wrap: break-word; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
h3 { margin: 2rem 0 .5rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
.wide { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .875rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; }
.text-table th { text-align: left; }
thead th { white-space: normal; min-width: 5rem; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: Canvas; white-space: normal; min-width: 7.5rem; }
td small { display: block; opacity: .7; }
td code { white-space: nowrap; }
details code { display: block; }
td.text, th.text { text-align: left; white-space: normal; min-width: 6rem; }
.best { font-weight: 700; }
.bad { color: var(--warn); }
figure { margin: 1rem 0; }
figure img { display: block; background: #fff; width: 100%;
  max-width: 44rem; height: auto; border-radius: 4px; }
figcaption, .note { font-size: .875rem; opacity: .8; }
code { font-size: .8125rem; overflow-wrap: anywhere; }
nav ul { columns: 20rem; padding-left: 1.2rem; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
"""

HOW_TO = """<p>Client and servers share this machine and talk over loopback:
requests/s is what the machine manages as a whole. The figure that means
something on a shared machine is <b>server CPU per request</b>. Every cell is
the median of the rounds with the least and greatest below it; rounds are
interleaved and every × is a ratio within this run. A run with errors is named
and left out.</p>"""


def esc(value):
    return html.escape(str(value))


def number(value, digits):
    text = f"{value:,.{digits}f}".replace(",", "\u202f")
    return text


def cell(spread, digits, scale, ratios, best):
    if not spread:
        return "<td>–</td>"
    low, mid, high = (number(spread[k] * scale, digits)
                      for k in ("min", "median", "max"))
    marks = ", ".join(f"×{value:.2f} {label}" for label, value in ratios)
    marks = f"<small>{marks}</small>" if marks else ""
    around = f"<small>{low}–{high}</small>" if spread["rounds"] > 1 else ""
    css = ' class="best"' if best else ""
    return f"<td{css}>{mid}{around}{marks}</td>"


def best_of(rows, part, key, sense):
    values = {name: row[part][key]["median"] for name, row in rows.items()
              if key in row[part]}
    if not sense or len(values) < 2:
        return None
    best = (max if sense > 0 else min)(values.values())
    winners = [name for name, value in values.items() if value == best]
    return winners[0] if len(winners) == 1 else None


def table(head, body, css=""):
    cells = "".join(f"<th>{h}</th>" for h in head)
    return f'<div class="wide"><table{css}><thead><tr>{cells}</tr></thead>' \
        f"<tbody>{''.join(body)}</tbody></table></div>"


def figures_table(entry, rows, titles):
    figures = shown(entry)
    winners = {f[0]: best_of(rows, "figures", f[0], f[4]) for f in figures}
    labels = bases(rows)
    body = []
    for name, row in rows.items():
        line = f"<tr><td>{esc(titles[name])}{remarks(entry, name, row)}</td>"
        if not row["good"]:
            line += f'<td class="text bad" colspan="{len(figures)}">' \
                f"no run without errors</td></tr>"
            body.append(line)
            continue
        for key, _, digits, scale, sense in figures:
            ratios = [(label, row["ratio"][label][key])
                      for label, base in labels
                      if base != name and sense
                      and key in row["ratio"].get(label, {})
                      and key in ("rps", "cpu_us", "cpu_s_per_gb")]
            line += cell(row["figures"].get(key), digits, scale, ratios,
                         winners[key] == name)
        body.append(line + "</tr>")
    return table(["server"] + [esc(f[1]) for f in figures], body)


def remarks(entry, name, row):
    text = ""
    if name in entry["notes"]:
        text += f"<small>{esc(entry['notes'][name])}</small>"
    if row["bad"]:
        text += f'<small class="bad">{esc(error_text(row["bad"]))}</small>'
    if row["limited"]:
        text += f'<small class="bad">the generator was the limit in ' \
            f'{row["limited"]} run(s)</small>'
    if row["vanished"]:
        text += f'<small>{row["vanished"]} threads ended in the runs</small>'
    return text


def latency_table(rows, titles):
    body = []
    winners = {k: best_of(rows, "latency_ms", k, -1) for k, _ in LATENCIES}
    for name, row in rows.items():
        if not row["latency_ms"]:
            continue
        line = f"<tr><td>{esc(titles[name])}</td>"
        for key, _ in LATENCIES:
            line += cell(row["latency_ms"].get(key), 3, 1, [],
                         winners[key] == name)
        body.append(line + "</tr>")
    return table(["response time, ms"] + [t for _, t in LATENCIES], body)


def sweep_table(entry):
    if not entry["sweep"]:
        return ""
    body = []
    for row in entry["sweep"]:
        rps, cpu = (("–" if row[k] is None else number(row[k], d))
                    for k, d in (("rps", 0), ("cpu_us", 1)))
        bad = f'<small class="bad">{esc(row["errors"])}</small>' \
            if row["errors"] else ""
        body.append(f"<tr><td>{esc(row['settings'])}{bad}</td>"
                    f"<td>{rps}</td><td>{cpu}</td></tr>")
    return "<details><summary>the sweep of nginx's settings</summary>" \
        + table(["settings", "requests/s", "CPU per request, µs"], body) \
        + "</details>"


def commands(entry):
    seen = dict.fromkeys(f"{r['contestant']}: {r['command']}"
                         for r in entry["runs"] if r["round"] == 1)
    lines = "<br>".join(esc(line) for line in seen)
    return f"<details><summary>commands of round 1</summary><code>{lines}" \
        "</code></details>"


PICTURES = (("ratio", "ratio to stock httpd and to nginx"),
            ("cpu", "server CPU per request, by round"),
            ("balance", "CPU time by process"),
            ("time", "response time over time"),
            ("density", "density and histogram of response times"),
            ("quantile", "quantiles of response time"))


def pictures(entry, out):
    text = ""
    for kind, caption in PICTURES:
        svg = slurp(os.path.join(
            out, "plots", f"{entry['scenario']['name']}-{kind}.svg"))
        if svg:
            # within the page, so that it is one file; as images, so that the
            # ids and styles of one do not meet those of another
            data = base64.b64encode(svg).decode()
            text += '<figure><img src="data:image/svg+xml;base64,' \
                f'{data}" alt="{caption}"><figcaption>{caption}' \
                "</figcaption></figure>"
    return text


def scenario_part(entry, rows, titles, out):
    scenario = entry["scenario"]
    return f'<h3 id="{scenario["name"]}">{esc(scenario["title"])}</h3>' \
        + figures_table(entry, rows, titles) \
        + latency_table(rows, titles) + sweep_table(entry) \
        + pictures(entry, out) + commands(entry)


def machine_part(machine):
    rows = []
    for key, value in machine.items():
        if key == "cpu_map":
            value = "; ".join(
                f"CPU {r['cpu']}: package {r['package']}, NUMA {r['numa']}, "
                f"core {r['core']}, siblings {r['siblings']}, L3 {r['l3']}"
                for r in value)
        elif isinstance(value, dict):
            value = "; ".join(f"{k}: {v}" for k, v in value.items())
        rows.append(f"<tr><td>{esc(key.replace('_', ' '))}</td>"
                    f'<td class="text">{esc(value)}</td></tr>')
    return table(["machine", ""], rows)


def contestants_part(contestants):
    rows = []
    for one in contestants:
        state = f'<small class="bad">absent: {esc(one["absent"])}</small>' \
            if one["absent"] else ""
        rows.append(f"<tr><td>{esc(one['title'])}{state}</td>"
                    f"<td class=\"text\"><code>{esc(one['config'])}</code>"
                    "</td></tr>")
    return table(["contestant", "of bench/conf"], rows,
                 ' class="text-table"')


def targets_part(results):
    body = []
    for row in targets.rows(results):
        cells = targets.cells(row)
        css = ' class="text bad"' if cells[-1] == targets.MISSED \
            else ' class="text"'
        body.append("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in cells[:-1])
                    + f"<td{css}>{esc(cells[-1])}</td></tr>")
    return "<h2>Targets of httpd fixed + static</h2>" + table(
        ["figure", "target", "this run (round by round)", "medians", ""],
        body)


def page(results, summaries, out):
    titles = {c["name"]: c["title"] for c in results["contestants"]}
    groups = {}
    for entry in results["scenarios"]:
        groups.setdefault(entry["scenario"]["group"], []).append(entry)
    toc = "".join(
        f"<li><a href=\"#{e['scenario']['name']}\">"
        f"{esc(e['scenario']['title'])}</a></li>"
        for e in results["scenarios"])
    state = "" if results["complete"] else \
        f'<p class="bad">Not complete: {esc(results["ended_by"])}</p>'
    parts = [
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"><title>httpd, taskset, CPUAffinity, nginx, "
        f"lighttpd, haproxy</title><style>{STYLE}</style>"
        f"<h1>The comparison</h1>{state}"
        f"<p>{esc(results['started'])}, {results['elapsed_s']:.0f} s, "
        f"{results['rounds']} rounds of {results['seconds']:.2g} s. "
        f"<code>{esc(results['command'])}</code></p>"
        f"<p>{noise(results)}</p>{HOW_TO}"
        f"<nav><ul>{toc}</ul></nav><h2>Contestants</h2>"
        + contestants_part(results["contestants"]), targets_part(results)]
    for group, entries in groups.items():
        parts.append(f"<h2>{esc(group)}</h2>")
        parts += [scenario_part(e, summaries[e["scenario"]["name"]], titles,
                                out) for e in entries]
    parts.append("<h2>Machine</h2>" + machine_part(results["machine"]))
    if results.get("plots_absent"):
        parts.append(f"<p class=\"bad\">{esc(results['plots_absent'])}</p>")
    parts.append("</html>\n")
    return "\n".join(parts)
