# SPDX-License-Identifier: MIT
"""Prints the node tables of docs/onnx.md and docs/onnx-ml.md, runs ONNX's whole backend test suite, and prints which tests ran, passed or
were unsupported. Nothing is downloaded.

usage: python3 tests/python/onnx_counts.py [--names | --write]   --names lists passed tests; --write updates the pages
"""
import collections
import os
import pathlib
import re
import sys
import tempfile
import textwrap
import unittest
import unittest.mock
import warnings

import numpy
import onnx
from onnx.backend.test import BackendTest

import anydml.onnx
from onnx_models import DOMAIN_ROWS, FLOATS, HOSTED, INTEGERS, ML_ROWS, NODES, STRINGS, rows_of


MAIN = {"Where": 1, "ConstantOfShape": None}  # the input that determines the node's type, if it is not the first

# These are excluded because their expected results are further from the exact ones than anydml's, by more than the
# suite's tolerance. In the first, every operation was rounded to float16. In the others, NumPy computed the transform
# in float32; for parts that are exactly 0 it has 1.9e-7.
LEFT_OUT = ("test_attention_4d_causal_fp16_expanded", "test_dft_inverse_cpu", "test_dft_inverse_opset19")


class SkippingBackend(anydml.onnx.Backend):
    """The backend for counting. The suite counts unsupported tests as passed, but here they are skipped."""

    is_compatible = None  # so that prepare raises the reason

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        try:
            return anydml.onnx.prepare(model, device)
        except anydml.onnx.Unsupported as unsupported:
            raise unittest.SkipTest("; ".join(unsupported.needs)) from unsupported


