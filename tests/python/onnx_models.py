# SPDX-License-Identifier: MIT
"""Gives the tests information about ONNX models in anydml: the table of operators, and the steps and graphs of a
model."""
import contextlib
import ctypes
import re
from collections import namedtuple

import numpy as np

import anydml

FLOATS = ("float16", "float", "double")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
KINDS = (*FLOATS, *INTEGERS, "bool")  # ONNX's names of the types of arrays


def dtype_of(kind):
    """Returns NumPy's type of the arrays. Four-bit integers have a byte each."""
    return np.dtype({"float": "float32", "double": "float64", "int4": "int8", "uint4": "uint8"}.get(kind, kind))


# ---- The table ------------------------------------------------------------------------------------------------------

# A row of src/onnx/rows/row.h. how: "operators", "definition", "host" or "ml". last: the last opset, or 0 for the newest.
# uses: the operators that it may dispatch, or a description. kinds: the types that it accepts.
Row = namedtuple("Row", "how op first last uses kinds")


def _lines():
    return [line.split("\t") for line in anydml._core.onnx_rows().splitlines()]


_ALL = [Row(how, op, int(first), int(last), uses, kinds.split()) for how, op, first, last, uses, kinds in (
    line for line in _lines() if line[0] != "domain")]
ML_ROWS = [row for row in _ALL if row.how == "ml"]  # the operators of ai.onnx.ml
STRINGS = sorted({row.op for row in _ALL if row.how != "ml" and "string" in row.kinds})  # operators that accept strings
# ONNX's own operators, for numbers.
ROWS = [row._replace(kinds=[kind for kind in row.kinds if kind != "string"]) for row in _ALL
        if row.how != "ml" and row.uses != "strings"]
DOMAIN_ROWS = [tuple(line[1:]) for line in _lines() if line[0] == "domain"]  # (domain, operator, what it uses)


def rows_of(op, since=None):
    """Returns the rows that use DirectML's operators or ONNX's definitions, for one opset or for the newest one."""
    return [row for row in ROWS if row.op == op and row.how != "host" and (
        row.last == 0 if since is None else row.first <= since and (row.last == 0 or since <= row.last))]


NODES = sorted({row.op for row in ROWS if row.how != "host"})
HOSTED = {row.op: row for row in ROWS if row.how == "host" and row.last == 0}

# ---- The steps of a model -------------------------------------------------------------------------------------------

# The contents of `explain`'s report. steps: the number of steps of each operator. by: what their operators are, or how
# they run on the host. folded: the number of nodes that were computed once as constants. pieces: (begin, end, whether
# it is a graph, why it ends), after a run. bodies: the programs of branches and loops.
Explained = namedtuple("Explained", "count steps by folded hosted pieces bodies")


def explained(prepared):
    return _explained(prepared.explain())


def _explained(lines):
    count, folded, hosted = map(int, re.fullmatch(
        r"(\d+) steps, (\d+) nodes computed once as constants, (\d+) steps on the host", lines[0]).groups())
    starts = [i for i, line in enumerate(lines) if re.match("  of ", line)]
    own = lines[1:starts[0]] if starts else lines[1:]
    steps, by, pieces = {}, {}, []
    for line in own:
        if found := re.fullmatch(r" +(\d+) (\S+) +by (.*)", line):
            steps[found[2]] = steps.get(found[2], 0) + int(found[1])
            by.setdefault(found[2], []).append(found[3])
        elif found := re.fullmatch(r"  steps (\d+) to (\d+): (a graph|node by node)(?:; it ends where |: )?(.*)", line):
            pieces.append((int(found[1]), int(found[2]) + 1, found[3] == "a graph", found[4]))
        else:
            assert line.startswith(("  on the host: ", "  with integers: ")), line
    assert sum(steps.values()) == count
    bodies = [_explained([line[4:] for line in lines[begin + 1:end]]) for begin, end in zip(
        starts, [*starts[1:], len(lines)])]
    return Explained(count, steps, by, folded, hosted, pieces, bodies)


def pieces(prepared):
    """Returns the start and the end of each graph and of each series of steps that ran node by node."""
    return [piece[:2] for piece in explained(prepared).pieces]


def node_by_node(prepared, given):
    """Returns the outputs of a run without graphs."""
    return prepared._model.run_node_by_node(prepared._listed(given))


# ---- The log --------------------------------------------------------------------------------------------------------

_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
_DISPATCH = 4  # the level that names each operator that runs


@contextlib.contextmanager
def dispatched():
    """Collects the names of the operators that are recorded in graphs or run alone, without ELEMENT_WISE_ and ACTIVATION_.
    The log also has the graphs after the library's changes, which do not count."""
    names = set()

    def log(_, level, line):
        text = line.decode(errors="replace")
        found = re.findall("^dispatch ([A-Z_0-9]+) ", text) if level == _DISPATCH else re.findall(
            r"^%.*? = ([A-Z_0-9]+)\(", re.match("(?:graph\n)?(?:(?:input|constant|%|output).*\n)*", text)[0], re.MULTILINE)
        names.update(re.sub("^(ELEMENT_WISE|ACTIVATION)_", "", name) for name in found)

    function, set_log = _LOG(log), ctypes.CDLL(anydml._core.__file__).anydml_set_log
    set_log(function, None, _DISPATCH)
    try:
        yield names
    finally:
        set_log(None, None, 0)
