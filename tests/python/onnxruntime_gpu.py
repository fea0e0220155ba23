#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks models on a GPU, in ONNX Runtime with anydml's provider and in anydml.onnx: results with the bits of the CPU,
tensors that stay on the GPU, and the copies that are left.

usage: python3 tests/python/onnxruntime_gpu.py [--library PATH] [--device NAME] [--json FILE] [--only PART,PART]
                                              [--limit SECONDS]

Each part runs in a process of its own, for --limit seconds (90) at most, so that one that fails does not end the others.
The JSON contains the results of the parts; without --json, it goes to $OUT/onnxruntime_gpu.json if OUT is set. The
provider's library is that of ANYDML_ONNXRUNTIME_LIBRARY, of the build or of the installed package, and so is the Python
package; ANYDML_PLUGINS must name the folder with the plugin of the GPU. --device cuda:0 is the default; with another
device, such as the one of the tests, parts that need PyTorch or CUDA fail. The part zoo runs the models in the folder
ANYDML_ZOO, the smallest first.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("listed", "bound", "cache", "torch_pointers", "models", "models_torch", "numpy", "times", "threads", "zoo")
EP = "AnyDmlExecutionProvider"


def package():
    """Makes the Python package of the build importable, unless one is installed."""
    import importlib.util
    import tempfile
    if importlib.util.find_spec("anydml") is not None:
        return
    root = HERE.parents[1]
    folder = pathlib.Path(tempfile.mkdtemp()) / "anydml"
    folder.mkdir()
    for one in [*(root / "python" / "anydml").iterdir(), *(root / "build" / "release" / "python").glob("_core*.so")]:
        (folder / one.name).symlink_to(one)
    sys.path.insert(0, str(folder.parent))


# ---- The provider in ONNX Runtime -------------------------------------------------------------------------------------

def library():
    if chosen := os.environ.get("ANYDML_ONNXRUNTIME_LIBRARY"):
        return chosen
    built = HERE.parents[1] / "build" / "release" / "lib" / "libonnxruntime-ep-anydml.so"
    if built.exists():
        return str(built)
    import onnxruntime_ep_anydml
    return onnxruntime_ep_anydml.get_library_path()


def devices():
    """Registers the provider, if necessary under a name that allows virtual devices, and returns its devices."""
    import onnxruntime as ort
    for name in ("anydml", "anydml.virtual"):
        ort.register_execution_provider_library(name, library())
        found = [one for one in ort.get_ep_devices() if one.ep_name == EP]
        if any(one.ep_metadata.get("device") == DEVICE for one in found):
            return found
        ort.unregister_execution_provider_library(name)
    raise RuntimeError(f"ONNX Runtime lists no {DEVICE}, only {[str(one.ep_metadata) for one in found]}")


def gpu():
    return next(one for one in devices() if one.ep_metadata.get("device") == DEVICE)


def vendor():
    return 0x10de if DEVICE.startswith("cuda") else 0


def session(model, device, options=None):
    import onnxruntime as ort
    settings = ort.SessionOptions()
    settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    settings.add_provider_for_devices([device], options or {})
    return ort.InferenceSession(model.SerializeToString(), settings, enable_fallback=0)


def value(array):
    import onnxruntime as ort
    return ort.OrtValue.ortvalue_from_numpy(array, "gpu", 0, vendor())


def bind_output(binding, name):
    """Leaves an output on the device."""
    binding.bind_output(name, "cuda" if vendor() else "gpu", 0)


def network():
    import numpy as np
    import onnx.parser
    random = np.random.default_rng(3)
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17]> m (float[N, 16, H, W] x) => (float[N, 10] y) {'
                                    'c = Conv <pads = [1, 1, 1, 1]> (x, w)  r = Relu (c)  d = Conv <pads = [1, 1, 1, 1]> (r, v)'
                                    '  a = Add (d, x)  p = GlobalAveragePool (a)  f = Flatten (p)  l = MatMul (f, g)'
                                    '  y = Softmax (l) }')
    for name, shape in (("w", (16, 16, 3, 3)), ("v", (16, 16, 3, 3)), ("g", (16, 10))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(random.standard_normal(shape).astype("f4") / 4, name))
    return model


