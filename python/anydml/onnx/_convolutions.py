# SPDX-License-Identifier: MIT
"""Convolutions, transposed convolutions, and integer convolutions."""
from ._rows import check_choice, check_minimum, dispatch, wrong

MAX_AXES = 3


def _check(node):
    """Checks the attributes before anything is allocated, because sizes are computed from them."""
    for name, lowest in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 0), ("group", 1),
                        ("output_padding", 0), ("output_shape", 1)):
        check_minimum(node, name, lowest)
    check_choice(node, "auto_pad", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))


def _option(node, name, count, default):
    """Returns an attribute that has a number for each axis."""
    given = node.attributes.get(name) or [default] * count
    if len(given) != count:
        axes = count // 2 if name == "pads" else count
        wrong(node, name, f"{count} numbers, since the tensor has {axes} spatial axes")
    return list(given)


def _axes(node, x, w):
    """Returns the number of spatial axes, and the strides, dilations and filter extents along them."""
    axes = x.ndim - 2
    if not 1 <= axes <= MAX_AXES or w.ndim != x.ndim:
        raise ValueError(f"X has the sizes {list(x.shape)} and W {list(w.shape)}; expected the same number of "
                         f"dimensions, with 1 to {MAX_AXES} spatial ones")
    kernel = _option(node, "kernel_shape", axes, 0)
    if node.attributes.get("kernel_shape") and tuple(kernel) != w.shape[2:]:
        wrong(node, "kernel_shape", f"the sizes of W, {list(w.shape[2:])}")
    strides, dilations = _option(node, "strides", axes, 1), _option(node, "dilations", axes, 1)
    return axes, strides, dilations, [(size - 1) * dilation + 1 for size, dilation in zip(w.shape[2:], dilations)]


def _halves(node, total):
    """Splits the total padding into the padding before and after."""
    less, more = total // 2, total - total // 2
    return (less, more) if node.attributes["auto_pad"] == "SAME_UPPER" else (more, less)


def _convolve(x, w, bias, shape, direction, strides, dilations, pads, group, output_padding):
    axes = x.ndim - 2
    bias = None if bias is None else bias.reshape(1, -1, *[1] * axes)
    before, after = map(list, zip(*pads))
    return dispatch("CONVOLUTION", x, w, bias, Mode="CROSS_CORRELATION", Direction=direction, Strides=strides,
                    Dilations=dilations, StartPadding=before, EndPadding=after, OutputPadding=output_padding,
                    GroupCount=group, shape=shape, dtype=x.dtype)


