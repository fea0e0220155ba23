#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws pictures and tables of measurements. Needs only Python.

usage: plot.py                                       redraws the documents' pictures and tables from docs/performance
       plot.py --check                               lists pictures and tables that differ from docs/performance/*.json
       plot.py --keep NAME FILE.json ...             shortens reports to docs/performance/NAME.json (peers: NAME-peers.json),
                                                     then redraws the documents' pictures and tables
       plot.py FILE.json ... [--out FOLDER]          draws the data of these files, for viewing; build/plots by default

The files are written by `dmlrun bench --json`, bench/peers.py --json, bench/peers_cuda.py --json and
bench/all_operators.py --json; all_operators.py's reports are kept as NAME-all.json. models.json combines the tables that
bench/zoo.py printed on two machines, and is edited by hand. Every picture in the documents, and
every figure of a table between `<!-- figures: NAME -->` and `<!-- end of figures -->`, comes from
docs/performance/*.json.
"""
import argparse
import json
import re
import sys
from pathlib import Path

from figures import compare, models, pictures, tables
from figures.reports import about, read, shorten, text_of

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "performance"
DOCUMENTS = ("README.md", "docs/performance.md", "docs/cuda.md", "docs/operator-speed.md", "docs/networks.md")
ABOVE_THE_PASS = 1.15  # the limit at which dmlrun bench warns
PICTURE = re.compile(r"\]\((?:docs/)?performance/([\w-]+\.svg)\)")
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def kept_reports():
    return {file.stem: read(file) for file in sorted(KEPT.glob("*.json"))}


def split(reports):
    """Returns anydml's reports from CPUs and from GPUs, then the peers' reports from CPUs and from GPUs."""
    own = [one for one in reports if one["program"] == "anydml-bench"]
    return ([one for one in own if one["machine"]["threads"]], [one for one in own if not one["machine"]["threads"]],
            [one for one in reports if one["program"] == "peers.py"],
            [one for one in reports if one["program"] == "peers_cuda.py"])


def operator_names():
    """The names of all DirectML operators."""
    facts = json.loads((ROOT / "data" / "facts" / "operators.json").read_text(encoding="utf-8"))
    return [one["name"].removeprefix("DML_OPERATOR_") for one in facts["operators"]]


def draw(reports):
    """{file name: SVG text} of every picture that the reports have data for."""
    cpus, gpus, peers, gpu_peers = split(reports)
    drawn = {}
    for report in cpus:
        for picture in (pictures.fraction, pictures.size, pictures.gap):
            drawn[f"{picture.__name__}-{report['name']}"] = picture(report)
    for report in peers:
        for threads in sorted({row["threads"] for row in report["times"]}):
            drawn[f"{report['name']}-{threads}"] = pictures.peers(report, threads)
    if gpus:
        drawn["gpu"] = pictures.gpu(gpus, gpu_peers)
    drawn["operators"] = pictures.operators(cpus, peers)
    for report in reports:
        if report["program"] == "zoo.py":
            drawn["models"] = models.picture(report)
    return {f"{name}.svg": text for name, text in drawn.items() if text}


def make_tables(reports):
    """{block name: Markdown} for the documents."""
    cpus, _, peers, gpu_peers = split(reports.values())
    v1, xeon, h200 = reports["neoverse-v1"], reports["xeon"], reports["h200"]
    one_core = reports["neoverse-v1-modulus-peers"]
    return {
        "modulus-xeon": tables.modulus(xeon),
        "modulus-neoverse-v1": tables.modulus(v1),
        "strides": tables.strides(v1),
        "hard": tables.hard(v1, xeon),
        "latency": tables.latency(v1, xeon),
        "scaling": tables.scaling(v1),
        "peers-one-core": tables.peers(one_core, 1),
        "peers-sixteen-cores": tables.peers(reports["xeon-peers"], 16),
        "wrong": tables.wrong(one_core),
        "speed": tables.speed(xeon, h200, gpu_peers, v1),
        "operators": tables.operators(cpus, peers),
        "every-operator": tables.every_operator(reports, operator_names()),
        "gpu": tables.gpu(h200, gpu_peers, "ordinary"),
        "gpu-hard": tables.gpu(h200, gpu_peers, "hard"),
        "gpu-layouts": tables.gpu_layouts(h200, gpu_peers),
        "gpu-latency": tables.gpu_latency(h200, gpu_peers),
        "gpu-reductions": tables.gpu_reductions(h200),
        "models": models.table(reports["models"]),
        "models-claim": models.claim(reports["models"]),
    }


def documents():
    """{path: expected content} of the documents and pictures."""
    reports = kept_reports()
    drawn = draw(list(reports.values()))
    blocks = make_tables(reports)
    wanted, used = {}, set()
    for name in DOCUMENTS:
        text = (ROOT / name).read_text()
        for picture in PICTURE.findall(text):
            if picture not in drawn:
                sys.exit(f"{name}: docs/performance/*.json have no figures for {picture}")
            wanted[KEPT / picture] = drawn[picture]
        for _, block, _ in BLOCK.findall(text):
            if block not in blocks:
                sys.exit(f"{name}: 'figures: {block}' is not a table of bench/plot.py")
            used.add(block)
        wanted[ROOT / name] = BLOCK.sub(lambda found: f"{found[1]}\n{blocks[found[2]]}\n\n{found[3]}", text)
    if unused := set(blocks) - used:
        sys.exit(f"no document uses {', '.join(sorted(unused))}")
    return wanted


def check():
    wanted = documents()
    wrong = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    wrong += [path for path in KEPT.glob("*.svg") if path not in wanted]
    for path in wrong:
        print(f"{path.relative_to(ROOT)} does not match docs/performance/*.json; python3 bench/plot.py redraws it")
    return 1 if wrong else 0


def renew():
    wanted = documents()
    for path in KEPT.glob("*.svg"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(path.relative_to(ROOT))


def keep(name, files, source):
    reports = [read(file) for file in files]
    for program, suffix in (("anydml-bench", ""), ("peers.py", "-peers"), ("peers_cuda.py", "-peers"),
                            ("all_operators.py", "-all")):
        of_it = [one for one in reports if one["program"] == program]
        if of_it:
            file = KEPT / f"{name}{suffix}.json"
            file.write_text(text_of(shorten(of_it, source)))
            above = [case for case in read(file).get("cases", []) if case.get("fraction", 0) > ABOVE_THE_PASS]
            if program == "anydml-bench" and above:
                print(f"{len(above)} cases of {file.name} exceed the pass and should be measured again", file=sys.stderr)
    renew()


def look(files, folder):
    """Draws files that are not kept. Several files from the same machine are combined."""
    reports = [read(file) for file in files]
    merged = {}
    for report in reports:
        key = report["program"], about(report)
        if key in merged:
            for name, value in report.items():
                if isinstance(value, list) and name != "arguments":
                    merged[key][name] = merged[key][name] + value
        else:
            merged[key] = report
    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw(list(merged.values()))
    if not drawn:
        print("plot.py: these files contain no case that can be drawn", file=sys.stderr)
    for name, text in drawn.items():
        (folder / name).write_text(text)
        print(folder / name)
    cpus, gpus, peers, gpu_peers = split(merged.values())
    text = []
    for report in gpus:
        text += [f"{about(report)}: % of the fastest pass over the same bytes, GB/s in brackets."]
        layouts = dict.fromkeys(case["layout"] for case in report["cases"] if "gb_per_second" in case)
        for data in ("ordinary", "hard"):
            for layout in layouts:
                part = tables.gpu(report, gpu_peers, data, layout)
                if part.count("\n") > 1:
                    text += [f"### {layout}, {data} data", part]
        text += [tables.gpu_latency(report, gpu_peers)] if report["latency"] else []
    if any(compare.has_every_operator(report) for report in cpus):
        text += [tables.operators(cpus, peers)]
    if text:
        (folder / "tables.md").write_text("\n\n".join(text) + "\n")
        print(folder / "tables.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.json")
    parser.add_argument("--out", type=Path, default=Path("build/plots"), metavar="FOLDER")
    parser.add_argument("--check", action="store_true", help="compare the documents with docs/performance/*.json")
    parser.add_argument("--keep", metavar="NAME", help="shorten the reports to docs/performance/NAME.json")
    parser.add_argument("--source", default="", metavar="TEXT", help="with --keep: where the figures come from")
    options = parser.parse_args()
    if options.check:
        sys.exit(check())
    if options.keep:
        keep(options.keep, options.files, options.source)
    elif options.files:
        look(options.files, options.out)
    else:
        renew()


if __name__ == "__main__":
    main()
