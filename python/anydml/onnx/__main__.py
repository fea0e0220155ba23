# SPDX-License-Identifier: MIT
"""python -m anydml.onnx MODEL: checks a model, runs it, and reports how it ran and how fast, optionally compared with
ONNX Runtime. python -m anydml.onnx FOLDER --generate TEXT: continues a text with a language model."""
import argparse
import sys
import time

import numpy as np
import onnx

from .._pipes import exit_with
from . import Generator, Unsupported, _beside, _report, prepare


def _size(text):
    name, found, number = text.partition("=")
    if not found or not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; expected NAME=NUMBER, for example batch=8")
    return name, int(number)


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m anydml.onnx", description="Checks an ONNX model and runs it once, or continues a text.",
        epilog="ANYDML_THREADS sets the number of threads, for ONNX Runtime too. See docs/onnx.md and "
        "docs/language-models.md for details.")
    parser.add_argument("model", metavar="MODEL", help="the path of a model; with --generate, the folder of a language model "
                        "that onnxruntime-genai's builder wrote")
    parser.add_argument("--inputs", metavar="FILE",
                        help="read the inputs by name from an .npz file (default: generated)")
    parser.add_argument("--size", metavar="NAME=N", type=_size, action="append", default=[],
                        help="the size of a symbolic dimension (default: 1)")
    parser.add_argument("--outputs", metavar="FILE", help="write the outputs to an .npz file")
    parser.add_argument("--literal", action="store_true",
                        help="compute with dequantized floats where a quantized model allows integers")
    parser.add_argument("--activations", choices=("model", "float", "integer"), default="model",
                        help="round activations to eight bits in products with weights in four bits: where the model "
                        "allows it (the default), never, or always")
    parser.add_argument("--explain", action="store_true", help="show how each node runs, and which nodes run on the host")
    parser.add_argument("--time", metavar="RUNS", nargs="?", type=int, const=20,
                        help="print the median time of this many runs (default: 20)")
    parser.add_argument("--profile", action="store_true", help="print the time of each node when it runs alone")
    parser.add_argument("--trace", metavar="FILE", help="write a profile for https://ui.perfetto.dev or "
                        "chrome://tracing to a JSON file, which also shows each node when it runs alone")
    parser.add_argument("--compare", action="store_true",
                        help="compare with ONNX Runtime, which uses the same number of threads")
    parser.add_argument("--beside", metavar="LIBRARY", nargs="?", const="",
                        help="print a table that compares the model in anydml, in ONNX Runtime with anydml's provider, "
                        "and in ONNX Runtime alone, with default session options; LIBRARY is the path of "
                        "libonnxruntime-ep-anydml.so (default: the library in the package onnxruntime-ep-anydml)")
    text = parser.add_argument_group("text (only with --generate)")
    text.add_argument("--generate", metavar="TEXT",
                      help="continue this text, and print the number of tokens per second")
    text.add_argument("--tokens", metavar="N", type=int, default=64,
                      help="the maximum number of tokens in the result (default: 64)")
    text.add_argument("--chat", action="store_true", help="pass the text as a message, with the model's chat template")
    text.add_argument("--stop", metavar="WORD", action="append", default=[], help="end the result before this word")
    text.add_argument("--temperature", metavar="X", type=float, help="0 always chooses the most likely token "
                      "(default: the value in genai_config.json)")
    text.add_argument("--top-k", metavar="K", type=int, help="choose only among the K most likely tokens")
    text.add_argument("--top-p", metavar="P", type=float,
                      help="choose only among the most likely tokens that together have this probability")
    text.add_argument("--seed", metavar="N", type=int, default=0,
                      help="the seed; the same seed gives the same text (default: 0)")
    text.add_argument("--slots", metavar="N", type=int, default=4096,
                      help="the number of tokens for which the cache has room (default: 4096)")
    text.add_argument("--device", metavar="DEVICE",
                      help="CPU, CUDA or CUDA:1 (default: the device that ANYDML_ADAPTER names, or the CPU)")
    return parser


def main(arguments=None):
    options = _parser().parse_args(arguments)
    if options.generate is not None:
        return _generate(options)
    try:
        begin = time.perf_counter()
        prepared = prepare(options.model, literal=options.literal, trace=bool(options.trace), activations=options.activations)
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
    code = _compare(options, with_names, outputs) if options.compare else 0
    return code if options.beside is None else code or _beside_onnx_runtime(options, with_names)


def _generate(options):
    try:
        generator = Generator(options.model, options.device, options.slots, activations=options.activations)
        prompt = [{"role": "user", "content": options.generate}] if options.chat else options.generate
        result = generator.generate(
            prompt, options.tokens, temperature=options.temperature, top_k=options.top_k, top_p=options.top_p,
            seed=options.seed, stop=options.stop, stream=lambda piece: print(piece, end="", flush=True))
    except (ImportError, OSError, RuntimeError, TypeError, ValueError, Unsupported) as error:
        print(f"{options.model}: {error}", file=sys.stderr)
        return 1
    print(f"\n{result.prompt_tokens} tokens of the prompt in {result.prompt_seconds:.3f} s; {len(result.tokens)} tokens, "
          f"{result.tokens_per_second:.1f} a second, {_report.threads()} threads")
    return 0


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


def _beside_onnx_runtime(options, given):
    """Returns 0 if the shapes and types are the same in all three runs."""
    try:
        lines, is_same = _beside.table(options.model, given, options.time or 20, options.beside,
                                       {"literal": options.literal, "activations": options.activations})
    except _beside.CannotCompare as error:
        print(error, file=sys.stderr)
        return 1
    print(*lines, sep="\n")
    return 0 if is_same else 1


if __name__ == "__main__":
    exit_with(main)
