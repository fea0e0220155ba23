# SPDX-License-Identifier: MIT
"""Generates the site's page on the Python package: its own functions and classes with their docstrings, read without
importing them, and the name of each operator's function."""
from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import python_rule as python  # noqa: E402

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "anydml"
# The names of the package other than the operators' functions, and their modules.
MEMBERS = {"__init__.py": ("modulus_floor", "modulus_truncate", "adapters", "operators"),
           "_device_array.py": ("DeviceArray", "to_device"),
           "_run.py": ("run", "compile", "Compiled", "Operator")}


def shown_docstring(text: str) -> list[str]:
    """Converts prose to Markdown, and sessions with >>> to code blocks."""
    lines: list[str] = []
    inside = False
    for line in inspect.cleandoc(text).splitlines():
        starts = line.startswith(">>>")
        if inside and not line.strip() or starts and not inside:
            lines += ["```"] if inside else ["", "```pycon"]
            inside = not inside
        lines.append(line if inside else re.sub(r"``([^`]+)``", r"`\1`", line))
    return [*lines, *(["```"] if inside else []), ""]


def signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    name = f"anydml.{node.name}"
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
    else:
        result = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__call__"), None)
        if result is None:
            result = next(one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
        else:
            name = node.name.lower()  # users do not create this object, so the page shows a call to it
        arguments = result.args
        for few in (arguments.posonlyargs, arguments.args):
            few[:] = [one for one in few if one.arg != "self"]
    text = ast.unparse(arguments).replace("_CASTING", "'same_kind'").replace("_ORDER", "'K'")
    return python.wrapped(f"{name}(", text.split(", "), ")", len(name) + 1)


def page() -> str:
    lines = ["# Python functions", "", "`import anydml` provides these names. [The tour](../python.md) shows how to "
             "use them; [the list of signatures](../python-operators.md) has all of DirectML's operators.", ""]
    for file, names in MEMBERS.items():
        tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
        found = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for name in names:
            node = found[name]
            lines += [f"## anydml.{name} {{ #anydml{name.lower()} }}", "", "```python", signature(node), "```", "",
                      *shown_docstring(ast.get_docstring(node) or "")]
    lines += ["## A function for each operator", "", "| function | operator | computes |", "|---|---|---|"]
    built = python.built_names()
    for op in sorted(python.read_operators(), key=lambda op: op.python):
        if op.name in built:
            formula = op.formula.replace("|", "&#124;")
            lines.append(f"| `anydml.{op.python}` | [{op.name}](operators/{op.name.lower()}.md) | "
                         f"<code>{formula.replace('<', '&lt;')}</code> |")
    return "\n".join(lines) + "\n"
