# SPDX-License-Identifier: MIT
"""Pictures of functions: curves, maps of two arguments, bars, histograms, bits, and diagrams of layers. Each drawing
function accepts the library, the operator's name and a row of rows.py, and returns the SVG with its text
alternative."""
from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from example_types import Tensor

from .run import Library
from .svg import HATCH, LINES, Svg, legend, short, ticks

SAMPLES = 320  # even, so that a symmetric range does not sample 0 and jumps at 0 stay jumps
LEFT, TOP, WIDTH, HEIGHT = 46, 12, 380, 230
BLUE, GREY, ORANGE = (47, 111, 183), (236, 236, 236), (214, 108, 40)


class Curves(NamedTuple):
    """A function of one number. A line has a label, attributes, and the constant values of the other inputs."""
    lines: Sequence[tuple[str, dict[str, Any], Sequence[tuple[str, float]]]]
    x: tuple[float, float] = (-4, 4)
    y: tuple[float, float] | None = None
    position: int = 0  # the index of x among the inputs
    to: str = "FLOAT32"
    of: str = "FLOAT32"
    caption: str = ""


class Map(NamedTuple):
    """A function of two numbers, shown as colors."""
    a: tuple[float, float] = (-4, 4)
    b: tuple[float, float] = (-4, 4)
    of: str = "FLOAT32"
    to: str = "FLOAT32"
    attributes: dict[str, Any] = {}
    count: int = 20
    caption: str = ""
    most: float = math.inf  # the value that has the strongest color


class Bars(NamedTuple):
    values: Sequence[float]
    attributes: dict[str, Any] = {}
    caption: str = ""


class Histograms(NamedTuple):
    """The values of two channels before and after the operator."""
    attributes: dict[str, Any]
    more: Sequence[Any] = ()  # the other inputs
    outputs: int = 1
    caption: str = ""
    sizes: tuple[int, ...] = (1, 2, 16, 16)


class Bits(NamedTuple):
    caption: str


class Descent(NamedTuple):
    caption: str


class Steps(NamedTuple):
    """A recurrent network, step by step."""
    box: str
    states: Sequence[str]
    caption: str


class Blocks(NamedTuple):
    """Matrices with the names of their sides: (title, rows, columns, width, height), and the symbols between them."""
    blocks: Sequence[tuple[str, str, str, int, int]]
    between: Sequence[str]
    caption: str


class Axes:
    def __init__(self, svg: Svg, x: tuple[float, float], y: tuple[float, float], left: float = LEFT, width: float = WIDTH,
                 height: float = HEIGHT, top: float = TOP, numbered: bool = True) -> None:
        self.svg, self.xs, self.ys = svg, x, y
        self.left, self.top, self.width, self.height = left, top, width, height
        for tick in ticks(*x, 6 if width > 250 else 4) if numbered else ():
            svg.line(self.x(tick), top, self.x(tick), top + height, 0.55 if tick == 0 else 0.15)
            svg.text(self.x(tick), top + height + 16, short(tick), 11, faint=True)
        for tick in ticks(*y, 5):
            svg.line(left, self.y(tick), left + width, self.y(tick), 0.55 if abs(tick) < 1e-12 else 0.15)
            svg.text(left - 6, self.y(tick) + 4, short(tick), 11, "end", faint=True)

    def x(self, value: float) -> float:
        return self.left + (value - self.xs[0]) / (self.xs[1] - self.xs[0]) * self.width

    def y(self, value: float) -> float:
        return self.top + (self.ys[1] - value) / (self.ys[1] - self.ys[0]) * self.height

    def curve(self, xs: Sequence[float], ys: Sequence[float], color: str, width: float = 2) -> None:
        """Draws a curve in pieces. Pieces are not joined across jumps, and nothing is drawn outside the axes."""
        pieces, piece = [], []
        range_ = self.ys[1] - self.ys[0]
        for i, (x, y) in enumerate(zip(xs, ys)):
            inside = math.isfinite(y) and self.ys[0] - range_ * 0.02 <= y <= self.ys[1] + range_ * 0.02
            if piece and inside:
                step = abs(y - ys[i - 1])
                before = abs(ys[i - 1] - ys[i - 2]) if i > 1 else 0.0
                after = abs(ys[i + 1] - y) if i + 1 < len(ys) and math.isfinite(ys[i + 1]) else 0.0
                if step > 0.03 * range_ and step > 4 * max(before, after):
                    pieces.append(piece)
                    piece = []
            if inside:
                piece.append((self.x(x), min(max(self.y(y), self.top), self.top + self.height)))
            elif piece:
                pieces.append(piece)
                piece = []
        for one in [*pieces, piece]:
            self.svg.path(thinned(one), color, width)


