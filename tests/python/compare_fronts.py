# SPDX-License-Identifier: MIT
"""Compares the two front ends for ONNX models, Python's and C++'s, while both exist: the text of each compiled graph
before its passes byte for byte, the outputs bit for bit, and the errors.

usage: python3 tests/python/compare_fronts.py [--suite] [--only REGEX] [--keep FOLDER] [--show N] [MODEL.onnx ...]

Without arguments, it compares ONNX's own test suite. --keep saves the cases and the results of each front end in a
folder, and uses the saved cases and results of the Python front end again. A model file runs with generated inputs, with 1 and with 2 as the size
of symbolic dimensions.
"""
import argparse
import collections
import ctypes
import difflib
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
PASSES = re.compile(r"^(?:expanded|with views|one node|\d+ nodes)$", re.MULTILINE)  # the first line after the graph
SECONDS = 120  # for a case; a worker that takes longer is ended

# One case in one front end. status: "ok", or the type of the error. message: of the error. texts: of the graphs, in the
# order in which they were compiled. outputs: (dtype, shape, bytes) for each.
Outcome = collections.namedtuple("Outcome", "status message texts outputs ops")


# ---- The worker: runs cases in one front end -------------------------------------------------------------------------

class GraphLog:
    """Collects the texts of the graphs that are compiled."""

    def __init__(self):
        import anydml

        self.texts = []
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)

        def log(_, level, line):
            if level == 3:
                text = line.decode(errors="replace")
                found = PASSES.search(text)
                self.texts.append(text[:found.start()] if found else text)

        self._function = function(log)  # the library keeps a pointer to it
        ctypes.CDLL(anydml._core.__file__).anydml_set_log(self._function, None, 3)


def suite_cases():
    """Yields the name, the bytes or the path, and the inputs of the data sets of each case in ONNX's suite."""
    import onnx
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [(kind, case) for kind in KINDS for case in load_model_tests(kind=kind)]
    for kind, case in cases:
        name = f"{kind}/{case.name}"
        if case.model_dir is None:
            yield name, case.model.SerializeToString(), [[*map(_as_plain, inputs)] for inputs, _ in case.data_sets]
        else:
            folder = pathlib.Path(case.model_dir)
            sets = sorted(folder.glob("test_data_set_*"))
            yield name, str(folder / "model.onnx"), [read_inputs(one, folder) for one in sets]
    for path in sorted(pathlib.Path(onnx.__file__).parent.glob("backend/test/data/light/*.onnx")):
        yield f"real/{path.stem}", str(path), None


def _as_plain(value):
    """An input that can be pickled and run. Sequences and optional values are left out, because no model with them is
    supported."""
    import onnx
    from onnx import numpy_helper

    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if hasattr(value, "dtype") else None


def all_cases(options):
    named = list(suite_cases()) if options.suite or not options.models else []
    named += [(path, path, None) for path in options.models]
    return [case for case in named if re.search(options.only, case[0])]


def read_inputs(folder, of):
    """The inputs of a data set in a folder."""
    import onnx

    declared = onnx.load(of / "model.onnx", load_external_data=False).graph.input
    inputs = []
    for i, value in enumerate(declared):
        path = folder / f"input_{i}.pb"
        if not path.exists():
            break
        tensor = onnx.TensorProto()
        if value.type.WhichOneof("value") == "tensor_type":
            tensor.ParseFromString(path.read_bytes())
        inputs.append(_as_plain(tensor if value.type.WhichOneof("value") == "tensor_type" else None))
    return inputs


