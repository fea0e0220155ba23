#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the source of the site, which scripts/site.sh builds: the documents with adjusted links, and the reference,
generated from the facts and from include/anydml/anydml.h.

usage: generate_site.py FOLDER    writes FOLDER/pages and FOLDER/mkdocs.yml; the site is built in FOLDER/../site
"""
from __future__ import annotations

import base64
import json
import posixpath
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import site_c
import site_operators
import site_pictures
import site_python

ROOT = Path(__file__).resolve().parents[2]
# The location on the site of files that have their own pages. For any other file that a page links to, a page that
# shows the file is created.
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
         "CHANGELOG.md": "changelog.md", "include/anydml/anydml.h": "reference/c.md",
         "examples/exact_modulus.ipynb": "exact-modulus.md"}
NAVIGATION: list[Any] = [
    {"Home": "index.md"},
    {"Guides": [
        {"Networks": ["networks.md"]},
        {"DirectML": ["directml.md", "graphs.md", "porting.md", "debugging.md", "feature-levels.md", "directml-errors.md"]},
        {"Python": ["python.md", "python-reference.md", "exact-modulus.md", "onnx.md", "language-models.md", "onnx-ml.md", "onnxruntime.md", "dask.md"]},
        {"C and C++": ["c.md", "errors.md"]},
        {"dmlrun": ["dmlrun.md", "dmlrun-errors.md"]},
        {"GPUs": ["cuda.md", "vulkan.md"]},
        {"Results and speed": ["numerics.md", "performance.md", "network-speed.md", "operator-speed.md"]},
        {"The inside": ["architecture.md", "adding-an-operator.md", "adding-a-device.md", "site.md", "releasing.md", "promises.md",
                        "contributing.md", "security.md", "changelog.md"]}]},
    {"Operators": []},  # generated from the facts
    {"C": ["reference/c.md"]},
    {"Python": ["reference/python.md", "python-operators.md"]},
]
LANGUAGES = {".py": "python", ".h": "cpp", ".cpp": "cpp", ".json": "json", ".sh": "sh"}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]*)(#[^)]*)?(\))")


def fail(message: str) -> None:
    sys.exit(f"generate_site.py: {message}")


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = folder / "pages"
        self.shown: set[str] = set()  # files that a page links to

    def write(self, path: str, text: str) -> None:
        target = self.pages / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def position(self, path: str) -> str:
        """Returns the location on the site of a file or folder in the tree."""
        if path in PAGES:
            return PAGES[path]
        if path.startswith("docs/"):
            return path.removeprefix("docs/")
        if not (ROOT / path).exists():
            fail(f"a page links to {path}, which does not exist")
        self.shown.add(path)
        return f"source/{path}.md"

    def with_links(self, source: str, page: str, text: str) -> str:
        """Turns links between files of the tree into links between pages. Code blocks have no links."""
        def link(found: re.Match[str]) -> str:
            before, target, anchor, after = found[1], found[2], found[3] or "", found[4]
            if not target or ":" in target:
                return found[0]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
            return before + posixpath.relpath(self.position(path), posixpath.dirname(page) or ".") + anchor + after

        parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
        return "".join(part if i % 2 else LINK.sub(link, part) for i, part in enumerate(parts))

    def documents(self) -> None:
        sources = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in PAGES if name.endswith(".md"))]
        for path in sources:
            source = path.relative_to(ROOT).as_posix()
            page = self.position(source)
            if f'"{page}"' not in json.dumps(NAVIGATION):
                fail(f"{source} is missing in the navigation")
            self.write(page, self.with_links(source, page, path.read_text(encoding="utf-8")))
        for path in (ROOT / "docs").glob("*/*.svg"):
            target = self.pages / path.relative_to(ROOT / "docs")
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)

    def notebooks(self) -> None:
        """Writes the notebooks: text, code, and the code's output and pictures."""
        for source in (name for name in PAGES if name.endswith(".ipynb")):
            page, lines = self.position(source), []
            for i, cell in enumerate(json.loads((ROOT / source).read_text(encoding="utf-8"))["cells"]):
                text = "".join(cell["source"])
                lines += [self.with_links(source, page, text), ""] if cell["cell_type"] == "markdown" else \
                    ["```python", text, "```", ""]
                for output in cell.get("outputs", ()):
                    if "text" in output:
                        lines += ["```text", "".join(output["text"]).rstrip(), "```", ""]
                    else:
                        picture = f"{page.removesuffix('.md')}-{i}.png"
                        (self.pages / picture).write_bytes(base64.b64decode("".join(output["data"]["image/png"])))
                        lines += [f"![{cell['metadata'].get('alt', 'plot of the cell above')}]({picture})", ""]
            lines += [f"This page is the notebook `{source}`.", ""]
            self.write(page, "\n".join(lines))

    def files(self) -> None:
        """Writes pages that show the files that pages link to; for a folder, the text files in it."""
        for source in sorted(self.shown):
            path = ROOT / source
            lines = ["---", "search:", "  exclude: true", "---", "", f"# {source}", ""]  # linked, not searched
            for file in sorted(path.iterdir()) if path.is_dir() else [path]:
                try:
                    text = file.read_text(encoding="utf-8")
                except (UnicodeDecodeError, IsADirectoryError):
                    continue
                lines += [f"## {file.name}", ""] if path.is_dir() else []
                lines += [f"````{LANGUAGES.get(file.suffix, 'text')}", text.rstrip("\n"), "````", ""]
            self.write(f"source/{source}.md", "\n".join(lines))

    def reference(self) -> list[Any]:
        operators = site_operators.Pages()
        for name, text in operators.all().items():
            self.write(f"reference/operators/{name}", text)
        self.write("reference/c.md", site_c.page())
        self.write("reference/python.md", site_python.page())
        return operators.navigation()

    def make(self) -> int:
        shutil.rmtree(self.pages, ignore_errors=True)
        self.documents()
        self.notebooks()
        operators = self.reference()
        self.files()
        for name in ("site.css", "iframe-worker.js"):
            shutil.copy(ROOT / "scripts" / name, self.pages / name)
        navigation = [{"Operators": operators} if "Operators" in one else one for one in NAVIGATION]
        settings = {"INHERIT": str(ROOT / "scripts" / "mkdocs.yml"), "docs_dir": "pages",
                    "site_dir": str(self.folder.parent / "site"), "nav": navigation,
                    "not_in_nav": "source/"}
        (self.folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        return len(list(self.pages.rglob("*.md")))


def main(arguments: list[str]) -> None:
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return
    if len(arguments) != 1 or arguments[0].startswith("-"):
        fail("usage: generate_site.py FOLDER")
    folder = Path(arguments[0]).resolve()
    print(f"wrote {Site(folder).make()} pages to {folder}")
    if not site_pictures.find_library():
        print("without pictures, which need libanydml.so in build/release: ./run builds it")


if __name__ == "__main__":
    main(sys.argv[1:])
