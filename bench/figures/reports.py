# SPDX-License-Identifier: MIT
"""Reads reports from dmlrun bench, peers.py, peers_cuda.py and all_operators.py, and the shorter form in
docs/performance.

The shorter form has the same keys. Lists of objects are tables (`columns`, `rows`), numbers have four digits, and
`source` names the origin of the figures.
"""
import json
import re
import sys
from pathlib import Path

TYPES = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")
MODULUS = ("modulus_floor", "modulus_truncate")

# The columns that are kept from each list, by the program that wrote the list.
KEPT = {
    "anydml-bench": {
        "cases": ("type", "operator", "directml_operator", "layout", "size", "data", "gap", "elements",
                  "ns_per_element", "gb_per_second", "fraction", "factor", "wrong"),
        "latency": ("name", "what", "median_ns"),
        "scaling": ("type", "operator", "threads", "ns_per_element", "fraction")},
    "peers.py": {
        "times": ("peer", "type", "operator", "layout", "data", "threads", "ns_per_element"),
        "wrong": ("peer", "type", "operator", "data", "pairs", "wrong")},
    "peers_cuda.py": {
        "cases": ("peer", "type", "operator", "layout", "data", "gb_per_second", "fraction", "wrong"),
        "latency": ("peer", "how", "name", "median_ns")},
    "all_operators.py": {
        "cases": ("operator", "what", "elements", "bytes", "seconds", "fraction", "gflops", "missing")},
    "zoo.py": {"models": ()},  # not shortened
}
OF_A_REPORT = ("program", "schema", "source", "version", "arguments", "machine", "cpu", "architecture", "c_library",
               "device", "gpu", "threads", "library", "others_busy_cores", "driver", "cuda", "titles", "tensor_bytes", "differing")
OF_A_MACHINE = ("cpu", "architecture", "cores", "threads", "adapter", "device", "target", "compiler", "c_library")


def short_number(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def flat(program, key, entries):
    """Makes each point of a scaling measurement a separate row."""
    if program == "anydml-bench" and key == "scaling":
        return [{**entry, **point} for entry in entries for point in entry.get("points", [{}])]
    return entries


def without_file(arguments):
    """Returns a command line without the name of the report."""
    return re.sub(r" ?--json[= ]\S+", "", " ".join(arguments)).strip()


def last_of_each(entries):
    """Keeps only the last measurement if a case was measured repeatedly."""
    names = ("name", "peer", "how", "type", "operator", "layout", "size", "data", "threads")
    return list({tuple(entry.get(name) for name in names): entry for entry in entries}.values())


def shorten(reports, source):
    """Combines several reports from one program on one machine, in the shorter form."""
    first = reports[0]
    program = first["program"]
    for report in reports[1:]:
        same = {"anydml-bench": lambda one: (one["machine"]["cpu"], one["machine"]["threads"]),
                "peers.py": lambda one: one["cpu"], "peers_cuda.py": lambda one: one["device"],
                "all_operators.py": lambda one: (one["cpu"], one["device"], one["threads"])}[program]
        if report["program"] != program or same(report) != same(first):
            sys.exit("these reports come from different programs, machines or numbers of threads; keep them separately")
    kept = {key: first[key] for key in OF_A_REPORT if key in first}
    if "machine" in kept:
        kept["machine"] = {key: first["machine"][key] for key in OF_A_MACHINE if key in first["machine"]}
    if program == "anydml-bench":
        kept["arguments"] = [without_file(report.get("arguments", [])) for report in reports]
        kept["checked"] = sum(case.get("checked", 0) for report in reports for case in report["cases"])
    if "differing" in kept:
        kept["differing"] = sorted({key for report in reports for key in report["differing"]})
    kept["source"] = source or first.get("source", "")
    for key, columns in KEPT[program].items():
        entries = last_of_each([entry for report in reports for entry in flat(program, key, report.get(key, []))])
        columns = [name for name in columns if any(entry.get(name) not in (None, "") for entry in entries)]
        if entries:
            kept[key] = {"columns": columns,
                         "rows": [[short_number(entry.get(name)) for name in columns] for entry in entries]}
    return kept


def text_of(kept):
    """Returns JSON with a line for each row, so that measurements can be compared with diff."""
    parts = []
    for key, value in kept.items():
        if isinstance(value, dict) and set(value) == {"columns", "rows"}:
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in value["rows"])
            columns = json.dumps(value["columns"])
            parts.append(f' {json.dumps(key)}: {{"columns": {columns}, "rows": [\n  {rows}]}}')
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read(path):
    """Reads a report in either form; tables become lists of objects."""
    report = json.loads(Path(path).read_text())
    if report.get("program") not in KEPT:
        sys.exit(f"{path}: not written by dmlrun bench, peers.py, peers_cuda.py or all_operators.py")
    for key in KEPT[report["program"]]:
        value = report.get(key, [])
        if isinstance(value, dict):
            value = [{name: one for name, one in zip(value["columns"], row) if one is not None} for row in value["rows"]]
        report[key] = flat(report["program"], key, value)
    report["name"] = Path(path).stem
    return report


def about(report):
    if report["program"] != "anydml-bench":
        return f"{report['cpu']}, {report['c_library']}" if "cpu" in report else report["device"]
    machine = report["machine"]
    threads = machine["threads"]
    if threads == 0:  # a device that is not a CPU
        return f"anydml {report['version']} on {machine['device']}"
    return (f"anydml {report['version']} on {machine['cpu']}, {threads} thread{'s' if threads > 1 else ''}, "
            f"{machine.get('target') or 'unknown'} kernels")


def find(entries, **wanted):
    return [entry for entry in entries if all(entry.get(key) == value for key, value in wanted.items())]


def one(entries, **wanted):
    found = find(entries, **wanted)
    return found[0] if found else None
