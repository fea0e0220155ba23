# SPDX-License-Identifier: MIT
"""The worked examples from Microsoft's DirectML pages: shapes, attributes, inputs and outputs, as numbers only.
tests/dmlrun/documented_test.py runs them. DOCUMENTED contains the examples as their pages show them. SLIPS contains
the examples that break the rules of their own page, each with its mistake and with the corrected example. Two examples
are only in earlier editions of their pages: the second TILE example and the MAX_POOLING1 example."""
from __future__ import annotations

from typing import Any

from examples import Example, Tensor, f32, i32, u32

_COUNT16 = f32(*range(1, 17)).shaped(1, 1, 4, 4)
_COUNT12 = f32(*range(1, 13))
_SQUARES = [f32(*range(first, first + 4)).shaped(1, 1, 2, 2) for first in (1, 5, 9)]
_NINE = f32(*range(1, 10)).shaped(3, 3)
_PAIRS = f32(1, 2, 3, 4, 5, 6).shaped(3, 2)


# ---- Padding: both operators show the same tensors -----------------------------------------------------------------

_LOW, _HIGH = (1, 2, 3, 4), (5, 6, 7, 8)
_PADDED: dict[str, list[tuple[int, ...]]] = {
    "CONSTANT": [(9,) * 10, *[(9, 9, *row, 9, 9, 9, 9) for row in (_LOW, _HIGH, _LOW, _HIGH)], *[(9,) * 10] * 3],
    "EDGE": [(1, 1, 1, 2, 3, 4, 4, 4, 4, 4), (1, 1, 1, 2, 3, 4, 4, 4, 4, 4), (5, 5, 5, 6, 7, 8, 8, 8, 8, 8),
             (1, 1, 1, 2, 3, 4, 4, 4, 4, 4), *[(5, 5, 5, 6, 7, 8, 8, 8, 8, 8)] * 4],
    "REFLECTION": [(7, 6, 5, 6, 7, 8, 7, 6, 5, 6), (3, 2, 1, 2, 3, 4, 3, 2, 1, 2)] * 4,
    "SYMMETRIC": [(2, 1, 1, 2, 3, 4, 4, 3, 2, 1), (2, 1, 1, 2, 3, 4, 4, 3, 2, 1), (6, 5, 5, 6, 7, 8, 8, 7, 6, 5),
                  (2, 1, 1, 2, 3, 4, 4, 3, 2, 1), (6, 5, 5, 6, 7, 8, 8, 7, 6, 5), (6, 5, 5, 6, 7, 8, 8, 7, 6, 5),
                  (2, 1, 1, 2, 3, 4, 4, 3, 2, 1), (6, 5, 5, 6, 7, 8, 8, 7, 6, 5)],
}


def _padding(mode: str) -> Example:
    """The pages specify PaddingValue only for CONSTANT, because the other modes ignore it."""
    return Example((f32(*(_LOW + _HIGH) * 2).shaped(1, 1, 4, 4),),
                   f32(*(value for row in _PADDED[mode] for value in row)).shaped(1, 1, 8, 10),
                   {"PaddingMode": mode, "PaddingValue": 9 if mode == "CONSTANT" else 0,
                    "StartPadding": [0, 0, 1, 2], "EndPadding": [0, 0, 3, 4]})


# ---- Blocks between depth and space --------------------------------------------------------------------------------

_DEPTH = u32(*(channel + i for channel in range(0, 72, 9) for i in range(6))).shaped(1, 8, 2, 3)
_SPACE = {
    "DEPTH_COLUMN_ROW": u32(
        0, 18, 1, 19, 2, 20, 36, 54, 37, 55, 38, 56, 3, 21, 4, 22, 5, 23, 39, 57, 40, 58, 41, 59,
        9, 27, 10, 28, 11, 29, 45, 63, 46, 64, 47, 65, 12, 30, 13, 31, 14, 32, 48, 66, 49, 67, 50, 68,
    ).shaped(1, 2, 4, 6),
    "COLUMN_ROW_DEPTH": u32(
        0, 9, 1, 10, 2, 11, 18, 27, 19, 28, 20, 29, 3, 12, 4, 13, 5, 14, 21, 30, 22, 31, 23, 32,
        36, 45, 37, 46, 38, 47, 54, 63, 55, 64, 56, 65, 39, 48, 40, 49, 41, 50, 57, 66, 58, 67, 59, 68,
    ).shaped(1, 2, 4, 6),
}


# ---- Folding -------------------------------------------------------------------------------------------------------

