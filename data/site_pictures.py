# SPDX-License-Identifier: MIT
"""The picture of an operator's page: SVG within the page, with a caption and a text alternative.

usage: site_pictures.py FOLDER [NAME ...]     writes FOLDER/NAME.svg, to look at them; all by default"""
from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

import examples
from pictures import grids, kinds
from pictures.rows import ROWS, WITHOUT
from pictures.run import Library, find_library

OF_FUNCTIONS = {kinds.Curves: kinds.curves, kinds.Map: kinds.map_of_two, kinds.Bars: kinds.bars,
                kinds.Histograms: kinds.histograms, kinds.Bits: kinds.bits, kinds.Descent: kinds.descent,
                kinds.Steps: kinds.steps, kinds.Blocks: kinds.blocks}
OF_TENSORS = {grids.Moves: grids.moves, grids.Depends: grids.depends, grids.Shades: grids.shades,
              grids.Painted: grids.painted}
Names = tuple[Sequence[str], Sequence[str]]  # of the fields that are inputs, and of the outputs


def picture(library: Library, name: str, names: Names) -> tuple[str, str]:
    """The SVG and the caption."""
    row = ROWS[name]
    if type(row) in OF_FUNCTIONS:
        svg, _ = OF_FUNCTIONS[type(row)](library, name, row)  # type: ignore[operator]
    else:
        example = row.example or examples.EXAMPLES[name]
        svg, _ = OF_TENSORS[type(row)](library, name, row, example, names)  # type: ignore[operator]
    # A page has one picture; its pattern has the name of the operator, so that pages can be printed together.
    return re.sub(r"(#|id=\")hatch", rf"\1hatch-{name.lower()}", svg), row.caption


def part(library: Library | None, name: str, names: Names) -> list[str]:
    """The lines of the page."""
    if name not in ROWS or library is None:
        return []
    svg, caption = picture(library, name, names)
    note = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return [f'<figure class="operator" data-search-exclude>{svg}{note}</figure>', ""]


def main(arguments: Sequence[str]) -> None:
    import site_operators
    library = find_library()
    if not arguments or library is None:
        sys.exit(__doc__ if not arguments else "site_pictures.py: no libanydml.so in build/release: ./run builds it")
    folder, pages = Path(arguments[0]), site_operators.Pages()
    folder.mkdir(parents=True, exist_ok=True)
    for operator in pages.source.operators:
        name = pages.source.name_of(operator)
        if name in (arguments[1:] or ROWS) and name in ROWS:
            (folder / f"{name}.svg").write_text(picture(library, name, site_operators.tensor_names(operator))[0], encoding="utf-8")
    print(f"{len(ROWS)} operators have pictures, {len(WITHOUT)} have a reason for none")


if __name__ == "__main__":
    main(sys.argv[1:])
