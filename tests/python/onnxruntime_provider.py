#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""anydml's execution provider in ONNX Runtime, for tests and benchmarks: its library, sessions with it, the nodes that
each provider runs, and ONNX's test suite.

usage: python3 tests/python/onnxruntime_provider.py [--write] [PATTERN]

Runs ONNX's test suite through ONNX Runtime and prints the counts; --write updates docs/onnxruntime.md. With a pattern,
runs only the tests whose names match and prints a line for each.
"""
import collections
import ctypes
import os
import pathlib
import re
import sys
import tempfile
import textwrap
import unittest
import unittest.mock
import warnings

os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")  # ONNX's newest tests have opsets that are not released yet
import numpy as np
import onnx
import onnxruntime
from onnx.backend.base import Backend
from onnx.backend.test import BackendTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "onnxruntime.md"
PROVIDER = "AnyDmlExecutionProvider"
VERSION = tuple(map(int, re.findall(r"\d+", onnxruntime.__version__)[:3]))


def library():
    """Returns the path of the provider's library, or None: that of ANYDML_ONNXRUNTIME_LIBRARY, of the build or of the
    installed package."""
    if chosen := os.environ.get("ANYDML_ONNXRUNTIME_LIBRARY"):
        return chosen
    built = pathlib.Path(os.environ.get("ANYDML_BUILD", ROOT / "build" / "release")) / "lib" / "libonnxruntime-ep-anydml.so"
    if built.exists():
        return str(built.resolve())
    try:
        import onnxruntime_ep_anydml
    except ImportError:
        return None
    return onnxruntime_ep_anydml.get_library_path()


def devices(kind="CPU"):
    """Returns the provider's devices of a kind, and registers the library first if that has not been done."""
    def found():
        return [one for one in onnxruntime.get_ep_devices() if one.ep_name == PROVIDER]
    if not found():
        onnxruntime.register_execution_provider_library("anydml", library())
    return [one for one in found() if one.device.type.name == kind][:1]


def session(model, options=None, *, strict=False, entries=(), change=None):
    """Returns a session with the provider before ONNX Runtime's own. options: the provider's. strict: fail if a node is
    left to ONNX Runtime. entries: of the session's configuration. change: a function that changes the SessionOptions."""
    settings = _settings({"session.record_ep_graph_assignment_info": "1", **dict(entries),
                          **({"session.disable_cpu_ep_fallback": "1"} if strict else {})})
    settings.add_provider_for_devices(devices(), options or {})
    if change:
        change(settings)
    return onnxruntime.InferenceSession(_source(model), settings, enable_fallback=0)  # an error would mean another provider


def session_without(model):
    """Returns a session of ONNX Runtime alone."""
    return onnxruntime.InferenceSession(_source(model), _settings({}), ["CPUExecutionProvider"])


def _settings(entries):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    for key, value in entries.items():
        settings.add_session_config_entry(key, value)
    return settings


def _source(model):
    return model.SerializeToString() if isinstance(model, onnx.ModelProto) else model if isinstance(model, bytes) else str(model)


def assigned(of):
    """Returns the operators of the nodes that each provider runs, as {provider: Counter}. ONNX Runtime has folded
    constants before. None before version 1.24, which cannot say."""
    if not hasattr(of, "get_provider_graph_assignment_info"):
        return None
    counts = collections.defaultdict(collections.Counter)
    for group in of.get_provider_graph_assignment_info():
        counts[group.ep_name].update(f"{node.domain}:{node.op_type}".lstrip(":") for node in group.get_nodes())
    return dict(counts)


# ---- Models -----------------------------------------------------------------------------------------------------------

_random = np.random.default_rng(11)
WEIGHTS = {"w": _random.standard_normal((8, 3, 3, 3)).astype("f4"), "b": _random.standard_normal(8).astype("f4"),
           "g": _random.standard_normal((8, 5)).astype("f4")}


def parsed(body, inputs="float[N, 3, H, W] x", outputs="float[N, M] y", opset=17, weights=None, functions=""):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "com.microsoft": 1]> m ({inputs}) => '
                                    f"({outputs}) {{ {body} }} {functions}")
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in (weights or {}).items())
    return model


def network():
    return parsed("c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  r = Relu (c)  p = GlobalAveragePool (r)  f = Flatten (p)"
                  "  l = MatMul (f, g)  y = Softmax (l)", weights=WEIGHTS)


def images(*shape, seed=0):
    return {"x": np.random.default_rng(seed).standard_normal(shape).astype("f4")}


# ---- Types that NumPy lacks: ONNX Runtime takes and returns their bits ------------------------------------------------


def _packs(element):
    return onnx.TensorProto.DataType.Name(element) in ("INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2")