def run_case(source, runs, log):
    import onnx

    from anydml import onnx as backend
    from anydml.onnx import _report

    del log.texts[:]
    outputs, ops = [], []
    try:
        is_path = isinstance(source, str)
        model = onnx.load(source, load_external_data=False) if is_path else onnx.load_model_from_string(source)
        ops = sorted({node.op_type for node in model.graph.node})
        prepared = backend.prepare(source if is_path else model)
        if runs is None:
            names = {dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim}
            runs = [_report.inputs_of(prepared, {name: size for name in names}) for size in (1, 2)]
        for given in runs:
            results = prepared.run(given)
            outputs += [(str(one.dtype), one.shape, one.tobytes()) for one in map(_as_array, results)]
    except Exception as error:  # every error is part of the comparison
        needs = f" {error.needs}" if hasattr(error, "needs") else ""
        return Outcome(type(error).__name__, f"{error}{needs}", list(log.texts), outputs, ops)
    return Outcome("ok", "", list(log.texts), outputs, ops)


def _as_array(result):
    import numpy as np

    return np.asarray(result)


def work(options):
    """Runs the cases from number `first` on, and appends each outcome to a file."""
    warnings.simplefilter("ignore")
    log = GraphLog()
    with open(options.worker, "ab") as file:
        for name, source, runs in pickle.loads(options.cases.read_bytes())[options.first:]:
            pickle.dump((name, tuple(run_case(source, runs, log))), file)
            file.flush()


# ---- The driver ------------------------------------------------------------------------------------------------------

def read_outcomes(path):
    outcomes = {}
    if not path.exists():
        return outcomes
    with open(path, "rb") as file:
        while True:
            try:
                name, outcome = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return outcomes
            outcomes[name] = Outcome(*outcome)


def run_front(front, path, cases, cases_path):
    """Runs all cases in processes of their own. A case that ends its process counts as an error."""
    first = len(read_outcomes(path))
    while first < len(cases):
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen([sys.executable, __file__, "--cases", str(cases_path), "--worker", str(path),
                                        "--first", str(first)],
                                       env={**os.environ, "ANYDML_ONNX_FRONT": front}, stderr=errors)
            watch = threading.Thread(target=_end_when_stuck, args=(process, path), daemon=True)
            watch.start()
            code = process.wait()
            errors.seek(0)
            said = errors.read()[-2000:]
        done = len(read_outcomes(path))
        if done == len(cases):
            return
        if code == 0 or (done == first and "Traceback" in said):
            raise RuntimeError(f"the worker of {front} stopped after {done} of {len(cases)} cases:\n{said}")
        with open(path, "ab") as file:
            what = "no result in time" if code == -9 else f"the process ended with {code}"
            pickle.dump((cases[done][0], ("Crash", f"{what}: {said}", [], [], [])), file)
        first = done + 1


def _end_when_stuck(process, path):
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(1)
        now = path.stat().st_size if path.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > SECONDS:
            process.kill()


def normal(text):
    """Removes the strides of dimensions that are never stepped along, which Python writes as 0: of size 1, and of empty
    tensors."""
    def tensor(found):
        sizes, strides = ([int(number) for number in found[i].split(", ")] for i in (2, 3))
        packed, step = [], 1
        for size in reversed(sizes):
            packed.insert(0, step)
            step *= size
        strides = packed if 0 in sizes else [given if size != 1 else own for size, given, own in zip(sizes, strides, packed)]
        return f"{found[1]}{sizes}" if strides == packed else f"{found[1]}{sizes}/{strides}"

    return re.sub(r"(\w+)\[([\d, ]+)\]/\[([-\d, ]+)\]", tensor, text)


def difference(one, other):
    """Returns what differs first, in a word and in detail; None if nothing does."""
    if one.status != other.status:
        return "status", f"{one.status} {one.message[:400]!r} and {other.status} {other.message[:400]!r}"
    if one.texts != other.texts:
        for i, (mine, theirs) in enumerate(zip(one.texts, other.texts)):
            if mine != theirs:
                lines = difflib.unified_diff(mine.splitlines(), theirs.splitlines(), "python", "cpp", lineterm="", n=1)
                return "graph", f"graph {i} of {len(one.texts)}:\n    " + "\n    ".join(list(lines)[:14])
        return "graph", f"{len(one.texts)} and {len(other.texts)} graphs; the first ones are the same"
    for i, (mine, theirs) in enumerate(zip(one.outputs, other.outputs)):
        if mine != theirs:
            return "output", f"output {i}: {mine[:2]} and {theirs[:2]}; {_first_element(mine, theirs)}"
    if len(one.outputs) != len(other.outputs):
        return "output", f"{len(one.outputs)} and {len(other.outputs)} outputs"
    return ("message", f"{one.message!r}\n     and {other.message!r}") if one.message != other.message else None