def decoder():
    """One layer of attention with a cache that grows."""
    import numpy as np
    import onnx.parser
    random = np.random.default_rng(4)
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17]> m (float[1, n, 256] past, float[1, 1, 256] x) => '
                                    '(float[1, m, 256] present, float[1, 1, 256] y) { k = MatMul (x, w)'
                                    '  present = Concat <axis = 1> (past, k)  t = Transpose <perm = [0, 2, 1]> (present)'
                                    '  s = MatMul (x, t)  p = Softmax (s)  y = MatMul (p, present) }')
    model.graph.initializer.append(onnx.numpy_helper.from_array(random.standard_normal((256, 256)).astype("f4") / 16, "w"))
    return model


def images(n=4, size=32):
    import numpy as np
    return np.random.default_rng(5).standard_normal((n, 16, size, size)).astype("f4")


def on_cpu(model, given):
    """The provider's result on the CPU."""
    import onnxruntime as ort
    cpu = next(one for one in ort.get_ep_devices() if one.ep_name == EP and one.device.type.name == "CPU")
    return session(model, cpu, {"device": "cpu"}).run(None, given)


def marked(mark):
    """Writes a line into the log, which the parent counts copies after."""
    print(f"[{mark}]", file=sys.stderr, flush=True)


def listed():
    return [{"kind": one.device.type.name, **dict(one.ep_metadata)} for one in devices()]


def numpy():
    device, given = gpu(), {"x": images()}
    of = session(network(), device)
    marked("begin")
    found = of.run(None, given)[0]
    marked("end")
    return {"same_bits": found.tobytes() == on_cpu(network(), given)[0].tobytes()}


def bound():
    import onnxruntime as ort
    device, x = gpu(), images()
    of, expected = session(network(), device), on_cpu(network(), {"x": x})[0]
    here, there = value(x), ort.OrtValue.ortvalue_from_shape_and_type(expected.shape, expected.dtype, "gpu", 0, vendor())
    binding = of.io_binding()
    binding.bind_ortvalue_input("x", here)
    binding.bind_ortvalue_output("y", there)
    of.run_with_iobinding(binding)
    marked("begin")
    for _ in range(10):
        of.run_with_iobinding(binding)
    marked("end")
    again = of.io_binding()
    again.bind_ortvalue_input("x", here)
    bind_output(again, "y")
    of.run_with_iobinding(again)
    return {"same_bits": there.numpy().tobytes() == expected.tobytes(), "expected_copies": 0,
            "same_bits_of_new_output": again.get_outputs()[0].numpy().tobytes() == expected.tobytes()}


def cache():
    import numpy as np
    device, steps = gpu(), 50
    of = session(decoder(), device)
    tokens = np.random.default_rng(6).standard_normal((steps, 1, 1, 256)).astype("f4")
    first = np.zeros((1, 1, 256), "f4")
    past, results, there = value(first), [], [value(one) for one in tokens]
    marked("begin")
    for x in there:
        binding = of.io_binding()
        binding.bind_ortvalue_input("past", past)
        binding.bind_ortvalue_input("x", x)
        bind_output(binding, "present")
        bind_output(binding, "y")
        of.run_with_iobinding(binding)
        past, y = binding.get_outputs()
        results.append(y)
    marked("end")
    expected, same = first, True
    cpu = session(decoder(), next(one for one in devices_again() if one.device.type.name == "CPU"), {"device": "cpu"})
    for x, y in zip(tokens, results):
        expected, other = cpu.run(None, {"past": expected, "x": x})
        same = same and y.numpy().tobytes() == other.tobytes()
    return {"same_bits": same and past.numpy().tobytes() == expected.tobytes(), "expected_copies": 0}


def devices_again():
    import onnxruntime as ort
    return [one for one in ort.get_ep_devices() if one.ep_name == EP]


def torch_pointers():
    import numpy as np
    import torch
    device, x = gpu(), images()
    of, expected = session(network(), device), on_cpu(network(), {"x": x})[0]
    given, y = torch.from_numpy(x).cuda(), torch.zeros(expected.shape, device="cuda")
    torch.cuda.synchronize()
    binding = of.io_binding()
    binding.bind_input("x", "cuda", 0, np.float32, tuple(given.shape), given.data_ptr())
    binding.bind_output("y", "cuda", 0, np.float32, tuple(y.shape), y.data_ptr())
    marked("begin")
    of.run_with_iobinding(binding)
    marked("end")
    return {"same_bits": y.cpu().numpy().tobytes() == expected.tobytes(), "expected_copies": 0}


