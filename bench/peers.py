#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts wrong answers of other libraries' modulus, beside anydml's, on the same operands.

usage: peers.py LIBANYDML       for example build/release/src/libanydml.so

Needs NumPy; PyTorch, ONNX Runtime with onnx, and SLEEF (libsleef, on aarch64) are counted where they are installed:
    python3 -m venv venv && venv/bin/pip install numpy torch onnxruntime onnx && venv/bin/python bench/peers.py ...
The right answer is the C library's fmod on doubles, which is exact for these types; for floor, the divisor is added where
the signs differ, rounded once. NaN is one class, +0 and -0 are two values.
"""
import ctypes
import platform
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from numpy_oracle import TYPES, Library  # noqa: E402

PAIRS = 4_000_000
SEED = 1


def exact(a, b):
    x, y = a.astype(np.float64), b.astype(np.float64)
    m = np.fmod(x, y)
    floor = np.where(m == 0, np.copysign(0.0, y), np.where(np.signbit(m) != np.signbit(y), m + y, m))
    return floor.astype(a.dtype), m.astype(a.dtype)


def count_wrong(actual, expected):
    if actual is None:
        return "-"
    bits = np.dtype(f"u{expected.itemsize}")
    different = actual.view(bits) != expected.view(bits)
    return f"{int((different & ~(np.isnan(actual) & np.isnan(expected))).sum()):,}"


def operands(random, kind, dtype):
    if kind == "ordinary":
        return random.normal(0, 100, PAIRS).astype(dtype), random.normal(0, 3, PAIRS).astype(dtype)
    size = PAIRS * dtype().itemsize
    return tuple(random.integers(0, 256, size, dtype=np.uint8).view(dtype) for _ in range(2))


def anydml(library):
    def run(a, b):
        value = next(value for value, dtype in TYPES.values() if dtype == a.dtype)
        results = []
        for name in ("FLOOR", "TRUNCATE"):
            out = np.empty_like(a)
            library.run(f"ELEMENT_WISE_MODULUS_{name}", [a, b], out, value)
            results.append(out)
        return results
    return run


def formula(a, b):
    quotient = a / b
    return (a - b * np.floor(quotient)).astype(a.dtype), (a - b * np.trunc(quotient)).astype(a.dtype)


def pytorch(compiled):
    import torch

    def both(a, b):
        return torch.remainder(a, b), torch.fmod(a, b)
    run = torch.compile(both) if compiled else both
    return lambda a, b: [result.numpy() for result in run(torch.from_numpy(a), torch.from_numpy(b))]


def onnx_runtime():
    import onnxruntime
    from onnx import TensorProto, helper

    def run(a, b):
        kind = TensorProto.FLOAT if a.dtype == np.float32 else TensorProto.FLOAT16
        node = helper.make_node("Mod", ["a", "b"], ["c"], fmod=1)
        graph = helper.make_graph([node], "mod", [helper.make_tensor_value_info(name, kind, [None]) for name in "ab"],
                                  [helper.make_tensor_value_info("c", kind, [None])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return None, session.run(None, {"a": a, "b": b})[0]  # floats need fmod=1
    return run


def sleef():
    library = ctypes.CDLL("libsleef.so.3")
    scalar = library.Sleef_fmodf1_purec
    scalar.restype, scalar.argtypes = ctypes.c_float, [ctypes.c_float, ctypes.c_float]
    function = np.frompyfunc(scalar, 2, 1)

    def run(a, b):
        if a.dtype != np.float32:
            return None, None
        return None, function(a, b).astype(np.float32)
    return run


def main(path):
    peers = [("anydml", lambda: anydml(Library(path))), ("the formula in floats", lambda: formula),
             (f"NumPy {np.__version__}", lambda: lambda a, b: (np.remainder(a, b), np.fmod(a, b)))]
    for module, title, make in (("torch", "PyTorch {}", lambda: pytorch(False)),
                                ("torch", "PyTorch {}, compiled", lambda: pytorch(True)),
                                ("onnxruntime", "ONNX Runtime {}", onnx_runtime)):
        try:
            peers.append((title.format(__import__(module).__version__), make))
        except ImportError:
            print(f"{module} is not installed: left out", file=sys.stderr)
    try:
        sleef()
        peers.append(("SLEEF", sleef))
    except (OSError, AttributeError):
        print("SLEEF is not installed: left out", file=sys.stderr)

    print(f"wrong answers of {PAIRS:,} (floor, truncate); {platform.machine()}, {' '.join(platform.libc_ver())}")
    np.seterr(all="ignore")
    random = np.random.default_rng(SEED)
    for kind in ("ordinary", "random bits"):
        for dtype in (np.float32, np.float16):
            a, b = operands(random, kind, dtype)
            floor, truncate = exact(a, b)
            print(f"\n{dtype.__name__}, {kind}")
            for title, make in peers:
                results = make()(a, b)
                print(f"  {title:28} {count_wrong(results[0], floor):>10} {count_wrong(results[1], truncate):>10}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