def _windows(padding: int) -> dict[str, Any]:
    return {"WindowSizes": [3, 3], "Strides": [1, 1], "Dilations": [1, 1],
            "StartPadding": [padding, 0], "EndPadding": [padding, 0]}


_FOLDED = (26, 70, 102, 60, 78, 183, 231, 129, 84, 195, 243, 135, 82, 182, 214, 116)
_IMAGE = f32(*range(25)).shaped(1, 1, 5, 5)


# ---- The largest elements: TOP_K shows the first three -------------------------------------------------------------

_MIXED = f32(0, 1, 10, 11, 3, 2, 9, 8, 4, 5, 6, 7).shaped(1, 1, 3, 4)
_TIED = f32(1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 6, 6).shaped(1, 1, 3, 4)


def _top(x: Tensor, axis: int, k: int, values: tuple[int, ...], indices: tuple[int, ...], **more: str) -> Example:
    sizes = tuple(k if i == axis else size for i, size in enumerate(x.sizes))
    return Example((x,), (f32(*values).shaped(*sizes), u32(*indices).shaped(*sizes)), {"Axis": axis, "K": k, **more})


def _max(**more: str) -> list[Example]:
    return [_top(_MIXED, 3, 2, (11, 10, 9, 8, 7, 6), (3, 2, 2, 3, 3, 2), **more),
            _top(_MIXED, 2, 2, (4, 5, 10, 11, 3, 2, 9, 8), (2, 2, 0, 0, 1, 1, 1, 1), **more),
            _top(_TIED, 3, 3, (3, 2, 2, 5, 5, 4, 6, 6, 6), (3, 1, 2, 2, 3, 1, 0, 1, 2), **more)]


# ---- The lists -----------------------------------------------------------------------------------------------------

def _slice1(strides: list[int], *results: int) -> Example:
    return Example((_COUNT16,), f32(*results).shaped(1, 1, 2, 2), {
        "InputWindowOffsets": [0, 0, 0, 1], "InputWindowSizes": [1, 1, 4, 3], "InputWindowStrides": strides})


def _joined(axis: int, sizes: tuple[int, ...], *results: int) -> Example:
    return Example((tuple(_SQUARES),), f32(*results).shaped(*sizes), {"Axis": axis})


def _gather(x: Tensor, indices: Tensor, output: Tensor, axis: int, dimensions: int) -> Example:
    return Example((x, indices), output, {"Axis": axis, "IndexDimensions": dimensions})


def _one_hot(indices: Tensor, values: Tensor, axis: int, *results: int) -> Example:
    return Example((indices, values), f32(*results).shaped(1, 1, 3, 4), {"Axis": axis})


def _diagonal(offset: int, width: int, *results: int) -> Example:
    return Example((), f32(*results).shaped(1, 1, 3, width), {"Offset": offset, "Value": 1})


def _diagonal1(x: Tensor | None, value: int, begin: int, end: int, *results: int) -> Example:
    return Example((x,), f32(*results).shaped(4, 5),
                   {"Value": value, "DiagonalFillBegin": begin, "DiagonalFillEnd": end})


