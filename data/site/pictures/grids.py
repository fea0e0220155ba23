# SPDX-License-Identifier: MIT
"""Pictures of tensors as grids, inputs on the left and outputs on the right. Colors show where each element moves or
which elements determine it. The operator itself is run to find this out."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from example_types import Example, Tensor

from .run import Library
from .svg import Svg, hue, short

CELL = 26  # the height of a cell
SAME = 0.45
Colors = list[list[str | None]]


class Moves(NamedTuple):
    """Each output element has the color of the input element that it comes from. data: the inputs that are moved."""
    data: Sequence[int] = (0,)
    example: Example | None = None
    by_value: bool = False  # elements are identified by their values, which are all different
    caption: str = "Each output element has the color of the input element it comes from."


class Depends(NamedTuple):
    """Each input element has the color of the output element that depends on it. If an input affects several outputs,
    only one output is shown."""
    data: Sequence[int] = (0,)
    example: Example | None = None
    show: Sequence[int] | None = None
    pick: int | None = None
    caption: str = ""


class Shades(NamedTuple):
    """Shows inputs and outputs as images."""
    example: Example
    caption: str


class Painted(NamedTuple):
    """`paint` returns the colors of each input's elements, followed by the colors of each output's elements."""
    paint: Callable[[Sequence[Tensor], Sequence[Tensor]], Colors]
    caption: str
    example: Example | None = None


def flat(inputs: Sequence[Any]) -> list[Tensor | None]:
    return [one for given in inputs for one in (given if isinstance(given, tuple) else (given,))]


def planes(tensor: Tensor) -> tuple[list[str], int, int]:
    """Returns the names of the grids of the last two dimensions, and the grids' rows and columns."""
    sizes = (1, *tensor.sizes) if len(tensor.sizes) == 1 else tensor.sizes
    rows, columns, names = sizes[-2], sizes[-1], [""]
    for size in sizes[:-2]:
        names = [f"{name}{',' if name else ''}{i}" for name in names for i in range(size)]
    return names if len(names) > 1 else [""], rows, columns


def text_of(value: float) -> str:
    return short(float(f"{value:.4g}")) if math.isfinite(value) else short(value)


def draw_tensor(svg: Svg, left: float, top: float, title: str, tensor: Tensor, colors: Sequence[str | None],
                opacity: float = SAME) -> tuple[float, float]:
    """Draws a tensor, and returns where it ends."""
    names, rows, columns = planes(tensor)
    texts = [text_of(value) for value in tensor.values]
    width = max(30.0, 7.0 * max(map(len, texts)) + 12)
    svg.text(left, top + 12, title, 12, "start", bold=True)
    svg.text(left, top + 27, f"{' × '.join(map(str, tensor.sizes))}, {tensor.type}", 11, "start", faint=True)
    top += 36
    if names != [""]:
        top += 14
    right, most = left, max(1, int(620 / (columns * width + 18)))
    for number, name in enumerate(names):
        x = left + number % most * (columns * width + 18)
        y = top + number // most * (rows * CELL + 24)
        if name:
            svg.text(x, y - 4, f"[{name}]", 10, "start", faint=True)
        for i in range(rows * columns):
            at = number * rows * columns + i
            cell_x, cell_y = x + i % columns * width, y + i // columns * CELL
            color = colors[at]
            svg.rect(cell_x, cell_y, width, CELL, color or "none", opacity if color else 1, True)
            svg.text(cell_x + width / 2, cell_y + 17, texts[at], 12)
        right = max(right, x + columns * width)
    bottom = top + math.ceil(len(names) / most) * (rows * CELL + 24) - 24
    svg.reach(left + 6.2 * max(len(title) + 2, 18), bottom)
    return max(right, left + 6.6 * len(title) + 14), bottom


def layout(inputs: Sequence[tuple[str, Tensor, Sequence[str | None]]],
           outputs: Sequence[tuple[str, Tensor, Sequence[str | None]]], opacity: float = SAME) -> Svg:
    """Draws a column of inputs, an arrow, and a column of outputs."""
    svg = Svg()
    right, bottoms, x = 8.0, [], 8.0
    for group in (inputs, outputs):
        top, start = 4.0, x
        for title, tensor, colors in group:
            right_, bottom = draw_tensor(svg, start, top, title, tensor, colors, opacity)
            right, top = max(right, right_), bottom + 18
        bottoms.append(top - 18)
        if group is inputs and group:
            middle = 40 + (min(max(bottoms[0], 60), 150) - 40) / 2
            svg.arrow(right + 14, middle, right + 52, middle)
            x = right + 70
    return svg


def described(name: str, inputs: Sequence[tuple[str, Tensor, Any]], outputs: Sequence[tuple[str, Tensor, Any]]) -> str:
    def one(title: str, tensor: Tensor) -> str:
        shown = [text_of(value) for value in tensor.values[:24]]
        return f"{title} {' by '.join(map(str, tensor.sizes))}: {' '.join(shown)}{' ...' if len(tensor.values) > 24 else ''}"
    return (f"{name}. " + "; ".join(one(title, tensor) for title, tensor, _ in inputs)
            + (" gives " if inputs else "") + "; ".join(one(title, tensor) for title, tensor, _ in outputs) + ".")


