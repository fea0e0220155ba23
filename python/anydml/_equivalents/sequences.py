# SPDX-License-Identifier: MIT
"""Recurrent networks and attention."""
import math

import torch

from ._base import activation


class _Direction:
    """The weights of one direction, separated by gate. Absent weights are None."""

    def __init__(self, gates, weight, recurrence, bias, peephole, functions):
        units = recurrence.shape[-1]
        self.weight, self.recurrence = (one.reshape(gates, units, -1) for one in (weight, recurrence))
        both = (None, None) if bias is None else bias.reshape(2, gates, units)
        self.of_input, self.of_state = both
        self.peephole = None if peephole is None else peephole.reshape(3, units)
        self.functions = functions

    def total(self, x, h, gate):
        total = x @ self.weight[gate].T + h @ self.recurrence[gate].T
        return total if self.of_input is None else total + (self.of_input[gate] + self.of_state[gate])


def _rnn_step(g, own, x, h, c):
    return own.functions[0](own.total(x, h, 0)), c


def _lstm_step(g, own, x, h, c):
    f, of_candidate, of_cell = own.functions

    def gate(number, function, peephole=None, cell=None):
        total = own.total(x, h, number)
        if peephole is not None and own.peephole is not None:
            total = total + own.peephole[peephole] * cell
        return function(total.clamp(-g.ClipThreshold, g.ClipThreshold) if g.UseClipThreshold else total)

    taken = gate(0, f, 0, c)
    kept = 1 - taken if g.CoupleInputForget else gate(2, f, 2, c)
    new = kept * c + taken * gate(3, of_candidate)
    return gate(1, f, 1, new) * of_cell(new), new


def _gru_step(g, own, x, h, c):
    f, of_candidate = own.functions
    update, reset = f(own.total(x, h, 0)), f(own.total(x, h, 1))
    if g.LinearBeforeReset:
        inner = h @ own.recurrence[2].T
        inner = inner if own.of_state is None else inner + own.of_state[2]
        total = x @ own.weight[2].T + reset * inner
        total = total if own.of_input is None else total + own.of_input[2]
    else:
        total = own.total(x, reset * h, 2)
    return (1 - update) * of_candidate(total) + update * h, c


def _network(gates, functions, step, given, x, weight, recurrence, bias, hidden, cell, lengths, peephole):
    """x has the shape {1, S, B, I}; the second dimension of the weights is the direction."""
    x = x[0]
    steps, rows = x.shape[:2]
    units = recurrence.shape[-1]
    lengths = torch.full((rows,), steps, device=x.device) if lengths is None else (
        lengths.reshape(-1).to(torch.int64).clamp(max=steps))
    direction = given.choice("Direction", "FORWARD", "BACKWARD", "BIDIRECTIONAL")
    activations = [activation(one) for one in given.ActivationDescs]
    sequences, singles, cells = [], [], []
    for d in range(recurrence.shape[1]):
        own = _Direction(gates, weight[0, d], recurrence[0, d], None if bias is None else bias.reshape(-1, 2, gates, units)[d],
                         None if peephole is None else peephole.reshape(-1, 3, units)[d],
                         activations[d * functions:(d + 1) * functions])
        h, c = (x.new_zeros(rows, units) if one is None else one[0, d] for one in (hidden, cell))
        sequence, backward = [None] * steps, direction == "BACKWARD" or d == 1
        for t in range(steps - 1, -1, -1) if backward else range(steps):
            active = (t < lengths)[:, None]  # in the backward direction, a row starts at its last valid step
            new_h, new_c = step(given, own, x[t], h, c)
            h, c = torch.where(active, new_h, h), torch.where(active, new_c, c)
            sequence[t] = torch.where(active, h, 0)
        sequences.append(torch.stack(sequence))
        singles.append(h)
        cells.append(c)
    return torch.stack(sequences, 1), torch.stack(singles)[None], torch.stack(cells)[None]


def _rnn(g, x, weight, recurrence, bias=None, hidden=None, lengths=None):
    return g.outputs(*_network(1, 1, _rnn_step, g, x, weight, recurrence, bias, hidden, None, lengths, None)[:2])


def _gru(g, x, weight, recurrence, bias=None, hidden=None, lengths=None):
    return g.outputs(*_network(3, 2, _gru_step, g, x, weight, recurrence, bias, hidden, None, lengths, None)[:2])


def _lstm(g, x, weight, recurrence, bias=None, hidden=None, cell=None, lengths=None, peephole=None):
    return g.outputs(*_network(4, 3, _lstm_step, g, x, weight, recurrence, bias, hidden, cell, lengths, peephole))


# ---- Attention ------------------------------------------------------------------------------------------------------

