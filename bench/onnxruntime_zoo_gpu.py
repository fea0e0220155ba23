#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs trained models on a GPU in ONNX Runtime with anydml's provider, and in PyTorch: run times with all tensors on the
GPU, and the copies that ONNX Runtime requests.

usage: onnxruntime_zoo_gpu.py FOLDER [NAME ...] [--device NAME] [--rounds N] [--limit SECONDS] [--no-torch] [--json FILE]
       ANYDML_PLUGINS=FOLDER python3 bench/onnxruntime_zoo_gpu.py build/zoo --device cuda:0

The models must be in FOLDER (tests/python/zoo_models.py). Inputs and outputs are bound to memory of the GPU, so a run
needs no copies. PyTorch runs what onnx2torch makes of a model, if both are installed: each operator is one or more
calls of PyTorch, without torch.compile. Each model runs in processes of its own; the time of a run is the median.
Results are compared with those of the provider on the CPU bit for bit, and with ONNX Runtime's own on the CPU.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "bench")]
KINDS = ("provider", "torch")


def timed(run, rounds, after=lambda: None):
    """Returns the median time of a run in milliseconds. after: waits for the end of the run's work."""
    times = []
    for _ in range(rounds + 3):
        begin = time.perf_counter()
        run()
        after()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times[3:])[rounds // 2]


def bound(path, given, device, rounds):
    import onnxruntime as ort
    import onnxruntime_gpu as gpu
    import onnxruntime_provider as provider
    gpu.DEVICE = device
    one = gpu.gpu()
    begin = time.perf_counter()
    settings = ort.SessionOptions()
    settings.log_severity_level = 4
    settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    settings.add_provider_for_devices([one], {})
    session = ort.InferenceSession(str(path), settings, enable_fallback=0)
    loaded = 1e3 * (time.perf_counter() - begin)
    binding = session.io_binding()
    kept = {name: gpu.value(array) for name, array in given.items()}  # on the device
    for name, value in kept.items():
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        gpu.bind_output(binding, output.name)
    session.run_with_iobinding(binding)
    gpu.marked("begin")
    median = timed(lambda: session.run_with_iobinding(binding), rounds)
    gpu.marked("end")
    return {"load_ms": loaded, "run_ms": median, "outputs": [one.numpy() for one in binding.get_outputs()],
            "on_cpu": provider.session(path, {"device": "cpu"}).run(None, given)}


def in_torch(path, given, device, rounds):
    import onnx
    import torch
    if "torchvision" not in sys.modules:
        try:
            import torchvision  # noqa: F401
        except ImportError:  # onnx2torch needs it only for operators on boxes, which these models lack
            ops = types.ModuleType("torchvision.ops")
            ops.roi_align = ops.nms = ops.box_convert = None
            whole = types.ModuleType("torchvision")
            whole.ops = ops
            sys.modules.update({"torchvision": whole, "torchvision.ops": ops})
    import onnx2torch
    model = onnx.load(str(path))
    if not any(one.domain in ("", "ai.onnx") and one.version >= 9 for one in model.opset_import):
        model = onnx.version_converter.convert_version(model, 11)
    for node in [one for one in model.graph.node if one.op_type == "Constant" and one.attribute[0].name == "value"]:
        node.attribute[0].t.name = node.output[0]  # onnx2torch finds weights only among the initializers
        model.graph.initializer.append(node.attribute[0].t)
        model.graph.node.remove(node)
    begin = time.perf_counter()
    where = "cuda" if device.startswith("cuda") else "cpu"
    module = onnx2torch.convert(model).eval().to(where)
    loaded = 1e3 * (time.perf_counter() - begin)
    wait = torch.cuda.synchronize if where == "cuda" else lambda: None
    initial = {one.name for one in model.graph.initializer}
    inputs = [torch.from_numpy(given[one.name]).to(where) for one in model.graph.input if one.name not in initial]
    with torch.no_grad():
        median = timed(lambda: module(*inputs), rounds, wait)
        found = module(*inputs)
    found = found if isinstance(found, (list, tuple)) else [found]
    return {"load_ms": loaded, "run_ms": median, "outputs": [one.cpu().numpy() for one in found]}


def work(kind, name, folder, device, rounds, answer):
    import numpy as np
    from zoo_models import MODELS
    model = next(one for one in MODELS if one.name == name)
    path, given = pathlib.Path(folder) / f"{name}.onnx", {key: np.asarray(one) for key, one in model.given().items()}
    found = (bound if kind == "provider" else in_torch)(path, given, device, rounds)
    import onnxruntime
    alone = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found["alone_ms"] = timed(lambda: alone.run(None, given), 3)
    from onnxruntime_zoo import difference
    outputs, on_cpu = found.pop("outputs"), found.pop("on_cpu", None)
    found["difference"] = max(difference(*pair) for pair in zip(outputs, alone.run(None, given)))
    if on_cpu is not None:
        found["same_bits"] = all(one.tobytes() == other.tobytes() for one, other in zip(outputs, on_cpu))
    pathlib.Path(answer).write_text(json.dumps(found))


def ask(kind, name, options, folder):
    answer = pathlib.Path(folder) / "answer"
    answer.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--work", kind, name, str(options.folder), options.device, str(options.rounds),
               str(answer)]
    environment = {**os.environ, **({"ANYDML_LOG": "onnxruntime"} if kind == "provider" else {})}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, env=environment)
    except subprocess.TimeoutExpired:
        return f"over {options.limit:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"no message, status {done.returncode}"])[-1][:300]
    found = json.loads(answer.read_text())
    if marks := re.search(r"\[begin\](.*)\[end\]", done.stderr, re.DOTALL):
        found["copies"] = len(re.findall("bytes are copied from", marks[1]))
    return found


