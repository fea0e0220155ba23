#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables and a plot of what dmlrun bench and peers_cuda.py measured on a GPU. Needs Python alone.

usage: plot_cuda.py FILE.json ... [--svg FILE] [--markdown FILE]

Fractions in the tables are of each library's own pass over the same bytes. In the plot all are held against one pass,
the fastest that any of them reached for those bytes in these files.
"""
import argparse
import json
import sys
from pathlib import Path
from xml.sax.saxutils import escape

TYPES = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")
OPERATORS = ("modulus_floor", "modulus_truncate")
LAYOUTS = ("tensor", "scalar", "dividend", "transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8",
           "inplace")
WORDS = {"tensor": "tensor by tensor", "scalar": "one divisor", "dividend": "one dividend",
         "transposed": "transposed divisor", "stride2": "every second element", "rows1000": "padded rows"}
# Told apart by people who see colours differently, and in grey by their lightness.
COLOURS = {"anydml": "#0072b2", "torch": "#e69f00", "cupy": "#bbbbbb"}
LATENCY = {"independent_1024": "independent", "dependent_1024": "dependent"}


def gather(files):
    """Cases by (library, type, operator, layout, data), the newest file last; latency rows; titles."""
    cases, latency, titles, about, missing = {}, [], {}, {}, []
    for file in files:
        report = json.loads(file.read_text())
        if report["program"] == "anydml-bench":
            titles["anydml"] = f"anydml {report['version']}"
            about = {**about, "device": report["machine"]["device"], "adapter": report["machine"].get("adapter", "")}
            for case in report["cases"]:
                cases["anydml", case["type"], case["operator"], case["layout"], case["data"]] = case
            latency += [("anydml", "one list", LATENCY[row["name"]], row["median_ns"], row["min_ns"])
                        for row in report["latency"] if row["name"] in LATENCY]
        elif report["program"] == "peers_cuda.py":
            titles.update(report["titles"])
            about = {"device": report["device"], **about, "driver": report["driver"], "cuda": report["cuda"]}
            missing += report["missing"]
            for case in report["cases"]:
                cases[case["peer"], case["type"], case["operator"], case["layout"], case["data"]] = case
            latency += [(row["peer"], row["how"], LATENCY[row["name"]], row["median_ns"], row["min_ns"])
                        for row in report["latency"]]
        else:
            sys.exit(f"{file}: neither dmlrun bench nor peers_cuda.py wrote this")
    return cases, latency, titles, about, missing


# ---- Tables ---------------------------------------------------------------------------------------------------------

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def cell(case):
    if case is None:
        return "none"
    wrong = f", **{case['wrong']:,} of {case['checked']:,} wrong**" if case["wrong"] else ""
    return f"{100 * case['fraction']:.0f} % ({case['gb_per_second']:.0f}){wrong}"


def markdown(cases, latency, titles, about, missing):
    libraries = [key for key in COLOURS if key in titles]
    text = f"{about.get('device', 'an unknown device')}; {', '.join(titles[key] for key in libraries)}\n\n"
    text += "Fraction of the library's own pass over the same bytes, and GB/s in brackets.\n"
    for data in ("ordinary", "hard"):
        for layout in LAYOUTS:
            keys = [(name, op) for name in TYPES for op in OPERATORS
                    if any((library, name, op, layout, data) in cases for library in libraries)]
            if not keys:
                continue
            words = "random bits" if data == "hard" else "ordinary data"
            text += f"\n### {WORDS.get(layout, layout)}, {words}\n\n"
            head = ["", *(f"{titles[key].split()[0]}: {op.removeprefix('modulus_')}" for key in libraries
                          for op in OPERATORS), "passes, GB/s"]
            rows = []
            for name in [one for one in TYPES if any(key[0] == one for key in keys)]:
                found = [(key, op, cases.get((key, name, op, layout, data))) for key in libraries for op in OPERATORS]
                passes = {key: max(case["pass_gb_per_second"] for other, _, case in found if other == key and case)
                          for key, _, case in found if case}
                rows.append([name, *(cell(case) for _, _, case in found),
                             ", ".join(f"{value:.0f}" for value in passes.values())])
            text += table(head, rows)
    if latency:
        text += "\n### A thousand small operators: 1,024 FLOAT32 each, microseconds for one\n\n"
        text += table(["", "independent", "each reads the last"], latency_rows(latency, titles))
    checked = sum(case["checked"] for key, case in cases.items() if key[0] == "anydml")
    wrong = sum(case["wrong"] for key, case in cases.items() if key[0] == "anydml")
    if checked:
        text += f"\nanydml: {checked:,} results checked, {wrong} wrong.\n"
    lacking = sorted({(one["peer"], one.get("type", ""), one.get("why", "")) for one in missing})
    if lacking:
        text += "\nNot there:\n\n" + "".join(f"- {peer} {name}: {why}\n" for peer, name, why in lacking)
    return text


def latency_rows(latency, titles):
    rows = {}
    for library, how, kind, median, _ in latency:
        rows.setdefault((library, how), {})[kind] = median
    return [[f"{titles.get(library, library).split()[0]}, {how}",
             *(f"{by[kind] / 1000:.3f}" if kind in by else "" for kind in LATENCY.values())]
            for (library, how), by in rows.items()]


# ---- The plot -------------------------------------------------------------------------------------------------------

class Svg:
    def __init__(self, width, height):
        self.size = width, height
        self.parts = []

    def rect(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')

    def line(self, x1, y1, x2, y2, stroke, width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
                          f'stroke-width="{width}"/>')

    def text(self, x, y, text, size=11, anchor="middle", fill="#222222", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" '
                          f'font-weight="{weight}">{escape(text)}</text>')

    def write(self, file):
        width, height = self.size
        file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                        f'height="{height}" font-family="sans-serif">\n<rect width="{width}" height="{height}" '
                        'fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def best_pass(cases, key):
    """The most GB/s at which any library moved the bytes of a case."""
    return max(case["pass_gb_per_second"] for other, case in cases.items() if other[1:] == key)


def panel(svg, top, title, groups, cases, libraries):
    """Bars in groups: (label, key of a case without its library)."""
    left, width, height = 60, svg.size[0] - 80, 170
    base = top + 30 + height
    svg.text(left, top + 14, title, 13, "start", weight="bold")
    shares = {(label, library): 100 * cases[(library, *key)]["gb_per_second"] / best_pass(cases, key)
              for label, key in groups for library in libraries if (library, *key) in cases}
    most = max([105, *shares.values()]) * 1.05
    for tick in range(0, int(most) + 1, 25):
        y = base - tick / most * height
        svg.line(left, y, left + width, y, "#222222" if tick == 100 else "#dddddd")
        svg.text(left - 6, y + 4, f"{tick} %", 10, "end")
    step = width / max(1, len(groups))
    bar = step * 0.8 / len(libraries)
    for index, (label, _) in enumerate(groups):
        x = left + step * (index + 0.1)
        svg.text(left + step * (index + 0.5), base + 16, label, 10)
        for place, library in enumerate(libraries):
            share = shares.get((label, library))
            at = x + place * bar
            if share is None:
                svg.text(at + bar / 2, base - 4, "–", 9, fill="#777777")
                continue
            svg.rect(at, base - share / most * height, bar * 0.92, share / most * height, COLOURS[library])
            svg.text(at + bar * 0.46, base - share / most * height - 3, f"{share:.0f}", 8, fill="#444444")
    return base + 40


def plot(cases, titles, about, file):
    libraries = [key for key in COLOURS if any(other[0] == key for other in cases)]
    panels = []
    for operator in OPERATORS:
        groups = [(name, (name, operator, "tensor", "ordinary")) for name in TYPES]
        panels.append((f"{operator}, tensor by tensor, ordinary data", groups))
    for operator in OPERATORS:
        groups = [(WORDS.get(layout, layout), ("FLOAT32", operator, layout, "ordinary")) for layout in LAYOUTS]
        groups.append(("random bits", ("FLOAT32", operator, "tensor", "hard")))
        panels.append((f"FLOAT32 {operator}, by layout and data", groups))
    panels = [(title, [group for group in groups if any((key, *group[1]) in cases for key in libraries)])
              for title, groups in panels]
    panels = [(title, groups) for title, groups in panels if groups]
    if not panels:
        return False
    svg = Svg(1000, 80 + 242 * len(panels))
    svg.text(500, 24, "Speed as a fraction of a pass over the same bytes", 16, weight="bold")
    svg.text(500, 43, about.get("device", ""), 11, fill="#555555")
    x = 320
    for library in libraries:
        svg.rect(x, 54, 12, 12, COLOURS[library])
        svg.text(x + 18, 64, titles.get(library, library), 11, "start")
        x += 150
    top = 80
    for title, groups in panels:
        top = panel(svg, top, title, groups, cases, libraries)
    svg.write(file)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    parser.add_argument("--svg", type=Path, help="write the plot to this file")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file [printed]")
    options = parser.parse_args()
    cases, latency, titles, about, missing = gather(options.files)
    text = markdown(cases, latency, titles, about, missing)
    if options.markdown:
        options.markdown.write_text(text)
    else:
        print(text, end="")
    if options.svg and not plot(cases, titles, about, options.svg):
        print("there is no case to plot", file=sys.stderr)


if __name__ == "__main__":
    main()
