# SPDX-License-Identifier: MIT
"""Tests that the Python blocks in the documentation run and print the output shown there. A word after ```python names
a module that the block needs. tests/tree/documents_test.py checks links, files and options."""
import ast
import contextlib
import importlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml

SOURCE = Path(__file__).resolve().parents[2]
PAGES = {"docs/python.md": 2, "docs/python-reference.md": 20, "README.md": 2}  # the minimum number of blocks on each page
PASTED = {"docs/dask.md": "distributed", "docs/networks.md": "onnx",
          "docs/onnx.md": "onnx", "docs/onnx-ml.md": "onnx", "docs/onnxruntime.md": "onnxruntime_ep_anydml"}  # the module that each block on the page needs


def blocks(page):
    """Returns (line, modules, code, the text block directly below or None) for each Python block."""
    text = (SOURCE / page).read_text(encoding="utf-8")
    fenced = list(re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    for block, after in zip(fenced, [*fenced[1:], None]):
        if block[1].split()[0] == "python":
            near = after is not None and after[1] == "text" and text[block.end():after.start()].strip() == ""
            yield text[:block.start()].count("\n") + 2, block[1].split()[1:], block[2], after[2] if near else None


def is_here(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("page", PAGES)
def test_page_runs_as_one_script(page):
    namespace, ran = {}, 0
    for line, modules, code, expected in blocks(page):
        if not all(map(is_here, modules)):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # Leading empty lines give tracebacks the page's line numbers.
            exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)
        if expected is not None:
            assert printed.getvalue() == expected, f"{page}, the block at line {line}"
        ran += 1
    assert ran >= PAGES[page]


@pytest.mark.parametrize("page, line, modules, code, expected",
                         [pytest.param(page, *block, id=f"{page}:{block[0]}") for page in PASTED for block in blocks(page)])
def test_block_runs_by_itself(page, line, modules, code, expected, tmp_path):
    for module in (PASTED[page], *modules):
        pytest.importorskip(module)
    program = tmp_path / "pasted.py"
    program.write_text("\n" * (line - 1) + code, encoding="utf-8")
    answer = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert expected is None or answer.stdout == expected


def test_the_extras_that_pip_is_given_are_declared():
    project = (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    extras = dict(re.findall(r'^(\w+) = \[("[^\n]*)\]$', project[project.index("[project.optional"):], re.MULTILINE))
    lines = 0
    for path in (*sorted((SOURCE / "docs").glob("*.md")), SOURCE / "README.md", SOURCE / "CONTRIBUTING.md"):
        for words in re.findall(r"pip install ([^`&#\n]+)", path.read_text(encoding="utf-8")):
            for word in shlex.split(words):
                if word.startswith(".["):
                    assert word[2:-1] in extras, f"{path.name}: {word}"
                lines += word == "." or word.startswith(".[")
    assert lines > 4


def test_the_program_of_numerics_is_the_one_that_tests_use():
    functions = [one for path in (SOURCE / "tests" / "ops").glob("*_reference.py")
                 for one in ast.parse(path.read_text(encoding="utf-8")).body]
    shown = [one for _, _, code, _ in blocks("docs/numerics.md") for one in ast.parse(code).body
             if isinstance(one, ast.FunctionDef)]  # a program may also consist of a few plain statements

    def computed(function):
        has_words = ast.get_docstring(function) is not None
        return ast.dump(function.args) + "".join(map(ast.dump, function.body[has_words:]))

    used = {one.name: computed(one) for one in functions if isinstance(one, ast.FunctionDef)}
    assert len(shown) >= 14 and all(computed(one) == used[one.name] for one in shown)


def names_between(text, start, end):
    return sorted(re.findall(r"`(\w+)`", text[text.index(start) + len(start):text.index(end, text.index(start))]))


def test_the_correctly_rounded_functions_are_listed():
    page = (SOURCE / "docs" / "python-reference.md").read_text(encoding="utf-8")
    ufuncs = {name for name, one in vars(anydml).items() if isinstance(getattr(one, "ufunc", None), np.ufunc)}
    rounded = names_between(page, "## Functions that are correctly rounded", " give the float16 or float32")
    assert rounded == sorted(ufuncs - {"modulus_floor", "modulus_truncate"})