def measure(model, options, folder):
    kinds = KINDS if options.torch else KINDS[:1]
    return {"model": model.name, **{kind: ask(kind, model.name, options, folder) for kind in kinds}}


def show(row):
    def number(kind, key, form):
        return form.format(row[kind][key]) if isinstance(row.get(kind), dict) and key in row[kind] else "–"
    ours, theirs = row["provider"], row.get("torch")
    ratio = f"{ours['run_ms'] / theirs['run_ms']:.2f}" if isinstance(ours, dict) and isinstance(theirs, dict) else "–"
    bits = {"True": "the same", "False": "different"}.get(number("provider", "same_bits", "{}"), "–")
    line = (f"| {row['model']} | {number('provider', 'run_ms', '{:.3f}')} | {number('torch', 'run_ms', '{:.3f}')} | {ratio} | "
            f"{number('provider', 'copies', '{}')} | {bits} | {number('provider', 'difference', '{:.1e}')} | "
            f"{number('torch', 'difference', '{:.1e}')} | {number('provider', 'alone_ms', '{:.2f}')} |")
    return line + "".join(f"\n  {kind}: {row[kind]}" for kind in KINDS if isinstance(row.get(kind), str))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="where the models are")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models; all in FOLDER if none is given")
    parser.add_argument("--device", default="cuda:0", help="the device, as in ep_metadata (cuda:0)")
    parser.add_argument("--rounds", type=int, default=50, help="runs of each process (50)")
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=60, help="time limit for a process (60)")
    parser.add_argument("--no-torch", dest="torch", action="store_false", help="run only the provider")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures to this file")
    options = parser.parse_args()
    from zoo_models import MODELS
    models = [one for one in MODELS if (not options.names or one.name in options.names) and
              (options.folder / f"{one.name}.onnx").exists()]
    models.sort(key=lambda one: (options.folder / f"{one.name}.onnx").stat().st_size)
    print(f"{options.device}. Times of a run in ms, with tensors on the device; the last column is ONNX Runtime on the CPU.\n\n"
          "| model | provider | PyTorch | ratio | copies | bits of the CPU | difference | PyTorch's difference | CPU |\n"
          "|---|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            rows.append(measure(model, options, folder))
            print(show(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps({"device": options.device, "rows": rows}, indent=1) + "\n")
    return 1 if any(isinstance(row["provider"], str) or row["provider"].get("copies") for row in rows) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], int(sys.argv[6]), sys.argv[7])
    else:
        sys.exit(main())
