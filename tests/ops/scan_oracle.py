#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT with the NumPy program in docs/numerics.md, bit for bit, and
small cases with NumPy's cumsum and cumprod and, if it is installed, ONNX's reference.

usage: scan_oracle.py LIBANYDML [--cases N]
"""
import sys

import numpy as np

from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, TYPES, Library, count_different, random_values
from scan_reference import cumulative

try:
    from onnx.helper import make_node
    from onnx.reference import ReferenceEvaluator
except ImportError:
    ReferenceEvaluator = None

FUNCTIONS = ("SUMMATION", "PRODUCT")
CASES = 80  # per type
# Sizes around the edges of vectors, stages, tiles and blocks; many rows and few; contiguous and strided.
LARGE = [((9001,), 0), ((1, 70_001), 1), ((3, 21_000), 1), ((8, 8193), 1), ((17, 4097), 1), ((33, 4096), 1),
         ((300, 65), 1), ((2000, 3), 1), ((4097, 3), 0), ((12_300, 9), 0), ((8193, 70), 0), ((600, 530), 0),
         ((3, 4099, 20), 1), ((5, 300, 16), 1), ((2, 9000, 2), 1), ((7, 5, 257), 0)]


def numbers(random, dtype, count, kind):
    """Random bits; ordinary numbers; numbers near 1 or odd, whose products stay finite; or zeros, most of them -0."""
    dtype = np.dtype(dtype)
    if kind == "any" or dtype.kind != "f":
        result = random_values(random, dtype.type, count)
        return result if kind == "any" or dtype.kind == "f" else result | dtype.type(1)
    if kind == "zeros":
        return np.where(random.random(count) < 0.98, -0.0, 0.0).astype(dtype)
    if kind == "near one":
        return ((1 + 0.02 * random.standard_normal(count)) * random.choice([-1, 1], count)).astype(dtype)
    return (random.standard_normal(count) * 10.0 ** random.uniform(-1, 1)).astype(dtype)


def filled(random, shape, dtype, kind, repeats):
    """Numbers in a random layout."""
    dtype = np.dtype(dtype)
    array, memory = lay_out(random, shape, np.dtype(f"u{dtype.itemsize}"), repeats)
    array = array.view(dtype)
    array[...] = numbers(random, dtype, array.size, kind).reshape(shape)
    return array, memory


class Checks:
    def __init__(self, library, random, name, dtype):
        self.library, self.random, self.name, self.dtype = library, random, name, np.dtype(dtype)
        self.elements = 0
        self.cases = 0

    def attributes(self, function, axis, decreasing, exclusive):
        return (("Axis", axis), ("AxisDirection", "DECREASING" if decreasing else "INCREASING"),
                (f"HasExclusive{'Sum' if function == 'SUMMATION' else 'Product'}", int(exclusive)))

    def compare(self, x, axis, packed=False, in_place=False):
        function = FUNCTIONS[int(self.random.integers(0, 2))]
        decreasing, exclusive = (bool(self.random.integers(0, 2)) for _ in range(2))
        expected = cumulative(function, x, axis, decreasing, exclusive)
        if packed:
            out = np.full(x.shape, 7, self.dtype)
            memory = None
        elif in_place:
            out, memory = x, None
        else:
            out, memory = lay_out(self.random, x.shape, np.dtype(f"u{self.dtype.itemsize}"), False)
            twin, wanted = same_memory(out, memory)
            out = out.view(self.dtype)
        described = f"CUMULATIVE_{function} {self.name} {x.shape} by {x.strides}, axis {axis}, decreasing " \
                    f"{decreasing}, exclusive {exclusive}, output by {out.strides}"
        self.library.run(f"CUMULATIVE_{function}", [x], out, self.attributes(function, axis, decreasing, exclusive))
        different = count_different(np.ascontiguousarray(out), expected)
        if different.any():
            where = tuple(np.argwhere(different)[0])
            sys.exit(f"{described}: {different.sum()} of {out.size} differ; first {where}: {out[where]!r}, expected "
                     f"{expected[where]!r}")
        if memory is not None:  # nothing may be written between the elements
            twin.view(self.dtype)[...] = out
            if not np.array_equal(memory, wanted):
                sys.exit(f"{described}: bytes between elements were written")
        self.elements += out.size
        self.cases += 1

    def peers(self):
        """Compares with NumPy and ONNX where their order is the same: rows of one block, FLOAT32 or wider."""
        x = numbers(self.random, self.dtype, 5 * 700, "everyday").reshape(5, 700)
        for function, peer, op in (("SUMMATION", np.cumsum, "CumSum"), ("PRODUCT", np.cumprod, "CumProd")):
            for decreasing in (False, True):
                out = np.empty_like(x)
                self.library.run(f"CUMULATIVE_{function}", [x], out, self.attributes(function, 1, decreasing, False))
                flipped = x[:, ::-1] if decreasing else x
                expected = peer(flipped, axis=1, dtype=self.dtype)
                expected = expected[:, ::-1] if decreasing else expected
                if count_different(out, np.ascontiguousarray(expected)).any():
                    sys.exit(f"CUMULATIVE_{function} {self.name}: differs from NumPy")
                self.elements += out.size
                if ReferenceEvaluator is None or (op == "CumProd" and not has_cumulative_product()):
                    continue
                for exclusive in (False, True):
                    self.library.run(f"CUMULATIVE_{function}", [x], out,
                                     self.attributes(function, 1, decreasing, exclusive))
                    answer = onnx_answer(op, x, decreasing, exclusive)
                    if count_different(out, answer).any():
                        sys.exit(f"CUMULATIVE_{function} {self.name}: differs from ONNX's reference")
                    self.elements += out.size


def has_cumulative_product():
    import onnx
    return onnx.defs.onnx_opset_version() >= 26


def onnx_answer(op, x, decreasing, exclusive):
    node = make_node(op, ["x", "axis"], ["y"], reverse=int(decreasing), exclusive=int(exclusive))
    (answer,) = ReferenceEvaluator(node).run(None, {"x": x, "axis": np.array(1, np.int32)})
    return np.ascontiguousarray(answer).astype(x.dtype)


def check_type(library, random, name, dtype, cases):
    checks = Checks(library, random, name, dtype)
    kinds = ("everyday", "near one", "any", "near one", "everyday", "zeros")
    for case in range(cases):
        rank = int(random.integers(1, 9))
        most = 9 if rank < 4 else 4
        shape = [0 if random.random() < 0.02 else int(random.integers(1, most + 1)) for _ in range(rank)]
        x, _ = filled(random, shape, dtype, kinds[case % 6], case % 3 == 0)
        checks.compare(x, int(random.integers(0, rank)))
    for case in range(cases // 8):  # rows of any length around blocks, in any layout
        shape = [int(random.integers(1, 20)), int(random.choice([1, 7, 64, 300, 4096, 4097, 9000]))]
        axis = 1
        if random.random() < 0.5:
            shape, axis = shape[::-1], 0
        x, _ = filled(random, shape, dtype, kinds[case % 6], False)
        checks.compare(x, axis)
    for number, (shape, axis) in enumerate(LARGE):
        x = numbers(random, dtype, int(np.prod(shape)), kinds[number % 6]).reshape(shape)
        checks.compare(x, axis, packed=True)
        checks.compare(x[tuple(slice(None, None, -1) for _ in shape)], axis, packed=True)
        checks.compare(np.asfortranarray(x), axis, packed=True)
        checks.compare(x.copy(), axis, in_place=True)
    if np.dtype(dtype).itemsize >= 4:  # NumPy rounds FLOAT16 at every step
        checks.peers()
    print(f"  {name:8} {checks.cases:5} cases, {checks.elements:9} elements, none different")


def main(path, cases):
    library = Library(path)
    print(f"NumPy {np.__version__}, seed {SEED}{'' if ReferenceEvaluator is None else ', ONNX reference'}")
    np.seterr(all="ignore")
    for number, (name, (_, dtype)) in enumerate(TYPES.items()):
        check_type(library, np.random.default_rng(SEED + number), name, dtype, cases)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or len(sys.argv) == 4 and sys.argv[2] != "--cases":
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[3]) if len(sys.argv) == 4 else CASES)
