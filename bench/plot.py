#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots of what dmlrun bench and peers.py wrote.

usage: plot.py FILE.json ... [--out FOLDER]       as SVG and PNG; needs matplotlib (peers.py installs it in build/peers)

Of the figures that the files hold it draws: the fraction of the floor by type, the time against the size and against
the exponents' gap, the price of strides, the speed-up by threads, and the peers; and of `dmlrun bench --operators all`
one picture of every operator and type, with the peers of the same number of threads beside it, and the same as a table
in Markdown (operators.svg, operators.md).
"""
import argparse
import json
import math
import re
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

TYPES = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")
FLOATS = TYPES[:3]
OPERATORS = ("modulus_floor", "modulus_truncate")
STRIDED = ("transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8")
# Told apart by people who see colours differently, and in grey by their lightness.
BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, GREY, BLACK = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#8c6d31", "#999999", "#222222")
LIGHT = {BLUE: "#8ec3e6", ORANGE: "#f5d58a"}

plt.rcParams.update({
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#dddddd", "grid.linewidth": 0.7, "axes.titleweight": "bold", "axes.titlesize": 11,
    "legend.frameon": False, "figure.dpi": 100, "savefig.dpi": 130, "svg.hashsalt": "anydml"})


def number(value, _=None):
    """Short and without powers: 0.05, 1, 20, 64 Ki."""
    for power, unit in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
        if value >= 1 << power and value % (1 << power) == 0:
            return f"{int(value) >> power}{unit}"
    return f"{value:g}"


def save(figure, folder, name):
    for suffix in ("svg", "png"):
        metadata = {"Date": None} if suffix == "svg" else {}  # the same figures give the same file
        figure.savefig(folder / f"{name}.{suffix}", bbox_inches="tight", metadata=metadata)
    plt.close(figure)
    drawn = folder / f"{name}.svg"
    drawn.write_text(re.sub(r"\n\s+", "\n", drawn.read_text()))  # indentation is a tenth of a large one
    print(drawn)


def subtitle(figure, text, top=1.0):
    figure.text(0.5, top, text, ha="center", va="bottom", fontsize=9, color="#555555")


def about(report):
    machine = report["machine"]
    threads = machine["threads"]
    if threads == 0:  # no CPU
        return f"anydml {report['version']} on {machine['device']}"
    return (f"anydml {report['version']} on {machine['cpu']}, {threads} thread{'s' if threads > 1 else ''}, "
            f"{machine['target'] or 'unknown'} kernels")


def find(report, **wanted):
    return [case for case in report["cases"] if all(case[key] == value for key, value in wanted.items())]


def two_digits(value):
    return f"{float(f'{value:.2g}'):g}"


def log_axis(axis, steps=None):
    if steps:
        axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(number))
    axis.set_minor_formatter(NullFormatter())


# ---- One plot each --------------------------------------------------------------------------------------------------

def plot_fraction(report, folder):
    bars = [(operator, layout, colour if layout == "tensor" else LIGHT[colour])
            for operator, colour in zip(OPERATORS, (BLUE, ORANGE)) for layout in ("tensor", "scalar")]
    modulus = dict(report, cases=[case for case in report["cases"] if case["operator"] in OPERATORS])
    sizes = [size for size in ("l1", "l2", "memory") if find(modulus, size=size, data="ordinary", layout="tensor")]
    for size in sizes:
        cases = find(modulus, size=size, data="ordinary")
        types = [name for name in TYPES if any(case["type"] == name for case in cases)]
        figure, axes = plt.subplots(figsize=(2.5 + 0.95 * len(types), 4.2))
        most = 0
        for index, (operator, layout, colour) in enumerate(bars):
            values = {case["type"]: 100 * case["fraction"] for case in cases
                      if case["operator"] == operator and case["layout"] == layout}
            places = [i + (index - 1.5) * 0.2 for i, name in enumerate(types) if name in values]
            heights = [values[name] for name in types if name in values]
            most = max([most, *heights])
            operands = "tensor by tensor" if layout == "tensor" else "one divisor"
            label = f"{operator.removeprefix('modulus_')}, {operands}"
            axes.bar(places, heights, 0.18, color=colour, label=label)
            for place, height in zip(places, heights):
                axes.text(place, height, f"{height:.0f}", ha="center", va="bottom", fontsize=7, color="#444444")
        axes.axhline(100, color=BLACK, linewidth=1)
        axes.set_ylim(0, max(108, most * 1.08))
        axes.text(len(types) - 0.5, 101, "the pass", ha="right", va="bottom", fontsize=8)
        axes.set_xticks(range(len(types)), types)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("% of the same-bytes pass")
        where = {"l1": "tensors of 8 KiB", "l2": "tensors of 128 KiB", "memory": "tensors in memory"}[size]
        figure.suptitle(f"Speed as a fraction of a pass over the same bytes, {where}", fontweight="bold", y=1.02)
        subtitle(figure, about(report) + ", ordinary data", 0.915)
        axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.08), fontsize=9)
        save(figure, folder, "fraction" if size == "memory" else f"fraction-{size}")


def plot_sizes(report, folder):
    cases = [case for case in find(report, layout="tensor", data="ordinary", operator="modulus_floor")
             if case["size"].isdigit()]
    groups = [("floats", [(name, colour) for name, colour in zip(FLOATS, (BLUE, ORANGE, GREEN))]),
              ("integers", [(name, colour) for name, colour in zip(TYPES[3:], (BLUE, LIGHT[BLUE], ORANGE, LIGHT[ORANGE],
                                                                               GREEN, "#8fd6c1", RED, "#eeb08a"))])]
    groups = [(title, [(name, colour) for name, colour in lines if any(case["type"] == name for case in cases)])
              for title, lines in groups]
    groups = [group for group in groups if group[1]]
    if not groups or len({case["elements"] for case in cases}) < 3:
        return
    figure, all_axes = plt.subplots(1, len(groups), figsize=(5.6 * len(groups), 4.2), sharey=True, squeeze=False)
    for axes, (title, lines) in zip(all_axes[0], groups):
        for name, colour in lines:
            points = sorted((case["elements"], case["ns_per_element"]) for case in cases if case["type"] == name)
            axes.plot(*zip(*points), color=colour, marker="o", markersize=3.5, linewidth=1.8, label=name)
        names = {name for name, _ in lines} & {"FLOAT32", "INT32"}
        passes = sorted((case["elements"], case["pass"]["median_s"] * 1e9 / case["elements"]) for case in cases
                        if case["type"] in names)
        if passes:
            axes.plot(*zip(*passes), color=GREY, linestyle="--", linewidth=1.5, label="the pass, 4-byte types")
        axes.set_xscale("log", base=4)
        axes.set_yscale("log")
        log_axis(axes.xaxis)
        log_axis(axes.yaxis, (1, 2, 5))
        axes.set_xlabel("elements")
        axes.set_title(title)
        axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    all_axes[0][0].set_ylabel("ns an element")
    figure.suptitle("Time against size: modulus_floor, tensor by tensor", fontweight="bold", y=1.06)
    subtitle(figure, about(report) + ", ordinary data", 0.97)
    save(figure, folder, "size")


def plot_gaps(report, folder):
    cases = [case for case in find(report, layout="tensor") if "gap" in case]
    types = [name for name in FLOATS if sum(case["type"] == name for case in cases) > 3]
    if not types:
        return
    figure, all_axes = plt.subplots(1, len(types), figsize=(4.4 * len(types), 3.8), squeeze=False)
    for axes, name in zip(all_axes[0], types):
        for operator, colour in zip(OPERATORS, (BLUE, ORANGE)):
            points = sorted((case["gap"], case["ns_per_element"]) for case in cases
                            if case["type"] == name and case["operator"] == operator)
            if points:
                axes.plot(*zip(*points), color=colour, marker="o", markersize=3.5, linewidth=1.8, label=operator)
        axes.set_title(name)
        axes.set_xlabel("exponent of a minus exponent of b")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8, loc="upper left")
    all_axes[0][0].set_ylabel("ns an element")
    sizes = sorted({case["elements"] for case in cases})
    figure.suptitle("Time against the gap between the exponents", fontweight="bold", y=1.07)
    elements = number(sizes[0]) if len(sizes) == 1 else f"{number(sizes[0])} to {number(sizes[-1])}"
    subtitle(figure, f"{about(report)}, {elements} elements", 0.98)
    save(figure, folder, "gap")


def plot_strides(report, folder):
    """How many times the contiguous time each layout takes, as a table in colour."""
    cases = [case for case in find(report, data="ordinary", size="memory", operator="modulus_floor")
             if "factor" in case]
    types = [name for name in TYPES if any(case["type"] == name for case in cases)]
    layouts = [name for name in STRIDED if any(case["layout"] == name for case in cases)]
    if not types or not layouts:
        return
    factors = {(case["type"], case["layout"]): case["factor"] for case in cases}
    grid = [[factors.get((name, layout), math.nan) for name in types] for layout in layouts]
    figure, axes = plt.subplots(figsize=(2.2 + 0.85 * len(types), 0.9 + 0.55 * len(layouts)))
    image = axes.imshow(grid, cmap="YlOrRd", vmin=1, vmax=4, aspect="auto")
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=9,
                      color="white" if value > 3 else BLACK)
    axes.set_xticks(range(len(types)), types)
    axes.set_yticks(range(len(layouts)), layouts)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.colorbar(image, ax=axes, label="times contiguous", extend="max", pad=0.02)
    figure.suptitle("The price of strides: time per element over the contiguous one", fontweight="bold", y=1.04)
    subtitle(figure, about(report) + ", modulus_floor, tensors in memory", 0.915)
    save(figure, folder, "strides")


def plot_scaling(report, folder):
    scalings = [one for one in report["scaling"] if one["operator"] == "modulus_floor" and len(one["points"]) > 1]
    if not scalings:
        return
    figure, axes = plt.subplots(figsize=(6.2, 4.4))
    colours = (BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, LIGHT[BLUE], LIGHT[ORANGE], "#8fd6c1", "#eeb08a", GREY)
    counts = [point["threads"] for point in scalings[0]["points"]]
    axes.plot(counts, counts, color=BLACK, linestyle=":", linewidth=1.2, label="ideal")
    for one, colour in zip(scalings, colours):
        axes.plot(counts, [point["speed_up"] for point in one["points"]], color=colour, marker="o", markersize=4,
                  linewidth=1.8, label=one["type"])
    passes = [sum(one["points"][i]["pass_gb_per_second"] for one in scalings) for i in range(len(counts))]
    axes.plot(counts, [value / passes[0] for value in passes], color=GREY, linestyle="--", linewidth=1.8,
              label="the pass")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(counts)
    axes.set_yticks(counts)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.set_xlabel("threads")
    axes.set_ylabel("speed-up")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle("Speed-up by threads: modulus_floor, tensors in memory", fontweight="bold", y=1.02)
    subtitle(figure, about(report), 0.93)
    save(figure, folder, "scaling")


def plot_peers(report, folder):
    """A file for each number of threads; hatched: a peer that has wrong answers in that type and operator."""
    colours = {"anydml": BLUE, "numpy": ORANGE, "torch": RED, "torch_compiled": "#eeb08a", "onnxruntime": GREEN,
               "c": GREY, "sleef": PURPLE}
    wrong = {(row["peer"], row["type"], row["operator"]) for row in report["wrong"] if row["wrong"]}
    for threads in sorted({row["threads"] for row in report["times"]}):
        rows = [row for row in report["times"] if row["threads"] == threads and row["layout"] == "tensor"
                and row["data"] == "ordinary" and row["operator"] in OPERATORS]
        types = [name for name in TYPES if any(row["type"] == name for row in rows)]
        peers = [key for key in colours if any(row["peer"] == key for row in rows)]
        if not types:
            continue
        figure, all_axes = plt.subplots(2, 1, figsize=(2.5 + 1.05 * len(types), 6.8), sharex=True)
        width = 0.84 / len(peers)
        for axes, operator in zip(all_axes, OPERATORS):
            for index, key in enumerate(peers):
                values = {row["type"]: row["ns_per_element"] for row in rows
                          if row["peer"] == key and row["operator"] == operator}
                for place, name in enumerate(types):
                    if name not in values:
                        continue
                    x = place + (index - (len(peers) - 1) / 2) * width
                    axes.bar(x, values[name], width * 0.92, color=colours[key], edgecolor="white", linewidth=0,
                             hatch="////" if (key, name, operator) in wrong else None)
                    axes.text(x, values[name] * 1.08, two_digits(values[name]), ha="center", va="bottom", fontsize=6,
                              rotation=90, color="#444444")
            axes.set_yscale("log")
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * 2.2)
            log_axis(axes.yaxis)
            axes.set_ylabel("ns an element (log)")
            axes.set_title(operator, loc="left")
            axes.grid(axis="x", visible=False)
        all_axes[1].set_xticks(range(len(types)), types)
        handles = [plt.Rectangle((0, 0), 1, 1, color=colours[key]) for key in peers]
        labels = [report["titles"][key] for key in peers]
        if any((key, name, operator) in wrong for key in peers for name in types for operator in OPERATORS):
            handles.append(plt.Rectangle((0, 0), 1, 1, facecolor="#bbbbbb", edgecolor="white", hatch="////",
                                         linewidth=0))
            labels.append("hatched: has wrong answers")
        figure.legend(handles, labels, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 0.05), fontsize=9,
                      frameon=False)
        figure.suptitle(f"Modulus by {threads} thread{'s' if threads > 1 else ''}, tensor by tensor: less is better",
                        fontweight="bold", y=0.975)
        subtitle(figure, f"{report['cpu']}, {report['c_library']}, ordinary data, tensors of "
                         f"{number(report['tensor_bytes'])}B", 0.925)
        save(figure, folder, f"peers-{threads}")


# ---- Every operator and type ----------------------------------------------------------------------------------------

GROUPS = (("element by element", lambda case: case["directml_operator"].startswith("ELEMENT_WISE_")),
          ("activations", lambda case: case["directml_operator"].startswith("ACTIVATION_")),
          ("casts", lambda case: case["directml_operator"] == "CAST"),
          ("reductions: a pass that only reads", lambda case: case["layout"] in ("inner", "outer", "whole")),
          ("fills: a pass that only writes", lambda case: case["directml_operator"].startswith("FILL_")))
PEER_COLUMNS = ("numpy", "torch")


def operator_lines(report):
    """[(group, [(label, {type: case}, (operator, layout))])], of the largest size that was measured."""
    cases = [case for case in report["cases"] if case["data"] == "ordinary" and "directml_operator" in case
             and case["layout"] in ("tensor", "inner", "outer", "whole")]
    if len({case["operator"] for case in cases}) <= len(OPERATORS):
        return []
    size = max(cases, key=lambda case: case["elements"])["size"]
    groups = []
    for title, belongs in GROUPS:
        lines = {}
        for case in cases:
            if case["size"] == size and belongs(case):
                lines.setdefault((case["operator"], case["layout"]), {})[case["type"]] = case
        # The layouts of a reduction stand together.
        order = {name: place for place, name in enumerate(dict.fromkeys(operator for operator, _ in lines))}
        named = []
        for key in sorted(lines, key=lambda key: order[key[0]]):
            label = key[0] if key[1] == "tensor" else f"{key[0]}, {key[1]}"
            named.append((label, lines[key], key))
        if named:
            groups.append((title, named))
    return groups


def peer_ratios(peers, key):
    """How many times anydml's time each peer takes, by type: {"numpy": {"FLOAT32": 2.1}}."""
    ratios = {}
    for row in peers["times"] if peers else ():
        if (row["operator"], row["layout"]) == key and row["peer"] in PEER_COLUMNS and row["data"] == "ordinary":
            ratios.setdefault(row["peer"], {})[row["type"]] = row["ratio"]
    return ratios


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def times_text(value):
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def plot_operators(report, peers, folder):
    groups = operator_lines(report)
    if not groups:
        return
    types = [name for name in TYPES if any(name in line[1] for _, lines in groups for line in lines)]
    shown = [key for key in PEER_COLUMNS if peers and any(row["peer"] == key for row in peers["times"])]
    height = sum(len(lines) + 1.6 for _, lines in groups)
    columns = len(types) + (0.4 + 1.1 * len(shown) if shown else 0)
    figure, axes = plt.subplots(figsize=(9, 0.172 * height + 0.4))
    colours = plt.get_cmap("RdYlBu")
    place = 0.0
    for title, lines in groups:
        axes.text(-0.5, place + 0.02, title, ha="left", va="center", fontsize=9, fontweight="bold")
        place += 1
        for label, cells, key in lines:
            axes.text(-0.62, place, label, ha="right", va="center", fontsize=8)
            for column, name in enumerate(types):
                if name not in cells:
                    continue
                fraction = cells[name]["fraction"]
                colour = colours(min(fraction, 1.0))
                axes.add_patch(plt.Rectangle((column - 0.48, place - 0.46), 0.96, 0.92, color=colour, linewidth=0))
                dark = 0.3 * colour[0] + 0.6 * colour[1] + 0.1 * colour[2] < 0.5
                axes.text(column, place, f"{100 * fraction:.0f}", ha="center", va="center", fontsize=7.5,
                          color="white" if dark else BLACK)
            ratios = peer_ratios(peers, key)
            for column, peer in enumerate(shown):
                if peer in ratios:
                    axes.text(len(types) + 0.4 + 1.1 * column, place, times_text(geometric_mean(ratios[peer].values())),
                              ha="center", va="center", fontsize=7.5)
            place += 1
        place += 0.6
    axes.set_xlim(-0.5, columns - 0.4)
    axes.set_ylim(place - 0.6, -0.6)
    axes.xaxis.tick_top()
    # Upright letters in narrow columns: the width below the family.
    names = [f"{name.rstrip('0123456789')}\n{name.lstrip('FLOATUINT')}" for name in types]
    places = list(range(len(types))) + [len(types) + 0.4 + 1.1 * i for i in range(len(shown))]
    axes.set_xticks(places, names + [{"numpy": "NumPy\ntime", "torch": "PyTorch\ntime"}[key] for key in shown],
                    fontsize=8)
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    elements = max(case["elements"] for _, lines in groups for _, cells, _ in lines for case in cells.values())
    inches = figure.get_figheight()
    figure.suptitle("Speed of every operator and type, in % of a pass over the same bytes", fontweight="bold",
                    y=0.88 + 0.82 / inches)
    subtitle(figure, about(report), 0.88 + 0.45 / inches)
    note = f"tensors of up to {number(elements)} elements"
    if shown:
        note += "; right: time over anydml's, geometric mean of the types that both have"
    figure.text(0.5, 0.11 - 0.05 / inches, note, ha="center", va="top", fontsize=8, color="#555555")
    save(figure, folder, "operators")