def _forward(node, x, w):
    """Returns the output's shape, and the strides, dilations and pads of each axis."""
    group = node.attributes["group"]
    axes, strides, dilations, extents = _axes(node, x, w)
    if x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise ValueError(f"X has the sizes {list(x.shape)} and W {list(w.shape)}; expected {w.shape[1] * group} "
                         f"channels of X and a multiple of {group} of W, since group is {group}")
    given = _option(node, "pads", 2 * axes, 0)
    pads = []
    for i, (size, stride, extent) in enumerate(zip(x.shape[2:], strides, extents)):
        if node.attributes["auto_pad"] == "NOTSET":
            pads.append((given[i], given[i + axes]))
        elif node.attributes["auto_pad"] == "VALID":
            pads.append((0, 0))
        else:
            pads.append(_halves(node, max(0, (-(-size // stride) - 1) * stride + extent - size)))
        if size + sum(pads[-1]) < extent:
            raise ValueError(f"W spans {extent} elements of axis {i + 2}, which has {size + sum(pads[-1])} "
                             "including its pads")
    counts = [(size + sum(pad) - extent) // stride + 1 for size, pad, extent, stride in zip(
        x.shape[2:], pads, extents, strides)]
    return (x.shape[0], w.shape[0], *counts), strides, dilations, pads


def conv(node):
    _check(node)

    def compute(x, w, bias=None):
        shape, strides, dilations, pads = _forward(node, x, w)
        return _convolve(x, w, bias, shape, "FORWARD", strides, dilations, pads, node.attributes["group"],
                         [0] * (x.ndim - 2))

    return compute


def _for_channels(value, x, count, what):
    """Reshapes a zero point, a scale or a bias, which has one number, or one for each of `count` channels."""
    if value is None:
        return None
    if value.size != 1 and value.shape != (count,):
        raise ValueError(f"{what} has the shape {list(value.shape)}; expected one number" +
                         (f", or [{count}]" if count != 1 else ""))
    return value.reshape(1, -1, *[1] * (x.ndim - 2))


def _of_bytes(node, operator, x, w, *tensors):
    """Dispatches an integer convolution. tensors: the operator's tensors after the input."""
    shape, strides, dilations, pads = _forward(node, x, w)
    before, after = map(list, zip(*pads))
    return dispatch(operator, x, *tensors, Strides=strides, Dilations=dilations, StartPadding=before, EndPadding=after,
                    GroupCount=node.attributes["group"], shape=shape)


def conv_integer(node):
    """Sums the products of the differences from the zero points. The sums wrap in int32."""
    _check(node)

    def compute(x, w, x_zero=None, w_zero=None):
        return _of_bytes(node, "CONVOLUTION_INTEGER", x, w, _for_channels(x_zero, x, 1, "x_zero_point"), w,
                         _for_channels(w_zero, x, w.shape[0], "w_zero_point"))

    return compute


def quantized_conv(node):
    _check(node)

    def compute(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
        outputs = w.shape[0]
        if bias is not None and bias.shape != (outputs,):
            raise ValueError(f"B has the shape {list(bias.shape)}; expected [{outputs}]")
        return _of_bytes(
            node, "QUANTIZED_LINEAR_CONVOLUTION", x, w, _for_channels(x_scale, x, 1, "x_scale"),
            _for_channels(x_zero, x, 1, "x_zero_point"), w, _for_channels(w_scale, x, outputs, "w_scale"),
            _for_channels(w_zero, x, outputs, "w_zero_point"), _for_channels(bias, x, outputs, "B"),
            _for_channels(y_scale, x, 1, "y_scale"), _for_channels(y_zero, x, 1, "y_zero_point"))

    return compute


def conv_transpose(node):
    _check(node)
    group = node.attributes["group"]

    def compute(x, w, bias=None):
        axes, strides, dilations, extents = _axes(node, x, w)
        if x.shape[1] != w.shape[0] or w.shape[0] % group:
            raise ValueError(f"X has the sizes {list(x.shape)} and W {list(w.shape)}; expected the channels of X to "
                             f"equal W's first size, a multiple of group, which is {group}")
        more, given = _option(node, "output_padding", axes, 0), _option(node, "pads", 2 * axes, 0)
        wanted = node.attributes["output_shape"]
        if wanted and len(wanted) not in (axes, axes + 2):
            wrong(node, "output_shape", f"{axes} numbers")
        whole = [(size - 1) * stride + extent for size, stride, extent in zip(x.shape[2:], strides, extents)]
        auto = node.attributes["auto_pad"]
        if wanted or auto in ("SAME_UPPER", "SAME_LOWER"):
            counts = list(wanted)[-axes:] if wanted else [size * stride for size, stride in zip(x.shape[2:], strides)]
            # An output that is larger than the computed result is padded at its end.
            pads = [_halves(node, max(0, size + added - count)) for size, added, count in zip(whole, more, counts)]
        else:
            pads = [(0, 0) if auto == "VALID" else (given[i], given[i + axes]) for i in range(axes)]
            counts = [size + added - sum(pad) for size, added, pad in zip(whole, more, pads)]
        if min(counts) < 0:
            raise ValueError(f"the output would have the sizes {counts}; expected smaller pads")
        added = [max(0, count - size + sum(pad)) for count, size, pad in zip(counts, whole, pads)]
        return _convolve(x, w, bias, (x.shape[0], w.shape[1] * group, *counts), "BACKWARD", strides, dilations, pads,
                         group, added)

    return compute