def is_plain(array):
    return isinstance(array, list) or array is None or array.dtype.type.__module__ == "numpy"


def value_of(array):
    """Returns an array as an OrtValue."""
    if is_plain(array):
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    if _packs(element) or array.itemsize > 2:
        raise unittest.SkipTest(f"Python cannot pass {array.dtype} to ONNX Runtime")
    bits = np.ascontiguousarray(array).view(np.uint16 if array.itemsize == 2 else np.uint8)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, element)


# ---- ONNX's suite -----------------------------------------------------------------------------------------------------

# Expected results that are further from the exact ones than the provider's, by more than the suite's tolerance:
# onnx_counts.py explains them.
LEFT_OUT = ["test_attention_4d_causal_fp16_expanded", "test_dft_inverse_cpu", "test_dft_inverse_opset19"]
if VERSION < (1, 24, 4):  # they refuse a model if the provider takes nodes of SequenceMap's body
    LEFT_OUT.append(r"test_sequence_map_\w+(?<!_expanded)_cpu")
FALLBACK = "fallback to CPU EP has been explicitly disabled"
PLACES = {}  # by test: "whole" if the provider ran every node, or the operators that it left to ONNX Runtime


def _newest_ir():
    """Returns the newest IR version that ONNX Runtime accepts."""
    model = onnx.parser.parse_model('<ir_version: 99, opset_import: ["": 13]> m (float[1] x) => (float[1] y) { y = Abs(x) }')
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:
        if found := re.search(r"max supported IR version: (\d+)", str(error)):
            return int(found[1])
    return onnx.IR_VERSION


NEWEST_IR = _newest_ir()


class Prepared:
    def __init__(self, of):
        self.session = of

    def run(self, inputs, **_):
        inputs = [np.asarray(one) if isinstance(one, np.generic) else one for one in inputs]
        given = {info.name: array for info, array in zip(self.session.get_inputs(), inputs)}
        if all(map(is_plain, inputs)) and not any(
                "(bfloat" in info.type or "(float8" in info.type or "int4" in info.type or "float4" in info.type
                for info in self.session.get_outputs()):
            return self.session.run(None, given)
        names = [info.name for info in self.session.get_outputs()]
        found = self.session.run_with_ort_values(names, {name: value_of(array) for name, array in given.items()})
        return [_array_of(one) for one in found]


def _array_of(value):
    dtype = onnx.helper.tensor_dtype_to_np_dtype(element) if value.is_tensor() and (element := value.element_type()) else None
    if dtype is None or dtype.type.__module__ == "numpy":
        return value.numpy()
    if _packs(element) or dtype.itemsize > 2:
        raise unittest.SkipTest(f"Python cannot read {dtype} from ONNX Runtime")
    size = int(np.prod(value.shape())) * dtype.itemsize
    return np.frombuffer(ctypes.string_at(value.data_ptr(), size), dtype).reshape(value.shape())


class ProviderBackend(Backend):
    """Runs a model's nodes in the provider if it takes all of them, and otherwise those that it takes."""

    is_compatible = None
    current = None  # the name of the running test
    is_alone = False  # run ONNX Runtime without the provider

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        if model.ir_version > NEWEST_IR:  # a newer one only adds what these models do not use
            model, source = onnx.ModelProto(), model
            model.CopyFrom(source)
            model.ir_version = NEWEST_IR
        if cls.is_alone:
            return Prepared(session_without(model))
        try:
            try:
                found = session(model, strict=True)
                PLACES[cls.current] = "whole"
            except Exception as error:
                if FALLBACK not in str(error):
                    raise
                found = session(model)
                PLACES[cls.current] = left_of(found)
        except Exception:
            try:  # a model that ONNX Runtime refuses without the provider too is not the provider's failure
                session_without(model)
            except Exception as other:
                raise unittest.SkipTest(reason_of(other)) from other
            raise
        return Prepared(found)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


def left_of(of):
    found = assigned(of)
    return "some" if found is None else tuple(sorted(
        {op for name, ops in found.items() if name != PROVIDER for op in ops}))


