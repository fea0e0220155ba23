# SPDX-License-Identifier: MIT
"""The cases for test_onnx_nodes.py: for each node, type and opset, rows of arrays and attributes."""
import numpy as np
import onnx
from onnx import helper
from onnx_models import KINDS, dtype_of, rows_of
from onnx_recurrent_cases import of_network
from onnx_values import SHAPES, ints, numbers


def of_one(**attributes):
    return lambda dtype, since: [([numbers(dtype, shape)], attributes) for shape in SHAPES]


def of_two(dtype, since):
    shapes = [((), ()), ((5,), (5,)), ((2, 3, 4), (2, 3, 4))]
    if since >= 7:
        shapes += [((2, 3, 4), (4,)), ((3, 1), (2, 1, 4)), ((), (5,))]
    return [([numbers(dtype, a), numbers(dtype, b, 1)], {}) for a, b in shapes]


def of_divisor(dtype, since):
    """Omits integer x / 0 and minimum / -1, which ONNX leaves undefined; test_onnx.py covers them."""
    cases = of_two(dtype, since)
    if np.dtype(dtype).kind == "f":
        return cases
    return [([a, np.where((b == 0) | (b + 1 == 0), 3, b).astype(dtype)], {}) for (a, b), _ in cases]


def of_mod(dtype, since):
    is_float = np.dtype(dtype).kind == "f"
    return [(arrays, {"fmod": fmod}) for arrays, _ in of_divisor(dtype, since)
            for fmod in ([1] if is_float and since <= 13 else [0, 1])]


def of_several(dtype, since):
    shapes = [[(5,)], [(5,)] * 3, [(2, 3, 4)] * 2] + ([[(2, 3, 4), (3, 1), ()]] if since >= 8 else [])
    return [([numbers(dtype, shape, i) for i, shape in enumerate(group)], {}) for group in shapes]


def reduced(dtype, since, by_input, specials=False):
    cases = []
    shapes = [(2, 3, 4), (5,), (3, 0, 2)] if since >= 18 else [(2, 3, 4), (5,)]
    for shape in shapes:
        x = numbers(dtype, shape, 2, specials)
        for axes in (None, [0], [-1], list(range(len(shape)))[::2]):
            if since < 11 and axes and min(axes) < 0:
                continue
            for keep in (0, 1):
                options = {"keepdims": keep}
                if by_input:
                    cases.append(([x] if axes is None else [x, ints(*axes)], options))
                else:
                    cases.append(([x], options if axes is None else {**options, "axes": axes}))
    if by_input:
        cases += [([numbers(dtype, (2, 3), 2, specials), ints()], {"noop_with_empty_axes": noop}) for noop in (0, 1)]
        cases.append(([numbers(dtype, (), 2)], {}))
    return cases


def reduction(first_by_input=18, specials=False, empty=True):
    def cases(dtype, since):
        found = reduced(dtype, since, since >= first_by_input, specials)
        return found if empty else [case for case in found if case[0][0].size]
    return cases


def of_arg(dtype, since):
    options = [{"axis": axis, "keepdims": keep} for axis in (0, 2) + ((-1,) if since >= 11 else ()) for keep in (0, 1)]
    options += [{"axis": 1, "select_last_index": 1}] if since >= 12 else []
    return [([x], one) for one in options for x in (numbers(dtype, (2, 3, 4)), numbers(dtype, (3, 7, 3), 3, False))]


def of_top_k(dtype, since):
    """Rows with few distinct numbers, and therefore ties. ONNX does not define the order of NaN."""
    cases = []
    for shape, axis, k in (((2, 3, 4), 1, 2), ((40,), 0, 13), ((3, 5), -1, 5), ((3, 5), 0, 1)):
        x = np.arange(np.prod(shape)).reshape(shape) * 7 % 11
        x = x.astype(dtype)
        for options in ({}, {"largest": 0}, {"largest": 1, "sorted": 1}) if since >= 11 else ({},):
            if since == 1:
                cases.append(([x], {"axis": axis, "k": k, "outputs": 2}))
            else:
                cases.append(([x, ints(k)], {"axis": axis, "outputs": 2, **options}))
    return cases


def of_cast(dtype, since):
    """Floats become integers only for values that both types can represent. ONNX leaves the rest undefined."""
    cases = []
    for kind in KINDS:
        to = dtype_of(kind)
        is_open = np.dtype(dtype).kind == "f" and to.kind in "iu"
        x = np.asarray([0, 1, 2.5, 100], dtype) if is_open else numbers(dtype, (2, 3, 4))
        name = onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(to))
        cases.append(([x], {"to": helper.np_dtype_to_tensor_dtype(to) if since > 1 else name}))
    return cases


def of_cast_like(dtype, since):
    return [([x, np.zeros(2, dtype_of(kind))], {}) for kind, ((x,), _) in zip(KINDS, of_cast(dtype, since))]


