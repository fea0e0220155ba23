# SPDX-License-Identifier: MIT
"""Bit-exact MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 in NumPy. docs/numerics.md shows the first two functions."""
import numpy as np

from product_reference import fused, product
from reduce_reference import fold
from softmax_reference import rounded


def weighted(weights, v, seen, block=256):
    """The product of weights {..., S, L} and values {..., L, D} over the keys that each query sees, {..., S, L}."""
    total = np.zeros((*np.broadcast_shapes(weights.shape[:-2], v.shape[:-2]), weights.shape[-2], v.shape[-1]), np.float32)
    has_total = np.zeros((*seen.shape[:-1], 1), bool)
    for first in range(0, v.shape[-2], block):
        chain = np.zeros_like(total)
        for k in range(first, min(first + block, v.shape[-2])):
            chain = np.where(seen[..., k, None], fused(weights[..., k, None], v[..., None, k, :], chain), chain)
        of_block = seen[..., first:first + block].any(axis=-1, keepdims=True)
        total = np.where(of_block, np.where(has_total, total + chain, chain), total)
        has_total = has_total | of_block
    return total


def attention(q, k, v, scale, bias=None, masked=None, filter_value=0.0, seen=None):
    """Attention of queries {..., S, D}, keys {..., L, D} and values {..., L, Dv}. masked: where the filter value is added
    to the scores. seen: the keys that each query sees; all of them if None."""
    wide = np.float32
    scores = product(q.astype(wide), np.swapaxes(k, -1, -2).astype(wide)) * wide(scale)
    seen = np.ones(scores.shape, bool) if seen is None else np.broadcast_to(seen, scores.shape)
    if bias is not None:
        scores = scores + bias.astype(wide)
    if masked is not None:
        scores = np.where(masked, scores + wide(filter_value), scores)
    scores = np.where(seen, scores, wide(-np.inf))
    exponentials = rounded(np.exp, scores - scores.max(axis=-1, keepdims=True))
    totals = fold(np.add, exponentials, -0.0, 64)[..., None]
    return (weighted(exponentials, v.astype(wide), seen) / totals).astype(q.dtype)


def masked_keys(kind, mask, batches, heads, queries, keys):
    """Where a mask of this kind adds the filter value: {batches, heads, queries, keys}."""
    shape = (batches, heads, queries, keys)
    if kind == "BOOLEAN":
        return np.broadcast_to(mask.reshape((1,) * max(0, 4 - mask.ndim) + mask.shape[max(0, mask.ndim - 4):]), shape) == 0
    numbers = mask.astype(np.int64).reshape(-1)
    key = np.arange(keys)
    result = np.zeros(shape, bool)
    for b in range(batches):
        if kind == "KEY_SEQUENCE_LENGTH":
            seen = np.broadcast_to(key < numbers[b], (queries, keys))
        elif kind == "KEY_SEQUENCE_END_START":
            seen = np.broadcast_to((key >= numbers[batches + b]) & (key < numbers[b]), (queries, keys))
        else:
            length, query_starts, key_starts = numbers[b], numbers[batches:], numbers[2 * batches + 1:]
            position = b * keys + key
            of_batch = (position >= key_starts[b]) & (position < min(key_starts[b + 1], key_starts[b] + length))
            query = b * queries + np.arange(queries)
            seen = ((query >= query_starts[b]) & (query < query_starts[b + 1]))[:, None] & of_batch
        result[b] = ~seen
    return result


def heads_of(x, heads):
    """Reshapes {..., B, L, heads * D} to {B, heads, L, D}."""
    x = x.reshape(x.shape[-3:])
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def append(past, new, lengths, rows):
    """The first rows of the past, as many as `lengths` gives, then the new rows, then NaN, for rows that are not
    written."""
    batches, heads, _, elements = new.shape
    result = np.full((batches, heads, rows, elements), np.nan, new.dtype)
    for b in range(batches):
        both = np.concatenate([past[b, :, :lengths[b]], new[b]], axis=1)[:, :rows]
        result[b, :, :both.shape[1]] = both
    return result


def multihead_attention(given, heads, shared_heads, scale, mask_kind="NONE", filter_value=0.0, present_rows=None):
    """Returns the output, the present keys, the present values, the new keys and values, and for each batch the number of
    rows that are written to the present tensors. given: arrays by field name, without "Tensor". present_rows: the rows
    of the present tensors if they are requested together with PastSequenceLengths."""
    def stacked(name, position):
        return given[name][:, :, :, position].transpose(0, 2, 1, 3) if name in given else None

    def first_of(*some):
        return next((one for one in some if one is not None), None)

    q = first_of(heads_of(given["Query"], heads) if "Query" in given else None, stacked("StackedQueryKey", 0),
                 stacked("StackedQueryKeyValue", 0))
    k = first_of(heads_of(given["Key"], shared_heads) if "Key" in given else None, stacked("StackedQueryKey", 1),
                 stacked("StackedKeyValue", 0), stacked("StackedQueryKeyValue", 1))
    v = first_of(heads_of(given["Value"], shared_heads) if "Value" in given else None, stacked("StackedKeyValue", 1),
                 stacked("StackedQueryKeyValue", 2))
    depth = q.shape[-1]
    if "Bias" in given:
        bias = given["Bias"].reshape(-1)
        ends = np.cumsum([heads * depth, shared_heads * depth])
        of_q, of_k, of_v = np.split(bias, ends)
        q = q + of_q.reshape(heads, 1, -1)
        k = None if k is None else k + of_k.reshape(shared_heads, 1, -1)
        v = None if v is None else v + of_v.reshape(shared_heads, 1, -1)
    past_k, past_v = (given[name].reshape(given[name].shape[-4:]) if name in given else None
                      for name in ("PastKey", "PastValue"))
    queries, new_keys, seen, written = q.shape[2], 0 if k is None else k.shape[2], None, None
    fresh = k, v
    if "PastSequenceLengths" in given:
        past_rows = 0 if past_k is None else past_k.shape[2]
        numbers = given["PastSequenceLengths"].reshape(-1)
        numbers = np.nan_to_num(numbers.astype(np.float64), nan=0, posinf=2**40, neginf=-2**40)
        lengths = np.clip(np.trunc(numbers), 0, past_rows).astype(int)
        rows = past_rows + new_keys if present_rows is None else present_rows
        k, v = (append(new[:, :, :0] if past is None else past, new, lengths, rows)
                for past, new in ((past_k, k), (past_v, v)))
        written = np.minimum(lengths + new_keys, rows)
        ends = lengths[:, None] + new_keys - queries + np.arange(queries) + 1
        ends = np.where(ends > rows, 0, ends)  # the query's own key finds no place
        seen = (np.arange(rows) < ends[..., None])[:, None]
    else:
        k, v = (new if past is None else past if new is None else np.concatenate([past, new], axis=2)
                for past, new in ((past_k, k), (past_v, v)))
    batches, keys = q.shape[0], k.shape[2]
    group = heads // shared_heads
    masked = None if mask_kind == "NONE" else masked_keys(mask_kind, given["Mask"], batches, heads, queries, keys)
    if mask_kind not in ("NONE", "BOOLEAN") and filter_value == -np.inf:
        seen, masked = ~masked if seen is None else seen & ~masked, None
    bias = given.get("RelativePositionBias")
    bias = None if bias is None else bias.reshape(bias.shape[-4:])
    result = attention(q, np.repeat(k, group, axis=1), np.repeat(v, group, axis=1), scale, bias, masked, filter_value, seen)
    return result.transpose(0, 2, 1, 3).reshape(batches, queries, -1), k, v, fresh, written
