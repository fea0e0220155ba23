# SPDX-License-Identifier: MIT
"""ONNX's Attention as MULTIHEAD_ATTENTION1, which supports everything except options that change the scores before the
softmax."""
import numpy as np

from ._rows import cast, dispatch, number, sequence

_SINGLE = ("float16", "float")
_DOUBLE = 11  # TensorProto.DOUBLE: the softmax_precision that exceeds ours


def as_bias(mask, dtype):
    """Converts a bool mask to 0 where it is true and -infinity elsewhere. A numeric mask is added unchanged."""
    if mask.dtype != bool:
        return cast(mask, dtype)
    return dispatch("ELEMENT_WISE_IF", mask, number(0, dtype), number(-np.inf, dtype))


def causal(queries, keys, past):
    """Returns a mask {queries, keys} that shows each query the keys up to its own position."""
    position = sequence(past, 1, queries, np.int32).reshape(queries, 1)
    seen = dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", position, sequence(0, 1, keys, np.int32), dtype=np.uint8)
    return seen.view(bool)


def _tokens(x):
    """Rearranges {batch, heads, rows, elements} to {batch, rows, heads * elements}."""
    batch, heads, rows, elements = x.shape
    moved = np.transpose(x, (0, 2, 1, 3))
    return dispatch("ELEMENT_WISE_IDENTITY", moved).reshape(batch, rows, heads * elements)


def attention(node):
    """Rows without visible keys are 0, as ONNX defines. DirectML's operator leaves them undefined."""
    options = node.attributes
    given = [bool(kind) for kind in node.kinds] + [False] * 7
    windows = [options.get(name, -1) for name in ("left_window_size", "right_window_size")]
    changes_scores = options.get("softcap") or options.get("softmax_precision") == _DOUBLE or max(
        -1 if one is None else one for one in windows) >= 0
    kinds = {node.kinds[i] for i in (0, 1, 2, 4, 5) if i < len(node.kinds) and node.kinds[i]}
    takes_mask = not given[3] or node.kinds[3] in ("bool", node.kinds[0])
    if changes_scores or len(node.results) > 3 or given[6] or len(kinds) > 1 or not kinds <= set(_SINGLE) or not takes_mask:
        return None  # use ONNX's own definition

    def compute(q, k, v, mask=None, past_key=None, past_value=None):
        by_heads = q.ndim == 4
        heads, shared = (q.shape[1], k.shape[1]) if by_heads else (options["q_num_heads"], options["kv_num_heads"])
        if not heads or not shared or heads % shared:
            raise ValueError(f"there are {heads} query heads and {shared} key heads; expected a multiple")
        past = 0 if past_key is None else past_key.shape[2]
        batch, queries, keys = q.shape[0], q.shape[-2], past + k.shape[-2]
        if by_heads:
            q = _tokens(q)
            # The past is also split by heads. Without a past, keys and values are passed as the past, to avoid a copy.
            (k, past_key), (v, past_value) = ((None, one) if before is None else (_tokens(one), before)
                                              for one, before in ((k, past_key), (v, past_value)))
        scale = options["scale"]
        scale = 1 / np.sqrt(q.shape[2] // heads) if scale is None else scale
        bias = None if mask is None else _padded(as_bias(mask, q.dtype), keys)
        if options["is_causal"]:
            hidden = as_bias(causal(queries, keys, past), q.dtype)
            bias = hidden if bias is None else dispatch("ELEMENT_WISE_ADD", bias, hidden)
        seen = None
        if bias is not None:
            bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
            highest = dispatch("REDUCE", bias, Function="MAX", Axes=[3])
            seen = dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN", highest, number(-np.inf, q.dtype), dtype=np.uint8)
            bias = np.broadcast_to(bias, (batch, heads, queries, keys))
        wants = (None, *(True if i < len(node.results) and node.results[i] else None for i in (1, 2)))
        result = dispatch("MULTIHEAD_ATTENTION1", q, k, v, None, None, None, None, None, bias, past_key, past_value, None,
                        Scale=float(scale), MaskFilterValue=0, QueryHeadCount=heads, KeyValueHeadCount=shared,
                        MaskType="NONE", out=wants)
        y, *presents = result if isinstance(result, tuple) else (result,)
        elements = y.shape[2] // heads
        if seen is not None:
            seen = np.transpose(seen, (0, 2, 1, 3))
            y = dispatch("ELEMENT_WISE_IF", seen, y.reshape(batch, queries, heads, elements), number(0, y.dtype))
        y = y.reshape(batch, queries, heads, elements)
        y = np.transpose(y, (0, 2, 1, 3)) if by_heads else y.reshape(batch, queries, heads * elements)
        results = (y, *presents)[:len(node.results)]
        return results[0] if len(results) == 1 else results

    return compute


def _padded(bias, keys):
    """Extends a mask that is shorter than the keys. Keys beyond the end of the mask are hidden."""
    missing = keys - bias.shape[-1]
    if missing <= 0 or bias.shape[-1] == 1:
        return bias
    zeros = [0] * (bias.ndim - 1)
    return dispatch("PADDING1", bias, PaddingMode="CONSTANT", PaddingValue=-np.inf, StartPadding=[*zeros, 0],
                    EndPadding=[*zeros, missing], shape=(*bias.shape[:-1], keys))