def of_clip(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    x = np.where(np.isinf(x), 1, x).astype(dtype) if x.dtype.kind == "f" else x  # a missing bound clamps infinities
    if since < 11:
        return [([x], options) for options in ({"min": -1.0, "max": 1.5}, {"min": 0.5}, {})[:1 if since == 1 else 3]]
    low, high = np.array(1, dtype), np.array(2, dtype)
    return [([x, low, high], {}), ([x, low], {}), ([x, None, high], {}), ([x], {})]


def of_where(dtype, since):
    return [([numbers(bool, c), numbers(dtype, a), numbers(dtype, b, 1)], {})
            for c, a, b in [((5,), (5,), (5,)), ((3, 1), (2, 1, 4), ()), ((), (2, 3), (3,))]]


def of_bit_shift(dtype, since):
    bits = np.dtype(dtype).itemsize * 8
    by = np.array([0, 1, 3, bits - 1, bits, 200 % 2**(bits - 1)] + ([-1] if np.dtype(dtype).kind == "i" else []), dtype)
    return [([numbers(dtype, (8, 1)), by], {"direction": direction}) for direction in ("LEFT", "RIGHT")]


def of_slope(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    x = np.where(np.isfinite(x), x, -1).astype(dtype)
    shapes = [(1,)] if since < 7 else [(1,), (4,), (3, 1), x.shape]
    return [([x, numbers(dtype, shape, 1, False)], {}) for shape in shapes]


def finite(cases):
    """The reference multiplies by a sign or subtracts, so infinities would become NaN there."""
    def kept(dtype, since):
        return [([np.where(np.isfinite(x), x, 1).astype(dtype)], options) for (x,), options in cases(dtype, since)]
    return kept


def of_range(dtype, since):
    rows = [(0, 5, 1), (2, 9, 3), (9, 2, -2), (3, 3, 1), (5, 1, 1)]
    rows += [(0.5, 3.25, 0.25)] if np.dtype(dtype).kind == "f" else []
    return [([np.array(one, dtype) for one in row], {}) for row in rows]


def of_reshape(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    shapes = [[4, 6], [0, -1], [-1], [2, 0, 2, 2]]
    if since < 5:
        return [([x], {"shape": shape}) for shape in shapes]
    more = [([numbers(dtype, (0, 3)), ints(3, 0)], {"allowzero": 1})] if since >= 14 else []
    return [([x, ints(*shape)], {}) for shape in shapes] + more


def of_axes(shape, *choices):
    def cases(dtype, since):
        x = numbers(dtype, shape)
        wanted = [axes for axes in choices if since >= 11 or not axes or min(axes) >= 0]
        if since >= 13:
            return [([x] if axes is None else [x, ints(*axes)], {}) for axes in wanted]
        return [([x], {} if axes is None else {"axes": axes}) for axes in wanted]
    return cases


def of_slice(dtype, since):
    x = numbers(dtype, (5, 6))
    if since < 10:
        return [([x], {"starts": [1, -3], "ends": [4, 100]}), ([x], {"starts": [0], "ends": [-1], "axes": [1]})]
    return [([x, ints(1, -3), ints(4, 100)], {}), ([x, ints(0), ints(-1), ints(1)], {}),
            ([x, ints(4, -1), ints(-100, 0), ints(0, 1), ints(-2, -1)], {}), ([x, ints(5), ints(9)], {}),
            ([x, ints(3, 1), ints(0, 6), ints(0, -1), ints(-1, 2)], {})]


def of_split(dtype, since):
    x = numbers(dtype, (6, 4))
    if since == 1:
        return [([x], {"axis": 0, "split": [2, 4], "outputs": 2})]
    equal = {"num_outputs": 2} if since >= 18 else {}
    by_sizes = ([x, ints(1, 5)], {"outputs": 2}) if since >= 13 else ([x], {"split": [1, 5], "outputs": 2})
    uneven = [([numbers(dtype, (5,))], {"num_outputs": 3, "outputs": 3})] if since >= 18 else []
    return [([x], {"axis": 1, "outputs": 2, **equal}), by_sizes] + uneven


def of_concat(dtype, since):
    x, y = numbers(dtype, (2, 3)), numbers(dtype, (2, 1), 1)
    return [([x, y, x], {"axis": 1}), ([x, x], {"axis": 0}), ([x], {"axis": 1})] + (
        [([y, x], {"axis": -1})] if since >= 11 else [])


def of_pad(dtype, since):
    x = numbers(dtype, (2, 3))
    pads = [1, 0, 2, 1]
    if since < 11:
        name = "paddings" if since == 1 else "pads"
        return [([x], {name: pads, "value": 2.0}), ([x], {name: pads})]
    return [([x, ints(*pads), np.array(1, dtype)], {}), ([x, ints(*pads)], {})] + (
        [([x, ints(2, 1), np.array(1, dtype), ints(1)], {})] if since >= 18 else [])


def of_tile(dtype, since):
    x = numbers(dtype, (2, 3))
    return [([x, ints(2, 3)], {}), ([x, ints(1, 1)], {}), ([x, ints(0, 2)], {})]


def along_rows(dtype, since):
    return [([numbers(dtype, (2, 3, 4), 3, False)], {"axis": axis}) for axis in ((0, 1, 2) if since < 11 else (0, 1, -1))]


def of_gather(dtype, since):
    x = numbers(dtype, (4, 3))
    last = ints(3, -1) if since >= 11 else ints(3, 1)
    return [([x, np.array(1)], {}), ([x, last], {}), ([x, ints(2, 0, 0).reshape(3, 1)], {"axis": 1}),
            ([x, ints()], {}), ([x, np.array([1], np.int32)], {"axis": 1})]


def of_gather_elements(dtype, since):
    x = numbers(dtype, (4, 3))
    return [([x, ints(3, -1, 0, 1, 2, 2).reshape(2, 3)], {}), ([x, ints(2, -3, 0, 1).reshape(4, 1)], {"axis": 1}),
            ([x, ints(1, 0, 3).reshape(1, 3).astype(np.int32)], {"axis": -2}), ([x, ints().reshape(0, 3)], {})]


def of_gather_nd(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    rows = [(ints(1, 2, -2, 0).reshape(2, 2), {}), (ints(1, -1).reshape(2, 1, 1), {}), (ints(0, 1, 3), {})]
    if since >= 12:
        rows += [(ints(2, -1).reshape(2, 1), {"batch_dims": 1}), (ints(2, 0, 1, 3).reshape(2, 2), {"batch_dims": 1})]
    return [([x, indices], options) for indices, options in rows]


def of_scatter(dtype, since):
    x = numbers(dtype, (4, 3))
    below = ints(3, -3, 0) if since >= 11 else ints(3, 1, 0)
    return [([x, below.reshape(1, 3), numbers(dtype, (1, 3), 7)], {}),
            ([x, ints(2, 0, 1, 1).reshape(4, 1), numbers(dtype, (4, 1), 7)], {"axis": 1}),
            ([x, ints(1, 0).reshape(1, 2).astype(np.int32), numbers(dtype, (1, 2), 7)], {"axis": 0}),
            ([x, ints().reshape(0, 3), numbers(dtype, (0, 3))], {})]


def of_scatter_nd(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    return [([x, ints(1, 2, -2, 0).reshape(2, 2), numbers(dtype, (2, 4), 7)], {}),
            ([x, ints(1).reshape(1, 1), numbers(dtype, (1, 3, 4), 7)], {}),
            ([x, ints(0, 1, 3), numbers(dtype, (), 7)], {}),
            ([x, ints(0, 1, 0, 1).reshape(2, 2), numbers(dtype, (2, 4), 7)], {})]


def of_compress(dtype, since):
    x, keeps = numbers(dtype, (3, 4)), np.array([False, True, True])
    return [([x, keeps], options) for options in ({}, {"axis": 0}, {"axis": 1})] + [([x, keeps[:1]], {"axis": 0})]


def of_quantize(dtype, since):
    if dtype == np.int32 and since in (19, 21):  # the scale must be int32 too, but anydml divides floats
        return []
    x = np.asarray([[-300, -3, 2.5, 1], [0, 0.5, 3, 1000]]).astype(dtype)
    scale_dtype = np.float16 if dtype == np.float16 else np.float32
    kinds = [np.uint8, np.int8] + ([np.uint16, np.int16] if since >= 21 else [])
    cases = [([x, np.array(0.5, scale_dtype)], {})]
    for kind in kinds:
        cases.append(([x, np.array(0.5, scale_dtype), np.array(3, kind)], {}))
        if since >= 13:
            cases.append(([x, np.array([0.5, 2], scale_dtype), np.array([0, 7], kind)], {"axis": 0}))
        if since >= 21:
            scale = np.array([[1, 2], [3, 0.25]], scale_dtype)
            cases.append(([x, scale, np.array([[0, 1], [2, 3]], kind)], {"axis": 1, "block_size": 2}))
            cases.append(([x[:, :3], scale], {"axis": 1, "block_size": 2,
                                              "output_dtype": helper.np_dtype_to_tensor_dtype(np.dtype(kind))}))
    return cases


def of_dequantize(dtype, since):
    x = numbers(dtype, (2, 4), specials=dtype != np.int32)
    cases = []
    for scale_dtype in (np.float32, np.float16)[:1 if since < 19 else 2]:
        cases.append(([x, np.array(0.3, scale_dtype)], {}))
        if dtype != np.int32:
            cases.append(([x, np.array(0.3, scale_dtype), np.array(5, dtype)], {}))
        if since >= 13:
            cases.append(([x, np.array([0.5, 3], scale_dtype)], {"axis": 0}))
        if since >= 21:
            cases.append(([x, np.array([[1, 2], [3, 0.7]], scale_dtype)], {"axis": -1, "block_size": 2}))
    return cases


def of_one_hot(dtype, since):
    values = [np.array([0, 1], kind) for kind in (np.float32, np.int8)]
    return [([np.array([[1, 3], [0, 2]], dtype), np.array(4), value], {"axis": axis}) for value in values
            for axis in (-1, 0, 1)]


def of_normalization(rows, *others):
    def cases(dtype, since):
        x = numbers(dtype, (2, 4, 3), 5, False)
        arrays = [numbers(dtype, shape(x), i + 6, False) for i, shape in enumerate(others)]
        return [([x, *arrays], rows)]
    return cases


def of_attention(dtype, since):
    """Cases with tokens and heads, groups of heads, bool and numeric masks, the past, and a row with all keys masked.
    The values are positive, so that nothing cancels in their means."""
    q, k, v = (numbers(dtype, (2, rows, 4 * size), i + 5, False) for i, (rows, size) in enumerate(((3, 2), (5, 1), (5, 1))))
    groups = {"q_num_heads": 4, "kv_num_heads": 2}
    by_heads = [numbers(dtype, (2, 2, rows, 3), i + 5, False) for i, rows in enumerate((3, 5, 5))]
    past = [numbers(dtype, (2, 2, 2, 2), i, False) for i in range(2)]
    v, by_heads[2], past[1] = (np.abs(one) + np.dtype(dtype).type(1) for one in (v, by_heads[2], past[1]))
    mask = numbers(bool, (3, 5), 1)
    mask[1] = False
    return [([q, k, v], groups), ([q, k, v, mask], groups), ([q, k, v, numbers(dtype, (2, 1, 3, 5), 8, False)], groups),
            ([q, k, v], {**groups, "is_causal": 1, "scale": 0.25}), (by_heads, {}), ([*by_heads, mask], {"is_causal": 1}),
            ([q, k, v, numbers(bool, (3, 7), 2), *past], {**groups, "is_causal": 1}),
            ([q, k, v, mask[:, :4]], groups)]


def of_pool(dtype, since):
    return [([numbers(dtype, (2, 3, 2, 4), 5, False)], {})]


def of_windows(dtype, since, counts=False, p=False):
    x, line = numbers(dtype, (2, 3, 5, 7), 5, False), numbers(dtype, (1, 2, 9), 6, False)
    rows = [(x, {"kernel_shape": [2, 3]}), (x, {"kernel_shape": [2, 3], "strides": [2, 1]}),
            (line, {"kernel_shape": [3], "strides": [2]})]
    # The reference's LpPool divides by the count without padding, but multiplies by the whole window.
    if not p:
        rows += [(x, {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2], "strides": [2, 2]}),
                 (x, {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER", "strides": [2, 3]}),
                 (x, {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"})]
    rows += [(x, {"kernel_shape": [2, 2], "strides": [3, 3], "auto_pad": "VALID"})]
    if since >= 10 and not p:
        rows += [(x, {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1})]
    if since >= (19 if counts else 18 if p else 10):
        rows += [(x, {"kernel_shape": [2, 3], "dilations": [2, 2]})]
    if counts and since >= 7:
        rows += [(x, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1})]
    rows = rows if x.dtype.kind == "f" else []  # the reference fills the padding with NaN, and fails for integers
    return [([x], {**options, "p": 2 if since > 1 else 2.0} if p else options) for x, options in rows]


def of_convolution(dtype, since):
    """Small integers, as in of_gemm."""
    def whole(shape, seed):
        return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)

    rows = [((2, 3, 5, 6), (4, 3, 3, 2), {"kernel_shape": [3, 2]}), ((1, 4, 6, 5), (6, 2, 3, 3), {
        "group": 2, "strides": [2, 1], "pads": [1, 0, 1, 2], "dilations": [1, 2]}),
        ((2, 3, 7), (2, 3, 3), {"pads": [1, 1]}),
        ((1, 2, 7, 6), (2, 2, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        ((1, 2, 7, 6), (2, 2, 2, 2), {"auto_pad": "SAME_LOWER"}), ((1, 2, 5, 6), (2, 2, 3, 3), {"auto_pad": "VALID"})]
    return [([whole(x, 1), whole(w, 2), *([whole(w[:1], 3)] if i % 2 else [])], options)
            for i, (x, w, options) in enumerate(rows)]


def of_integer_convolution(dtype, since):
    """All byte values, with every form of zero point. The reference allows one per channel only in two dimensions."""
    def bytes_of(shape, kind, seed):
        limits = np.iinfo(kind)
        return np.random.default_rng(seed).integers(limits.min, limits.max, shape, kind, endpoint=True)

    rows = []
    for (x, w, *_), options in of_convolution(np.float32, since):
        for other in (np.int8, np.uint8):
            arrays = [bytes_of(x.shape, dtype, 1), bytes_of(w.shape, other, 2)]
            rows += [(arrays, options), ([*arrays, bytes_of((), dtype, 3)], options),
                     ([*arrays, bytes_of((), dtype, 4), bytes_of((), other, 5)], options)]
            if x.ndim == 4:
                rows.append(([*arrays, bytes_of((), dtype, 6), bytes_of(w.shape[:1], other, 7)], options))
    return rows


def of_quantized_convolution(dtype, since):
    """Scales that are powers of 2 and an even zero point, as in of_quantized_matmul."""
    rows = []
    for (x, w, *zeros), options in of_integer_convolution(dtype, since):
        if len(zeros) != 2:
            continue
        scales = np.float32([2.0**-4, 2.0**-3] * w.shape[0])[:w.shape[0]] if zeros[1].ndim else np.float32(2.0**-4)
        bias = np.random.default_rng(8).integers(-9999, 9999, w.shape[:1], np.int32)
        rows += [([x, np.float32(0.5), zeros[0], w, scales, zeros[1], np.float32(8), np.array(4, kind), *more], options)
                 for kind, more in ((np.int8, []), (np.uint8, [bias]))]
    return rows


def of_transposed_convolution(dtype, since):
    """Small integers, as in of_gemm. The reference supports only two spatial dimensions."""
    def whole(shape, seed):
        return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)

    rows = [((2, 3, 4, 5), (3, 2, 3, 3), {}), ((1, 3, 4, 5), (3, 2, 3, 3), {"strides": [2, 3], "pads": [1, 1, 1, 0]}),
            ((1, 2, 3, 3), (2, 1, 3, 3), {"strides": [3, 2], "output_padding": [1, 1]}),
            ((1, 2, 3, 3), (2, 1, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"})]
    return [([whole(x, 1), whole(w, 2), *([whole(w[1:2], 3)] if i % 2 else [])], options)
            for i, (x, w, options) in enumerate(rows)]


def of_gemm(dtype, since):
    """Small integers, whose sums do not depend on the order. For float16 the reference rounds every product."""
    def whole(shape, seed):
        return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)

    rows = []
    for turned_a, turned_b in ((0, 0), (1, 0), (0, 1), (1, 1)):
        a, b = whole((3, 5), 1), whole((5, 4), 2)
        a, b = (np.ascontiguousarray(x.T) if turned else x for x, turned in ((a, turned_a), (b, turned_b)))
        options = {"transA": turned_a, "transB": turned_b}
        rows.append(([a, b, whole((3, 4), 3)], options))
        for shape in ((4,), (1, 4), (3, 1), (1,)) if since >= 7 else ():
            rows.append(([a, b, whole(shape, 4)], {**options, "alpha": 0.5, "beta": -2.0}))
        if since >= 11:
            rows.append(([a, b], {**options, "alpha": 2.0}))
    return rows


def of_matmul(dtype, since):
    shapes = [((3, 5), (5, 4)), ((5,), (5, 4)), ((3, 5), (5,)), ((5,), (5,)), ((2, 3, 5), (5, 4)),
              ((2, 3, 5), (2, 5, 4)), ((5,), (2, 5, 4)), ((2, 1, 3, 5), (4, 5, 2)), ((1, 1), (1, 1)), ((3, 0), (0, 4))]
    return [([np.random.default_rng(i).integers(-4, 5, shape).astype(dtype) for i, shape in enumerate(pair)], {})
            for pair in shapes]


def of_matmul_integer(dtype, since):
    """Zero points in every form. The reference accepts one per row only as a column."""
    def bytes_of(shape, kind, seed):
        limits = np.iinfo(kind)
        return np.random.default_rng(seed).integers(limits.min, limits.max, shape, kind, endpoint=True)

    rows = []
    for other in (np.int8, np.uint8):
        for a, b in (((3, 5), (5, 4)), ((5,), (5, 4)), ((3, 5), (5,)), ((2, 3, 5), (5, 4)), ((2, 1, 3, 5), (4, 5, 2))):
            arrays = [bytes_of(a, dtype, 1), bytes_of(b, other, 2)]
            rows += [(arrays, {}), ([*arrays, bytes_of((), dtype, 3)], {}),
                     ([*arrays, bytes_of((1,), dtype, 4), bytes_of((), other, 5)], {})]
        arrays = [bytes_of((3, 5), dtype, 6), bytes_of((5, 4), other, 7)]
        rows.append(([*arrays, bytes_of((3, 1), dtype, 8), bytes_of((4,), other, 9)], {}))
        rows.append(([*arrays, None, bytes_of((1, 4), other, 10)], {}))
    return rows


def of_quantized_matmul(dtype, since):
    """Scales that are powers of 2, so that the order of multiplications does not matter, and an even zero point,
    because the reference rounds when it adds the zero point."""
    return [([a, np.float32(0.5), zeros[0] if zeros else np.array(0, dtype), b, np.float32(2.0**-4),
              zeros[1] if zeros else np.array(0, b.dtype), np.float32(8), np.array(4, kind)], options)
            for (a, b, *zeros), options in of_matmul_integer(dtype, since)
            if len(zeros) != 1 and None not in (type(one) if one is not None else None for one in zeros)
            for kind in (np.int8, np.uint8)]


def of_scan(dtype, since):
    """Small integers, because the reference rounds float16 at every step."""
    rows = []
    for shape, axis in (((6,), 0), ((3, 4), -1), ((2, 3, 4), 1), ((2, 3, 4), -3)):
        x = np.random.default_rng(len(shape)).integers(0, 4, shape).astype(dtype)
        position = np.array(axis, np.int32 if axis < 0 else np.int64)
        rows += [([x, position], {"exclusive": exclusive, "reverse": reverse}) for exclusive in (0, 1) for reverse in (0, 1)]
    return rows


def ordinary(**attributes):
    """Without special values, for which the reference's own formula overflows or loses a small result."""
    return lambda dtype, since: [([numbers(dtype, shape, specials=False)], attributes) for shape in SHAPES[1:]]


def of_power(dtype, since):
    shapes = [((5,), (5,))] if since < 7 else [((5,), (5,)), ((2, 3, 4), (4,)), ((), (5,))]
    cases = [([np.abs(numbers(dtype, a, 3, False)), numbers(dtype, b, 1, False)], {}) for a, b in shapes]
    kinds = ["int8", "uint16", "int32", "int64", "float16", "float32"] if since >= 12 else []
    return cases + [([numbers(dtype, (7, 1), 3, False), np.array([0, 1, 2, 3]).astype(kind)], {}) for kind in kinds]


def of_resize(dtype, since):
    """Skips cases in which ONNX's reference fails or differs. For integers, the reference truncates the results."""
    floats = np.dtype(dtype) in (np.float16, np.float32)
    x = numbers(dtype, (1, 2, 4, 6), 5, False)
    x = np.abs(x) + np.ones_like(x) if floats else x  # positive, so that nothing cancels in the means
    up, down = np.float32([1, 1, 2, 3]), np.float32([1, 1, 0.5, 0.5])
    if since < 11 or x.dtype == bool:
        return []  # not in the reference; test_onnx_nodes.OLD has cases
    none = np.zeros(0, np.float32)
    cases = [([x, none, scales], {"mode": "nearest", "nearest_mode": nearest, "coordinate_transformation_mode": way})
             for scales in (up, down) for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
             for way in ("half_pixel", "asymmetric", "align_corners")]
    if floats:
        cases += [([x, none, scales], {"mode": "linear", "coordinate_transformation_mode": way})
                  for scales in (up, down, np.float32([1, 1, 1.5, 0.7]))
                  for way in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")]
        cases.append(([x, none, none, ints(1, 2, 7, 3)], {"mode": "linear"}))
        cases.append(([x, np.float32([0, 0, 0.25, 0.2, 1, 1, 0.75, 0.8]), none, ints(1, 2, 3, 5)],
                      {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}))
    if since >= 18:
        cases += [([x, none, none, ints(7, 9)], {"mode": "nearest", "axes": [2, 3], "keep_aspect_ratio_policy": policy})
                  for policy in ("stretch", "not_larger", "not_smaller")]
        cases += [([x, none, np.float32([1, 1, 0.6, 0.5])], {"mode": "linear", "antialias": 1})] * floats
    if since >= 19:
        cases += [([x, none, np.float32([1, 1, 0.6, 2.3])], {
            "mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"})] * floats
    return cases


CASES = {
    "GRU": of_network(3), "LSTM": of_network(4, peepholes=True), "RNN": of_network(1),
    "Celu": ordinary(alpha=0.5), "Elu": ordinary(alpha=0.5), "Selu": ordinary(alpha=1.5, gamma=2.0),
    "Gelu": lambda dtype, since: ordinary()(dtype, since) + ordinary(approximate="tanh")(dtype, since),
    "Mish": ordinary(), "Pow": of_power, "Sigmoid": ordinary(), "Softplus": ordinary(), "Swish": ordinary(alpha=1.5),
    "ReduceLogSum": lambda dtype, since: [([np.abs(x) + np.ones_like(x), *more], options)
                                          for (x, *more), options in reduction()(dtype, since)],
    "ReduceLogSumExp": lambda dtype, since: [  # the reference fails if the result is a scalar
        case for case in reduction()(dtype, since) if case[0][0].ndim > 1 and (
            case[1].get("keepdims", 1) or len(case[0]) > 1 or "axes" in case[1])],
    "AveragePool": lambda dtype, since: of_windows(dtype, since, counts=True),
    "BatchNormalization": lambda dtype, since: [(
        [numbers(dtype, (2, 3, 4), 5, False), *(numbers(dtype, (3,), i, False) for i in (6, 7, 8)),
         np.array([0.5, 2, 1], dtype)], {"is_test": 1} if since < 7 else {})],
    "GlobalLpPool": lambda dtype, since: [],  # not in the reference
    "InstanceNormalization": of_normalization({}, *[lambda x: (4,)] * 2),
    "LpNormalization": lambda dtype, since: [([np.abs(numbers(dtype, (3, 4), 5, False))], {"p": p, "axis": axis})
                                             for p in (1, 2) for axis in (-1, 0)],  # the reference omits abs()
    "LpPool": lambda dtype, since: of_windows(dtype, since, p=True), "MaxPool": of_windows,
    "MaxRoiPool": lambda dtype, since: [],  # not in the reference
    "RoiAlign": lambda dtype, since: [([numbers(dtype, (2, 3, 8, 9), 5, False), np.array(
        [[0, 1, 6, 7], [2.5, 0.5, 8, 4], [3, 3, 3.5, 3.25]], dtype), ints(1, 0, 1)], {
            "output_height": 2, "output_width": 3, "sampling_ratio": ratio, "spatial_scale": 1 / (1 + ratio), **more})
        for ratio in (0, 2) for more in ({}, {"coordinate_transformation_mode": "output_half_pixel"})[:1 + (since >= 16)]],
    "MaxUnpool": lambda dtype, since: [([numbers(dtype, (1, 1, 2, 2), 5, False), np.array([[[[5, 7], [13, 15]]]])],
                                        {"kernel_shape": [2, 2], "strides": [2, 2]})],
    "MeanVarianceNormalization": lambda dtype, since: [  # ONNX's definition uses float constants
        ([numbers(dtype, (2, 3, 2, 4), 5, False)], {})] if dtype == np.float32 else [],
    "ArgMax": of_arg, "ArgMin": of_arg, "BitShift": of_bit_shift, "Cast": of_cast, "CastLike": of_cast_like,
    "BitCast": lambda dtype, since: [([numbers(dtype)], {"to": helper.np_dtype_to_tensor_dtype(
        np.dtype(f"u{np.dtype(dtype).itemsize}"))})] if dtype != bool else [],
    "CenterCropPad": lambda dtype, since: [([numbers(dtype, (4, 3)), ints(2, 6)], {}),
                                           ([numbers(dtype, (4, 3)), ints(5)], {"axes": [1]})],
    "Clip": of_clip, "Concat": of_concat,
    "Col2Im": lambda dtype, since: [([numbers(dtype, (2, 8, 6), 5, False), ints(3, 4), ints(2, 2)], {}),
                                    ([numbers(dtype, (1, 4, 8), 5, False), ints(4, 5), ints(2, 2)], {
                                        "pads": [0, 1, 1, 0], "strides": [2, 1], "dilations": [1, 2]})],
    "ConstantOfShape": lambda dtype, since: [([ints(*shape)], {"value": onnx.numpy_helper.from_array(
        numbers(dtype_of(kind), (1,)))}) for shape in ((2, 3), (0,), ()) for kind in KINDS] + [([ints(2)], {})],
    "CumProd": of_scan, "CumSum": of_scan,
    "DepthToSpace": lambda dtype, since: [([numbers(dtype, (2, 8, 2, 3))], {"blocksize": 2, **mode}) for mode in (
        [{}] if since < 11 else [{"mode": "DCR"}, {"mode": "CRD"}])],
    "DequantizeLinear": of_dequantize, "Div": of_divisor,
    "Dropout": lambda dtype, since: [([numbers(dtype)], {"is_test": 1} if since < 7 else {})],
    "DynamicQuantizeLinear": lambda dtype, since: [([numbers(dtype, (3, 4), 1, False)], {})],
    "Expand": lambda dtype, since: [([numbers(dtype, a), ints(*b)], {}) for a, b in [
        ((3, 1), (2, 1, 4)), ((5,), (1,)), ((), (2,))]],
    "EyeLike": lambda dtype, since: [([numbers(dtype, (3, 4))], options) for options in (
        {}, {"k": 1}, {"k": -1, "dtype": 1}, {"dtype": 9})],
    "Flatten": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], {"axis": axis}) for axis in (
        (0, 1, 3) if since < 11 else (0, 1, 3, -1))],
    "Conv": of_convolution, "ConvTranspose": of_transposed_convolution, "ConvInteger": of_integer_convolution,
    "QLinearConv": of_quantized_convolution,
    "Compress": of_compress, "GatherElements": of_gather_elements, "GatherND": of_gather_nd,
    "Scatter": lambda dtype, since: [],  # not in the reference
    "ScatterElements": of_scatter, "ScatterND": of_scatter_nd,
    "TensorScatter": lambda dtype, since: [([numbers(dtype, (2, 5, 3)), numbers(dtype, (2, 2, 3), 7), ints(1, 3)], {"axis": 1})],
    "Gather": of_gather, "Gemm": of_gemm, "GlobalAveragePool": of_pool, "GlobalMaxPool": of_pool,
    "GroupNormalization": lambda dtype, since: of_normalization(  # per group before opset 21, then per channel
        {"num_groups": 2}, *[lambda x: (2 if since < 21 else 4,)] * 2)(dtype, since),
    "HardSigmoid": finite(of_one(alpha=0.3, beta=0.4)), "HardSwish": finite(of_one()),
    "Hardmax": along_rows, "LogSoftmax": along_rows, "Softmax": along_rows,
    "IsInf": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], {"detect_positive": p, "detect_negative": n})
                                   for p in (0, 1) for n in (0, 1)],
    "Attention": of_attention,
    "LRN": lambda dtype, since: [([numbers(dtype, (4, 4, 2, 3), 5, False)], {"size": size, "alpha": 0.5, "bias": 1.5})
                                 for size in (1, 2, 3)],  # the reference confuses the batch with the channels
    "LayerNormalization": of_normalization({"axis": -1}, *[lambda x: x.shape[-1:]] * 2),
    "LeakyRelu": finite(of_one(alpha=0.25)), "MatMul": of_matmul, "MatMulInteger": of_matmul_integer,
    "Max": of_several, "Mean": of_several,
    "Min": of_several, "Mod": of_mod,
    "OneHot": of_one_hot, "PRelu": of_slope, "Pad": of_pad, "QLinearMatMul": of_quantized_matmul,
    "QuantizeLinear": of_quantize,
    "RMSNormalization": of_normalization({"axis": -1}, lambda x: x.shape[-1:]), "Range": of_range,
    "ReduceL1": reduction(), "ReduceL2": reduction(), "ReduceMax": reduction(specials=True),
    "ReduceMean": reduction(empty=False), "ReduceMin": reduction(specials=True), "ReduceProd": reduction(),
    "ReduceSum": reduction(13), "ReduceSumSquare": reduction(), "Reshape": of_reshape,
    "ReverseSequence": lambda dtype, since: [([numbers(dtype, (4, 3, 2)), ints(*lengths)], options) for lengths, options in (
        ((4, 1, 3), {}), ((2, 3, 1, 3), {"batch_axis": 0, "time_axis": 1}))],
    "Resize": of_resize, "Upsample": lambda dtype, since: [],  # see of_resize
    "Shape": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], options) for options in (
        [{}] if since < 15 else [{}, {"start": 1}, {"start": -2, "end": -1}])],
    "Shrink": lambda dtype, since: finite(of_one(lambd=1.5, bias=1.0))(dtype, since) if np.dtype(
        dtype).kind == "f" else [([numbers(dtype, (3, 4), specials=False)], {"lambd": 1.5, "bias": 1.0})],
    "Slice": of_slice, "SpaceToDepth": lambda dtype, since: [([numbers(dtype, (2, 3, 4, 6))], {"blocksize": 2})],
    "Split": of_split, "Squeeze": of_axes((1, 3, 1, 2), None, [0], [0, 2], [-2]),
    "Softsign": lambda dtype, since: of_one()(dtype, since)[1:],  # the reference fails for scalars
    "Sum": of_several,
    "ThresholdedRelu": of_one(alpha=1.5), "Tile": of_tile, "TopK": of_top_k,
    "Transpose": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], options) for options in ({}, {"perm": [2, 0, 1]})],
    "Trilu": lambda dtype, since: [([numbers(dtype, (2, 4, 3)), *k], {"upper": upper}) for upper in (0, 1)
                                   for k in ([], [np.array(1)], [np.array(-2)])],
    "Unsqueeze": of_axes((3, 2), [0], [1, 3], [-1]), "Where": of_where,
}
OF_TWO = {"Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Greater", "GreaterOrEqual", "Less",
          "LessOrEqual", "Mul", "Or", "Sub", "Xor"}


def cases_of(op, dtype, since):
    kinds = {kind for row in rows_of(op, since) for kind in row.kinds}
    if dtype is not None and dtype not in map(dtype_of, kinds):
        return []
    return CASES.get(op, of_two if op in OF_TWO else of_one())(dtype, since)