_MASKS = ("NONE", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START", "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN")


def _masked(kind, mask, batches, queries, keys):
    """Returns a mask of the positions where the filter value is added."""
    if kind == "BOOLEAN":
        return mask.reshape((1,) * max(0, 4 - mask.ndim) + mask.shape[max(0, mask.ndim - 4):]) == 0
    numbers = mask.to(torch.int64).reshape(-1)
    key = torch.arange(keys, device=mask.device)
    of_batch = numbers[:batches, None, None, None]
    if kind == "KEY_SEQUENCE_LENGTH":
        return key >= of_batch
    if kind == "KEY_SEQUENCE_END_START":
        return (key >= of_batch) | (key < numbers[batches:2 * batches, None, None, None])
    batch = torch.arange(batches, device=mask.device)[:, None, None, None]
    query_starts, key_starts = numbers[batches:2 * batches + 1], numbers[2 * batches + 1:3 * batches + 2]
    key, query = batch * keys + key, batch * queries + torch.arange(queries, device=mask.device)[:, None]
    first, last = (one[:, None, None, None] for one in (key_starts[:-1], key_starts[1:]))
    seen = (key >= first) & (key < torch.minimum(last, first + of_batch))
    first, last = (one[:, None, None, None] for one in (query_starts[:-1], query_starts[1:]))
    return ~(seen & (query >= first) & (query < last))


def _in_heads(x, heads):
    """Rearranges {..., B, L, heads * D} to {B, heads, L, D}."""
    if x is None:
        return None
    x = x.reshape(x.shape[-3:])
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(1, 2)


def _stacked(x, position):
    return None if x is None else x[:, :, :, position].transpose(1, 2)


def _first(*some):
    return next((one for one in some if one is not None), None)


def _appended(past, new, lengths, rows):
    """Concatenates the first `lengths` rows of the past, the new rows, and zeros."""
    count = new.shape[2]
    positions = torch.arange(rows, device=new.device) - lengths[:, None]  # an index into the new rows
    index = positions.clamp(0, count - 1)[:, None, :, None].expand(*new.shape[:2], rows, new.shape[3])
    result = torch.where(((positions >= 0) & (positions < count))[:, None, :, None], new.gather(2, index), 0)
    if past is None:
        return result
    past = torch.nn.functional.pad(past, (0, 0, 0, max(0, rows - past.shape[2])))[:, :, :rows]
    return torch.where((positions < 0)[:, None, :, None], past, result)


def _attention(g, heads, shared_heads, q, k, v, stacked_qk, stacked_kv, stacked_qkv, bias, mask, position_bias, past_k,
               past_v, past_lengths):
    q = _first(_in_heads(q, heads), _stacked(stacked_qk, 0), _stacked(stacked_qkv, 0))
    k = _first(_in_heads(k, shared_heads), _stacked(stacked_qk, 1), _stacked(stacked_kv, 0), _stacked(stacked_qkv, 1))
    v = _first(_in_heads(v, shared_heads), _stacked(stacked_kv, 1), _stacked(stacked_qkv, 2))
    if bias is not None:
        bias, depth = bias.reshape(-1), q.shape[-1]
        of_q, of_k, of_v = bias.tensor_split([heads * depth, (heads + shared_heads) * depth])
        q = q + of_q.reshape(heads, 1, -1)
        k = None if k is None else k + of_k.reshape(shared_heads, 1, -1)
        v = None if v is None else v + of_v.reshape(shared_heads, 1, -1)
    past_k, past_v = (None if one is None else one.reshape(one.shape[-4:]) for one in (past_k, past_v))
    queries, fresh, hidden = q.shape[2], (k, v), None
    if past_lengths is not None:
        past_rows = 0 if past_k is None else past_k.shape[2]
        lengths = past_lengths.reshape(-1).to(torch.int64).clamp(0, past_rows)
        rows = g.sizes[1][-2] if len(g.sizes) > 1 else past_rows + k.shape[2]
        ends = lengths[:, None] + k.shape[2] - queries + torch.arange(queries, device=q.device) + 1
        hidden = (torch.arange(rows, device=q.device) >= ends[..., None])[:, None]
        k, v = _appended(past_k, k, lengths, rows), _appended(past_v, v, lengths, rows)
    else:
        k, v = (new if past is None else past if new is None else torch.cat([past, new], 2)
                for past, new in ((past_k, k), (past_v, v)))
    group = heads // shared_heads
    scores = q @ k.repeat_interleave(group, 1).mT * g.Scale
    if position_bias is not None:
        scores = scores + position_bias.reshape(position_bias.shape[-4:])
    kind = g.choice("MaskType", *_MASKS)
    if kind != "NONE":
        masked = _masked(kind, mask, q.shape[0], queries, k.shape[2])
        scores = torch.where(masked, scores + g.MaskFilterValue, scores)
    if hidden is not None:
        scores = torch.where(hidden, -math.inf, scores)
    result = torch.softmax(scores, -1) @ v.repeat_interleave(group, 1)
    result = result.transpose(1, 2).reshape(q.shape[0], queries, -1)
    return [one if one is None or size is None else one.reshape(tuple(size)) for one, size
            in zip(g.outputs(result, k, v), g.sizes)]


def _multihead(g, *inputs):
    return _attention(g, g.HeadCount, g.HeadCount, *inputs, *[None] * (12 - len(inputs)))


def _multihead1(g, *inputs):
    return _attention(g, g.QueryHeadCount, g.KeyValueHeadCount, *inputs, *[None] * (12 - len(inputs)))


TABLE = {"RNN": _rnn, "LSTM": _lstm, "GRU": _gru, "MULTIHEAD_ATTENTION": _multihead,
         "MULTIHEAD_ATTENTION1": _multihead1}
