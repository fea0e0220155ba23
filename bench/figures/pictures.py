# SPDX-License-Identifier: MIT
"""Each function draws one figure from the reports and returns it as SVG, or returns None if the reports lack the data.
"""
import textwrap

from . import compare
from .reports import MODULUS, TYPES, about, find
from .svg import (BLACK, BLUE, FAINT, GREEN, GREY, LIGHT, ORANGE, PURPLE, RED, Svg, bars, lines, shade, short,
                  text_width)

PEER_COLORS = {"anydml": BLUE, "numpy": ORANGE, "torch": RED, "torch_compiled": LIGHT[RED], "onnxruntime": GREEN,
                "c": GREY, "sleef": PURPLE}
PEER_NAMES = {"anydml": "anydml", "numpy": "NumPy", "torch": "PyTorch"}
GPU_COLORS = {"anydml": BLUE, "torch": ORANGE, "cupy": "#aaaaaa"}
WRONG = "striped: has wrong answers"


def fraction(report):
    """Draws both modulus operators by type, for tensors in main memory."""
    cases = [case for case in find(report["cases"], size="memory", data="ordinary") if case["operator"] in MODULUS]
    series = [(f"{operator} {layout}", f"{operator.removeprefix('modulus_')}, {words}", color)
              for operator, full in zip(MODULUS, (BLUE, ORANGE))
              for layout, words, color in (("tensor", "tensor by tensor", full), ("scalar", "one divisor", LIGHT[full]))]
    values = {(case["type"], f"{case['operator']} {case['layout']}"): (100 * case["fraction"], bool(case.get("wrong")))
              for case in cases if case["layout"] in ("tensor", "scalar")}
    types = [name for name in TYPES if any(key[0] == name for key in values)]
    if not types or report["machine"]["threads"] == 0:
        return None
    svg = Svg(1000)
    svg.title("Modulus: speed in % of a pass over the same bytes", about(report) + ", ordinary data, tensors in memory")
    below = bars(svg, 52, "", types, series, values, 210, full=100, unit=" %")
    svg.legend(below + 4, [(label, color) for _, label, color in series])
    return svg.finish()


def size(report):
    cases = [case for case in find(report["cases"], layout="tensor", data="ordinary", operator="modulus_floor")
             if case["size"].isdigit()]
    if len({case["elements"] for case in cases}) < 3:
        return None
    colors = (BLUE, LIGHT[BLUE], ORANGE, LIGHT[ORANGE], GREEN, LIGHT[GREEN], RED, LIGHT[RED])
    groups = [("floats", list(zip(TYPES[:3], (BLUE, ORANGE, GREEN)))), ("integers", list(zip(TYPES[3:], colors)))]
    svg = Svg(1000)
    svg.title("Time against size: modulus_floor, tensor by tensor", about(report) + ", ordinary data")
    elements = [case["elements"] for case in cases]
    times = [case["ns_per_element"] for case in cases]
    times += [case["ns_per_element"] * case["fraction"] for case in cases if case["type"] in ("FLOAT32", "INT32")]
    for position, (title, names) in enumerate(groups):
        series = []
        for name, color in names:
            points = sorted((case["elements"], case["ns_per_element"]) for case in find(cases, type=name))
            series += [(name, color, False, points)] if points else []
        passes = sorted((case["elements"], case["ns_per_element"] * case["fraction"])
                        for case in cases if case["type"] in ("FLOAT32", "INT32") and case["type"] in dict(names))
        series += [("the pass, 4-byte types", GREY, True, passes)] if passes else []
        left = 66 + position * 480
        below = lines(svg, left, 52, 430, 270, title, series, "elements", "" if position else "ns per element", 4, True,
                      (min(elements), max(elements)), (min(times), max(times)))
        x, y = left, below + 8
        for label, color, _, _ in series:  # three per line
            svg.rect(x, y - 10, 12, 12, color)
            svg.text(x + 18, y, label, 11, "start")
            x += 108
            if x > left + 300:
                x, y = left, y + 19
    return svg.finish()


