# SPDX-License-Identifier: MIT
"""MultiHeadAttention and Attention from com.microsoft, computed by MULTIHEAD_ATTENTION1.

A mask becomes numbers that are added to the scores, 0 or mask_filter_value, as in ONNX Runtime's own CPU kernels.
"""
import numpy as np
from onnx import helper

from .._matrices import PLAIN, multiplied
from ._attention import as_bias, causal
from ._plans import Step
from ._rows import Unsupported, dispatch, number, sequence
from ._types import label

_FLOATS = ("float16", "float")
_USES = ("MULTIHEAD_ATTENTION1 ADD CAST FILL_VALUE_SEQUENCE GEMM IF JOIN LOGICAL_AND LOGICAL_GREATER_THAN "
         "LOGICAL_GREATER_THAN_OR_EQUAL LOGICAL_LESS_THAN")


class _Options:
    """The attributes of a node, and functions that reject the node with an error."""

    def __init__(self, node, kinds):
        self.node, self.kinds = node, kinds
        self._values = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        self.heads = self.get("num_heads", 0)
        if self.heads < 1:
            raise ValueError(f"{label(node)}: num_heads is {self.heads}; expected 1 or more")
        self.scale, self.is_causal = self.get("scale", 0.0), bool(self.get("unidirectional", 0))
        self.filter = self.get("mask_filter_value", -10000.0)
        others = {kind for kind in kinds if kind and not kind.startswith("int")}
        if len(others) != 1 or not others <= set(_FLOATS):
            self.refuse(f"of {', '.join(sorted(others))}")

    def get(self, name, default):
        return self._values.get(name, default)

    def refuse_inputs(self, *positions):
        names = {position: self.node.input[position] for position in positions if position < len(self.node.input)}
        for position, name in names.items():
            if name:
                self.refuse(f"with input {position}")

    def refuse(self, what):
        name = f"com.microsoft.{self.node.op_type} {what}"
        raise Unsupported(f"{label(self.node)}: anydml does not support {name}", [name])

    def step(self, compute):
        kind = self.kinds[0]
        return Step(label(self.node), self.node.op_type, compute, list(self.node.input), list(self.node.output),
                    [kind] * len(self.node.output), _USES)

    def wants(self, position):
        return position < len(self.node.output) and bool(self.node.output[position])


def _seen(mask, batch, keys):
    """Returns which keys a mask shows, as booleans {batch, 1, 1 or queries, keys}. A one-dimensional mask
    contains the number of keys for each batch, or the end indices of the keys followed by their start indices."""
    if mask.ndim == 1:
        if mask.shape[0] not in (batch, 2 * batch):
            raise ValueError(f"the mask has the shape {list(mask.shape)}; expected [{batch}], [{2 * batch}], "
                             f"[{batch}, {keys}], or one for each query")
        positions = sequence(0, 1, keys, np.int32).reshape(1, 1, 1, keys)
        ends = mask[:batch].reshape(batch, 1, 1, 1)
        seen = dispatch("ELEMENT_WISE_LOGICAL_LESS_THAN", positions, ends, dtype=np.uint8)
        if mask.shape[0] == 2 * batch:
            starts = mask[batch:].reshape(batch, 1, 1, 1)
            after = dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", positions, starts, dtype=np.uint8)
            seen = dispatch("ELEMENT_WISE_LOGICAL_AND", seen, after, dtype=np.uint8)
        return seen
    if mask.ndim not in (2, 3) or mask.shape[0] != batch or mask.shape[-1] != keys:
        raise ValueError(f"the mask has the shape {list(mask.shape)}; expected [{batch}, {keys}], or [{batch}, queries, {keys}]")
    shown = dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN", mask, number(0, mask.dtype), dtype=np.uint8)
    return shown.reshape(batch, 1, -1, keys)


