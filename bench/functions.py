#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares other libraries' functions with anydml's. Counts the answers that are not correctly rounded, and finds the
largest error in units in the last place. Prints Markdown tables.

usage: functions.py [LIBANYDML] [options]       python3 bench/functions.py --json build/functions.json
                                                python3 bench/functions.py --functions exp,log --no-compiled

FLOAT16: every number; for functions of two operands, as many random pairs as for FLOAT32. FLOAT32: random inputs, half
of them uniform over the range where the function is interesting, the other half random bits within its domain.

A result is wrong if any of its bits differs from those of the representable number nearest to the true value; all NaNs
are equal, and +0 differs from -0. anydml's result serves as that number, and a sample of its results is checked against
mpmath with 200 bits. The error is the distance from the true value in FLOAT64, in units in the last place of the right
result. It is infinite if only one of the two values is NaN or infinite.

The libraries come from PyPI, in a separate virtual environment (build/peers), as for peers.py, or with --no-venv from
the Python that runs this script. PyTorch and CuPy are also counted on an NVIDIA GPU, if there is one; CuPy is not
installed automatically. Missing libraries and unimplemented functions are reported and skipped.
"""
import json
import sys
from collections import namedtuple
from pathlib import Path

from peer_run import ROOT, about, items, make_parser, python_of, run_again, say

PACKAGES = ("numpy", "torch", "onnxruntime", "onnx", "jax", "mpmath")
SEED = 1
TYPES = ("FLOAT32", "FLOAT16")
BITS = 200  # precision of mpmath

# op: DirectML's name. ranges: the range of each operand, for uniform inputs. domain: the range of random bits. numpy,
# torch, jax: the name in the library, or a function of the library and the arrays. onnx: the node and its attributes.
# mp: the same for mpmath. attributes: the operator's attributes, if any.
Function = namedtuple("Function", "op ranges numpy torch jax onnx mp attributes domain",
                      defaults=((), (-float("inf"), float("inf"))))


def _activation(name):
    return lambda torch, x: getattr(torch.nn.functional, name)(x)


def _sigmoid(mp, x):
    return 1 / (1 + mp.exp(-x))


def _gelu(mp, x):
    return x / 2 * mp.erfc(-x / mp.sqrt(2))


_SELU = (("Alpha", 1.6732631921768188), ("Gamma", 1.0507010221481323))
_ANY, _UNIT = (-float("inf"), float("inf")), (-1, 1)
FUNCTIONS = {
    "exp": Function("ELEMENT_WISE_EXP", [(-104, 89)], "exp", "exp", "numpy.exp", ("Exp", {}), "exp"),
    "log": Function("ELEMENT_WISE_LOG", [(0, 10)], "log", "log", "numpy.log", ("Log", {}), "log", (), (0, _ANY[1])),
    "sin": Function("ELEMENT_WISE_SIN", [(-100, 100)], "sin", "sin", "numpy.sin", ("Sin", {}), "sin"),
    "cos": Function("ELEMENT_WISE_COS", [(-100, 100)], "cos", "cos", "numpy.cos", ("Cos", {}), "cos"),
    "tan": Function("ELEMENT_WISE_TAN", [(-100, 100)], "tan", "tan", "numpy.tan", ("Tan", {}), "tan"),
    "asin": Function("ELEMENT_WISE_ASIN", [_UNIT], "arcsin", "asin", "numpy.arcsin", ("Asin", {}), "asin", (), _UNIT),
    "acos": Function("ELEMENT_WISE_ACOS", [_UNIT], "arccos", "acos", "numpy.arccos", ("Acos", {}), "acos", (), _UNIT),
    "atan": Function("ELEMENT_WISE_ATAN", [(-20, 20)], "arctan", "atan", "numpy.arctan", ("Atan", {}), "atan"),
    "sinh": Function("ELEMENT_WISE_SINH", [(-90, 90)], "sinh", "sinh", "numpy.sinh", ("Sinh", {}), "sinh"),
    "cosh": Function("ELEMENT_WISE_COSH", [(-90, 90)], "cosh", "cosh", "numpy.cosh", ("Cosh", {}), "cosh"),
    "tanh": Function("ELEMENT_WISE_TANH", [(-10, 10)], "tanh", "tanh", "numpy.tanh", ("Tanh", {}), "tanh"),
    "asinh": Function("ELEMENT_WISE_ASINH", [(-100, 100)], "arcsinh", "asinh", "numpy.arcsinh", ("Asinh", {}), "asinh"),
    "acosh": Function("ELEMENT_WISE_ACOSH", [(1, 100)], "arccosh", "acosh", "numpy.arccosh", ("Acosh", {}), "acosh", (),
                      (1, _ANY[1])),
    "atanh": Function("ELEMENT_WISE_ATANH", [_UNIT], "arctanh", "atanh", "numpy.arctanh", ("Atanh", {}), "atanh", (),
                      _UNIT),
    "erf": Function("ELEMENT_WISE_ERF", [(-5, 5)], None, "erf", "scipy.special.erf", ("Erf", {}), "erf"),
    "pow": Function("ELEMENT_WISE_POW", [(0, 10), (-10, 10)], "power", "pow", "numpy.power", ("Pow", {}), "power", (),
                    (0, _ANY[1])),
    "atan2": Function("ELEMENT_WISE_ATAN_YX", [(-10, 10), (-10, 10)], "arctan2", "atan2", "numpy.arctan2", None,
                      "atan2"),
    "sigmoid": Function("ACTIVATION_SIGMOID", [(-100, 20)], None, "sigmoid", "nn.sigmoid", ("Sigmoid", {}), _sigmoid),
    "gelu": Function("ACTIVATION_GELU", [(-14, 6)], None, _activation("gelu"),
                     lambda jax, x: jax.nn.gelu(x, approximate=False), ("Gelu", {}), _gelu),
    "softsign": Function("ACTIVATION_SOFTSIGN", [(-100, 100)], None, _activation("softsign"), "nn.soft_sign",
                         ("Softsign", {}), lambda mp, x: x / (1 + abs(x))),
    "softplus": Function("ACTIVATION_SOFTPLUS", [(-100, 30)], None, _activation("softplus"), "nn.softplus",
                         ("Softplus", {}), lambda mp, x: mp.log1p(mp.exp(x)), (("Steepness", 1.0),)),
    "elu": Function("ACTIVATION_ELU", [(-20, 5)], None, _activation("elu"), "nn.elu", ("Elu", {}),
                    lambda mp, x: x if x >= 0 else mp.expm1(x), (("Alpha", 1.0),)),
    "celu": Function("ACTIVATION_CELU", [(-20, 5)], None, _activation("celu"), "nn.celu", ("Celu", {}),
                     lambda mp, x: x if x >= 0 else mp.expm1(x), (("Alpha", 1.0),)),
    "selu": Function("ACTIVATION_SCALED_ELU", [(-20, 5)], None, _activation("selu"), "nn.selu", ("Selu", {}),
                     lambda mp, x: _SELU[1][1] * (x if x > 0 else _SELU[0][1] * mp.expm1(x)), _SELU),
    "silu": Function("ACTIVATION_SWISH", [(-100, 20)], None, _activation("silu"), "nn.silu", ("Swish", {"alpha": 1.0}),
                     lambda mp, x: x * _sigmoid(mp, x), (("SigmoidInputScale", 1.0),)),
}


def found(module, what):
    """Returns a function of arrays. `what` is its name in the library, or a function of the library and the arrays."""
    if callable(what):
        return lambda *arrays: what(module, *arrays)
    for part in what.split("."):
        module = getattr(module, part)
    return module


# ---- The libraries --------------------------------------------------------------------------------------------------
# Each library has a title, and prepare(), which returns a function of arrays, or None if the library lacks the
# function.

class NumPy:
    key = "numpy"

    def __init__(self):
        import numpy
        self.numpy, self.title = numpy, f"NumPy {numpy.__version__}"

    def prepare(self, function, arrays):
        return found(self.numpy, function.numpy) if function.numpy else None


class PyTorch:
    key = "torch"

    def __init__(self):
        import torch
        self.torch, self.title = torch, f"PyTorch {torch.__version__.partition('+')[0]}"

    def prepare(self, function, arrays):
        compute = self.compute(function)
        return lambda *given: compute(*map(self.torch.from_numpy, given)).numpy()

    def compute(self, function):
        return found(self.torch, function.torch)


class PyTorchCompiled(PyTorch):
    key = "torch_compiled"

    def __init__(self):
        super().__init__()
        self.title += ", compiled"

    def compute(self, function):
        self.torch.compiler.reset()
        plain = super().compute(function)
        return self.torch.compile(lambda *tensors: plain(*tensors))


class PyTorchCuda(PyTorch):
    key = "torch_cuda"

    def __init__(self):
        super().__init__()
        if not self.torch.cuda.is_available():
            raise RuntimeError("no GPU was found")
        self.title += f" on {self.torch.cuda.get_device_name(0)}"

    def prepare(self, function, arrays):
        compute = self.compute(function)
        return lambda *given: compute(*(self.torch.from_numpy(array).cuda() for array in given)).cpu().numpy()


class CuPy:
    key = "cupy"

    def __init__(self):
        import cupy
        import cupyx.scipy.special
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("no GPU was found")
        self.cupy, self.special = cupy, cupyx.scipy.special
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.title = f"CuPy {cupy.__version__} on {name}"

    def prepare(self, function, arrays):
        if function.numpy:
            compute = found(self.cupy, function.numpy)
        elif function.onnx is not None and function.onnx[0] == "Erf":
            compute = self.special.erf
        else:
            return None
        return lambda *given: self.cupy.asnumpy(compute(*map(self.cupy.asarray, given)))


class OnnxRuntime:
    key = "onnxruntime"

    def __init__(self):
        import onnx
        import onnxruntime
        self.onnx, self.runtime, self.title = onnx, onnxruntime, f"ONNX Runtime {onnxruntime.__version__}"

    def prepare(self, function, arrays):
        if function.onnx is None:
            return None
        (op, attributes), helper = function.onnx, self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
        names = [f"x{i}" for i in range(len(arrays))]
        graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "function",
                                  [helper.make_tensor_value_info(name, kind, ["n"]) for name in names],
                                  [helper.make_tensor_value_info("y", kind, ["n"])])
        opset = max(20, self.onnx.defs.get_schema(op).since_version if op == "Swish" else 0)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
        session = self.runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return lambda *given: session.run(None, dict(zip(names, given)))[0]


class Jax:
    key = "jax"

    def __init__(self):
        import jax
        import jax.numpy
        import jax.scipy.special  # noqa: F401
        jax.config.update("jax_platforms", "cpu")
        self.jax, self.title = jax, f"JAX {jax.__version__} (CPU)"

    def prepare(self, function, arrays):
        import numpy
        compute = self.jax.jit(found(self.jax, function.jax))
        return lambda *given: numpy.asarray(compute(*given))


PEERS = (NumPy, PyTorch, PyTorchCompiled, PyTorchCuda, CuPy, OnnxRuntime, Jax)


# ---- Counting -------------------------------------------------------------------------------------------------------

def make_inputs(np, random, function, type_name, count):
    dtype = np.dtype(type_name.lower())
    if type_name == "FLOAT16" and len(function.ranges) == 1:
        return [np.arange(65536, dtype=np.uint16).view(np.float16)]
    arrays = []
    for number, (low, high) in enumerate(function.ranges):
        even = random.uniform(low, high, count // 2).astype(dtype)
        bits = random.integers(0, 256, 4 * count * dtype.itemsize, dtype=np.uint8).view(dtype)
        lowest, highest = function.domain if number == 0 else _ANY
        with np.errstate(invalid="ignore"):
            kept = bits[np.isfinite(bits) & (bits >= lowest) & (bits <= highest)][:count - count // 2]
        arrays.append(np.concatenate([even, np.resize(kept, count - count // 2)]))
    return arrays


def differ(np, actual, right):
    bits = np.dtype(f"u{right.itemsize}")
    return (actual.view(bits) != right.view(bits)) & ~(np.isnan(actual) & np.isnan(right))


def largest_error(np, actual, right, value):
    """The largest error, in units in the last place of the right result. `value` is the true value in FLOAT64."""
    with np.errstate(all="ignore"):
        is_clear = np.isfinite(actual) & np.isfinite(right)
        unit = np.spacing(np.abs(np.where(is_clear, right, right.dtype.type(1)))).astype(np.float64)
        error = np.abs(actual.astype(np.float64) - value) / unit
        same = (np.isnan(actual) & np.isnan(right)) | (actual == right)
        error = np.where(is_clear, error, np.where(same, 0, np.inf))
    return float(error.max(initial=0))


def is_nearest(mp, np, result, value):
    """Whether no other number of the type is closer to the value. Infinity counts as the next power of two."""
    if mp.isnan(value):
        return bool(np.isnan(result))
    if np.isnan(result):
        return False
    kind = result.dtype.type

    def exact(number):
        if np.isinf(number):
            return mp.mpf(2)**(128 if result.itemsize == 4 else 16) * (1 if number > 0 else -1)
        return mp.mpf(float(number))

    off = abs(exact(result) - value)
    if np.isinf(result) and abs(value) > abs(exact(result)) and (value > 0) == (result > 0):
        return True
    return all(off <= abs(exact(np.nextafter(result, kind(end))) - value) for end in (np.inf, -np.inf))


def count_not_nearest(np, mpmath, function, inputs, results, sample, random):
    """Checks a sample of finite inputs with mpmath: returns how many were checked, and how many of them are wrong."""
    mp = mpmath.mp
    mp.prec = BITS
    compute = found(mp, function.mp)
    looked = wrong = 0
    for position in random.integers(0, results.size, sample):
        given = [array[position] for array in inputs]
        if not np.isfinite(given).all():
            continue
        try:
            value = compute(*(mp.mpf(float(one)) for one in given))
        except (ValueError, ZeroDivisionError, OverflowError):  # the function has a pole here
            continue
        value = value if not isinstance(value, mp.mpc) else value.real if value.imag == 0 else mp.nan
        looked += 1
        wrong += not is_nearest(mp, np, results[position], value)
    return looked, wrong


absent = {}  # the reasons why peers have no answer


def answer(peer, name, type_name, inputs):
    try:
        function = peer.prepare(FUNCTIONS[name], inputs)
        return None if function is None else function(*inputs)
    except Exception as error:  # each library reports a missing kernel differently
        lines = f"{type(error).__name__}: {error}".splitlines()
        absent[f"{peer.key} {name} {type_name}"] = lines[0][:200]
        return None


def work(options):
    """Runs in the Python interpreter of the virtual environment."""
    import numpy as np
    sys.path.insert(0, str(ROOT / "tests" / "ops"))
    from function_oracles import FUNCTIONS as VALUES
    from numpy_oracle import Library
    np.seterr(all="ignore")
    try:
        import mpmath
    except ImportError:
        mpmath = None
        say("mpmath skipped: anydml's own results are not checked")
    library = Library(options.library)
    built = {name for name, _, _ in library.built_operators()}
    peers = []
    for kind in PEERS:
        if kind is not PyTorchCompiled or options.compiled:
            try:
                peers.append(kind())
            except Exception as error:  # if a peer cannot start, the other peers continue
                say(f"{kind.__name__} skipped: {error}")
    rows, checked = [], []
    for name in options.functions:
        function = FUNCTIONS[name]
        if function.op not in built:
            say(f"{name}: {function.op} is not built")
            continue
        compute = VALUES[function.op][0][1]
        values = [np.float64(np.float32(value)) for _, value in function.attributes]
        for type_name in options.types:
            random = np.random.default_rng(SEED)
            inputs = make_inputs(np, random, function, type_name, options.count)
            right = np.empty_like(inputs[0])
            library.run(function.op, inputs, right, function.attributes)
            if mpmath is not None:
                looked, wrong = count_not_nearest(np, mpmath, function, inputs, right, options.sample, random)
                checked.append({"function": name, "type": type_name, "looked_at": looked, "wrong": wrong})
            value = compute(*(array.astype(np.float64) for array in inputs), *values)
            own = {"peer": "anydml", "wrong": 0, "error": largest_error(np, right, right, value)}
            for row in (own, *(counted(np, peer, name, type_name, inputs, right, value) for peer in peers)):
                if row is not None:
                    rows.append({"function": name, "type": type_name, "inputs": int(right.size), **row})
            say(f"  {name} {type_name}")
    titles = {"anydml": f"anydml {version_of(library)}", **{peer.key: peer.title for peer in peers}}
    Path(options.result).write_text(json.dumps({"titles": titles, "rows": rows, "checked": checked, "absent": absent}))


def version_of(library):
    import ctypes
    library.handle.anydml_version.restype = ctypes.c_char_p
    return library.handle.anydml_version().decode()


def counted(np, peer, name, type_name, inputs, right, value):
    actual = answer(peer, name, type_name, inputs)
    if actual is None:
        return None
    actual = np.ascontiguousarray(actual)
    if actual.dtype != right.dtype:
        absent[f"{peer.key} {name} {type_name}"] = f"it returns {actual.dtype}"
        return None
    return {"peer": peer.key, "wrong": int(differ(np, actual, right).sum()),
            "error": largest_error(np, actual, right, value)}


# ---- The report -----------------------------------------------------------------------------------------------------

def cell(row):
    if row is None:
        return "–"
    if row["peer"] == "anydml":
        return f"**0** ({row['error']:.3f})"
    error = "∞" if row["error"] == float("inf") else f"{row['error']:.3g}" if row["error"] < 1e4 else f"{row['error']:.1e}"
    return f"{row['wrong']:,} ({error})"


def markdown(report, type_name):
    rows = [row for row in report["rows"] if row["type"] == type_name]
    keys = [key for key in report["titles"] if any(row["peer"] == key for row in rows)]
    sizes = sorted({row["inputs"] for row in rows})
    lines = [f"| {type_name}: wrong answers of {' or '.join(f'{size:,}' for size in sizes)} (largest error in ulp) | "
             + " | ".join(report["titles"][key] for key in keys) + " |", "|---" * (len(keys) + 1) + "|"]
    for name in dict.fromkeys(row["function"] for row in rows):
        cells = {row["peer"]: row for row in rows if row["function"] == name}
        lines.append(f"| {name} | " + " | ".join(cell(cells.get(key)) for key in keys) + " |")
    return "\n".join(lines) + "\n"


def parse(arguments):
    parser = make_parser("functions.py", __doc__)
    parser.add_argument("--functions", type=items(FUNCTIONS), default=list(FUNCTIONS), help="all by default")
    parser.add_argument("--types", type=items(TYPES), default=list(TYPES))
    parser.add_argument("--count", type=int, help="inputs of FLOAT32 (4,000,000; quick: 100,000)")
    parser.add_argument("--sample", type=int, help="inputs checked with mpmath (2,000; quick: 200)")
    parser.add_argument("--quick", action="store_true", help="few inputs, as a smoke test")
    parser.add_argument("--no-compiled", dest="compiled", action="store_false", help="without torch.compile")
    options = parser.parse_args(arguments)
    options.count = options.count or (100_000 if options.quick else 4_000_000)
    options.sample = options.sample or (200 if options.quick else 2_000)
    return options


def main():
    options = parse(sys.argv[1:])
    if options.result:
        return work(options)
    part = run_again(python_of(options, PACKAGES), environment={"JAX_PLATFORMS": "cpu"})
    if part is None:
        sys.exit("counting wrong answers failed")
    report = {**about("functions.py"), **part}
    print(f"{report['cpu']} ({report['architecture']}), {report['c_library']}, Python {report['python']}\n")
    for type_name in options.types:
        if any(row["type"] == type_name for row in report["rows"]):
            print(markdown(report, type_name))
    looked, wrong = (sum(row[key] for row in report["checked"]) for key in ("looked_at", "wrong"))
    print(f"{looked:,} of anydml's results were checked against mpmath with {BITS} bits: {wrong} wrong.")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if wrong:
        sys.exit("anydml has wrong answers")


if __name__ == "__main__":
    main()