def gap(report):
    cases = [case for case in find(report["cases"], layout="tensor") if "gap" in case]
    types = [name for name in TYPES[:3] if len(find(cases, type=name)) > 3]
    if not types:
        return None
    svg = Svg(1000)
    sizes = sorted({case["elements"] for case in cases})
    svg.title("Time against the gap between the exponents",
              f"{about(report)}, " + (f"{short(sizes[0])} to {short(sizes[-1])}" if len(sizes) > 1 else short(sizes[0]))
              + " elements")
    width = 940 / len(types)
    for position, name in enumerate(types):
        series = [(operator, color, False, sorted((case["gap"], case["ns_per_element"])
                                                   for case in find(cases, type=name, operator=operator)))
                  for operator, color in zip(MODULUS, (BLUE, ORANGE))]
        series = [line for line in series if line[3]]
        below = lines(svg, 60 + position * width, 52, width - 60, 220, name, series, "exponent of a minus exponent of b",
                      "" if position else "ns per element")
    svg.legend(below + 8, list(zip(MODULUS, (BLUE, ORANGE))))
    return svg.finish()


def peers(report, threads):
    """Draws the times of other libraries' modulus. Marks libraries that give wrong answers on at least one data set."""
    wrong = {(row["peer"], row["type"], row["operator"]) for row in report["wrong"] if row["wrong"]}
    rows = [row for row in find(report["times"], threads=threads, layout="tensor", data="ordinary")
            if row["operator"] in MODULUS]
    types = [name for name in TYPES if find(rows, type=name)]
    keys = [key for key in PEER_COLORS if find(rows, peer=key)]
    if not types or len(keys) < 2:
        return None
    svg = Svg(1000)
    svg.title(f"Modulus by {threads} thread{'s' if threads > 1 else ''}, tensor by tensor: less is better",
              f"{about(report)}, ordinary data, tensors of {short(report['tensor_bytes'])}B, ns per element (logarithmic)")
    top = 52
    for operator in MODULUS:
        values = {(row["type"], row["peer"]): (row["ns_per_element"], (row["peer"], row["type"], operator) in wrong)
                  for row in find(rows, operator=operator)}
        top = bars(svg, top, operator, types, [(key, "", PEER_COLORS[key]) for key in keys], values, 190, True)
    entries = [(report["titles"].get(key, key), PEER_COLORS[key]) for key in keys]
    if any(row["peer"] in keys for row in report["wrong"] if row["wrong"]):
        entries.append((WRONG, svg.hatched(RED)))
    svg.legend(top + 8, entries)
    return svg.finish()


def gpu(own, peers):
    """Draws each library's speed on one GPU, relative to the fastest pass that any library achieved."""
    cases = compare.gpu_cases(own, peers)
    libraries = [key for key in GPU_COLORS if any(other[0] == key for other in cases)]
    titles = {"anydml": f"anydml {own[0]['version']}", **{key: title for one in peers for key, title in one["titles"].items()}}
    svg = Svg(1000)
    top = 52
    has_wrong = drawn = False
    for data, words in (("ordinary", "ordinary data"), ("hard", "random bits, exponents far apart")):
        for operator in MODULUS:
            values = {}
            for key, case in cases.items():
                share = compare.gpu_fraction(cases, key) if key[2:] == (operator, "tensor", data) else None
                if share:
                    values[key[1], key[0]] = (100 * share, bool(case.get("wrong")))
                    has_wrong |= bool(case.get("wrong"))
            types = [name for name in TYPES if any(name == key[0] for key in values)]
            if types:
                top = bars(svg, top, f"{operator}, {words}", types, [(key, "", GPU_COLORS[key]) for key in libraries],
                           values, full=100, unit=" %")
                drawn = True
    if not drawn:
        return None
    svg.title("Modulus: speed in % of the fastest pass over the same bytes",
              f"{own[0]['machine']['device']}, tensor by tensor, 2^28 elements")
    svg.legend(top + 8, [(titles.get(key, key), GPU_COLORS[key]) for key in libraries]
               + ([(WRONG, svg.hatched(ORANGE))] if has_wrong else []))
    return svg.finish()


