# SPDX-License-Identifier: MIT
"""Writes the tables in the documents. Each function returns Markdown for the kept reports."""
from . import compare
from .reports import MODULUS, TYPES, about, find, one

SHORT = {"modulus_floor": "floor", "modulus_truncate": "truncate"}
EMPTY = "–"
# The name of the modulus in each library.
FUNCTIONS = {"torch": ", remainder and fmod", "onnxruntime": ", Mod (truncate only for floats)", "sleef": ", fmodf",
             "formula": ", as shaders and many kernels compute it"}


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(row) + " |" for row in rows)])


def percent(value):
    return f"{100 * value:.0f} %"


def types_of(cases):
    return [name for name in TYPES if find(cases, type=name)]


# ---- CPUs -----------------------------------------------------------------------------------------------------------

def modulus(report):
    cases = find(report["cases"], size="memory", data="ordinary")
    columns = [(layout, operator) for layout in ("tensor", "scalar") for operator in MODULUS]
    rows = []
    for name in types_of(cases):
        found = [one(cases, type=name, layout=layout, operator=operator) for layout, operator in columns]
        if any(found):
            rows.append([name, *(f"{percent(case['fraction'])} ({case['ns_per_element']:.3f})" if case else EMPTY
                                 for case in found)])
    return table(["", "tensor: floor", "truncate", "one divisor: floor", "truncate"], rows)


def strides(report):
    cases = [case for case in find(report["cases"], data="ordinary") if "factor" in case]
    layouts = [name for name in ("transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8")
               if find(cases, layout=name)]
    rows = []
    for name in types_of(cases):
        found = [[one(cases, type=name, layout=layout, operator=operator) for operator in MODULUS] for layout in layouts]
        rows.append([name, *(", ".join(f"{case['factor']:.1f}" if case else EMPTY for case in pair) for pair in found)])
    return table(["floor, truncate", *(f"`{name}`" for name in layouts)], rows)


def hard(*reports):
    """Random bits: ns per element on each machine."""
    rows = []
    for name in TYPES:
        cells = [[one(report["cases"], type=name, operator=operator, layout="tensor", size="memory", data="hard")
                  for operator in MODULUS] for report in reports]
        if any(case for pair in cells for case in pair):
            rows.append([name, *(", ".join(f"{case['ns_per_element']:.2f}" for case in pair) if all(pair) else EMPTY
                                 for pair in cells)])
    return table(["ns: floor, truncate", *map(machine_name, reports)], rows)


def machine_name(report):
    machine = report["machine"]
    return f"{machine['cpu']}, {machine['threads']} threads"


def latency(*reports):
    names = {row["name"]: row["what"] for report in reports for row in report["latency"] if row.get("what")}
    rows = []
    for name, what in names.items():
        found = [one(report["latency"], name=name) for report in reports]
        rows.append([what, *(f"{row['median_ns'] / 1000:.2f} µs" if row else EMPTY for row in found)])
    return table(["", *map(machine_name, reports)], rows)


def scaling(report):
    rows = {}
    for point in report["scaling"]:
        rows.setdefault((point["type"], point["operator"]), {})[point["threads"]] = point["ns_per_element"]
    counts = sorted({point["threads"] for point in report["scaling"]})
    return table(["times the speed of one thread", *(f"{count} threads" for count in counts[1:])],
                 [[f"{name}, {operator}", *(f"{of[counts[0]] / of[count]:.2f}" for count in counts[1:])]
                  for (name, operator), of in rows.items()])


def peers(report, threads):
    rows = find(report["times"], threads=threads, layout="tensor", data="ordinary")
    keys = [key for key in report["titles"] if find(rows, peer=key)]
    wrong = {(row["peer"], row["type"], row["operator"]) for row in report["wrong"] if row["wrong"]}
    cells = []
    for name in types_of(rows):
        line = [name]
        for key in keys:
            pair = [one(rows, peer=key, type=name, operator=operator) for operator in MODULUS]
            line.append(", ".join(f"{row['ns_per_element']:.2f}" + ("*" if (key, name, row["operator"]) in wrong else "")
                                  if row else EMPTY for row in pair) if any(pair) else EMPTY)
        cells.append(line)
    head = [f"**{report['titles'][key]}**" if key == "anydml" else report["titles"][key] for key in keys]
    note = "\n\n\\* has wrong answers." if any((key, *rest) in wrong for key, *rest in wrong if key in keys) else ""
    return table(["ns: floor, truncate", *head], cells) + note


def wrong(report):
    rows = report["wrong"]
    pairs = max(row["pairs"] for row in rows)
    columns = [(name, data) for name in TYPES[:2] for data in ("ordinary", "hard") if find(rows, type=name, data=data)]
    words = {"ordinary": "ordinary", "hard": "random bits"}
    cells = []
    for key, title in report["titles"].items():
        if not find(rows, peer=key):
            continue
        line = [f"**{title.split()[0]}**" if key == "anydml" else title + FUNCTIONS.get(key, "")]
        for name, data in columns:
            pair = [one(rows, peer=key, type=name, data=data, operator=operator) for operator in MODULUS]
            text = ", ".join(f"{row['wrong']:,}" if row else EMPTY for row in pair) if any(pair) else ""
            line.append(f"**{text}**" if key == "anydml" else text)
        cells.append(line)
    return table([f"wrong answers of {pairs:,} pairs: floor, truncate",
                  *(f"{name}, {words[data]}" for name, data in columns)], cells)