def reason_of(error):
    """Returns the reason why ONNX Runtime refuses a model, without names that differ between tests."""
    text = str(error).split(" : ", 2)[-1]
    for pattern, words in ((r"NOT_IMPLEMENTED.*Could not find an implementation for (\w+)\(\d+\)", r"no kernel for \1"),
                           (r"Could not find an implementation for (\w+)\(\d+\)", r"no kernel for \1"),
                           (r"Fatal error: ([^\s(]+)\S* is not a registered", r"no operator \1"),
                           (r"Failed to find kernel for (\w+)\(\d+\)", r"no kernel for \1"),
                           (r"No Op registered for (\w+)", r"no operator \1"),
                           (r"construct locale", "a locale that this system lacks"),
                           (r"INVALID_GRAPH.*In Node, \(\"[^\"]*\", (\w+)", r"another form of \1"),
                           (r"[Uu]nsupported model IR version", "the IR version"), (r"[Tt]ype Error", "a type"),
                           (r"opset", "the opset")):
        if found := re.search(pattern, text):
            return found.expand(words)
    return text[:120]


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []

    def startTest(self, test):
        super().startTest(test)
        ProviderBackend.current = _name(test)

    def addSuccess(self, test):
        self.passed.append(test)


def _name(test):
    return test.id().rpartition(".")[2].removesuffix("_cpu")


# whole, mixed, skipped, failed: {test: None, operators of ONNX Runtime, reason, trace}.
Counts = collections.namedtuple("Counts", "whole mixed skipped failed")


def _run(pattern):
    result = Result()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as home:
        warnings.simplefilter("ignore")
        suite = BackendTest(ProviderBackend).exclude("_cuda$")
        for name in LEFT_OUT:
            suite.exclude(name)
        if pattern:
            suite.include(pattern)
        with unittest.mock.patch.dict(os.environ, ONNX_HOME=home):
            suite.test_suite.run(result)
    return result


def count(pattern=None):
    result = _run(pattern)
    counts = Counts({}, {}, {}, {})
    for name in map(_name, result.passed):
        (counts.whole if PLACES[name] == "whole" else counts.mixed)[name] = PLACES[name]
    for test, reason in result.skipped:
        if not reason.startswith(("matched exclude", "no matched", "Backend doesn't")):
            counts.skipped[_name(test)] = reason
    for test, trace in result.failures + result.errors:
        counts.failed[_name(test)] = trace
    # A node that is left to ONNX Runtime may have a wrong result there.
    doubtful = [name for name in counts.failed if PLACES.get(name, "whole") != "whole"]
    if doubtful:
        with unittest.mock.patch.object(ProviderBackend, "is_alone", True):
            again = _run(f"^({'|'.join(doubtful)})_cpu$")
        for test, _ in again.failures + again.errors:
            if _name(test) in doubtful:
                del counts.failed[_name(test)]
                counts.skipped[_name(test)] = f"a wrong {'/'.join(PLACES[_name(test)])} of ONNX Runtime's own"
    return counts


def markdown(counts):
    """Returns the counts for the document."""
    lines = [f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}, NumPy {np.__version__}:", "",
             "| tests | all nodes in the provider | some nodes in ONNX Runtime | failed | refused by ONNX Runtime |",
             "|---|---|---|---|---|",
             f"| {sum(map(len, counts))} | {len(counts.whole)} | {len(counts.mixed)} | {len(counts.failed)} | "
             f"{len(counts.skipped)} |", ""]
    left = collections.Counter(op for ops in counts.mixed.values() for op in ops)
    reasons = collections.Counter(counts.skipped.values())
    for title, found in (("Operators that ONNX Runtime ran, and the number of tests with each", left),
                         ("Reasons of ONNX Runtime to refuse a model, and the number of tests with each", reasons)):
        words = ", ".join(f"{word} {times}" for word, times in sorted(found.items())) or "none"
        lines += [f"{title}:", "", *textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False), ""]
    return "\n".join(lines)


def last_line(trace):
    """Returns the last line of a trace that starts with an exception, and the lines below it."""
    lines = trace.strip().splitlines()
    begin = max((i for i, line in enumerate(lines) if re.match(r"[\w.]+(Error|Exception|Fail|Argument)\w*:|[\w.]+state\.", line)),
                default=len(lines) - 1)
    return " ".join(line.strip() for line in lines[begin:begin + 6] if line.strip())


BEGIN, END = "<!-- counts: onnxruntime -->\n\n", "\n<!-- end of counts -->"


def main(arguments):
    if library() is None:
        return "the provider's library was not found: build it, or set ANYDML_ONNXRUNTIME_LIBRARY"
    patterns = [one for one in arguments if one != "--write"]
    counts = count(*patterns[:1])
    if patterns:
        for kind, found in counts._asdict().items():
            for name, told in found.items():
                print(kind, name, told if kind != "failed" else "\n" + told)
        return 1 if counts.failed else 0
    print(markdown(counts))
    for name, trace in counts.failed.items():
        print(f"{name}: {last_line(trace)}")
    if "--write" in arguments:
        text = DOCUMENT.read_text()
        before, rest = text.split(BEGIN)
        DOCUMENT.write_text(before + BEGIN + markdown(counts) + END + rest.split(END, 1)[1])
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
