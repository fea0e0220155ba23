# SPDX-License-Identifier: MIT
"""Draws the picture for an operator's page: inline SVG with a caption and a text alternative.

usage: site_pictures.py FOLDER [NAME ...]     writes FOLDER/NAME.svg for viewing; by default all of them"""
from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("facts", "python")]
import examples  # noqa: E402
from generate_tables import Source  # noqa: E402
from pictures import grids, kinds  # noqa: E402
from pictures.rows import ROWS, WITHOUT  # noqa: E402
from pictures.run import Library, find_library  # noqa: E402

OF_FUNCTIONS = {kinds.Curves: kinds.curves, kinds.Map: kinds.map_of_two, kinds.Bars: kinds.bars,
                kinds.Histograms: kinds.histograms, kinds.Bits: kinds.bits, kinds.Descent: kinds.descent,
                kinds.Steps: kinds.steps, kinds.Blocks: kinds.blocks}
OF_TENSORS = {grids.Moves: grids.moves, grids.Depends: grids.depends, grids.Shades: grids.shades,
              grids.Painted: grids.painted}
Facts = dict[str, Any]


def tensor_names(operator: Facts) -> tuple[list[str], list[str]]:
    """Returns the names of the input fields and of the output fields."""
    fields = [(one["field"], one["kind"]) for one in operator["tensors"]]
    return ([name for name, kind in fields if "input" in kind], [name for name, kind in fields if "output" in kind])


def picture(library: Library, name: str, operator: Facts) -> tuple[str, str]:
    """Returns the SVG and the caption."""
    row = ROWS[name]
    if type(row) in OF_FUNCTIONS:
        svg, _ = OF_FUNCTIONS[type(row)](library, name, row)  # type: ignore[operator]
    else:
        example = row.example or examples.EXAMPLES[name]
        svg, _ = OF_TENSORS[type(row)](library, name, row, example, tensor_names(operator))  # type: ignore[operator]
    # Each page has one picture. Its pattern is named after the operator, so that pages can be printed together.
    return re.sub(r"(#|id=\")hatch", rf"\1hatch-{name.lower()}", svg), row.caption


def part(library: Library | None, name: str, operator: Facts) -> list[str]:
    """Returns the lines of the page."""
    if name not in ROWS or library is None:
        return []
    svg, caption = picture(library, name, operator)
    note = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return [f'<figure class="operator" data-search-exclude>{svg}{note}</figure>', ""]


def main(arguments: Sequence[str]) -> None:
    library = find_library()
    if not arguments or library is None:
        sys.exit(__doc__ if not arguments else "site_pictures.py: no libanydml.so in build/release: ./run builds it")
    folder, source = Path(arguments[0]), Source()
    folder.mkdir(parents=True, exist_ok=True)
    for operator in source.operators:
        name = source.name_of(operator)
        if name in (arguments[1:] or ROWS) and name in ROWS:
            (folder / f"{name}.svg").write_text(picture(library, name, operator)[0], encoding="utf-8")
    print(f"{len(ROWS)} operators have pictures; {len(WITHOUT)} have none, with a reason")


if __name__ == "__main__":
    main(sys.argv[1:])
