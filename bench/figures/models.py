# SPDX-License-Identifier: MIT
"""The picture, the table and the README's sentence about trained ONNX models, from docs/performance/models.json."""
import math

from .svg import BLUE, FAINT, GRID, BLACK, ORANGE, Axis, Svg

COLORS = {"two": BLUE, "sixteen": ORANGE}
TICKS = (0.4, 0.5, 0.7, 1, 1.5, 2, 3)


def machine_text(machine):
    return f"{machine['threads']} cores of a {machine['cpu']}, ONNX Runtime {machine['onnxruntime']}"


def picture(report):
    """Draws how many times as fast as ONNX Runtime each model runs on each machine, the fastest on the first machine
    at the top."""
    rows = sorted(report["models"], key=lambda row: row["two_ratio"])
    svg, left, bar = Svg(880), 160, 8
    svg.title("Speed of trained ONNX models, compared with ONNX Runtime on the same CPU",
              "right of the line, anydml is faster; both libraries use the same number of threads")
    top = 66
    base = top + len(rows) * (2 * bar + 6)
    axis = Axis(0.38, 3.2, left, svg.width - 50, True)
    for tick in TICKS:
        svg.line(axis(tick), top, axis(tick), base, BLACK if tick == 1 else GRID)
        svg.text(axis(tick), base + 16, f"{tick:g} x", 10)
    for row in rows:
        svg.text(left - 8, top + bar + 5, row["model"], 10, "end")
        for key, color in COLORS.items():
            ratio = row[f"{key}_ratio"]
            ends = sorted((axis(1), axis(1 / ratio)))
            svg.rect(ends[0], top, ends[1] - ends[0], bar - 1, color,
                     f"{row['model']}: {row[f'{key}_ms']:g} ms, ONNX Runtime {row[f'{key}_onnxruntime_ms']:g} ms")
            top += bar
        top += 6
    svg.legend(base + 42, [(machine_text(report["machines"][key]), color) for key, color in COLORS.items()])
    svg.text(svg.width / 2, base + 62, "Times of one run, from bench/zoo.py; docs/networks.md has them all.", 10, fill=FAINT)
    return svg.finish()


def milliseconds(value):
    """Three digits, as in 0.06, 2.95, 14.8 and 114."""
    return "–" if value is None else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def table(report):
    lines = ["| model | two cores: anydml, ONNX Runtime | ratio | sixteen cores | ratio | H200 | memory: anydml, ONNX Runtime | "
             "difference |", "|---|---|---|---|---|---|---|---|"]
    for row in report["models"]:
        cells = [row["model"]]
        for key in COLORS:
            cells += [f"{milliseconds(row[f'{key}_ms'])}, {milliseconds(row[f'{key}_onnxruntime_ms'])}", f"{row[f'{key}_ratio']:.2f}"]
        cells += [milliseconds(row.get("h200_ms")), f"{row['memory_mib']}, {row['onnxruntime_memory_mib']}",
                  f"{row['difference']:.1e}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def claim(report):
    """The README's sentences: how many models are faster, and the geometric mean of all."""
    def counted(key):
        ratios = [row[f"{key}_ratio"] for row in report["models"]]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        return sum(ratio < 1 for ratio in ratios), max(ratios), f"{1 / min(ratios):.1f}", f"{mean:.2f}"

    (few, few_worst, few_best, few_mean), (many, many_worst, many_best, many_mean) = map(counted, COLORS)
    first, second = (report["machines"][key] for key in COLORS)
    return (f"Of {len(report['models'])} trained models from PyPI, {few} run faster than in ONNX Runtime {first['onnxruntime']} on "
            f"{first['threads']} cores of a {first['cpu']}, up to\n{few_best} times as fast, and {many} run faster than in ONNX Runtime "
            f"{second['onnxruntime']} on {second['threads']} cores of a {second['cpu']}, up to {many_best} times.\n"
            f"The others are slower: the slowest take {few_worst:.1f} and {many_worst:.1f} times as long. The geometric means of "
            f"anydml's time over ONNX\nRuntime's are {few_mean} and {many_mean}.")
