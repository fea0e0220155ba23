#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs trained models in ONNX Runtime with anydml's provider and without it, with default sessions: which nodes run
where, run times, the first run, peak memory and results.

usage: onnxruntime_zoo.py FOLDER [NAME ...] [--rounds N] [--limit SECONDS] [--here] [--json FILE] [--left] [--option KEY=VALUE]
       python3 bench/onnxruntime_zoo.py build/zoo

The models are downloaded to FOLDER from PyPI; with --here nothing is downloaded, and only the models in FOLDER run. The
two kinds of sessions run alternately in separate processes; both have ONNX Runtime's default options, so each uses all
cores. The time of a run is the lower quartile over all rounds, which other programs on the machine change less than the
median. Peak memory is the largest resident set of a process that does nothing else, minus its resident set when it had
imported onnxruntime. --left also lists the operators that the provider leaves to ONNX Runtime. --option gives the
provider an option. tests/python/onnxruntime_provider.py finds the library.
"""
import argparse
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
TURNS = 2  # the number of processes of each kind
KINDS = ("provider", "alone")


def memory(kind):
    """Returns the resident set, VmRSS, or the largest one since it was reset, VmHWM, in MiB."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{kind}:\s+(\d+) kB", status)[1]) / 1024


def work(kind, name, folder, rounds, options, answer):
    """Runs one model in one kind of session, in a separate process."""
    import onnxruntime_provider as provider
    from zoo_models import MODELS, fetch
    model = next(one for one in MODELS if one.name == name)
    path, given = fetch(model, folder), model.given()
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # imports need more memory for a moment than they keep
    before = memory("VmRSS")
    if kind == "provider":
        provider.devices()
    begin = time.perf_counter()
    session = provider.session(path, options) if kind == "provider" else provider.session_without(path)
    loaded = time.perf_counter() - begin
    begin = time.perf_counter()
    outputs = session.run(None, given)
    first = time.perf_counter() - begin
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        session.run(None, given)
        times.append(time.perf_counter() - begin)
    pathlib.Path(answer).write_bytes(pickle.dumps({
        "load": loaded, "first": first, "times": times, "memory": memory("VmHWM") - before, "outputs": outputs,
        "nodes": provider.assigned(session) if kind == "provider" else None}))


def difference(actual, expected):
    """Returns what `python -m anydml.onnx` calls the difference. The file is read without the package, which need not be
    installed."""
    import importlib.util
    found = importlib.util.spec_from_file_location("_report", ROOT / "python" / "anydml" / "onnx" / "_report.py")
    report = importlib.util.module_from_spec(found)
    found.loader.exec_module(report)
    return report.difference(actual, expected)


def lower_quartile(times):
    return sorted(times)[len(times) // 4]


def ask(kind, name, options, folder, seconds):
    """Returns a process's answer, or the reason why there is no answer."""
    answer = pathlib.Path(folder) / "answer"
    answer.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--work", kind, name, str(options.folder), str(options.rounds),
               json.dumps(dict(one.split("=", 1) for one in options.option)), str(answer)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"over {options.limit:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"no message, status {done.returncode}"])[-1]
    return pickle.loads(answer.read_bytes())


def measure(model, options, folder):
    answers = {kind: [] for kind in KINDS}
    end = time.monotonic() + options.limit
    for turn in range(TURNS):
        for kind, kept in answers.items():
            found = ask(kind, model.name, options, folder, max(end - time.monotonic(), 0.1))
            if not isinstance(found, str):
                kept.append(found)
            elif turn == 0:
                return {"model": model.name, "failed": f"{kind}: {found}"}
    import onnxruntime_provider as provider
    row = {"model": model.name}
    for kind, kept in answers.items():
        row[kind] = {"run_ms": 1e3 * lower_quartile([time for one in kept for time in one["times"]]),
                     "load_ms": 1e3 * min(one["load"] for one in kept), "first_ms": 1e3 * min(one["first"] for one in kept),
                     "memory_mb": min(one["memory"] for one in kept)}
    ours, theirs = answers["provider"][0], answers["alone"][0]
    if ours["nodes"] is not None:
        row["nodes"] = sum(sum(ops.values()) for ops in ours["nodes"].values())
        row["left"] = {op: count for name, ops in ours["nodes"].items() if name != provider.PROVIDER for op, count in ops.items()}
    from zoo_models import DECISIONS
    row["difference"] = max(difference(*pair) for pair in zip(ours["outputs"], theirs["outputs"]))
    decide = DECISIONS[model.decision]
    row["same_decision"] = None if decide is None else float((decide(ours["outputs"][0]) == decide(theirs["outputs"][0])).mean())
    row["same_bits"] = all(one.tobytes() == other.tobytes() for one, other in zip(ours["outputs"], answers["provider"][-1]["outputs"]))
    return row


def show(row, left):
    if "failed" in row:
        return f"| {row['model']} | {row['failed']} |"
    ours, theirs, same = row["provider"], row["alone"], row["same_decision"]
    nodes = "unknown" if "nodes" not in row else f"{row['nodes'] - sum(row['left'].values())} of {row['nodes']}"
    decision = "-" if same is None else "same" if same == 1 else f"{100 * same:.2f} % the same"
    line = (f"| {row['model']} | {nodes} | {ours['run_ms']:.2f}, {theirs['run_ms']:.2f} | {ours['run_ms'] / theirs['run_ms']:.2f} | "
            f"{ours['load_ms'] + ours['first_ms']:.0f}, {theirs['load_ms'] + theirs['first_ms']:.0f} | {ours['memory_mb']:.0f}, "
            f"{theirs['memory_mb']:.0f} | {row['difference']:.1e} | {decision} |")
    if not row["same_bits"]:
        line += " different bits in another process |"
    return line + (" " + ", ".join(f"{op} {count}" for op, count in row.get("left", {}).items()) if left else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="where the models are kept")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models; all if none is given")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each process (10)")
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=600, help="time limit for one model (600)")
    parser.add_argument("--here", action="store_true", help="run only models in FOLDER; download nothing")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--left", action="store_true", help="list the operators that the provider leaves to ONNX Runtime")
    parser.add_argument("--option", metavar="KEY=VALUE", action="append", default=[], help="an option of the provider")
    options = parser.parse_args()
    import onnxruntime
    import onnxruntime_provider as provider
    from zoo_models import MODELS
    if provider.library() is None:
        parser.error("the provider's library was not found: build it, or set ANYDML_ONNXRUNTIME_LIBRARY")
    unknown = set(options.names) - {model.name for model in MODELS}
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    models = [model for model in MODELS if (not options.names or model.name in options.names) and (
        not options.here or (options.folder / f"{model.name}.onnx").exists())]
    print(f"ONNX Runtime {onnxruntime.__version__}, {len(os.sched_getaffinity(0))} cores. Pairs are with the provider, and ONNX "
          "Runtime alone. Times in ms, peak memory in MiB.\n\n| model | nodes in the provider | a run | ratio | load and first run | "
          "memory | difference | decision |\n|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            rows.append(measure(model, options, folder))
            print(show(rows[-1], options.left), flush=True)
            if options.json:
                options.json.write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "rows": rows}, indent=1) + "\n")
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), json.loads(sys.argv[6]), sys.argv[7])
    else:
        sys.exit(main())