def threads():
    import threading
    device = gpu()
    of, failures = session(network(), device), []
    shapes = [(n, size) for n in (1, 2, 3) for size in (8, 16)]
    expected = {shape: on_cpu(network(), {"x": images(*shape)})[0].tobytes() for shape in shapes}

    def work():
        try:
            for shape in shapes * 5:
                if of.run(None, {"x": images(*shape)})[0].tobytes() != expected[shape]:
                    failures.append(f"{shape} has other bits")
        except Exception as error:  # noqa: BLE001
            failures.append(repr(error))
    all_of = [threading.Thread(target=work) for _ in range(8)]
    for one in all_of:
        one.start()
    for one in all_of:
        one.join()
    return {"same_bits": not failures, "failures": failures[:5]}


# ---- anydml.onnx ------------------------------------------------------------------------------------------------------

def models():
    import anydml
    import anydml.onnx as backend
    import numpy as np
    model, cpu = backend.prepare(decoder(), DEVICE), backend.prepare(decoder(), "cpu")
    expected = np.zeros((1, 1, 256), "f4")
    past, same = anydml.to_device(expected, DEVICE), True
    for x in np.random.default_rng(6).standard_normal((50, 1, 1, 256)).astype("f4"):
        past, y = model.run({"past": past, "x": anydml.to_device(x, DEVICE)})
        expected, other = cpu.run([expected, x])
        same = same and isinstance(past, anydml.DeviceArray) and y.numpy().tobytes() == other.tobytes()
    return {"same_bits": same and past.numpy().tobytes() == expected.tobytes()}


def models_torch():
    import anydml.onnx as backend
    import numpy as np
    import torch
    model, cpu = backend.prepare(decoder(), DEVICE), backend.prepare(decoder(), "cpu")
    expected = np.zeros((1, 1, 256), "f4")
    same = True
    with torch.cuda.stream(torch.cuda.Stream()):
        past = torch.zeros((1, 1, 256), device="cuda")
        for x in np.random.default_rng(6).standard_normal((50, 1, 1, 256)).astype("f4"):
            past, y = model.run({"past": past, "x": torch.from_numpy(x).cuda() * 1})
            expected, other = cpu.run([expected, x])
            same = same and isinstance(past, torch.Tensor) and past.is_cuda and \
                (y * 1).cpu().numpy().tobytes() == other.tobytes()
    return {"same_bits": same and past.cpu().numpy().tobytes() == expected.tobytes()}


def zoo():
    """The models in the folder ANYDML_ZOO (zoo_models.py), with all tensors on the device. Copied bytes are known only on
    the device of the tests."""
    import ctypes
    import anydml
    import anydml.onnx as backend
    import numpy as np
    sys.path.insert(0, str(HERE))
    from zoo_models import MODELS
    folder, plugin = pathlib.Path(os.environ.get("ANYDML_ZOO", "/nowhere")), os.environ.get("ANYDML_PLUGINS", "")
    count = ctypes.CDLL(f"{plugin}/libanydml-later.so").anydml_later_copied_bytes if DEVICE == "later:0" else lambda: 0
    result, done, end = {}, {"error": "ANYDML_ZOO has no models"}, time.monotonic() + LIMIT - 15
    chosen = [one for one in MODELS if (folder / f"{one.name}.onnx").exists()]
    for model in sorted(chosen, key=lambda one: (folder / f"{one.name}.onnx").stat().st_size):
        if time.monotonic() > end:
            break
        try:
            path, given = folder / f"{model.name}.onnx", {key: np.asarray(one) for key, one in model.given().items()}
            expected, of = backend.prepare(path, "CPU").run(given), backend.prepare(path, DEVICE)
            there = {key: anydml.to_device(one, DEVICE) for key, one in given.items()}
            of.run(there)
            before = count()
            found = of.run(there)
            result[model.name] = {"copied_bytes": count() - before, "same_bits": all(
                one.numpy().tobytes() == other.tobytes() for one, other in zip(found, expected))}
            if DEVICE.startswith("cuda"):
                result[model.name]["ms"] = median_ms(lambda: of.run(there), 10)
        except Exception as error:  # noqa: BLE001
            result[model.name] = {"error": repr(error)[:300], "same_bits": False}
        done = {"same_bits": all(one["same_bits"] for one in result.values()), "models": result}
        print("RESULT " + json.dumps(done), flush=True)  # in case the time ends
    return done