def _first_element(mine, theirs):
    if mine[:2] != theirs[:2]:
        return "different types or shapes"
    at = next(i for i, (one, other) in enumerate(zip(mine[2], theirs[2])) if one != other)
    return f"the first different byte is {at} of {len(mine[2])}"


def normalized(outcome):
    return outcome._replace(texts=[normal(text) for text in outcome.texts])


def compare(cases, python, cpp, show):
    """Prints the table and the differences. Returns the number of cases that differ in more than a message."""
    table = collections.defaultdict(collections.Counter)
    total, details = collections.Counter(), []
    for name, _, _ in cases:
        found = difference(python[name], cpp[name])
        word = found[0] if found else "same"
        ops = python[name].ops or cpp[name].ops
        table[ops[0] if len(ops) == 1 else "(several)" if ops else "(none)"][word] += 1
        total[word] += 1
        total["same, and the model runs"] += not found and python[name].status == "ok"
        if found:
            details.append(f"{name}: {found[0]}: {found[1]}")
    columns = ("same", "status", "graph", "output", "message")
    print(f"{'operator':28}", *(f"{column:>8}" for column in columns))
    for op, counts in sorted(table.items()):
        if set(counts) != {"same"}:
            print(f"{op:28}", *(f"{counts[column]:8}" for column in columns))
    same = [op for op, counts in table.items() if set(counts) == {"same"}]
    print(f"\n{len(same)} of {len(table)} operators are the same in all cases: {', '.join(sorted(same))}\n")
    print(*details[:show], sep="\n")
    if len(details) > show:
        print(f"... and {len(details) - show} more differences; --show {len(details)} prints them")
    print(f"\n{len(cases)} cases:", ", ".join(f"{count} {word}" for word, count in total.most_common()))
    return len(cases) - total["same"] - total["message"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--suite", action="store_true", help="compare ONNX's test suite too")
    parser.add_argument("--only", default="", metavar="REGEX", help="only the cases whose names match")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="save the results, and use Python's again")
    parser.add_argument("--show", type=int, default=40, metavar="N", help="print this many differences (40)")
    parser.add_argument("--exact", action="store_true", help="also compare strides that are never stepped along")
    parser.add_argument("--oracle", action="store_true", help="run only the Python front end, and print its counts")
    parser.add_argument("--worker", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--cases", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        cases_path, outcomes = folder / "cases.pickle", []
        if not cases_path.exists():  # some of the suite's inputs are random
            cases_path.write_bytes(pickle.dumps(all_cases(options)))
        cases = pickle.loads(cases_path.read_bytes())
        for front in ("python",) if options.oracle else ("python", "cpp"):
            path = folder / f"{front}.pickle"
            if front == "cpp":
                path.unlink(missing_ok=True)
            run_front(front, path, cases, cases_path)
            outcomes.append(read_outcomes(path))
    if options.oracle:
        counts = collections.Counter(one.status for one in outcomes[0].values())
        print(len(cases), "cases:", dict(counts), sum(len(one.texts) for one in outcomes[0].values()), "graphs")
        return 0
    if not options.exact:
        outcomes = [{name: normalized(one) for name, one in all_of.items()} for all_of in outcomes]
    return 1 if compare(cases, *outcomes, options.show) else 0


if __name__ == "__main__":
    sys.exit(main())