def operators(reports, all_peers):
    """Draws every operator and type, one block per machine side by side, with the other libraries for comparison."""
    reports = sorted((report for report in reports if compare.has_every_operator(report)),
                     key=lambda report: report["machine"]["threads"])
    if not reports:
        return None
    groups = compare.operator_lines(reports)
    cell, wide, row_height, label_width, gap_width = 35, 50, 16, 188, 26
    blocks = []
    left = label_width
    for report in reports:
        cells = compare.operator_cases(report)
        ratios = compare.peers_of(report, all_peers)
        types = [name for name in TYPES if any(name in of for of in cells.values())]
        shown = [peer for peer in ("anydml", *compare.PEERS) if ratios and (peer == "anydml" or any(key[0] == peer for key in ratios))]
        blocks.append((report, cells, ratios, types, shown, left))
        left += cell * len(types) + (12 + wide * len(shown) if shown else 0) + gap_width
    svg = Svg(max(left, 640))
    svg.title("Every operator and type: speed in % of a pass over the same bytes")
    top = 116
    for report, _, _, types, shown, left in blocks:
        machine = report["machine"]
        middle = left + cell * len(types) / 2
        svg.text(middle, 50, f"{machine['threads']} threads: {machine['cpu']}", 12, bold=True)
        sizes = [case["elements"] for of in compare.operator_cases(report).values() for case in of.values()]
        svg.text(middle, 67, f"anydml {report['version']}, {machine.get('target')} kernels, {short(max(sizes))} elements", 10,
                 fill=FAINT)
        for column, name in enumerate(types):  # the width below the type family
            x = left + cell * (column + 0.5)
            svg.text(x, 90, name.rstrip("0123456789"), 9)
            svg.text(x, 102, name.lstrip("FLOATUINT"), 9)
        for column, peer in enumerate(shown):
            x = left + cell * len(types) + 12 + wide * (column + 0.5)
            svg.text(x, 90, PEER_NAMES[peer], 9, bold=True)
            svg.text(x, 102, "mean", 9, fill=FAINT)
    for title, keys in groups:
        svg.text(label_width, top + 11, title, 11, "start", bold=True)
        top += row_height + 2
        for operator, layout in keys:
            label = operator if layout == "tensor" else f"{operator}, {layout}"
            svg.text(label_width - 8, top + 11, label, 10, "end")
            for _, cells, ratios, types, shown, left in blocks:
                of = cells.get((operator, layout), {})
                for column, name in enumerate(types):
                    if name in of:
                        paint(svg, left + cell * column, top, cell, row_height, of[name]["fraction"],
                              bool(of[name].get("wrong")))
                mean = compare.means(of, ratios, operator, layout)
                for column, peer in enumerate(shown):
                    if peer in mean:
                        other = peer != "anydml" and compare.differs(all_peers, peer, operator, layout)
                        paint(svg, left + cell * len(types) + 12 + wide * column, top, wide, row_height, mean[peer],
                              compare.has_wrong_answers(all_peers, peer, operator), "≠" if other else "")
            top += row_height
        top += 10
    notes = ["100 is as fast as memory allows."]
    if any(shown for *_, shown, _ in blocks):
        notes.append("Means are geometric, over the types that all three libraries have, against the same pass; NumPy has one "
                     "thread. ≠: computes something else (casts wrap, integers are divided downwards). Striped: has wrong answers.")
    for note in notes:
        for line in textwrap.wrap(note, int((svg.width - label_width) / text_width("a", 9))):
            svg.text(label_width, top + 10, line, 10, "start", FAINT)
            top += 15
    return svg.finish()


def paint(svg, x, y, width, height, value, wrong, mark=""):
    color, dark = shade(value)
    svg.rect(x + 0.5, y + 0.5, width - 1, height - 1, svg.hatched(color) if wrong else color)
    text = f"{100 * value:.0f}" if value >= 0.0095 else f"{100 * value:.1f}"
    svg.text(x + width / 2, y + 11.5, text + mark, 9, fill="white" if dark and not wrong else BLACK, over=wrong)
