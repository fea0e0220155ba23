# SPDX-License-Identifier: MIT
"""Tests that type checkers see the actual package. mypy and pyright check programs that also run, and mypy's stubtest
compares the stubs with the modules."""
import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "data" / "python"))
import python_rule  # noqa: E402
import python_stubs  # noqa: E402

HAS = {name: importlib.util.find_spec(name) is not None for name in ("mypy", "pyright", "onnx", "torch")}
PROGRAMS = [SOURCE / "tests" / "python" / f"{name}.py" for name in
            ("typed_program", *["typed_onnx"] * HAS["onnx"], *["typed_torch"] * HAS["torch"])]
_OF_PYTORCH = {"_torchdynamo_inline", "_torchdynamo_orig_callable", "_torchdynamo_wrapper_id"}
needs_mypy = pytest.mark.skipif(not HAS["mypy"], reason="mypy is not installed")
# Internals without stubs or omitted from them, and functions described as objects with the attributes of a ufunc;
# test_ufuncs_are_described checks these functions.
ALLOWED = r"""anydml\.(_arguments|_call|_dispatch|_four_bits|_habits|_indices|_libraries|_messages|_pipes)(\..*)?
anydml\.(_equivalents|_recorded|_recorded_ufuncs|_suggest|_tensors|_trees|_words|compare)(\..*)?
anydml\._specs\.(Output|SPECS|Spec)
anydml\._run\.(function_of|given|slow_path)
anydml\._graphs\.(Recorder|Recording|regular)
anydml\._symbols\.(ElementsNeeded|FUNCTIONS|REFUSED|Recorder|UFUNCS|changed|fresh|plain|record)
anydml\._symbols\.Symbol\.__pandas_priority__
anydml\.(_symbols\.)?Symbol\.(__array__|__array_function__|__array_ufunc__|__bool__|__complex__|__float__|__index__|__init__|__int__|__slots__|item|tolist)
anydml\.(_symbols\.)?Symbol\.(__setitem__|__i(add|sub|mul|mod|truediv|floordiv|pow|matmul|and|or|xor|lshift|rshift)__)
anydml\.onnx\.Prepared\.taken
anydml\.onnx\._model\.(_kept|_outputs_named)
anydml\.torch\.(modulus_floor|modulus_truncate|call)
anydml\._ufuncs\..*
"""
UFUNCS = {name: one for name, one in vars(anydml).items() if isinstance(getattr(one, "ufunc", None), np.ufunc)}
ALLOWED += "".join(rf"anydml\.(_operators\.)?{name}" + "\n" for name in UFUNCS)


def check(*command, cwd):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A shared cache for mypy, because reading NumPy's stubs takes seconds."""
    return tmp_path_factory.mktemp("mypy")


def test_programs_run():
    for program in PROGRAMS:
        subprocess.run([sys.executable, program], check=True)


@needs_mypy
def test_mypy(cache):
    # The package is specified through module names, because with a path mypy would check the whole environment too.
    modules = ["anydml", "anydml._operators", "anydml._run", "anydml._graphs", "anydml._numpy", "anydml._specs", "anydml._symbols",
               "anydml._ufuncs",
               *(f"anydml.{name}" for name in ("onnx", "torch") if HAS[name])]
    check("mypy", "--strict", "--cache-dir", cache, *(word for name in modules for word in ("-m", name)), cwd=cache)
    check("mypy", "--strict", "--cache-dir", cache, *PROGRAMS, cwd=cache)
    wrong = cache / "wrong.py"
    wrong.write_text("import anydml\nanydml.reduce([1.0])\nanydml.cast([1.0])\nanydml.add('1', None)\n"
                     "@anydml.graph\ndef f(x: bytes, k: int = 2) -> bytes: return x\nf(b'', k='2')\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache, wrong], capture_output=True, text=True)
    assert set(re.findall(r"wrong.py:(\d): error", done.stdout)) == {"2", "3", "4", "7"}, done.stdout


@pytest.mark.skipif(not HAS["pyright"], reason="pyright is not installed")
def test_pyright(tmp_path):
    check("pyright", "--pythonpath", sys.executable, *PROGRAMS, cwd=tmp_path)


@needs_mypy
def test_stubs_agree_with_the_modules(tmp_path):
    (tmp_path / "allowed").write_text(ALLOWED + ("" if HAS["torch"] else "anydml\\.torch\n") +
                                      ("" if HAS["onnx"] else "anydml\\.onnx.*\n"))
    # The modules without stubs are not checked.
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\nignore_errors = True\n"
                                       "[mypy-torch.*]\nfollow_imports = skip\n")
    check("mypy.stubtest", "--concise", "--mypy-config-file", "mypy.ini", "--allowlist", "allowed",
          "--ignore-unused-allowlist", "anydml", cwd=tmp_path)


def test_ufuncs_are_described():
    """Compares the parameters, which stubtest does not, and checks that the attributes are those of the ufunc."""
    tree = ast.parse((Path(anydml.__file__).parent / "_ufuncs.pyi").read_text(encoding="utf-8"))
    classes = {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    for function in UFUNCS.values():
        members = classes["_Ufunc"] + classes["_UfuncOfOne" if function.nin == 1 else "_UfuncOfTwo"]
        calls = [one.args for one in members if isinstance(one, ast.FunctionDef) and one.name == "__call__"]
        names = {one.name if isinstance(one, ast.FunctionDef) else one.target.id for one in members}
        assert names - {"__call__", "resolve_dtypes"} == set(vars(function)) - {"resolve_dtypes", *_OF_PYTORCH}
        parameters = inspect.signature(function).parameters.values()
        assert calls
        for call in calls:
            assert [one.arg for one in call.posonlyargs[1:] + call.args] == [one.name for one in parameters
                                                                             if one.kind != one.KEYWORD_ONLY]
            assert [one.arg for one in call.kwonlyargs] == [one.name for one in parameters
                                                            if one.kind == one.KEYWORD_ONLY]
            theirs = [one.default for one in parameters if one.default is not one.empty]
            ours = [ast.literal_eval(one) for one in call.defaults + call.kw_defaults]
            assert ours == theirs[-len(ours):]  # out has no default in overloads that require it


@needs_mypy
def test_stubs_of_operators_to_come(cache):
    """Checks stubs for all 177 functions, including operators that are not implemented yet."""
    operators = python_rule.read_operators()
    folder = cache / "everything" / "anydml"
    folder.mkdir(parents=True)
    text = python_stubs.stub_module_text(operators)
    (folder / "_operators.pyi").write_text(text)
    (folder / "__init__.pyi").write_text("")
    package = Path(anydml.__file__).parent
    for module in ("_run.pyi", "_specs.pyi", "_symbols.pyi", "_ufuncs.pyi"):
        (folder / module).write_text((package / module).read_text(encoding="utf-8"))
    assert text.count("\ndef ") > 2 * len(operators) - 60 and "Any" not in text.replace("_Array", "")
    check("mypy", "--strict", "--cache-dir", cache / "everything.cache", folder / "_operators.pyi", cwd=folder.parent)
