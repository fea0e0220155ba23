# SPDX-License-Identifier: MIT
"""python -m anydml.onnx MODEL: checks a model, runs it, and reports how it ran and how fast, optionally compared with
ONNX Runtime."""
import argparse
import sys
import time

import numpy as np
import onnx

from .._pipes import exit_with
from . import Unsupported, _report, prepare


def _size(text):
    name, found, number = text.partition("=")
    if not found or not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; expected NAME=NUMBER, for example batch=8")
    return name, int(number)


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m anydml.onnx", description="Checks an ONNX model and runs it once.",
        epilog="ANYDML_THREADS sets the number of threads, for ONNX Runtime too. docs/onnx.md has more.")
    parser.add_argument("model", metavar="MODEL", help="the path of a model")
    parser.add_argument("--inputs", metavar="FILE", help="an .npz file with the inputs by name (default: generated)")
    parser.add_argument("--size", metavar="NAME=N", type=_size, action="append", default=[],
                        help="the size of a symbolic dimension (default: 1)")
    parser.add_argument("--outputs", metavar="FILE", help="write the outputs to an .npz file")
    parser.add_argument("--literal", action="store_true",
                        help="compute with dequantized floats where a quantized model allows integers")
    parser.add_argument("--explain", action="store_true", help="show how each node runs, and which nodes run on the host")
    parser.add_argument("--time", metavar="RUNS", nargs="?", type=int, const=20, help="print the median time of this many runs (20)")
    parser.add_argument("--profile", action="store_true", help="print the time of each node when it runs alone")
    parser.add_argument("--trace", metavar="FILE", help="write a profile for https://ui.perfetto.dev or chrome://tracing, "
                        "a JSON file, with each node also run alone")
    parser.add_argument("--compare", action="store_true", help="compare with ONNX Runtime, with equally many threads")
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        begin = time.perf_counter()
        prepared = prepare(options.model, literal=options.literal, trace=bool(options.trace))
        prepared_in = time.perf_counter() - begin
        _check_sizes(prepared, options.size)
        with_names = dict(np.load(options.inputs)) if options.inputs else _report.inputs_of(prepared, options.size)
        begin = time.perf_counter()
        outputs = prepared.run(with_names)
        first = time.perf_counter() - begin
    except (OSError, TypeError, ValueError, Unsupported, onnx.checker.ValidationError) as error:
        print(f"{options.model}: {error}", file=sys.stderr)
        return 1
    for what, arrays in (("input", with_names), ("output", outputs._asdict())):
        for name, array in arrays.items():
            array, form = _report.array_of(array), "maps of " if isinstance(array, list) else ""
            kind = "string" if array.dtype.kind in "OUT" else array.dtype
            print(f"{what} {name}: {form}{kind}{list(array.shape)}")
    print(f"prepared in {prepared_in:.3f} s, first run in {first:.3f} s")
    if options.outputs:
        arrays = {name: _report.array_of(output) for name, output in outputs._asdict().items()}
        np.savez(options.outputs, **{name: array.astype(str) if array.dtype.kind == "O" else array
                                     for name, array in arrays.items()})
    if options.explain:
        print(*prepared.explain(), sep="\n")
    if options.time:
        print(f"a run takes {1e3 * _report.seconds(lambda: prepared.run(with_names), options.time):.3f} ms, "
              f"{_report.threads()} threads")
    if options.trace:  # before --profile, so that each node has one event
        prepared.run(with_names)  # a run that compiles nothing
        prepared.profile(with_names, 1)
        try:
            prepared.write_trace(options.trace)
        except OSError as error:
            print(f"{options.trace}: {error}", file=sys.stderr)
            return 1
        print(f"trace written to {options.trace}")
    if options.profile:
        _show_profile(prepared, with_names)
    return _compare(options, with_names, outputs) if options.compare else 0


def _check_sizes(prepared, sizes):
    known = {name: None for value in prepared.inputs for name in value.sizes or () if isinstance(name, str)}
    for name, _ in sizes:
        if name not in known:
            listed = f"the inputs have {', '.join(map(repr, known))}" if known else "no size of the inputs has a name"
            raise ValueError(f"--size {name}: the model has no dimension {name!r}; {listed}")


def _show_profile(prepared, given):
    rows = prepared.profile(given)
    total = sum(spent for spent, _, _ in rows)
    print(f"node by node {1e3 * total:.3f} ms; in a graph, several nodes run in one pass")
    for spent, _, label in rows[:40]:
        print(f"  {1e3 * spent:9.3f} ms  {100 * spent / total:5.1f} %  {label}")


def _compare(options, given, outputs):
    """Returns 0 if the shapes and types equal ONNX Runtime's."""
    try:
        session = _report.session_of(options.model)
    except ImportError:
        print("--compare needs the onnxruntime package: pip install onnxruntime", file=sys.stderr)
        return 1
    expected = session.run(None, given)
    is_same = True
    for (name, actual), other in zip(outputs._asdict().items(), expected):
        apart = _report.difference(actual, other)
        actual, other = _report.array_of(actual), _report.array_of(other)
        is_same = is_same and actual.shape == other.shape and actual.dtype == other.dtype
        print(f"output {name}: largest difference {apart:.3g} of the largest value, "
              f"{'the same' if _report.same_decision(actual, other) else 'a different'} decision")
    if options.time:
        spent = _report.seconds(lambda: session.run(None, given), options.time)
        print(f"ONNX Runtime takes {1e3 * spent:.3f} ms, {_report.threads()} threads")
    return 0 if is_same else 1


if __name__ == "__main__":
    exit_with(main)