def write_operator_table(report, peers, folder):
    """The same figures, and the time of each: % of the pass (ns an element)."""
    groups = operator_lines(report)
    if not groups:
        return
    types = [name for name in TYPES if any(name in line[1] for _, lines in groups for line in lines)]
    shown = [key for key in PEER_COLUMNS if peers and any(row["peer"] == key for row in peers["times"])]
    text = [f"{about(report)}: % of the pass (ns an element)"
            + ("; times anydml's, least to greatest of the types" if shown else "") + ".", ""]
    titles = ["", *types, *({"numpy": "NumPy", "torch": "PyTorch"}[key] for key in shown)]
    text += ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for title, lines in groups:
        text.append("| **" + title + "** |" + " |" * (len(titles) - 1))
        for label, cells, key in lines:
            line = [label.upper() if "," not in label else label.split(",")[0].upper() + "," + label.split(",")[1]]
            for name in types:
                case = cells.get(name)
                line.append(f"{100 * case['fraction']:.0f} ({case['ns_per_element']:.3f})" if case else "–")
            ratios = peer_ratios(peers, key)
            for peer in shown:
                values = sorted(ratios.get(peer, {}).values())
                line.append("–" if not values else f"{times_text(values[0])} to {times_text(values[-1])}")
            text.append("| " + " | ".join(line) + " |")
    (folder / "operators.md").write_text("\n".join(text) + "\n")
    print(folder / "operators.md")