# ---- Times ------------------------------------------------------------------------------------------------------------

def median_ms(run, rounds=30):
    for _ in range(3):
        run()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return round(1e3 * sorted(times)[rounds // 2], 3)


def times():
    """Milliseconds of a run with bound tensors, with NumPy's arrays, and with the option `device` (copies in the run)."""
    import onnxruntime as ort
    device, x = gpu(), images(16, 128)
    of = session(network(), device)
    cpu = next(one for one in devices_again() if one.device.type.name == "CPU")
    with_option = session(network(), cpu, {"device": DEVICE})
    here, there = value(x), ort.OrtValue.ortvalue_from_shape_and_type((16, 10), x.dtype, "gpu", 0, vendor())
    binding = of.io_binding()
    binding.bind_ortvalue_input("x", here)
    binding.bind_ortvalue_output("y", there)
    result = {"bytes_of_input": x.nbytes, "bound_ms": median_ms(lambda: of.run_with_iobinding(binding)),
              "numpy_ms": median_ms(lambda: of.run(None, {"x": x})),
              "option_ms": median_ms(lambda: with_option.run(None, {"x": x}))}
    import anydml
    import anydml.onnx as backend
    model, given = backend.prepare(network(), DEVICE), anydml.to_device(x, DEVICE)
    result["anydml_onnx_device_ms"] = median_ms(lambda: model.run([given]))
    result["anydml_onnx_numpy_ms"] = median_ms(lambda: model.run([x]))
    return result


# ---- All parts --------------------------------------------------------------------------------------------------------

def copies(log):
    """The copies that ONNX Runtime asked for between the marks, or None."""
    found = re.search(r"\[begin\](.*)\[end\]", log, re.DOTALL)
    return None if found is None else len(re.findall(r"bytes are copied from", found.group(1)))


def measured(part, device, seconds):
    """Runs one part in a process of its own, and returns its result."""
    begin = time.monotonic()
    child = subprocess.Popen([sys.executable, __file__, "--part", part, "--device", device, "--limit", str(seconds)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "ANYDML_LOG": "onnxruntime"})
    try:
        out, log = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        out, log = child.communicate()
        log += f"it took more than {seconds} s"
    lines = [line for line in out.splitlines() if line.startswith("RESULT ")]
    result = json.loads(lines[-1][7:]) if lines else {"error": (log or out)[-1500:]}
    result = result if isinstance(result, dict) else {"value": result}
    if (found := copies(log)) is not None:
        result["copies"] = found
    result["ok"] = ("error" not in result and (child.returncode == 0 or part == "zoo") and result.get("same_bits", True)
                    and result.get("same_bits_of_new_output", True)
                    and result.get("copies") == result.get("expected_copies", result.get("copies")))
    result["exit"], result["seconds"] = child.returncode, round(time.monotonic() - begin, 2)
    if not result["ok"] and "error" not in result:
        result["log"] = log[-1500:]
    return result


def main():
    global DEVICE, LIMIT
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--library")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--limit", type=float, default=90)
    parser.add_argument("--part")
    given = parser.parse_args()
    DEVICE, LIMIT = given.device, given.limit
    if given.library:
        os.environ["ANYDML_ONNXRUNTIME_LIBRARY"] = os.path.abspath(given.library)
    if given.part:
        try:
            if given.part in ("models", "models_torch", "times", "zoo"):
                package()
            result = globals()[given.part]()
        except Exception:  # noqa: BLE001
            result = {"error": traceback.format_exc()[-1500:]}
        print("RESULT " + json.dumps(result), flush=True)
        return 0
    path = given.json or (os.path.join(os.environ["OUT"], "onnxruntime_gpu.json") if os.environ.get("OUT") else None)
    results = {}
    for part in given.only.split(","):
        results[part] = measured(part, given.device, given.limit)
        print(f"{part}: {json.dumps(results[part])}", flush=True)
        if path:  # after each part, in case the machine's time ends
            pathlib.Path(path).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0 if all(one["ok"] for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
