# SPDX-License-Identifier: MIT
"""Tests that modules build on each other in one direction. No module may import, even indirectly, a module that imports
it. Imports within functions count, but imports only for type checkers do not."""
import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "python" / "anydml"
# Folders of scripts that import one another, and scripts from folders listed earlier.
FOLDERS = ("bench", "data/facts data/python data/site", "tests/dmlrun", "tests/ops", "tests/python")
# This is imported only when a tensor needs it, because it imports PyTorch.
LATE = {"anydml": {"anydml.torch"}}


def modules(folder, suffix, package=()):
    """Returns the names of the modules and their files."""
    found = {}
    for path in sorted(folder.rglob(f"*{suffix}")):
        parts = [*package, *path.relative_to(folder).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(nodes):
    """Yields the nodes and everything in them, except code that only type checkers read."""
    for node in nodes:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in (getattr(node.test, "id", ""), getattr(node.test, "attr", "")):
            yield from statements(node.orelse)
        else:
            yield node
            yield from statements(ast.iter_child_nodes(node))


def imported(name, path, names, nodes):
    """Yields the modules among `names` that the import statements in the nodes import."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in statements(nodes):
        if isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & names
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) + 1 - node.level] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            wanted = {f"{base}.{alias.name}" if base else alias.name for alias in node.names}
            yield from wanted & names
            # The package itself counts as imported only for names that are not its modules.
            if base in names and not wanted <= names | {"anydml._core"}:
                yield base


def graph(files):
    names = set(files)
    return {name: set(imported(name, path, names, [ast.parse(path.read_text(encoding="utf-8"))])) - {name}
            for name, path in files.items()}


def find_cycle(edges):
    """The modules of a cycle in order, or None."""
    done = set()

    def visit(name, way):
        if name in way:
            return way[way.index(name):] + [name]
        if name in done:
            return None
        cycle = next(filter(None, (visit(other, [*way, name]) for other in sorted(edges.get(name, ())))), None)
        done.add(name)
        return cycle

    return next(filter(None, (visit(name, []) for name in sorted(edges))), None)


@pytest.mark.parametrize("suffix", [".py", ".pyi"])
def test_imports_have_no_cycle(suffix):
    edges = graph(modules(PACKAGE, suffix, ("anydml",)))
    assert len(edges) > 5 and sum(map(len, edges.values())) > 8
    assert find_cycle(edges) is None


@pytest.mark.parametrize("folders", FOLDERS)
def test_scripts_have_no_cycle(folders):
    files, layer = {}, {}
    for i, folder in enumerate(folders.split()):
        found = modules(SOURCE / folder, ".py")
        assert not found.keys() & files.keys()
        files |= found
        layer |= dict.fromkeys(found, i)
    edges = graph(files)
    assert len(edges) > (20 if "data/facts" in folders else 0) and any(edges.values())
    assert find_cycle(edges) is None
    assert all(layer[other] <= layer[name] for name, others in edges.items() for other in others)


def test_cycles_are_found(tmp_path):
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}}) is None
    for name, text in (("__init__", "from . import a, _core"), ("a", "def late():\n    from .b import one\n"),
                       ("b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import c\n"),
                       ("c", "from anydml import a\nimport anydml.b\n")):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    edges = graph(modules(tmp_path, ".py", ("anydml",)))
    assert edges == {"anydml": {"anydml.a"}, "anydml.a": {"anydml.b"}, "anydml.b": set(),
                     "anydml.c": {"anydml.a", "anydml.b"}}
    (tmp_path / "b.py").write_text("def late():\n    import anydml.c\n", encoding="utf-8")
    assert find_cycle(graph(modules(tmp_path, ".py", ("anydml",)))) == ["anydml.a", "anydml.b", "anydml.c", "anydml.a"]


def test_no_function_imports_a_module_of_the_package():
    """An import within a function, or below the first definition, would hide a dependency between modules."""
    files = modules(PACKAGE, ".py", ("anydml",))
    for name, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        starts = [i for i, node in enumerate(tree.body) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        later = set(imported(name, path, set(files), tree.body[starts[0]:])) if starts else set()
        assert later == LATE.get(name, set()), name