def speed(xeon, h200, others, v1):
    """Returns the README's sentences about speed."""
    def span(shares):
        return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"
    on_xeon = [case["fraction"] for case in find(xeon["cases"], size="memory", data="ordinary")]
    cases = compare.gpu_cases([h200], others)
    keys = [key for key in cases if key[0] == "anydml" and key[2] in MODULUS and key[3:] == ("tensor", "ordinary")]
    most = max(cases[key]["gb_per_second"] for key in keys)
    float32 = one(v1["cases"], type="FLOAT32", operator="modulus_floor", layout="tensor", size="memory", data="ordinary")
    call, dispatch = (one(v1["latency"], name=name)["median_ns"] / 1000 for name in ("modulus_floor", "dispatch_wait"))
    return (f"On {xeon['machine']['threads']} cores with AVX-512 the modulus of every type runs at {span(on_xeon)} of a pass "
            f"that moves the same bytes and\ncomputes nothing. On an {h200['machine']['device']} it runs at "
            f"{span([compare.gpu_fraction(cases, key) for key in keys])}, which is up to {most / 1000:.1f} TB/s. On two "
            f"{v1['machine']['cpu']} cores\nFLOAT32 runs at {percent(float32['fraction'])}. On that machine, a C call on 16 elements "
            f"takes {call:.2f} µs, and a DirectML dispatch of 16 elements {dispatch:.1f} µs from\n`ExecuteCommandLists` to "
            "its fence.")


# ---- Every operator -------------------------------------------------------------------------------------------------

def operators(reports, all_peers):
    """The figures in the picture: % of the pass (ns per element), and other libraries' % for the same type."""
    parts = []
    for report in sorted((one for one in reports if compare.has_every_operator(one)),
                         key=lambda one: one["machine"]["threads"]):
        cells, ratios = compare.operator_cases(report), compare.peers_of(report, all_peers)
        types = [name for name in TYPES if any(name in of for of in cells.values())]
        shown = [peer for peer in compare.PEERS if any(key[0] == peer for key in ratios)]
        words = {"numpy": "NumPy", "torch": "PyTorch"}
        checked = f" {report['checked']:,} results were compared; none was wrong." if report.get("checked") else ""
        parts += [f"## {machine_name(report)}", "", f"{about(report)}.{checked} Figures are % of the pass, with ns per element"
                  " in brackets" + (f"; the lines below give {' and '.join(words[peer] for peer in shown)} as % of the same pass." if shown else "."), ""]
        for title, keys in compare.operator_lines([report]):
            rows = []
            for operator, layout in keys:
                label = operator.upper() if layout == "tensor" else f"{operator.upper()}, {layout}"
                of = cells[operator, layout]
                rows.append([label, *(f"{100 * of[name]['fraction']:.0f} ({of[name]['ns_per_element']:.3f})"
                                      if name in of else EMPTY for name in types)])
                for peer in shown:
                    line = [f"{100 * of[name]['fraction'] / ratios[peer, name, operator, layout]:.1f}"
                            if name in of and (peer, name, operator, layout) in ratios else EMPTY for name in types]
                    if any(cell != EMPTY for cell in line):
                        mark = " ≠" if compare.differs(all_peers, peer, operator, layout) else ""
                        rows.append([f"{words[peer]}{mark}", *line])
            parts += [f"### {title[0].upper()}{title[1:]}", "", table(["", *types], rows), ""]
    return "\n".join(parts).rstrip()


# Each machine is measured with one run of all_operators.py, whose report is kept as NAME-all. Without such a run,
# dmlrun bench's figures for some operators are used.
MACHINES = {"neoverse-v1": ("neoverse-v1",), "xeon": ("xeon-operators", "xeon"), "h200": ("h200",)}


def machine_title(report):
    if report["program"] == "all_operators.py":
        return report["gpu"] if report["device"] == "cuda" else f"{report['cpu']}, {report['threads']} threads"
    return machine_name(report) if report["machine"]["threads"] else report["machine"]["device"]


def speeds(reports, names):
    """Returns the titles of the machines, and {operator: [its tensors, a cell for each machine]}."""
    found = []
    for name, others in MACHINES.items():
        of_all = reports.get(f"{name}-all")
        cases = [case for other in others for case in reports[other]["cases"]]
        found.append(({case["operator"]: case for case in of_all["cases"]} if of_all else
                      {one: bench_case(cases, one) for one in names}, of_all or reports[others[0]]))
    rows = {}
    for name in names:
        cases = [of.get(name) for of, _ in found]
        shapes = [case["what"].replace(" x ", "×") for case in cases if case and "what" in case]
        rows[name] = [shapes[0] if shapes else EMPTY, *map(operator_cell, cases)]
    return [machine_title(report) for _, report in found], rows


