# SPDX-License-Identifier: MIT
"""The package's modules build on each other in one direction: no module imports, even indirectly, one that imports it."""
import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "anydml"
# Imported when a tensor arrives that needs it, and not before: it imports PyTorch.
LATE = {"anydml._tensors": {"anydml.torch"}}


def modules(suffix):
    """The modules' names, and their files."""
    found = {}
    for path in sorted(PACKAGE.rglob(f"*{suffix}")):
        parts = ["anydml", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name, path, names, nodes):
    """The package's modules that the import statements among the nodes name."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "anydml")
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) + 1 - node.level] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            if base.split(".")[0] == "anydml":
                wanted = {f"{base}.{alias.name}" for alias in node.names}
                yield from wanted & names
                # The package itself is imported only for names that are not modules of it.
                if not wanted <= names | {"anydml._core"}:
                    yield base


def graph(files):
    names = set(files)
    return {name: set(imported(name, path, names, ast.walk(ast.parse(path.read_text(encoding="utf-8"))))) -
            LATE.get(name, set()) for name, path in files.items()}


def find_cycle(edges):
    """The modules of a cycle in their order, or None."""
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
    edges = graph(modules(suffix))
    assert len(edges) > 5 and sum(map(len, edges.values())) > 8
    assert find_cycle(edges) is None


def test_cycles_are_found():
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}}) is None


def test_no_function_imports_a_module_of_the_package():
    """An import within a function, or below the first definition, would hide a cycle."""
    for name, path in modules(".py").items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        starts = [i for i, node in enumerate(tree.body) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        later = [inner for node in tree.body[starts[0]:] for inner in ast.walk(node)] if starts else []
        assert not set(imported(name, path, set(LATE.get(name, ())), later)) - LATE.get(name, set()), name