def thinned(positions: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drops points that are almost exactly on the line between their neighbors."""
    kept: list[tuple[float, float]] = []
    for i, (x, y) in enumerate(positions):
        if kept and i + 1 < len(positions):
            (x0, y0), (x1, y1) = kept[-1], positions[i + 1]
            if abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y) < 0.04 and x - x0 < 40:
                continue
        kept.append((x, y))
    return kept


def nan_spans(xs: Sequence[float], lines: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Returns the ranges where all lines are NaN."""
    spans: list[tuple[float, float]] = []
    for i, x in enumerate(xs):
        if all(math.isnan(line[i]) for line in lines):
            spans = [*spans[:-1], (spans[-1][0], x)] if spans and i and spans[-1][1] == xs[i - 1] else [*spans, (x, x)]
    return [span for span in spans if span[1] > span[0]]


def curves(library: Library, name: str, row: Curves) -> tuple[str, str]:
    xs = [row.x[0] + (row.x[1] - row.x[0]) * i / (SAMPLES - 1) for i in range(SAMPLES)]
    if row.of != "FLOAT32":
        xs = [float(x) for x in range(int(row.x[0]), int(row.x[1]) + 1)]
    given = Tensor(row.of, tuple(xs if row.of == "FLOAT32" else map(int, xs)), (len(xs),))
    found = []
    for _, attributes, others in row.lines:
        inputs: list[Any] = [Tensor(kind, (value,) * len(xs), (len(xs),)) for kind, value in others]
        inputs.insert(row.position, given)
        result, = library.run(name, inputs, [Tensor(row.to, (0,) * len(xs), (len(xs),))], attributes)
        found.append(result.values)
    finite = [y for line in found for y in line if math.isfinite(y)]
    low, high = row.y or (min(finite), max(finite))
    if not row.y:
        low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    svg = Svg()
    axes = Axes(svg, row.x, (low, high))
    spans = nan_spans(xs, found)
    for begin, end in spans:
        svg.rect(axes.x(begin), TOP, axes.x(end) - axes.x(begin), HEIGHT, HATCH)
        svg.text((axes.x(begin) + axes.x(end)) / 2, TOP + HEIGHT / 2, "NaN", 13, bold=True)
    for i, line in enumerate(found):
        axes.curve(xs, line, LINES[i % len(LINES)], 2 + 1.7 * (len(found) - 1 - i))  # visible behind the next line
    entries = [(label, LINES[i % len(LINES)]) for i, (label, _, _) in enumerate(row.lines) if label]
    legend(svg, LEFT + WIDTH + 16, TOP + 12, entries)
    points = "; ".join(", ".join(f"{short(xs[i])} gives {short(line[i])}" for i in (0, len(xs) // 2, len(xs) - 1))
                       for line in found[:1])
    words = f"Curve of {name} from {short(row.x[0])} to {short(row.x[1])}: {points}."
    if len(entries) > 1:
        words += " Lines: " + ", ".join(label for label, _ in entries) + "."
    if spans:
        words += " NaN " + " and ".join(f"from {short(a)} to {short(b)}" for a, b in spans) + "."
    return svg.finish(words), words


def mixed(share: float, first: tuple[int, int, int], second: tuple[int, int, int]) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(first, second))


def shade(value: float, most: float) -> str:
    """Returns blue below zero, gray at zero, and orange above."""
    share = max(-1.0, min(1.0, value / most)) if most else 0.0
    return mixed(abs(share), GREY, ORANGE if share > 0 else BLUE)


def map_of_two(library: Library, name: str, row: Map) -> tuple[str, str]:
    whole = row.of != "FLOAT32"
    count = int(row.a[1] - row.a[0]) + 1 if whole else row.count

    def positions(span: tuple[float, float]) -> list[float]:
        if whole:
            return [int(span[0]) + i for i in range(count)]
        return [span[0] + (span[1] - span[0]) * (i + 0.5) / count for i in range(count)]
    first, second = positions(row.a), positions(row.b)
    a = Tensor(row.of, tuple(x for _ in second for x in first), (count * count,))
    b = Tensor(row.of, tuple(y for y in second for _ in first), (count * count,))
    result, = library.run(name, [a, b], [Tensor(row.to, (0,) * count * count, (count * count,))], row.attributes)
    finite = [abs(value) for value in result.values if math.isfinite(value)]
    most = min(max(finite), row.most)
    svg, side = Svg(), 260 / count
    has_nan = False
    for j in range(count):
        line, i = result.values[j * count:(j + 1) * count], 0
        while i < count:
            end = i + 1
            paint = HATCH if math.isnan(line[i]) else shade(line[i], most)
            while end < count and (HATCH if math.isnan(line[end]) else shade(line[end], most)) == paint:
                end += 1
            has_nan = has_nan or paint == HATCH
            svg.rect(LEFT + i * side, TOP + 260 - (j + 1) * side, (end - i) * side + 0.3, side + 0.3, paint)
            i = end
    shown = (0, count // 2, count - 1) if whole else None
    for span, horizontal in ((row.a, True), (row.b, False)):
        marks = [(span[0] + i, (i + 0.5) * side) for i in shown] if shown else [
            (tick, (tick - span[0]) / (span[1] - span[0]) * 260) for tick in ticks(*span, 4)]
        for value, position in marks:
            if horizontal:
                svg.text(LEFT + position, TOP + 276, short(value), 11, faint=True)
            else:
                svg.text(LEFT - 6, TOP + 264 - position, short(value), 11, "end", faint=True)
    svg.text(LEFT + 130, TOP + 292, "a", 12)
    svg.text(LEFT - 34, TOP + 134, "b", 12)
    levels = [most, most / 2, 0, -most / 2, -most]
    if row.to == "UINT8" and most <= 1:
        levels = [1, 0]
    elif min(result.values) >= 0:
        levels = levels[:3]
    entries = [(short(level), shade(level, most)) for level in levels] + ([("NaN", HATCH)] if has_nan else [])
    legend(svg, LEFT + 282, TOP + 12, entries)
    corners = ", ".join(f"{short(first[i])} and {short(second[j])} give {short(result.values[j * count + i])}"
                        for i, j in ((0, 0), (count - 1, 0), (0, count - 1), (count - 1, count - 1)))
    words = f"Map of {name} over a and b: {corners}."
    return svg.finish(words), words


def bar_chart(svg: Svg, left: float, title: str, values: Sequence[float], color: str) -> None:
    low, high = min(0.0, *values), max(0.0, *values)
    room = (high - low) or 1.0
    axes = Axes(svg, (0, len(values)), (low, high + 0.12 * room), left, 40.0 * len(values), 150, TOP + 22, False)
    svg.text(left + 20 * len(values), TOP + 10, title, 12, bold=True)
    for i, value in enumerate(values):
        top, base = sorted((axes.y(value), axes.y(0)))
        svg.rect(axes.x(i) + 5, top, 30, max(base - top, 1), color, 0.75)
        svg.text(axes.x(i + 0.5), top - 4, short(float(f"{value:.3g}")), 10)


def bars(library: Library, name: str, row: Bars) -> tuple[str, str]:
    sizes = (1, len(row.values))
    given = Tensor("FLOAT32", tuple(row.values), sizes)
    result, = library.run(name, [given], [given], row.attributes)
    svg = Svg()
    bar_chart(svg, LEFT, "in", row.values, LINES[0])
    middle = LEFT + 40 * len(row.values) + 12
    svg.arrow(middle, TOP + 98, middle + 30, TOP + 98)
    bar_chart(svg, middle + 76, "out", result.values, LINES[1])
    words = f"{name} of {', '.join(map(short, row.values))} is {', '.join(short(float(f'{one:.3g}')) for one in result.values)}."
    return svg.finish(words), words


def histograms(library: Library, name: str, row: Histograms) -> tuple[str, str]:
    draw = random.Random(1)
    half = math.prod(row.sizes) // 2
    values = [draw.gauss(-2, 0.7) for _ in range(half)] + [draw.gauss(3, 1.6) for _ in range(half)]
    given = Tensor("FLOAT32", tuple(values), row.sizes)
    channel = (1, 2, 1, 1)
    more = [None if one is None else Tensor("FLOAT32", tuple(one), channel) for one in row.more]
    outputs = [given, *[Tensor("FLOAT32", (0, 0), channel)] * (row.outputs - 1)]
    result = library.run(name, [given, *more], outputs, row.attributes)[0]
    svg, moments = Svg(), []
    for number, (title, numbers) in enumerate((("in", given.values), ("out", result.values))):
        left, low, high, bins = LEFT + number * 300, -6.0, 8.0, 28
        counts = [[0] * bins, [0] * bins]
        for i, value in enumerate(numbers):
            position = int((value - low) / (high - low) * bins)
            if 0 <= position < bins:
                counts[i >= half][position] += 1
        axes = Axes(svg, (low, high), (0, max(map(max, counts)) * 1.08), left, 240, 150, TOP + 22)
        svg.text(left + 120, TOP + 10, title, 12, bold=True)
        for channel_, color in enumerate(LINES[:2]):
            for i, count in enumerate(counts[channel_]):
                if count:
                    svg.rect(axes.x(low + i / 2), axes.y(count), 240 / bins - 0.5, axes.y(0) - axes.y(count), color, 0.6)
            part = numbers[:half] if channel_ == 0 else numbers[half:]
            mean = sum(part) / half
            moments.append((mean, math.sqrt(sum((one - mean) ** 2 for one in part) / half)))
    svg.arrow(LEFT + 248, TOP + 98, LEFT + 272, TOP + 98)
    texts = [f"mean {round(mean, 2) + 0.0:.2f}, deviation {deviation:.2f}".replace("-", "−") for mean, deviation in moments]
    legend(svg, LEFT, TOP + 210, [(f"channel 0: {texts[0]}; then {texts[2]}", LINES[0]),
                                  (f"channel 1: {texts[1]}; then {texts[3]}", LINES[1])])
    words = (f"Histograms of two channels before and after {name}. Channel 0: {texts[0]}, then {texts[2]}. "
             f"Channel 1: {texts[1]}, then {texts[3]}.")
    return svg.finish(words), words


def bits(library: Library, name: str, row: Bits) -> tuple[str, str]:
    state = Tensor("UINT32", (0, 0, 0, 0, 7, 9), (1, 1, 1, 6))
    count, cell = 24, 9
    numbers, _ = library.run(name, [state], [Tensor("UINT32", (0,) * count, (1, 1, 1, count)), state],
                             {"Type": "PHILOX_4X32_10"})
    svg = Svg()
    svg.rect(LEFT, TOP, 32 * cell, count * cell, stroke=True)
    squares = [f"M{LEFT + (31 - bit) * cell} {TOP + line * cell}h{cell}v{cell}h-{cell}z"
               for line, number in enumerate(numbers.values) for bit in range(32) if number >> bit & 1]
    svg.parts.append(f'<path d="{"".join(squares)}" fill="{LINES[0]}" fill-opacity=".8"/>')
    ones = sum(bin(number).count("1") for number in numbers.values)
    svg.text(LEFT + 16 * cell, TOP + count * cell + 16, f"{count} numbers of 32 bits, {ones} of {32 * count} are 1", 12)
    words = f"The bits of {count} numbers that {name} gives for one state; {ones} of {32 * count} are 1. The first is " \
            f"{numbers.values[0]}."
    return svg.finish(words), words


def descent(library: Library, name: str, row: Descent) -> tuple[str, str]:
    """Draws the steps toward the minimum of x squared."""
    svg, steps = Svg(), 60
    one = (1, 1, 1, 1)
    lines = []
    for rate in (0.02, 0.1, 0.4):
        x, first, second, line = 2.0, 0.0, 0.0, [2.0]
        for step in range(1, steps + 1):
            inputs = [Tensor("FLOAT32", (value,), one) for value in (x, first, second, 2 * x)]
            built = library.run(name, [*inputs, Tensor("UINT32", (step,), one)], inputs[:3],
                               {"LearningRate": rate, "Beta1": 0.9, "Beta2": 0.99, "Epsilon": 1e-8})
            x, first, second = (tensor.values[0] for tensor in built)
            line.append(x)
        lines.append((rate, line))
    axes = Axes(svg, (0, steps), (-1.5, 2.2))
    for (_, line), color in zip(lines, LINES):
        axes.curve(range(steps + 1), line, color)
    legend(svg, LEFT + WIDTH + 16, TOP + 12, [(f"LearningRate {rate:g}", color) for (rate, _), color in zip(lines, LINES)])
    words = f"{name} on its way to the minimum of x² from 2, {steps} steps: " + ", ".join(
        f"at LearningRate {rate:g} it reaches {short(float(f'{line[-1]:.2g}'))}" for rate, line in lines) + "."
    return svg.finish(words), words


def steps(library: Library, name: str, row: Steps) -> tuple[str, str]:
    svg, count, width = Svg(), 4, 150
    top = 92
    for i in range(count):
        x = 60 + i * width
        last = i == count - 1
        index = f"{i}" if not last else "T−1"
        svg.rect(x, top, 92, 56, LINES[0], 0.3, True, 6)
        svg.text(x + 46, top + 24, name, 13, bold=True)
        svg.text(x + 46, top + 42, row.box, 10, faint=True)
        svg.rect(x + 21, top + 104, 50, 26, LINES[2], 0.3, True)
        svg.text(x + 46, top + 121, f"X[{index}]", 12)
        svg.arrow(x + 46, top + 102, x + 46, top + 60)
        svg.rect(x + 16, 18, 60, 26, LINES[1], 0.3, True)
        svg.text(x + 46, 35, f"Y[{index}]", 12)
        svg.arrow(x + 46, top - 2, x + 46, 48)
        for j, state in enumerate(row.states):
            y = top + 28 + (j - (len(row.states) - 1) / 2) * 24
            svg.arrow(x - 56 if i else x - 40, y, x - 4, y)
            svg.text(x - 28 if i else x - 24, y - 5, state if i else f"{state}₀", 11, faint=True)
            if last:
                svg.arrow(x + 94, y, x + 132, y)
                svg.text(x + 150, y + 4, state, 11, faint=True)
    words = f"{name} over a sequence: each step takes X of that step and the state of the step before, and gives Y and a new state."
    return svg.finish(words), words


def blocks(library: Library, name: str, row: Blocks) -> tuple[str, str]:
    svg, x, base = Svg(), 30.0, 84
    for number, (title, rows, columns, width, height) in enumerate(row.blocks):
        top = base - height / 2
        svg.rect(x, top, width, height, LINES[number % len(LINES)], 0.35, True)
        svg.text(x + width / 2, base + 4, title, 13, bold=True)
        svg.text(x - 4, base + 4, rows, 11, "end", faint=True)
        svg.text(x + width / 2, top - 6, columns, 11, faint=True)
        x += width + 10
        if number < len(row.between):
            svg.text(x + len(row.between[number]) * 3.7 + 2, base + 5, row.between[number], 14)
            x += len(row.between[number]) * 7.5 + 34
    words = f"{name}: " + " ".join(
        f"{title} ({rows} by {columns}) {between}" for (title, rows, columns, *_), between in
        zip(row.blocks, [*row.between, ""])).strip() + "."
    return svg.finish(words), words