def bench_case(cases, name):
    """Returns the case with the largest tensors in memory order, in FLOAT32 if available."""
    of_it = [case for case in cases if case.get("directml_operator") == name and case["layout"] in ("tensor", "inner")
             and case["data"] == "ordinary"]
    return max(of_it, key=lambda case: (case["type"] == "FLOAT32", case.get("elements", 0)), default=None)


def operator_cell(case):
    if not case or "fraction" not in case:
        return "not measured"
    if "seconds" not in case:
        rates = (("ns_per_element", ".3f", "ns per element"), ("gb_per_second", ".0f", "GB/s"))  # at most one is kept
        rate = next((f" ({case[key]:{digits}} {unit})" for key, digits, unit in rates if key in case), "")
        return percent(case["fraction"]) + rate
    time = f"{case['seconds'] * 1e3:.2f} ms" if case["seconds"] >= 1e-3 else f"{case['seconds'] * 1e6:.0f} µs"
    return f"{time}, {case['gflops'] / 1000:.2f} TFLOP/s" if "gflops" in case else f"{percent(case['fraction'])} ({time})"


def every_operator(reports, names):
    """Each operator once, all machines side by side; products show FLOP/s instead of a fraction."""
    titles, rows = speeds(reports, names)
    measured = [sum(row[1 + i] != "not measured" for row in rows.values()) for i in range(len(titles))]
    text = "Measured: " + ", ".join(f"{count} of {len(rows)} operators on {title}"
                                    for title, count in zip(titles, measured)) + "."
    notes = [f"On {machine_title(report)} other processes took {report['others_busy_cores']} processors meanwhile."
             for name in MACHINES if (report := reports.get(f"{name}-all")) and report.get("others_busy_cores", 0) > 0.2]
    return "\n\n".join([" ".join([text, *notes]), table(["", "tensors", *titles],
                                                         [[name, *row] for name, row in sorted(rows.items())])])


# ---- GPUs -----------------------------------------------------------------------------------------------------------

def gpu(own, others, data, layout="tensor"):
    cases = compare.gpu_cases([own], others)
    libraries = [key for key in compare.LIBRARIES if any(other[0] == key for other in cases)]
    titles = {"anydml": "anydml", **{key: title.split()[0] for one in others for key, title in one["titles"].items()}}
    rows = []
    for name in TYPES:
        line = []
        for library in libraries:
            for operator in MODULUS:
                key = library, name, operator, layout, data
                share, case = compare.gpu_fraction(cases, key), cases.get(key)
                marked = f", **{case['wrong']:,} wrong**" if case and case.get("wrong") else ""
                line.append(f"{percent(share)} ({case['gb_per_second']:.0f}){marked}" if share else "none")
        if any(cell != "none" for cell in line):
            rows.append([name, *line])
    return table(["", *(f"{titles[library]}: {SHORT[operator]}" for library in libraries for operator in MODULUS)], rows)


def gpu_layouts(own, others):
    cases = compare.gpu_cases([own], others)
    columns = [("anydml", "scalar", "one divisor"), ("torch", "scalar", "PyTorch"),
               ("anydml", "transposed", "transposed divisor"), ("torch", "transposed", "PyTorch"),
               ("anydml", "dividend", "one dividend"), ("anydml", "rows1000", "padded rows")]
    rows = []
    for name in TYPES:
        line = []
        for library, layout, _ in columns:
            pair = [cases.get((library, name, operator, layout, "ordinary")) for operator in MODULUS]
            line.append(", ".join(percent(case["fraction"]) for case in pair) if all(pair) else "none")
        rows.append([name, *line])
    return table(["floor, truncate", *(words for *_, words in columns)], rows)


def gpu_latency(own, others):
    names = ("independent_1024", "dependent_1024")
    rows = [["anydml, one list", *(micro(one(own["latency"], name=name)) for name in names)]]
    for report in others:
        for peer, how in dict.fromkeys((row["peer"], row["how"]) for row in report["latency"]):
            rows.append([f"{report['titles'][peer].split()[0]}, {how}",
                         *(micro(one(report["latency"], peer=peer, how=how, name=name)) for name in names)])
    return table(["", "independent", "each reads the last"], rows)


def micro(row):
    return f"{row['median_ns'] / 1000:.3f}" if row else ""


def gpu_reductions(own):
    cases = [case for case in own["cases"] if case["layout"] in ("inner", "outer")]
    operators = list(dict.fromkeys(case["operator"] for case in cases))
    rows = []
    for name in types_of(cases):
        line = []
        for operator in operators:
            pair = [one(cases, type=name, operator=operator, layout=layout) for layout in ("inner", "outer")]
            line.append(", ".join(f"{100 * case['fraction']:.0f}" for case in pair) + " %" if all(pair) else EMPTY)
        rows.append([name, *line])
    return table(["along rows, down columns", *(name.removeprefix("reduce_").upper() for name in operators)], rows)