def _attend(options, batch, queries, keys, elements, given, bias, mask, past_keys):
    """Returns the results, with None for absent results. given: the tensors before RelativePositionBiasTensor, and the
    past."""
    dtype = next(one.dtype for one in given.values() if one is not None)
    terms = [] if bias is None else [bias.reshape((1,) * (4 - bias.ndim) + bias.shape)]
    if mask is not None:
        terms.append(dispatch("ELEMENT_WISE_IF", _seen(mask, batch, keys), number(0, dtype), number(options.filter, dtype)))
    if options.is_causal:
        terms.append(as_bias(causal(queries, keys, past_keys), dtype).reshape(1, 1, queries, keys))
    total = None
    for term in terms:
        total = term if total is None else dispatch("ELEMENT_WISE_ADD", total, term)
    total = None if total is None else np.broadcast_to(total, (batch, options.heads, queries, keys))
    names = ("query", "key", "value", "query_key", "key_value", "query_key_value", "bias")
    present = True if options.wants(1) or options.wants(2) else None
    result = dispatch("MULTIHEAD_ATTENTION1", *(given.get(name) for name in names), None, total, given.get("past_key"),
                    given.get("past_value"), None, Scale=float(options.scale or 1 / np.sqrt(elements)), MaskFilterValue=0,
                    QueryHeadCount=options.heads, KeyValueHeadCount=options.heads, MaskType="NONE",
                    out=(None, present, present))
    return result if isinstance(result, tuple) else (result, None, None)


def multi_head_attention(node, kinds):
    options = _Options(node, kinds)
    options.refuse_inputs(8, 9)
    if options.wants(3):
        options.refuse("with its scores")

    def compute(query, key=None, value=None, bias=None, mask=None, scores=None, past_key=None, past_value=None):
        batch, queries = query.shape[:2]
        past = 0 if past_key is None else past_key.shape[2]
        given = {"bias": bias, "past_key": past_key, "past_value": past_value}
        if query.ndim == 5:
            given["query_key_value"], fresh = query, queries
        elif key is None:
            raise ValueError("key is missing; expected one with a query of three dimensions")
        elif key.ndim == 5:
            given.update(query=query, key_value=key)
            fresh = key.shape[1]
        elif key.ndim == 4:  # split by heads, like the past: treat all of it as the past
            if bias is not None or past_key is not None or options.is_causal:
                raise ValueError("key has four dimensions; expected no bias, no past and no unidirectional with it")
            given.update(query=query, past_key=key, past_value=value)
            fresh = key.shape[2]
        else:
            given.update(query=query, key=key, value=value)
            fresh = key.shape[1]
        elements = query.shape[-1] if query.ndim == 5 else query.shape[-1] // options.heads
        result = _attend(options, batch, queries, past + fresh, elements, given, scores, mask, past)
        return result[:len(node.output)] if len(node.output) > 1 else result[0]

    return options.step(compute)


def attention(node, kinds):
    """Attention also multiplies the input by the weights, and stores the past keys and values in one tensor."""
    options = _Options(node, kinds)
    options.refuse_inputs(6)
    for name in ("do_rotary", "past_present_share_buffer"):
        if options.get(name, 0):
            options.refuse(f"with {name}")
    sizes = options.get("qkv_hidden_sizes", None)

    def compute(x, weights, bias=None, mask=None, past=None, scores=None):
        batch, queries = x.shape[:2]
        columns = list(sizes or [weights.shape[1] // 3] * 3)
        if len(columns) != 3 or sum(columns) != weights.shape[1] or any(size % options.heads for size in columns):
            raise ValueError(f"the weights have the shape {list(weights.shape)}; expected columns for query, key and value, "
                             f"each a multiple of {options.heads}")
        result = multiplied(x, weights, lambda left, right, shape: dispatch("GEMM", left, right, None, shape=shape, **PLAIN))
        result = result if bias is None else dispatch("ELEMENT_WISE_ADD", result, bias)
        ends = np.cumsum(columns)
        given = {name: result[:, :, end - size:end] for name, end, size in zip(("query", "key", "value"), ends, columns)}
        past_keys = 0 if past is None else past.shape[3]
        if past is not None:
            given.update(past_key=past[0], past_value=past[1])
        y, *presents = _attend(options, batch, queries, past_keys + queries, columns[0] // options.heads, given, scores, mask,
                               past_keys)
        if not options.wants(1):
            return y
        return y, dispatch("JOIN", *(one.reshape(1, *one.shape) for one in presents), Axis=0)

    return options.step(compute)


WHOLE = {"Attention": attention, "MultiHeadAttention": multi_head_attention}
