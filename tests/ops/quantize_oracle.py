#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares QUANTIZE and DEQUANTIZE with NumPy, bit for bit: 4-bit and 8-bit codes, scales and zero points for blocks of
any sizes, tensors in any layout. docs/numerics.md has the formulas.

usage: quantize_oracle.py LIBANYDML [--cases N] [--onnx]

--onnx: also compares blocks along one axis with ONNX's reference for QuantizeLinear and DequantizeLinear, opset 21.
"""
import argparse
import ctypes
import sys
from typing import NamedTuple

import numpy as np

from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, Library, Tensor, count_different, random_values
from quantize_reference import dequantize, quantize


class Codes(NamedTuple):
    name: str
    value: int  # DML_TENSOR_DATA_TYPE
    lowest: int
    highest: int
    default: int  # the zero point if none is given

    @property
    def four_bits(self):
        return self.highest - self.lowest == 15


CODES = [Codes("INT8", 8, -128, 127, 0), Codes("UINT8", 5, 0, 255, 128), Codes("INT4", 13, -8, 7, 0),
         Codes("UINT4", 12, 0, 15, 8)]
LARGE = [(3, 5000), (64, 256), (4099,), (2, 33, 3, 31), (1, 70001)]


def make_tensor(codes, shape, strides, memory, offset):
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    steps = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
    tensor = Tensor(codes.value, len(shape), sizes, steps, memory.ctypes.data + offset)
    tensor.keep = (sizes, steps, memory)
    return tensor


def pack(halves):
    """Packs two elements into a byte, the first in the low half."""
    padded = np.concatenate([halves, np.zeros(halves.size % 2, np.uint8)])
    return padded[::2] | padded[1::2] << 4


def draw_codes(random, codes, shape):
    """Random codes in any layout: their values and the tensor."""
    array, memory = lay_out(random, shape, np.dtype(np.uint8), True)
    if not codes.four_bits:
        values = array.view(np.int8 if codes.lowest < 0 else np.uint8)
        return values.astype(np.int64), make_tensor(codes, shape, values.strides, memory,
                                                    array.ctypes.data - memory.ctypes.data)
    # Each byte of the layout becomes half a byte of the tensor. The tensor's first element starts at a byte boundary.
    memory &= 15
    values = array.astype(np.int64)
    offset = array.ctypes.data - memory.ctypes.data
    halves = np.concatenate([np.zeros(offset % 2, np.uint8), memory])
    tensor = make_tensor(codes, shape, array.strides, pack(halves), (offset + 1) // 2)
    return np.where(values > codes.highest, values - 16, values), tensor


def draw_numbers(random, dtype, shape, kind):
    array, _ = lay_out(random, shape, np.dtype(dtype), True)
    values = random_values(random, dtype, array.size).reshape(shape)
    if kind == "small":
        values = (random.standard_normal(shape) * 4).astype(dtype)
    elif kind == "halves":  # ties
        values = (random.integers(-40, 41, shape) / 2).astype(dtype)
    array[...] = values
    return array


def draw_blocks(random, shape):
    """The sizes of the scale: a divisor of each size."""
    divisors = [[one for one in range(1, size + 1) if size % one == 0] or [0] for size in shape]
    kind = random.integers(0, 4)
    return tuple(1 if kind == 0 else int(random.choice(all_of)) if kind < 3 else all_of[-1] for all_of in divisors)


def parameters(random, codes, shape):
    blocks = draw_blocks(random, shape)
    scale = draw_numbers(random, random.choice([np.float32, np.float16]), blocks, random.choice(["small", "halves", "any"]))
    if random.random() < 0.3:
        return scale, np.full(blocks, codes.default, np.int64), [scale], "SCALE"
    zero, tensor = draw_codes(random, codes, blocks)
    return scale, zero, [scale, tensor], "SCALE_ZERO_POINT"


def check_dequantize(library, random, codes, shape):
    x, tensor = draw_codes(random, codes, shape)
    scale, zero, tensors, kind = parameters(random, codes, shape)
    dtype = random.choice([np.float32, np.float16])
    answer = dequantize(x, scale, zero, dtype)
    out, memory = lay_out(random, shape, np.dtype(dtype), False)
    twin, expected = same_memory(out, memory)
    library.run("DEQUANTIZE", [tensor, *tensors], out, (("QuantizationType", kind),))
    twin[...] = out
    fail_unless_equal(f"DEQUANTIZE of {codes.name}", shape, scale, out, answer, count_different(out.copy(), answer))
    if not np.array_equal(memory, expected):
        sys.exit(f"DEQUANTIZE of {codes.name} {shape}: bytes between the elements of the output changed")


def check_quantize(library, random, codes, shape):
    x = draw_numbers(random, random.choice([np.float32, np.float16]), shape, random.choice(["small", "halves", "any"]))
    scale, zero, tensors, kind = parameters(random, codes, shape)
    answer = quantize(x, scale, zero, codes.lowest, codes.highest)
    attributes = (("QuantizationType", kind),)
    if not codes.four_bits:
        out, memory = lay_out(random, shape, np.dtype(np.int8 if codes.lowest < 0 else np.uint8), False)
        twin, expected = same_memory(out, memory)
        library.run("QUANTIZE", [x, *tensors], out, attributes)
        twin[...] = out
        found = out.astype(np.int64)
    else:
        offset, bytes_ = int(random.integers(0, 9)), (answer.size + 1) // 2
        memory = random.integers(0, 256, offset + bytes_ + 16, dtype=np.uint8)
        expected = memory.copy()
        library.run("QUANTIZE", [x, *tensors], make_tensor(codes, shape, None, memory, offset), attributes)
        packed = memory[offset:offset + bytes_]
        expected[offset:offset + bytes_] = packed
        halves = np.stack([packed & 15, packed >> 4], -1).reshape(-1).astype(np.int64)
        if answer.size % 2 and halves[-1] != 0:
            sys.exit(f"QUANTIZE to {codes.name} {shape}: the unused half of the last byte is not 0")
        found = halves[:answer.size].reshape(shape)
        found = np.where(found > codes.highest, found - 16, found)
    fail_unless_equal(f"QUANTIZE to {codes.name}", shape, scale, found, answer, found != answer)
    if not np.array_equal(memory, expected):
        sys.exit(f"QUANTIZE to {codes.name} {shape}: bytes outside the elements of the output changed")


def fail_unless_equal(what, shape, scale, found, answer, different):
    if different.any():
        where = tuple(int(i) for i in np.argwhere(different)[0])
        sys.exit(f"{what} {shape} with scales {scale.dtype} {scale.shape}: {different.sum()} of {answer.size} differ; first "
                 f"{where}: {found[where]!r}, expected {answer[where]!r}")


def check_onnx(library, random, cases):
    import onnx
    from onnx.reference import ReferenceEvaluator

    def reference(op, inputs, kinds, result, **attributes):
        names = ["x", "scale", "zero"]
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node(op, names, ["y"], **attributes)], "one",
            [onnx.helper.make_tensor_value_info(name, kind, one.shape) for name, kind, one in zip(names, kinds, inputs)],
            [onnx.helper.make_tensor_value_info("y", result, inputs[0].shape)])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
        types = [onnx.helper.tensor_dtype_to_np_dtype(kind) for kind in kinds]
        return ReferenceEvaluator(model).run(None, {name: one.astype(kind) for name, one, kind in zip(names, inputs, types)})[0]

    for number in range(cases):
        codes = CODES[number % 4]
        kind = getattr(onnx.TensorProto, codes.name)
        axis, block = int(random.integers(0, 2)), int(random.choice([1, 2, 16, 32]))
        shape = [int(random.integers(1, 9)), int(random.integers(1, 9))]
        shape[axis] *= block
        blocks = [size // block if i == axis else size for i, size in enumerate(shape)]
        scale = np.exp(random.standard_normal(blocks)).astype(np.float32)
        zero = random.integers(codes.lowest, codes.highest + 1, blocks)
        x = (random.standard_normal(shape) * 8).astype(np.float32)
        q = random.integers(codes.lowest, codes.highest + 1, shape)
        attributes = {"axis": axis, "block_size": block}
        kinds = [onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT, kind]
        built = reference("QuantizeLinear", [x, scale, zero], kinds, kind, **attributes).astype(np.int64)
        fail_unless_equal(f"ONNX's {codes.name}", shape, scale, quantize(x, scale, zero, codes.lowest, codes.highest), built,
                          quantize(x, scale, zero, codes.lowest, codes.highest) != built)
        built = reference("DequantizeLinear", [q, scale, zero], [kind, kinds[1], kind], kinds[0], **attributes)
        answer = dequantize(q, scale, zero, np.float32)
        fail_unless_equal(f"ONNX's {codes.name}", shape, scale, answer, built, count_different(answer, built))
    print(f"{cases} cases of each match the reference of ONNX {onnx.__version__}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=150, help="per operator and type of codes")
    parser.add_argument("--onnx", action="store_true")
    options = parser.parse_args()
    library, random = Library(options.library), np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    for name, check in (("QUANTIZE", check_quantize), ("DEQUANTIZE", check_dequantize)):
        cases = elements = 0
        for codes in CODES:
            shapes = []
            for _ in range(options.cases):
                rank = int(random.integers(0, 9))
                shapes.append(tuple(int(size) for size in random.integers(0 if random.random() < 0.03 else 1,
                                                                          9 if rank < 5 else 4, rank)))
            for shape in shapes + LARGE:
                check(library, random, codes, shape)
                elements += int(np.prod(shape))
            cases += len(shapes) + len(LARGE)
        print(f"  {name:10} {elements} elements of {cases} cases compared with NumPy, none different")
    if options.onnx:
        check_onnx(library, random, options.cases)


if __name__ == "__main__":
    main()
