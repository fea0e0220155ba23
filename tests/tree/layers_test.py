#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the layers of src/ that the build declares with the sources: a file may include only layers that its own
layer sees, a library may call only functions from layers that it is linked with, and neither layers nor files may form
a cycle.

usage: layers_test.py SRC LAYERS           checks; LAYERS is layers.json in the build folder (cmake/layers.cmake)
       layers_test.py SRC LAYERS --table   prints the layers and how often each includes another
       layers_test.py SRC LAYERS --dot     prints the same for Graphviz"""
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".def"}
LISTS = ("files", "sources", "depends", "uses", "links", "sees")


def find_circle(edges):
    """The members of a cycle in order, or None."""
    done = set()
    for start in sorted(edges):
        way, ahead = [], [[start]]  # the current path, and what remains to be visited at each of its steps
        while ahead:
            if not ahead[-1]:
                ahead.pop()
                if way:
                    done.add(way.pop())
                continue
            name = ahead[-1].pop()
            if name in way:
                return way[way.index(name):] + [name]
            if name not in done:
                way.append(name)
                ahead.append(sorted(edges.get(name, ())))
    return None


class Layers:
    """The declared layers, by name."""

    def __init__(self, lines):
        self.of = {}
        for line in lines:  # a name may have several lines: the headers of a library, and the library
            layer = self.of.setdefault(line["name"], {"folder": line["folder"], "archive": line["archive"],
                                                      "whole": False, **{key: [] for key in LISTS}})
            for key in LISTS:
                under = f"{line['folder']}/" if key in ("files", "sources") else ""
                layer[key] += [under + one for one in line[key]]
            layer["whole"] |= not line["files"]
        for name, layer in self.of.items():
            unknown = {one for key in ("depends", "uses", "links") for one in layer[key]} - self.of.keys()
            assert not unknown, f"{name} names unknown layers: {', '.join(sorted(unknown))}"
        self.folders = {layer["folder"]: name for name, layer in self.of.items() if layer["whole"]}

    def declared(self, *keys):
        return {name: {one for key in keys for one in layer[key] if one != name} for name, layer in self.of.items()}

    def reach(self, name, keys):
        """The layers that a layer names itself, and the layers that it reaches through `keys`."""
        found = set()
        ahead = [one for key in ("depends", "uses", *keys) for one in self.of[name][key]]
        while ahead:
            one = ahead.pop()
            if one not in found:
                found.add(one)
                ahead += [other for key in keys for other in self.of[one][key]]
        return found

    def folder(self, path):
        """The innermost enclosing folder that is a layer."""
        return next((str(above) for above in Path(path).parents if str(above) in self.folders), None)

    def owners(self, path):
        """The layers that a file belongs to, starting with those that name it."""
        sources = [name for name, layer in self.of.items() if path in layer["sources"]]
        named = [name for name, layer in self.of.items() if path in layer["files"]]
        folder = self.folders.get(self.folder(path))
        return sources or list(dict.fromkeys([*named, *([folder] if folder else [])]))

    def sees(self, name, path):
        """Whether a layer may include a file."""
        layer = self.of[name]
        return (bool({name, *self.reach(name, ("depends",))} & set(self.owners(path))) or path in layer["sees"]
                or self.folder(path) in layer["sees"])


def read_includes(src):
    """The files in src that each file includes."""
    paths = sorted(path for path in src.rglob("*") if path.suffix in SUFFIXES)
    names = {str(path.relative_to(src)) for path in paths}
    included = {}
    for path in paths:
        name = str(path.relative_to(src))
        found = INCLUDE.findall(path.read_text(encoding="utf-8"))
        beside = [str(Path(name).parent / one) for one in found]
        included[name] = {one if one in names else other for one, other in zip(found, beside)} & names
    return included


def count_arrows(layers, included):
    """How often the files of one layer include those of another."""
    arrows = Counter()
    for path, others in included.items():
        for other in others:
            ends = tuple((layers.owners(one) or ["no layer"])[0] for one in (path, other))
            arrows[ends] += ends[0] != ends[1]
    return +arrows


def wrong_includes(layers, included):
    for path, others in included.items():
        owners = layers.owners(path)
        if not owners:
            yield f"src/{path} belongs to no layer: name it in a CMakeLists.txt of src/"
        for name in owners:
            for other in sorted(others):
                if not layers.sees(name, other):
                    seen = sorted({*layers.reach(name, ("depends",)), *layers.of[name]["sees"]})
                    yield (f"src/{path} includes {other} of {' and '.join(layers.owners(other)) or 'no layer'}: its layer "
                           f"{name} sees {', '.join(seen) or 'nothing'}")


def circles(layers, included):
    arrows = {}
    for start, end in count_arrows(layers, included):
        arrows.setdefault(start, set()).add(end)
    for what, edges in (("layers as declared by the build", layers.declared("depends", "uses", "links")),
                        ("layers as their files include each other", arrows), ("files", included)):
        if circle := find_circle(edges):
            yield f"{what} form a cycle: {' -> '.join(circle)}"


def symbols(archive):
    """The external functions and objects that a library defines, and those that it needs from other libraries."""
    lines = subprocess.run(["nm", "-g", "--format=posix", archive], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    kinds = [(row[0], row[1]) for row in rows if len(row) > 1 and len(row[1]) == 1]
    defined = {name for name, kind in kinds if kind in "TDRB"}
    return defined, {name for name, kind in kinds if kind == "U"} - defined


def wrong_calls(layers):
    tables = {name: symbols(layer["archive"]) for name, layer in layers.of.items() if layer["archive"]}
    folders = {symbol: name for name, (defined, _) in tables.items() for symbol in defined}
    for name, (_, asked) in tables.items():
        linked = layers.reach(name, ("depends", "uses", "links"))
        for symbol in sorted(asked & folders.keys()):
            if folders[symbol] not in linked:
                yield f"the layer {name} calls {symbol} of {folders[symbol]}, but is not linked with it"


def errors_in(src, layers):
    included = read_includes(src)
    return [*wrong_includes(layers, included), *circles(layers, included)]


def show(arrows, layers, as_dot):
    if not as_dot:
        for name in layers.of:
            ends = ", ".join(f"{end} {count}" for (start, end), count in sorted(arrows.items()) if start == name)
            print(f"{name}: {ends or 'nothing'}")
        return
    print("digraph layers {\n  rankdir = BT;\n  node [shape = box];")
    for (start, end), count in sorted(arrows.items()):
        print(f'  "{start}" -> "{end}" [label = {count}];')
    print("}")


def check_itself():
    """Checks that this test finds errors, in a tree of three files."""
    def errors(texts, **changes):
        lines = [{"name": name, "folder": name, "archive": "", **{key: [] for key in LISTS}} for name in "abc"]
        for line, depends in zip(lines, ([], ["a"], ["b"])):
            line["depends"] = depends
        for key, value in changes.items():
            lines[0][key] = value
        with tempfile.TemporaryDirectory() as folder:
            for path, text in texts.items():
                (Path(folder) / path).parent.mkdir(exist_ok=True)
                (Path(folder) / path).write_text(text, encoding="utf-8")
            return errors_in(Path(folder), Layers(lines))

    fine = {"a/a.h": "#pragma once\n", "b/b.h": '#include "a/a.h"\n', "c/c.h": '#include "b/b.h"\n#include "a/a.h"\n'}
    assert errors(fine) == []
    up = errors({**fine, "a/a.h": '#include "c/c.h"\n'})
    assert up[0] == "src/a/a.h includes c/c.h of c: its layer a sees nothing", up
    assert [one.split(":")[0] for one in up[1:]] == [
        "layers as their files include each other form a cycle", "files form a cycle"], up
    assert errors({**fine, "a/d.h": '#include "a.h"\n', "a/a.h": '#include "a/d.h"\n'}) == [
        "files form a cycle: a/a.h -> a/d.h -> a/a.h"]
    assert errors(fine, uses=["c"])[0].startswith("layers as declared by the build form a cycle: a -> c")
    assert errors({**fine, "d/d.h": ""}) == ["src/d/d.h belongs to no layer: name it in a CMakeLists.txt of src/"]


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[2:] not in ([], ["--table"], ["--dot"]):
        sys.exit(__doc__)
    src, layers = Path(arguments[0]), Layers(json.loads(Path(arguments[1]).read_text(encoding="utf-8")))
    arrows = count_arrows(layers, read_includes(src))
    if arguments[2:]:
        return show(arrows, layers, arguments[2] == "--dot")
    check_itself()
    assert len(arrows) > 100, "the includes were not read"
    errors = [*errors_in(src, layers), *wrong_calls(layers)]
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{len(layers.of)} layers, {len(arrows)} arrows between them, {len(errors)} errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
