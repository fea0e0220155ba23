#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the gathers, the scatters, ONE_HOT and NONZERO_COORDINATES with NumPy, byte for byte: every element type and
index type, ranks 1 to 8, tensors in any layout, and indices that are negative, out of range or random 64-bit values.
The bytes between the elements of an output are compared too. If the onnx package is installed, it also compares with
ONNX's reference evaluator.

usage: gather_oracle.py LIBANYDML [--cases N]
"""
import argparse
import sys
from functools import partial

import numpy as np

from move_oracle import draw_shape, lay_out, same_memory
from numpy_oracle import SEED, TYPES, Library

CASES = 60  # per operator and type
INDEX_TYPES = [np.dtype(one) for one in (np.uint32, np.int32, np.uint64, np.int64)]
# Tables and index counts that are large enough to be split between threads.
LARGE = [((900, 300), 400), ((20, 3, 900), 1000), ((30_000,), 50_000), ((3, 9000), 700), ((2, 200_000), 3)]


def resolve(indices, size):
    """The normalized index, or -1 if the index is out of range."""
    if indices.dtype.kind == "u":
        return np.where(indices < size, indices, 0).astype(np.int64) - (indices >= size)
    wide = indices.astype(np.int64)
    positions = np.where(wide < 0, wide + size, wide)
    return np.where((positions >= 0) & (positions < size), positions, -1)


def nearest_of(indices, size):
    """Like resolve, but for a gather: an index out of range selects the nearest element."""
    is_below = (indices.astype(np.int64) < -size) if indices.dtype.kind == "i" else np.zeros(indices.shape, bool)
    positions = resolve(indices, size)
    return np.where(positions >= 0, positions, np.where(is_below, 0, max(0, size - 1)))


class Checks:
    def __init__(self, library, random, dtype, evaluator):
        self.library, self.random, self.dtype = library, random, np.dtype(dtype)
        self.unsigned = np.dtype(f"u{self.dtype.itemsize}")
        self.evaluator, self.elements, self.cases = evaluator, 0, 0

    def draw(self, shape, is_output=False):
        return lay_out(self.random, shape, self.unsigned, not is_output)

    def draw_indices(self, shape, sizes):
        """sizes: the size of one dimension, or of a separate dimension for each index along the last axis. One tensor
        in three has only indices in range, one has some out of range, and one has random bits."""
        dtype = INDEX_TYPES[int(self.random.integers(0, len(INDEX_TYPES)))]
        array, _ = lay_out(self.random, shape, np.dtype(f"u{dtype.itemsize}"), True)
        array = array.view(dtype)
        kind = int(self.random.integers(0, 3))
        if kind < 2:
            sizes = np.broadcast_to(np.asarray(sizes, np.int64), shape)
            low, high = (np.zeros_like(sizes), sizes) if dtype.kind == "u" else (-sizes, sizes)
            if kind == 1:
                low, high = (low - 2 if dtype.kind == "i" else low), high + 2
            drawn = self.random.integers(low, np.maximum(high, low + 1), shape) if array.size else np.zeros(shape, int)
            array[...] = drawn.astype(dtype)
            if kind == 0:  # indices may share memory, so a later index may have replaced an earlier one
                return array, bool(((array < sizes) & (array.astype(np.int64) >= -sizes)).all())
        return array, False

    def compare(self, name, inputs, answers, attributes):
        """answers: NumPy's result for each output."""
        placed = [lay_out(self.random, answer.shape, answer.dtype, False) for answer in answers]
        wanted = []
        for (array, memory), answer in zip(placed, answers):
            twin, copied = same_memory(array, memory)
            twin[...] = answer
            wanted.append(copied)
        indices = {"ONE_HOT": 0, "NONZERO_COORDINATES": None}.get(name, 1)
        typed = [array if position == indices else array.view(self.dtype) for position, array in enumerate(inputs)]
        outputs = [array if indices is None else array.view(self.dtype) for array, _ in placed]
        self.library.run(name, typed, outputs, attributes)
        for number, ((array, memory), expected) in enumerate(zip(placed, wanted)):
            if not np.array_equal(memory, expected):
                shapes = [f"{one.dtype}{list(one.shape)} by {list(one.strides)}" for one in inputs]
                sys.exit(f"{name} {self.dtype} of {shapes} with {attributes}: output {number}, {array.shape} by "
                         f"{array.strides}, differs from NumPy")
            self.elements += array.size
        self.cases += 1

    def ask_onnx(self, op, inputs, answer, **attributes):
        """Compares a few of the cases with the reference evaluator, using ONNX's index types."""
        if self.evaluator is not None and self.random.random() < 0.2 and answer.size < 2000:
            given = [one.astype(np.int64) if position == 1 else one.copy() for position, one in enumerate(inputs)]
            found = self.evaluator(op, given, attributes)
            if not np.array_equal(found.reshape(answer.shape), answer):
                sys.exit(f"{op} {[one.shape for one in inputs]} {attributes}: differs from ONNX's reference evaluator")
            self.evaluator.answers += 1

    def gather(self, shape, items=None):
        """Reshapes the tensors as the operator requires: all have the rank of the output, or of the input if that is
        higher."""
        axis = int(self.random.integers(0, len(shape)))
        most = 8 - (len(shape) - 1)
        index_shape = [items] if items else [int(self.random.integers(0 if self.random.random() < 0.03 else 1, 4))
                                             for _ in range(int(self.random.integers(0, min(4, most + 1))))]
        if 0 not in index_shape:
            shape[axis] = max(1, shape[axis])
        x, _ = self.draw(shape)
        indices, in_range = self.draw_indices(index_shape, shape[axis])
        answer = np.take(x, nearest_of(indices, shape[axis]), axis) if x.shape[axis] else np.empty(
            [*shape[:axis], *index_shape, *shape[axis + 1:]], x.dtype)
        rank = max(x.ndim, answer.ndim, 1)
        if in_range and x.size:
            self.ask_onnx("Gather", [x, indices], answer, axis=axis)
        self.compare("GATHER", [lead(x, rank), lead(indices, rank)], [lead(answer, rank)],
                     (("Axis", axis + rank - x.ndim), ("IndexDimensions", indices.ndim)))

    def gather_elements(self, shape, items=None):
        axis = int(self.random.integers(0, len(shape)))
        shape = [*shape[:axis], max(1, shape[axis]), *shape[axis + 1:]]
        x, _ = self.draw(shape)
        counted = [*shape[:axis], items or int(self.random.integers(0, 7)), *shape[axis + 1:]]
        indices, in_range = self.draw_indices(counted, shape[axis])
        answer = np.take_along_axis(x, nearest_of(indices, shape[axis]), axis)
        if in_range:
            self.ask_onnx("GatherElements", [x, indices], answer, axis=axis)
        self.compare("GATHER_ELEMENTS", [x, indices], [answer], (("Axis", axis),))

    def tuples(self, shape, items, batch):
        """The sizes of the table and of the indices, and the number of coordinates."""
        batch = min(batch, len(shape) - 1)
        count = int(self.random.integers(0 if self.random.random() < 0.1 else 1, len(shape) - batch + 1))
        kept = len(shape) - batch - count
        index_shape = list(shape[:batch])
        if items:
            index_shape.append(items)
        else:
            most = min(3, 8 - batch - max(1, kept))
            index_shape += [int(self.random.integers(0 if self.random.random() < 0.03 else 1, 4))
                            for _ in range(int(self.random.integers(0, most + 1)))]
        if 0 not in index_shape:
            shape = [*shape[:batch], *(max(1, size) for size in shape[batch:batch + count]), *shape[batch + count:]]
        return shape, [*index_shape, count], batch

    def gather_nd(self, shape, items=None, name="GATHER_ND"):
        batch = 0 if name == "GATHER_ND" else int(self.random.integers(0, 3))
        shape, index_shape, batch = self.tuples(shape, None if batch else items, batch)
        x, _ = self.draw(shape)
        count = index_shape[-1]
        sizes = shape[batch:batch + count]
        indices, in_range = self.draw_indices(index_shape, sizes)
        answer = np.empty([*index_shape[:-1], *shape[batch + count:]], x.dtype)
        for where in np.ndindex(*shape[:batch]):
            positions = [nearest_of(indices[where][..., k], size) for k, size in enumerate(sizes)]
            if answer[where].size:
                answer[where] = x[where][tuple(positions)]
        rank = max(x.ndim, indices.ndim, answer.ndim)
        if in_range and answer.size and count:
            self.ask_onnx("GatherND", [x, indices], answer, batch_dims=batch)
        attributes = [("InputDimensionCount", x.ndim), ("IndicesDimensionCount", indices.ndim)]
        if name == "GATHER_ND1":
            attributes.append(("BatchDimensionCount", batch))
        self.compare(name, [lead(x, rank), lead(indices, rank)], [lead(answer, rank)], attributes)

    def scatter(self, shape, items=None):
        axis = int(self.random.integers(0, len(shape)))
        x, _ = self.draw(shape)
        counted = [*shape[:axis], items or int(self.random.integers(0, 7)), *shape[axis + 1:]]
        indices, in_range = self.draw_indices(counted, shape[axis])
        updates, _ = self.draw(counted)
        flat = [np.moveaxis(one, axis, 0).reshape(one.shape[axis], -1) if one.size else np.empty((0, 0), one.dtype)
                for one in (x, resolve(indices, shape[axis]), updates)]
        rows = flat[0].copy()
        for position, row in zip(*flat[1:]):  # the last update wins
            others, = np.nonzero(position >= 0)
            rows[position[others], others] = row[others]
        moved = np.moveaxis(x, axis, 0).shape
        answer = np.moveaxis(rows.reshape(moved), 0, axis) if x.size else x
        if in_range and updates.size:
            self.ask_onnx("ScatterElements", [x, indices, updates], answer, axis=axis)
        self.compare("SCATTER_ELEMENTS", [x, indices, updates], [answer], (("Axis", axis),))

    def scatter_nd(self, shape, items=None):
        shape, index_shape, _ = self.tuples(shape, items, 0)
        x, _ = self.draw(shape)
        count = index_shape[-1]
        indices, in_range = self.draw_indices(index_shape, shape[:count])
        updates, _ = self.draw([*index_shape[:-1], *shape[count:]])
        answer = x.copy()
        positions = np.stack([resolve(indices[..., k], size) for k, size in enumerate(shape[:count])], -1).reshape(
            -1, count) if count else np.empty((int(np.prod(index_shape[:-1])), 0), np.int64)
        for position, update in zip(positions, updates.reshape(len(positions), *shape[count:])):
            if (position >= 0).all():
                answer[tuple(position)] = update
        rank = max(x.ndim, indices.ndim, updates.ndim)
        if in_range and updates.size and count:
            self.ask_onnx("ScatterND", [x, indices, updates], answer)
        self.compare("SCATTER_ND", [lead(x, rank), lead(indices, rank), lead(updates, rank)], [lead(answer, rank)],
                     (("InputDimensionCount", x.ndim), ("IndicesDimensionCount", indices.ndim)))

    def one_hot(self, shape, items=None):
        axis = int(self.random.integers(0, len(shape)))
        depth = shape[axis]
        if items:
            shape = [min(size, 1000) for size in shape]
        indices, _ = self.draw_indices([*shape[:axis], 1, *shape[axis + 1:]], depth)
        values, _ = self.draw([1] * (len(shape) - 1) + [int(self.random.integers(2, 4))] if self.random.random() < 0.5
                              else [int(self.random.integers(2, 4))] + [1] * (len(shape) - 1))
        off, on = values.reshape(-1)[:2]
        hot = np.arange(shape[axis]).reshape([-1] + [1] * (len(shape) - 1 - axis)) == resolve(indices, shape[axis])
        self.compare("ONE_HOT", [indices, values], [np.where(hot, on, off)], (("Axis", axis),))

    def nonzero(self, shape, items=None):
        x, _ = self.draw(shape)
        x[self.random.random(shape) < self.random.random()] = 0
        if self.dtype.kind == "f":
            x[self.random.random(shape) < 0.2] = 1 << (8 * x.itemsize - 1)  # -0
        with np.errstate(all="ignore"):
            found = np.argwhere(x.view(self.dtype) != 0).astype(np.uint32)
        leading = next((axis for axis, size in enumerate(shape) if size != 1), len(shape))
        columns = int(self.random.integers(len(shape) - leading, len(shape) + 1))
        rows = np.zeros((x.size, columns), np.uint32)
        rows[:len(found)] = found[:, len(shape) - columns:]
        ones = [1] * int(self.random.integers(0, 3))
        self.compare("NONZERO_COORDINATES", [x], [np.full([1] * len(shape), len(found), np.uint32),
                                                  rows.reshape([*ones, *rows.shape])], ())