def merge(reports):
    """Figures of several runs on one machine as if of one run."""
    merged = dict(reports[0])
    for key in ("cases", "latency", "scaling"):
        merged[key] = [entry for report in reports for entry in report[key]]
    return merged


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    parser.add_argument("--out", type=Path, default=Path("build/plots"), metavar="FOLDER",
                        help="build/plots unless told")
    options = parser.parse_args()
    reports = [json.loads(file.read_text()) for file in options.files]
    options.out.mkdir(parents=True, exist_ok=True)
    own = [report for report in reports if report["program"] == "anydml-bench"]
    machines = {(report["machine"]["cpu"], report["machine"]["threads"]) for report in own}
    if len(machines) > 1:
        sys.exit(f"these files are of different machines or threads: {sorted(machines)}; plot them apart")
    if own:
        report = merge(own)
        for plot in (plot_fraction, plot_sizes, plot_gaps, plot_strides, plot_scaling):
            plot(report, options.out)
        # Peers stand beside what was measured by as many threads; NumPy has one whatever it is given.
        threads = report["machine"]["threads"]
        beside = [dict(one, times=[row for row in one["times"] if row["threads"] == threads])
                  for one in reports if one["program"] == "peers.py"]
        beside = {"times": [row for one in beside for row in one["times"]]}
        plot_operators(report, beside, options.out)
        write_operator_table(report, beside, options.out)
    for report in reports:
        if report["program"] == "peers.py":
            plot_peers(report, options.out)


if __name__ == "__main__":
    main()