def run(library: Library, name: str, example: Example, inputs: Sequence[Tensor | None] | None = None) -> list[Tensor]:
    return library.run(name, inputs if inputs is not None else flat(example.inputs), example.outputs, example.attributes)


def titled(names: Sequence[str], tensors: Sequence[Tensor | None], colors: Sequence[Sequence[str | None]],
           show: Sequence[int] | None = None) -> list[tuple[str, Tensor, Sequence[str | None]]]:
    """Adds the names of fields. The tensors of an array share a name and are numbered."""
    result = []
    for i, tensor in enumerate(tensors):
        if tensor is None or show is not None and i not in show:
            continue
        many = len(tensors) > len(names) and i >= len(names) - 1
        result.append((f"{names[-1]}[{i - len(names) + 1}]" if many else names[i], tensor, colors[i]))
    return result


def blank(tensors: Sequence[Tensor | None]) -> Colors:
    return [[None] * (len(one.values) if one else 0) for one in tensors]


def moves(library: Library, name: str, row: Moves, example: Example, names: Any) -> tuple[str, str]:
    inputs, results = flat(example.inputs), run(library, name, example)
    total = sum(len(inputs[i].values) for i in row.data)  # type: ignore[union-attr]
    of_input, of_output = blank(inputs), blank(results)
    color_of: dict[float, str] = {}
    numbered: list[Tensor | None] = list(inputs)
    for i in row.data:
        tensor = inputs[i]
        assert tensor is not None
        keys = tensor.values if row.by_value else tuple(1000.0 + len(color_of) + k for k in range(len(tensor.values)))
        for k, key in enumerate(keys):
            color_of[key] = of_input[i][k] = hue(len(color_of), total)
        numbered[i] = replace(tensor, values=keys)
    traced = results if row.by_value else run(library, name, example, numbered)
    for k, value in enumerate(traced[0].values):
        of_output[0][k] = color_of.get(value)
    for i in range(1, len(traced)):  # indices in addition to values, or another tensor of an array
        same = row.by_value and len(traced[i].values) == len(traced[0].values)
        of_output[i] = of_output[0] if same else [color_of.get(value) for value in traced[i].values]
    left, right = titled(names[0], inputs, of_input), titled(names[1], results, of_output)
    words = described(name, left, right)
    return layout(left, right).finish(words), words


def nudged(tensor: Tensor, k: int) -> list[Tensor]:
    """Returns two copies of a tensor with different values at k."""
    value = tensor.values[k]
    others = {"FLOAT32": (value + 1000, value - 1000), "UINT8": (255, 0), "INT8": (127, -128)}.get(
        tensor.type, (value + 1, value + 100))
    return [replace(tensor, values=(*tensor.values[:k], other, *tensor.values[k + 1:])) for other in others]


def depends(library: Library, name: str, row: Depends, example: Example, names: Any) -> tuple[str, str]:
    inputs, results = flat(example.inputs), run(library, name, example)
    of_input, of_output = blank(inputs), blank(results)
    decides: dict[tuple[int, int], set[int]] = {}
    for i in row.data:
        tensor = inputs[i]
        assert tensor is not None
        for k in range(len(tensor.values)):
            for other in nudged(tensor, k):
                changed = run(library, name, example, [*inputs[:i], other, *inputs[i + 1:]])[0]
                decides.setdefault((i, k), set()).update(
                    j for j, (a, b) in enumerate(zip(results[0].values, changed.values)) if a != b)
    count = len(results[0].values)
    if row.pick is None and all(len(of) <= 1 for of in decides.values()):
        for (i, k), of in decides.items():
            of_input[i][k] = hue(min(of), count) if of else None
        of_output[0] = [hue(j, count) for j in range(count)]
    else:
        pick = row.pick if row.pick is not None else count // 2
        of_output[0][pick] = hue(1, 2)
        for (i, k), of in decides.items():
            of_input[i][k] = hue(1, 2) if pick in of else None
    for i in range(1, len(results)):
        if len(results[i].values) == count:
            of_output[i] = of_output[0]
    left, right = titled(names[0], inputs, of_input, row.show), titled(names[1], results, of_output)
    words = described(name, left, right)
    return layout(left, right).finish(words), words


def shades(library: Library, name: str, row: Shades, example: Example, names: Any) -> tuple[str, str]:
    inputs, results = flat(example.inputs), run(library, name, example)
    most = max(abs(value) for tensor in (*inputs, *results) if tensor for value in tensor.values)
    # The last two digits are the opacity.
    colors = [[f"#d66c28{round(200 * abs(value) / most):02x}" for value in tensor.values]
               for tensor in (*inputs, *results) if tensor]
    left = titled(names[0], inputs, colors[:len(inputs)])
    right = titled(names[1], results, colors[len(inputs):])
    words = described(name, left, right)
    return layout(left, right, 1).finish(words), words


def painted(library: Library, name: str, row: Painted, example: Example, names: Any) -> tuple[str, str]:
    inputs, results = flat(example.inputs), run(library, name, example)
    colors = row.paint(inputs, results)  # type: ignore[arg-type]
    left, right = titled(names[0], inputs, colors[:len(inputs)]), titled(names[1], results, colors[len(inputs):])
    words = described(name, left, right)
    return layout(left, right).finish(words), words