_POOLED = {"Strides": [1, 1], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
_OFF_ON = f32(0, 1).shaped(1, 1, 1, 2)
_MATRIX = f32(4, 7, 3, 7, 9, 1, 2, 8, 6, 9, 9, 4, 1, 8, 7, 4, 3, 4, 2, 4).shaped(4, 5)
_ROWS_SWAPPED = Example((f32(0, 1, 2, 3).shaped(2, 2), u32(1, 0).shaped(2, 1)), f32(2, 3, 0, 1).shaped(2, 2),
                        {"InputDimensionCount": 2, "IndicesDimensionCount": 2})

DOCUMENTED: list[tuple[str, Example]] = [
    ("SLICE", Example((_COUNT16,), f32(7, 8, 11, 12, 15, 16).shaped(1, 1, 3, 2), {
        "Offsets": [0, 0, 1, 2], "Sizes": [1, 1, 3, 2], "Strides": [1, 1, 1, 1]})),
    ("SLICE", Example((_COUNT16,), f32(5, 8, 13, 16).shaped(1, 1, 2, 2), {
        "Offsets": [0, 0, 1, 0], "Sizes": [1, 1, 2, 2], "Strides": [1, 1, 2, 3]})),
    ("SLICE1", _slice1([1, 1, 2, 2], 2, 4, 10, 12)),
    ("SLICE1", _slice1([1, 1, -2, 2], 14, 16, 6, 8)),
    ("SLICE_GRAD", Example((f32(1, 3, 9, 11).shaped(2, 2),), f32(
        1, 0, 3, 0, 0, 0, 0, 0, 9, 0, 11, 0, 0, 0, 0, 0).shaped(4, 4), {
            "InputWindowOffsets": [0, 0], "InputWindowSizes": [4, 4], "InputWindowStrides": [2, 2]})),
    ("AVERAGE_POOLING_GRAD", Example((f32(1, 2, 3, 4).shaped(1, 1, 2, 2),), f32(
        0.25, 0.75, 0.5, 1, 2.5, 1.5, 0.75, 1.75, 1).shaped(1, 1, 3, 3), {**_POOLED, "IncludePadding": 0})),
    ("MAX_POOLING_GRAD", Example(
        (f32(1, 2, 3, 2, 4, 2, 5, 6, 7).shaped(1, 1, 3, 3), f32(1, 2, 4, 5).shaped(1, 1, 2, 2)),
        f32(0, 0, 0, 0, 3, 0, 0, 4, 5).shaped(1, 1, 3, 3), {**_POOLED, "Dilations": [1, 1]})),
    ("SPLIT", Example((_COUNT12.shaped(1, 1, 6, 2),), (
        f32(1, 2, 3, 4).shaped(1, 1, 2, 2), f32(5, 6).shaped(1, 1, 1, 2),
        f32(7, 8, 9, 10, 11, 12).shaped(1, 1, 3, 2)), {"Axis": 2})),
    ("SPLIT", Example((_COUNT12.shaped(1, 1, 6, 2),), (
        f32(1, 3, 5, 7, 9, 11).shaped(1, 1, 6, 1), f32(2, 4, 6, 8, 10, 12).shaped(1, 1, 6, 1)), {"Axis": 3})),
    ("JOIN", Example(((f32(1, 2, 3, 4, 5, 6).shaped(1, 1, 2, 3), f32(*range(7, 15)).shaped(1, 1, 2, 4)),),
                     f32(1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11, 12, 13, 14).shaped(1, 1, 2, 7), {"Axis": 3})),
    ("JOIN", _joined(1, (1, 3, 2, 2), *range(1, 13))),
    ("JOIN", _joined(2, (1, 1, 6, 2), *range(1, 13))),
    ("JOIN", _joined(3, (1, 1, 2, 6), 1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12)),
    *[(name, _padding(mode)) for name in ("PADDING", "PADDING1") for mode in _PADDED],
    ("TILE", Example((f32(1, 2, 3, 4, 5, 6).shaped(1, 1, 2, 3),),
                     f32(*([1, 2, 3] * 3 + [4, 5, 6] * 3) * 3).shaped(1, 1, 6, 9), {"Repeats": [1, 1, 3, 3]})),
    ("TILE", Example((f32(1, 2, 3, 4).shaped(2, 2),), f32(1, 2, 1, 2, 3, 4, 3, 4).shaped(2, 4), {"Repeats": [1, 2]})),
    ("SPACE_TO_DEPTH", Example((_SPACE["DEPTH_COLUMN_ROW"],), _DEPTH, {"BlockSize": 2})),
    ("DEPTH_TO_SPACE", Example((_DEPTH,), _SPACE["DEPTH_COLUMN_ROW"], {"BlockSize": 2})),
    *[("SPACE_TO_DEPTH1", Example((space,), _DEPTH, {"BlockSize": 2, "Order": order}))
      for order, space in _SPACE.items()],
    *[("DEPTH_TO_SPACE1", Example((_DEPTH,), space, {"BlockSize": 2, "Order": order}))
      for order, space in _SPACE.items()],
    ("REVERSE_SUBSEQUENCES", Example(
        (_COUNT12.shaped(1, 1, 3, 4), u32(2, 4, 3).shaped(1, 1, 3, 1)),
        f32(2, 1, 3, 4, 8, 7, 6, 5, 11, 10, 9, 12).shaped(1, 1, 3, 4), {"Axis": 3})),
    ("REVERSE_SUBSEQUENCES", Example(
        (_COUNT12.shaped(1, 1, 3, 4), u32(2, 3, 1, 0).shaped(1, 1, 1, 4)),
        f32(5, 10, 3, 4, 1, 6, 7, 8, 9, 2, 11, 12).shaped(1, 1, 3, 4), {"Axis": 2})),
    ("DIAGONAL_MATRIX", _diagonal(0, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1)),
    ("DIAGONAL_MATRIX", _diagonal(1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0)),
    ("DIAGONAL_MATRIX", _diagonal(-1, 2, 0, 0, 1, 0, 0, 1)),
    ("DIAGONAL_MATRIX", _diagonal(-3, 2, 0, 0, 0, 0, 0, 0)),
    ("DIAGONAL_MATRIX1", _diagonal1(None, 7, 0, 3, 7, 7, 7, 0, 0, 0, 7, 7, 7, 0, 0, 0, 7, 7, 7, 0, 0, 0, 7, 7)),
    ("DIAGONAL_MATRIX1", _diagonal1(_MATRIX, 0, -2**31, 1, 0, 7, 3, 7, 9, 0, 0, 8, 6, 9, 0, 0, 0, 8, 7, 0, 0, 0, 0, 4)),
    ("DIAGONAL_MATRIX1", _diagonal1(_MATRIX, 0, 1, 0, 4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0)),
    ("FOLD", Example((f32(*range(36)).shaped(1, 9, 4),), f32(
        0, 5, 13, 9, 14, 38, 54, 32, 38, 86, 102, 56, 26, 57, 65, 35).shaped(1, 1, 4, 4), _windows(0))),
    ("FOLD", Example((f32(*range(72)).shaped(1, 9, 8),), f32(*_FOLDED).shaped(1, 1, 4, 4), _windows(1))),
    ("FOLD", Example((f32(*range(144)).shaped(1, 18, 8),), f32(
        *_FOLDED, 170, 358, 390, 204, 294, 615, 663, 345, 300, 627, 675, 351, 226, 470, 502, 260,
    ).shaped(1, 2, 4, 4), _windows(1))),
    ("UNFOLD", Example((_IMAGE,), f32(
        0, 1, 2, 5, 6, 7, 10, 11, 12, 1, 2, 3, 6, 7, 8, 11, 12, 13, 2, 3, 4, 7, 8, 9, 12, 13, 14,
        5, 6, 7, 10, 11, 12, 15, 16, 17, 6, 7, 8, 11, 12, 13, 16, 17, 18, 7, 8, 9, 12, 13, 14, 17, 18, 19,
        10, 11, 12, 15, 16, 17, 20, 21, 22, 11, 12, 13, 16, 17, 18, 21, 22, 23, 12, 13, 14, 17, 18, 19, 22, 23, 24,
    ).shaped(1, 9, 9), _windows(0))),
    ("UNFOLD", Example((_IMAGE,), f32(
        0, 0, 0, 0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17, 0, 0, 0, 1, 2, 3, 6, 7, 8, 11, 12, 13, 16, 17, 18,
        0, 0, 0, 2, 3, 4, 7, 8, 9, 12, 13, 14, 17, 18, 19, 0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17, 20, 21, 22,
        1, 2, 3, 6, 7, 8, 11, 12, 13, 16, 17, 18, 21, 22, 23, 2, 3, 4, 7, 8, 9, 12, 13, 14, 17, 18, 19, 22, 23, 24,
        5, 6, 7, 10, 11, 12, 15, 16, 17, 20, 21, 22, 0, 0, 0, 6, 7, 8, 11, 12, 13, 16, 17, 18, 21, 22, 23, 0, 0, 0,
        7, 8, 9, 12, 13, 14, 17, 18, 19, 22, 23, 24, 0, 0, 0,
    ).shaped(1, 9, 15), _windows(1))),
    ("GATHER", _gather(f32(11, 12, 13, 14), u32(3, 1, 3, 0, 2), f32(14, 12, 14, 11, 13), 0, 1)),
    ("GATHER", _gather(_PAIRS, u32(0, 1, 1, 2).shaped(1, 4), f32(1, 2, 3, 4, 3, 4, 5, 6).shaped(4, 2), 0, 1)),
    ("GATHER", _gather(_NINE.shaped(1, 3, 3), u32(0, 2).shaped(1, 1, 2), f32(1, 3, 4, 6, 7, 9).shaped(3, 1, 2), 2, 2)),
    ("GATHER", _gather(_PAIRS.shaped(1, 3, 2), u32(0, 1, 1, 2).shaped(1, 2, 2),
                       f32(1, 2, 3, 4, 3, 4, 5, 6).shaped(2, 2, 2), 1, 2)),
    ("GATHER_ND", _ROWS_SWAPPED),
    ("GATHER_ND", Example((f32(*range(8)).shaped(1, 2, 2, 2), u32(0, 1, 1, 0).shaped(1, 1, 2, 2)),
                          f32(2, 3, 4, 5).shaped(1, 1, 2, 2), {"InputDimensionCount": 3, "IndicesDimensionCount": 2})),
    ("GATHER_ND1", Example(_ROWS_SWAPPED.inputs, _ROWS_SWAPPED.output,
                           {**_ROWS_SWAPPED.attributes, "BatchDimensionCount": 0})),
    ("GATHER_ND1", Example(
        (f32(*range(12)).shaped(1, 3, 2, 2), u32(0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0).shaped(1, 3, 2, 2)),
        f32(0, 3, 7, 4, 9, 10).shaped(1, 1, 3, 2),
        {"InputDimensionCount": 3, "IndicesDimensionCount": 3, "BatchDimensionCount": 1})),
    ("ONE_HOT", _one_hot(u32(0, 3, 2).shaped(1, 1, 3, 1), _OFF_ON, 3, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0)),
    ("ONE_HOT", _one_hot(u32(0, 2, 1, 0).shaped(1, 1, 1, 4), _OFF_ON, 2, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0)),
    ("ONE_HOT", _one_hot(u32(0, 3, 2).shaped(1, 1, 3, 1), f32(4, 2, 9).shaped(1, 1, 3, 1), 3,
                         2, 4, 4, 4, 4, 4, 4, 2, 4, 4, 2, 4)),
    ("ONE_HOT", _one_hot(i32(-3, 100, 3).shaped(1, 1, 3, 1), _OFF_ON, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
    ("NONZERO_COORDINATES", Example(
        (f32(1, 0, 0, 2, -0.0, 3.5, 0, -5.2).shaped(1, 1, 2, 4),),
        (u32(4).shaped(1, 1, 1, 1), u32(0, 0, 0, 0, 0, 3, 0, 1, 1, 0, 1, 3, *[0] * 12).shaped(1, 1, 8, 3)))),
    *[("TOP_K", example) for example in _max()],
    *[("TOP_K1", example) for example in _max(AxisDirection="DECREASING")],
    ("TOP_K1", _top(_TIED, 3, 3, (1, 2, 2, 3, 4, 5, 6, 6, 6), (0, 1, 2, 0, 1, 2, 0, 1, 2), AxisDirection="INCREASING")),
]

SLIPS: list[tuple[str, str, Example | None]] = [
    ("DIAGONAL_MATRIX1", "Value is 7, but the output has ones.",
     _diagonal1(None, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0)),
    ("GATHER", "IndexDimensions is 2, but the output of 3 by 2 has room for 1.",
     _gather(_PAIRS, u32(1, 0).shaped(1, 2), f32(2, 1, 4, 3, 6, 5).shaped(3, 2), 1, 1)),
    ("GATHER_ELEMENTS", "The output is UINT32, but must have the type of the input, FLOAT32.",
     Example((_NINE, u32(1, 2, 0, 2, 0, 0).shaped(2, 3)), f32(4, 8, 3, 7, 2, 3).shaped(2, 3), {"Axis": 0})),
    ("SCATTER_ELEMENTS", "Index 3 occurs twice, which the page calls invalid; the output has the later update.",
     Example((f32(0, 1, 2, 3, 4), u32(3, 1, 3, 0), f32(5, 6, 7, 8)), f32(8, 6, 2, 7, 4), {"Axis": 0})),
    ("SCATTER_ELEMENTS", "The sizes of the input are 2 by 3, but its values are 3 by 3.",
     Example((f32(*[0] * 9).shaped(3, 3), u32(1, 0, 2, 0, 2, 1).shaped(2, 3), f32(10, 11, 12, 20, 21, 22).shaped(2, 3)),
             f32(20, 11, 0, 10, 0, 22, 0, 21, 12).shaped(3, 3), {"Axis": 0})),
    ("SCATTER_ND", "The indices are FLOAT32 and have two dimensions, while the other tensors have one.",
     Example((f32(*range(1, 9)).shaped(1, 8), u32(4, 3, 1, 7).shaped(4, 1), f32(9, 10, 11, 12).shaped(1, 4)),
             f32(1, 11, 3, 10, 9, 6, 7, 12).shaped(1, 8), {"InputDimensionCount": 1, "IndicesDimensionCount": 2})),
    ("MAX_POOLING1", "The window is called 3x1, but sizes are height by width, but the output is for 1 by 3.",
     Example((f32(3, 5, 7, 1, 9, 4, 2, 8).shaped(1, 1, 2, 4),),
             (f32(7, 7, 9, 8).shaped(1, 1, 2, 2), u32(2, 2, 4, 7).shaped(1, 1, 2, 2)),
             {"Strides": [1, 1], "WindowSize": [1, 3], "StartPadding": [0, 0], "EndPadding": [0, 0]})),
]