def suite(parent_module=None):
    """Returns ONNX's suite for this backend. Computing the suite's own cases emits irrelevant warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = BackendTest(SkippingBackend, parent_module).exclude("_cuda$")
        for pattern in LEFT_OUT:
            test.exclude(pattern)
        return test


class Result(unittest.TestResult):
    """Also records the tests that passed."""

    def __init__(self):
        super().__init__()
        self.passed = []

    def addSuccess(self, test):
        self.passed.append(test)


# For each category of the suite: the test names, and for the last two also the reasons.
Counts = collections.namedtuple("Counts", "passed unsupported failed")


def count():
    result = Result()
    with tempfile.TemporaryDirectory() as home:
        with unittest.mock.patch.dict(os.environ, ONNX_HOME=home):  # the suite writes there
            suite().test_suite.run(result)
    counts = Counts(*(collections.defaultdict(list) for _ in Counts._fields))
    for test in result.passed:
        counts.passed[_category(test)].append(_name(test))
    for test, reason in result.skipped:
        if not _name(test, "").endswith("_cuda"):
            counts.unsupported[_category(test)].append((_name(test), reason.split("; ")))
    for test, trace in result.failures + result.errors:
        counts.failed[_category(test)].append((_name(test), trace))
    return counts


def _category(test):
    return re.sub("^OnnxBackend|ModelTest$", "", type(test).__name__)


def _name(test, suffix="_cpu"):
    return test.id().rpartition(".")[2].removesuffix(suffix)


def markdown(counts):
    lines = [f"onnx {onnx.__version__}, NumPy {numpy.__version__}:", "",
             "| part of the suite | tests | passed | failed | unsupported |", "|---|---|---|---|---|"]
    categories = sorted({category for part in counts for category in part})
    rows = [[len(part[category]) for part in (counts.passed, counts.failed, counts.unsupported)]
            for category in categories]
    for name, row in zip(categories + ["**all**"], rows + [[sum(column) for column in zip(*rows)]]):
        lines.append(f"| {name} | {sum(row)} | {row[0]} | {row[1]} | {row[2]} |")
    names = passed(counts)
    words = collections.Counter(re.match("test_([^_]*)", name)[1] for name in names)
    lines += ["", f"Passed ({len(names)}), by the first word of their names:", "",
              *_wrapped(", ".join(f"{word} {times}" for word, times in sorted(words.items())))]
    needs = collections.Counter(need for part in counts.unsupported.values() for _, wants in part for need in wants)
    lines += ["", f"Unsupported features, and the number of tests that need each ({len(needs)}):", "",
              *_wrapped(", ".join(f"{need} {times}" for need, times in sorted(needs.items())))]
    return "\n".join(lines) + "\n"


def passed(counts):
    return sorted(name for part in counts.passed.values() for name in part)


def nodes():
    """Returns the node table, with the types of the newest opset."""
    lines = ["| ONNX | by | types |", "|---|---|---|"]
    for row in (row for op in NODES for row in rows_of(op) if onnx.defs.has(op)):
        by = "ONNX's definition" if row.how == "definition" else row.uses.replace(" ", ", ") or "a view"
        lines.append(f"| {row.op} | {by} | {_kinds(row.kinds)} |")
    return "\n".join(lines) + "\n"


def hosted():
    """Returns the table of nodes that run on the host."""
    lines = ["| ONNX | on the host | types |", "|---|---|---|"]
    lines += [f"| {op} | {row.uses} | {_kinds(row.kinds)} |" for op, row in sorted(HOSTED.items()) if onnx.defs.has(op)]
    return "\n".join(lines) + "\n"


def contributed():
    ops = sorted(op for domain, op, _ in DOMAIN_ROWS if domain == "com.microsoft")
    return "\n".join(_wrapped("com.microsoft: " + ", ".join(ops))) + "\n"


def learned():
    """Returns the table of the operators of ai.onnx.ml."""
    lines = ["| ai.onnx.ml | as | types | opsets |", "|---|---|---|---|"]
    for row in ML_ROWS:
        opsets = f"{row.first} to {row.last}" if row.last else f"from {row.first} on"
        lines.append(f"| {row.op.rpartition('.')[2]} | {row.uses} | {_kinds(row.kinds)} | {opsets} |")
    return "\n".join(lines) + "\n"


def strings():
    return "\n".join(_wrapped("Strings: " + ", ".join(STRINGS))) + "\n"


def _kinds(kinds):
    signed, unsigned = [[kind for kind in INTEGERS if kind.startswith(start)] for start in ("int", "uint")]
    left, words = list(kinds), []
    for word, group in (("floats", FLOATS), ("integers", INTEGERS), ("signed integers", signed),
                        ("unsigned integers", unsigned)):
        if set(group) <= set(left):
            words.append(word)
            left = [kind for kind in left if kind not in group]
    return ", ".join(words + left)


def _wrapped(text):
    """Returns lines of 120 columns that break only after commas."""
    text = text.replace(" ", "\0").replace(",\0", ", ")
    lines = textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def write(counts):
    """Replaces the tables in both pages."""
    _replace("onnx.md", (nodes(), r"\| ONNX \| by \| types \|", 1), (hosted(), r"\| ONNX \| on the host \| types \|", 1),
             (contributed(), r"com\.microsoft: .*", 1), (markdown(counts), r"onnx [\d.]+, NumPy [\d.]+:", 6))
    _replace("onnx-ml.md", (learned(), r"\| ai\.onnx\.ml \| as \| types \| opsets \|", 1), (strings(), "Strings: .*", 1))


def _replace(name, *tables):
    """Replaces paragraphs of a page. tables: the new text, how the first paragraph begins, and how many there are."""
    page = pathlib.Path(__file__).parents[2] / "docs" / name
    text = page.read_text()
    for table, start, paragraphs in tables:
        found = re.search(rf"^{start}(\n.+)*(\n\n.+(\n.+)*){{{paragraphs - 1}}}\n", text, re.MULTILINE)
        text = text[:found.start()] + table + text[found.end():]
    page.write_text(text)


def main():
    counts = count()
    if sys.argv[1:] == ["--write"]:
        write(counts)
        return 1 if any(counts.failed.values()) else 0
    print(nodes(), hosted(), contributed(), learned(), strings(), markdown(counts), sep="\n", end="")
    if sys.argv[1:] == ["--names"]:
        print("", *passed(counts), sep="\n")
    for failures in counts.failed.values():
        for name, trace in failures:
            print(f"\n{name}\n{trace}", file=sys.stderr)
    return 1 if any(counts.failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
