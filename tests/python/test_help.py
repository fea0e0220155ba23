# SPDX-License-Identifier: MIT
"""Tests that the help() text of every function and class has an example that runs when pasted, without other
imports."""
import doctest
import importlib
import inspect

import pytest

import anydml


def documented():
    """Returns everything that a user can call, under its full name, and the docstrings of the packages."""
    for module, needs in (("anydml", "numpy"), ("anydml.onnx", "onnx"), ("anydml.torch", "torch")):
        yield pytest.param(module, None, needs, id=module)
    for name in sorted(dir(anydml)):
        if not name.startswith("_") and callable(getattr(anydml, name)):
            yield pytest.param("anydml", name, "numpy", id=f"anydml.{name}")
    # Excludes Backend, which has these functions as methods, and Prepared, which prepare returns.
    for name in ("Generator", "is_compatible", "prepare", "run_model", "run_node", "supports_device"):
        yield pytest.param("anydml.onnx", name, "onnx", id=f"anydml.onnx.{name}")


@pytest.mark.parametrize("module, name, needs", list(documented()))
def test_example_runs(module, name, needs):
    pytest.importorskip(needs)
    described = importlib.import_module(module)
    described = described if name is None else getattr(described, name)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(described), {}, str(name), None, None)
    said = []
    result = doctest.DocTestRunner().run(test, out=said.append)
    assert result.attempted > 1 and not result.failed, "".join(said)
