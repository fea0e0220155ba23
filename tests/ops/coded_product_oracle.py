#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares products of weights in four-bit codes with the NumPy programs in docs/numerics.md, bit for bit: graphs of
DEQUANTIZE and GEMM, and the same with activations in codes of eight bits.

usage: coded_product_oracle.py LIBANYDML
"""
import ctypes
import itertools
import sys

import numpy as np

from coded_product_reference import product_of_codes
from numpy_oracle import SEED, VALUES, Attribute, Library, Tensor, count_different, to_attribute, to_tensor
from product_reference import gemm

UINT4 = 12
INTEGER_ACTIVATIONS = 2


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_void_p), ("constants", ctypes.c_void_p),
                ("constant_count", ctypes.c_size_t), ("flags", ctypes.c_uint64)]


def packed(codes):
    """The tensor of UINT4 with these codes, whose rows have an even length."""
    array = np.ascontiguousarray(codes[:, ::2] | codes[:, 1::2] << 4)
    sizes = (ctypes.c_int64 * 2)(*codes.shape)
    tensor = Tensor(UINT4, 2, sizes, None, array.ctypes.data)
    tensor.keep = (sizes, array)
    return tensor


def as_tensor(dtype, sizes, strides=None):
    """A description without data."""
    of_sizes = (ctypes.c_int64 * len(sizes))(*sizes)
    of_strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
    tensor = Tensor(VALUES[np.dtype(dtype)], len(sizes), of_sizes, of_strides, None)
    tensor.keep = (of_sizes, of_strides)
    return tensor


class Graph:
    def __init__(self, library):
        self.library = library
        self.handle = ctypes.c_void_p()
        self.call("graph_create", ctypes.byref(self.handle))

    def call(self, name, *arguments):
        if getattr(self.library.handle, f"anydml_{name}")(*arguments):
            sys.exit(f"{name}: {self.library.handle.anydml_last_error().decode()}")

    def value(self, name, *arguments):
        made = ctypes.c_uint64()
        self.call(name, self.handle, *arguments, ctypes.byref(made))
        return made.value

    def add(self, op, inputs, out, attributes):
        kept = [to_attribute(*one) for one in attributes]
        given = (Attribute * len(kept))(*kept)
        return self.value("graph_add_operator", op.encode(), (ctypes.c_uint64 * len(inputs))(*inputs),
                          ctypes.c_size_t(len(inputs)), ctypes.byref(out), ctypes.c_size_t(1), given,
                          ctypes.c_size_t(len(kept)))


def run(library, a, weights, depth, flags):
    """weights: the tensors of codes, scales and perhaps zero points, of {columns, depth} or more."""
    graph = Graph(library)
    columns, padded = weights[0].sizes[0], weights[0].sizes[1]
    x = graph.value("graph_add_input", ctypes.byref(as_tensor(a.dtype, a.shape)))
    known = [graph.value("graph_add_constant", ctypes.byref(one)) for one in weights]
    kind = "SCALE_ZERO_POINT" if len(known) == 3 else "SCALE"
    whole = graph.add("DEQUANTIZE", known, as_tensor(a.dtype, (columns, padded)), [("QuantizationType", kind)])
    b = graph.value("graph_add_view", ctypes.c_uint64(whole),
                    ctypes.byref(as_tensor(a.dtype, (depth, columns), (1, padded))))
    y = graph.add("GEMM", [x, b], as_tensor(a.dtype, (len(a), columns)),
                  [("TransA", "NONE"), ("TransB", "NONE"), ("Alpha", 1.0), ("Beta", 1.0)])
    graph.call("graph_add_output", graph.handle, ctypes.c_uint64(y))
    options, compiled = Options(ctypes.sizeof(Options), None, None, 0, flags), ctypes.c_void_p()
    graph.call("graph_compile_with", graph.handle, ctypes.byref(options), ctypes.byref(compiled))
    out = np.empty((len(a), columns), a.dtype)
    graph.call("compiled_run", compiled, (ctypes.c_void_p * 1)(a.ctypes.data), ctypes.c_size_t(1),
               (ctypes.c_void_p * 1)(out.ctypes.data), ctypes.c_size_t(1))
    library.handle.anydml_compiled_release(compiled)
    library.handle.anydml_graph_release(graph.handle)
    return out


def check(library, random, a, columns, block, has_zeros):
    """Returns the number of compared outputs, and whether the two modes differ."""
    depth, blocks = a.shape[1], -(-a.shape[1] // block)
    codes = random.integers(0, 16, (columns, blocks * block), dtype=np.uint8)
    scales = (random.standard_normal((columns, blocks)) * 0.1).astype(a.dtype)
    zeros = random.integers(0, 16, (columns, blocks + blocks % 2), dtype=np.uint8)
    weights = [packed(codes), to_tensor(scales)]
    middle = np.uint8(8)
    if has_zeros:
        weights.append(packed(zeros))
        weights[2].sizes[1] = blocks
        strides = (ctypes.c_int64 * 2)(zeros.shape[1], 1)
        weights[2].strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        weights[2].more = strides
        middle = np.repeat(zeros[:, :blocks], block, 1)
    differences = (codes.astype(np.int64) - middle)[:, :depth]
    numbers = (differences.astype(np.float32) * np.repeat(scales, block, 1)[:, :depth].astype(np.float32)).astype(a.dtype)
    near = run(library, a, weights, depth, 0)
    rounded = run(library, a, weights, depth, INTEGER_ACTIVATIONS)
    expected = product_of_codes(a.astype(np.float32), differences, scales.astype(np.float32), block).astype(a.dtype)
    for mode, actual, wanted in (("", near, gemm(a, np.ascontiguousarray(numbers.T))),
                                 (" with activations in codes", rounded, expected)):
        different = count_different(actual, wanted)
        if different.any():
            where = tuple(np.argwhere(different)[0])
            sys.exit(f"{a.dtype} {a.shape} by {columns} columns in blocks of {block}, zero points {has_zeros}{mode}: "
                     f"{different.sum()} of {actual.size} differ; first {where}: {actual[where]!r}, expected "
                     f"{wanted[where]!r}")
    return 2 * near.size, count_different(near, rounded).any()


def unusual_activations(random):
    a = random.standard_normal((9, 96)).astype(np.float32)
    a[0] = 0
    a[1, 5] = np.inf
    a[2, 40] = np.nan
    a[3] *= np.float32(2.0**-99)  # some blocks are below 2^-100
    a[4] *= np.float32(2.0**-140)
    a[5] = np.finfo(np.float32).max
    a[6] = np.where(random.integers(0, 2, 96), 1, -1) * np.float32(127.5)
    a[7] = np.arange(96) - 47.5  # many ties
    a[8] = -0.0
    return a


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    compared = differ = 0
    shapes = ((1, 31, 5), (1, 256, 130), (2, 257, 67), (3, 300, 64), (5, 64, 33), (40, 512, 70), (1, 1024, 20))
    for (rows, depth, columns), block, has_zeros, dtype in itertools.product(
            shapes, (16, 32, 128), (False, True), (np.float32, np.float16)):
        a = random.standard_normal((rows, depth)).astype(dtype)
        count, are_different = check(library, random, a, columns, block, has_zeros)
        compared, differ = compared + count, differ + are_different
    if differ < 80:
        sys.exit("the option changes nothing")
    for has_zeros in (False, True):
        compared += check(library, random, unusual_activations(random), 33, 32, has_zeros)[0]
    print(f"  {compared} elements, none different")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