def lead(array, rank):
    """Adds leading dimensions of size 1."""
    return array[(None,) * (rank - array.ndim)]


MEMBERS = {"GATHER": Checks.gather, "GATHER_ELEMENTS": Checks.gather_elements, "GATHER_ND": Checks.gather_nd,
           "GATHER_ND1": partial(Checks.gather_nd, name="GATHER_ND1"), "SCATTER_ELEMENTS": Checks.scatter,
           "SCATTER_ND": Checks.scatter_nd, "ONE_HOT": Checks.one_hot, "NONZERO_COORDINATES": Checks.nonzero}


class Evaluator:
    """Runs ONNX's reference evaluator on models with one node."""

    def __init__(self):
        import onnx.helper  # noqa: F401
        import onnx.reference  # noqa: F401
        self.answers = 0

    def __call__(self, op, inputs, attributes):
        import onnx.helper as helper
        from onnx.reference import ReferenceEvaluator
        names = [f"x{position}" for position in range(len(inputs))]
        kinds = [helper.np_dtype_to_tensor_dtype(one.dtype) for one in inputs]
        graph = helper.make_graph(
            [helper.make_node(op, names, ["y"], **attributes)], "one",
            [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names, kinds)],
            [helper.make_tensor_value_info("y", kinds[0], None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        return ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))[0]


def main(path, cases):
    library = Library(path)
    random = np.random.default_rng(SEED)
    try:
        evaluator = Evaluator()
    except ImportError:
        evaluator = None
    print(f"NumPy {np.__version__}, seed {SEED}, {'with' if evaluator else 'without'} ONNX's reference evaluator")
    total, all_cases = 0, 0
    for name, run in MEMBERS.items():
        elements = 0
        for number, (_, dtype) in enumerate(TYPES.values()):
            checks = Checks(library, random, dtype, evaluator)
            for _ in range(cases):
                run(checks, draw_shape(random, 1))
            for position, (shape, items) in enumerate(LARGE):
                if (position + number) % len(LARGE) == 0:
                    run(checks, list(shape), items=items)
            elements += checks.elements
            all_cases += checks.cases
        print(f"  {name:20} {elements:9} elements, none different")
        total += elements
    asked = f", {evaluator.answers} of them also with ONNX's reference evaluator" if evaluator else ""
    print(f"{total} elements of {all_cases} cases compared with NumPy{asked}, none different")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=CASES)
    given = parser.parse_args()
    main(given.library, given.cases)
