#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 with the NumPy program in docs/numerics.md, bit for bit, with
attention in FLOAT64 within an error bound, with ONNX's reference if it is installed and, with --torch, with PyTorch.

usage: attention_oracle.py LIBANYDML [--cases N] [--torch]
"""
import sys

import numpy as np

from attention_reference import multihead_attention
from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, Library, count_different

try:
    from onnx.helper import make_node
    from onnx.reference import ReferenceEvaluator
except ImportError:
    ReferenceEvaluator = None

CASES = 130  # per type
FIELDS = ("Query", "Key", "Value", "StackedQueryKey", "StackedKeyValue", "StackedQueryKeyValue", "Bias", "Mask",
          "RelativePositionBias", "PastKey", "PastValue")
FORMS = (("Query", "Key", "Value"), ("Query", "Key", "Value"), ("StackedQueryKey", "Value"), ("Query", "StackedKeyValue"),
         ("StackedQueryKeyValue",), ("Query",))
MASKS = ("NONE", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START", "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN")
# Batch, heads, queries, keys, elements per key, elements per value: sizes around the edges of strips, panels and
# blocks.
LARGE = [(1, 1, 17, 257, 64, 64), (1, 2, 33, 70, 5, 3), (2, 1, 5, 300, 7, 20), (1, 1, 3, 4100, 2, 2), (1, 3, 16, 64, 16, 33),
         (1, 1, 40, 65, 300, 9), (1, 1, 6, 4097, 3, 1), (3, 1, 65, 6, 1, 6)]


def numbers(random, shape, dtype, special):
    x = (random.standard_normal(shape) * 10.0 ** random.uniform(-1.5, 0.7)).astype(dtype)
    if special and x.size:
        some = random.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, np.finfo(dtype).max], dtype), 1 + x.size // 60)
        x.reshape(-1)[random.integers(0, x.size, len(some))] = some
    return x


class Checks:
    def __init__(self, library, random, dtype):
        self.library, self.random, self.dtype = library, random, np.dtype(dtype)
        self.cases = self.elements = 0
        self.worst = 0.0

    def some(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, part):
        return self.random.random() < part

    def leading(self, array, most):
        """Returns the array with leading dimensions of size 1."""
        return array.reshape((1,) * self.some(0, max(0, most - array.ndim)) + array.shape) if self.chance(0.3) else array

    def placed(self, array, repeats=False):
        """Returns the same numbers in a different layout."""
        if self.chance(0.4):
            return array
        result, _ = lay_out(self.random, array.shape, np.dtype(f"u{array.itemsize}"), False)
        result = result.view(array.dtype)
        result[...] = array
        return result

    def draw_mask(self, kind, batches, heads, queries, keys):
        random = self.random
        def any_number(low, high):
            return self.some(-3, 3 * high + 5) if self.chance(0.1) else self.some(low, high)
        if kind == "BOOLEAN":
            shape = tuple(1 if self.chance(0.4) else size for size in (batches, heads, queries, keys))
            shape = shape[self.some(0, 3) if self.chance(0.3) else 0:]
            return random.choice(np.array([0, 0, 1, 1, 7, -1, -2**31], np.int32), shape)
        if kind == "KEY_SEQUENCE_LENGTH":
            return np.array([[any_number(0, keys) for _ in range(batches)]], np.int32)
        if kind == "KEY_SEQUENCE_END_START":
            ends = [any_number(0, keys) for _ in range(batches)]
            return np.array([ends, [any_number(0, max(0, end)) for end in ends]], np.int32)
        starts = [[b * size + any_number(0, size) * (b > 0 and self.chance(0.3)) for b in range(batches + 1)]
                  for size in (queries, keys)]
        return np.array([any_number(0, keys) for _ in range(batches)] + starts[0] + starts[1], np.int32)

    def draw(self, sizes=None, special=False):
        """Input arrays by name, with the attributes that go with them."""
        random, dtype = self.random, self.dtype
        newer = self.chance(0.4)
        batches, shared, queries, new_keys, depth, width = sizes or (
            self.some(1, 3), self.some(1, 3), self.some(1, 9), self.some(1, 12), self.some(1, 8), self.some(1, 8))
        form = FORMS[self.some(0, len(FORMS) - 1)]
        is_stacked = any(name.startswith("Stacked") for name in form)
        group = self.some(1, 3) if newer and not is_stacked else 1
        group = 1 if newer and "StackedQueryKey" in form else group
        heads = shared * group
        if any(name in ("StackedQueryKey", "StackedQueryKeyValue") for name in form):
            new_keys = queries
        width = depth if any(name in ("StackedKeyValue", "StackedQueryKeyValue") for name in form) else width
        past_alone = form == ("Query",)
        lengths = newer and self.chance(0.5) and not past_alone
        past_keys = self.some(0, 9) if past_alone or self.chance(0.4) else None
        if past_alone:
            past_keys, new_keys = max(1, past_keys), 0
        given = {}
        shapes = {"Query": (batches, queries, heads * depth), "Key": (batches, new_keys, shared * depth),
                  "Value": (batches, new_keys, shared * width), "StackedQueryKey": (batches, queries, heads, 2, depth),
                  "StackedKeyValue": (batches, new_keys, shared, 2, depth),
                  "StackedQueryKeyValue": (batches, queries, heads, 3, depth)}
        for name in form:
            array = numbers(random, shapes[name], dtype, special)
            given[name] = array if name.startswith("Stacked") else self.leading(array, 5)
        if past_keys is not None:
            for name, elements in (("PastKey", depth), ("PastValue", width)):
                given[name] = self.leading(numbers(random, (batches, shared, past_keys, elements), dtype, special), 5)
        if self.chance(0.4):
            given["Bias"] = self.leading(numbers(random, heads * depth + shared * (depth + width), dtype, special), 5)
        keys = new_keys + (past_keys or 0)
        presents = {"key": self.chance(0.5), "value": self.chance(0.5)}
        present_rows = None
        if lengths:
            kind = (np.int32, dtype)[self.some(0, 1)]
            given["PastSequenceLengths"] = self.leading(
                np.array([self.some(-2, (past_keys or 0) + 2) for _ in range(batches)]).astype(kind), 5)
            if presents["key"]:
                present_rows = keys = self.some(max(1, keys - 2), keys + 3)
            if past_keys and self.chance(0.5):  # rows that are not read
                past_lengths = np.clip(given["PastSequenceLengths"].reshape(-1).astype(int), 0, past_keys)
                for b, length in enumerate(past_lengths):
                    for name in ("PastKey", "PastValue"):
                        given[name].reshape(given[name].shape[-4:])[b, :, length:] = np.nan
        mask_kind = MASKS[self.some(0, 4)] if self.chance(0.7) else "NONE"
        if mask_kind != "NONE":
            given["Mask"] = self.leading(self.draw_mask(mask_kind, batches, heads, queries, keys), 5)
        if self.chance(0.4):
            shape = tuple(1 if self.chance(0.2) else size for size in (batches, heads, queries, keys))
            given["RelativePositionBias"] = self.leading(numbers(random, shape, dtype, special), 5)
        numbers_of = {"scale": float(np.float32(random.choice([1.0, depth ** -0.5, -0.7, 0.0]))),
                      "filter": float(random.choice([-10000.0, -2.5, 3.0, -np.inf]))}
        return newer, heads, shared, given, mask_kind, numbers_of, presents, present_rows

    def compare(self, sizes=None, special=False):
        newer, heads, shared, given, mask_kind, attributes, presents, present_rows = self.draw(sizes, special)
        result, k, v, fresh, written = multihead_attention(given, heads, shared, attributes["scale"], mask_kind, attributes["filter"],
                                                present_rows)
        placed = {name: self.placed(array) for name, array in given.items()}
        fields = FIELDS + (("PastSequenceLengths",) if newer else ())
        expected = [self.leading(result, 5)]
        new_alone = not newer and fresh[0] is not None and self.chance(0.3)
        for name, all_rows, new in (("key", k, fresh[0]), ("value", v, fresh[1])):
            expected.append(self.leading(new if new_alone else all_rows, 5) if presents[name] else None)
        outputs, twins = [], []
        for one in expected:
            if one is None:
                outputs.append(None)
                continue
            out, memory = lay_out(self.random, one.shape, np.dtype(f"u{self.dtype.itemsize}"), False)
            if written is not None and len(outputs) != 0:  # the rows after the new ones keep their bytes
                for b, rows in enumerate(written):
                    kept = out.reshape(out.shape[-4:]).view(self.dtype)[b, :, rows:]
                    one.reshape(one.shape[-4:])[b, :, rows:] = kept
            twin, wanted = same_memory(out, memory)
            outputs.append(out.view(self.dtype))
            twins.append((out.view(self.dtype), memory, twin, wanted, one))
        names = [("QueryHeadCount", heads), ("KeyValueHeadCount", shared)] if newer else [("HeadCount", heads)]
        self.library.run("MULTIHEAD_ATTENTION1" if newer else "MULTIHEAD_ATTENTION",
                         [placed.get(name) for name in fields], outputs,
                         (("Scale", attributes["scale"]), ("MaskFilterValue", attributes["filter"]), *names,
                          ("MaskType", mask_kind)))
        for out, memory, twin, wanted, one in twins:
            different = count_different(np.ascontiguousarray(out), np.ascontiguousarray(one))
            if different.any():
                where = tuple(np.argwhere(different)[0])
                sys.exit(f"attention of {self.dtype}, {dict((name, x.shape) for name, x in given.items())}, {heads} heads, "
                         f"{shared} of keys, {mask_kind}, {attributes}, present rows {present_rows}, output {one.shape}: "
                         f"{different.sum()} of {one.size} differ; first {where}: {out[where]!r}, expected {one[where]!r}")
            twin.view(self.dtype)[...] = out
            if (memory != wanted).any():
                sys.exit(f"attention of {self.dtype} wrote outside its output")
            self.elements += out.size
        self.cases += 1

    def token(self, q, k, v, past_k, past_v, present_k, present_v, lengths, heads, shared, mask=None):
        """One call of MULTIHEAD_ATTENTION1 with lengths, or without if they are None. With a mask, it hides keys."""
        out = np.empty((*q.shape[:2], heads * v.shape[2] // shared), self.dtype)
        self.library.run("MULTIHEAD_ATTENTION1",
                         [q, k, v, None, None, None, None, mask, None, past_k, past_v, lengths], [out, present_k, present_v],
                         (("Scale", 0.25), ("MaskFilterValue", -np.inf), ("QueryHeadCount", heads),
                          ("KeyValueHeadCount", shared), ("MaskType", "NONE" if mask is None else "KEY_SEQUENCE_LENGTH")))
        return out

    def same(self, a, b, what):
        if count_different(np.ascontiguousarray(a), np.ascontiguousarray(b)).any():
            sys.exit(f"attention of {self.dtype}: {what}")
        self.elements += a.size
        self.cases += 1

    def beside_growing(self, heads, shared, depth, width, chunks, slots):
        """A sequence in chunks with a cache of fixed size, in place and not, with a cache that grows, and in one piece: the
        same bits. Unused rows contain NaN, which in place also shows that only new rows are written."""
        total = sum(chunks)
        q, k, v = (self.random.standard_normal((1, total, size)).astype(self.dtype)
                   for size in (heads * depth, shared * depth, shared * width))
        def cache(rows, elements):
            return np.full((1, shared, rows, elements), np.nan, self.dtype)
        whole = self.token(q, k, v, None, None, cache(slots, depth), cache(slots, width), np.zeros(1, np.int32), heads, shared)
        fixed, grown = (cache(slots, depth), cache(slots, width)), (cache(0, depth), cache(0, width))
        done = 0
        for rows in chunks:
            new = [np.ascontiguousarray(x[:, done:done + rows]) for x in (q, k, v)]
            length = np.array([done], np.int32)
            next_grown = cache(done + rows, depth), cache(done + rows, width)
            no_past = done == 0
            outs = {"a growing cache": self.token(*new, *((None, None) if no_past else grown), *next_grown, length, heads, shared)}
            if rows == 1:
                outs["a growing cache without lengths"] = self.token(
                    *new, *((None, None) if no_past else grown), None, None, None, heads, shared)
                padded = [np.pad(x, ((0, 0), (0, 0), (0, 7), (0, 0)), constant_values=np.nan).transpose(0, 2, 1, 3).reshape(
                    1, done + 8, -1) for x in next_grown]
                outs["keys that a mask hides"] = self.token(new[0], *padded, None, None, None, None, None, heads, shared,
                                                            np.array([[done + 1]], np.int32))
            elsewhere = tuple(np.full_like(x, 7) for x in fixed)
            outs["a fixed cache"] = self.token(*new, *fixed, *elsewhere, length, heads, shared)
            outs["a fixed cache in place"] = self.token(*new, *fixed, *fixed, length, heads, shared)
            for what, out in outs.items():
                self.same(out, whole[:, done:done + rows], f"{what}, {done} past rows and {rows} new ones of {slots}, differs "
                          "from the whole sequence")
            done += rows
            for one, other, new_one in zip(fixed, elsewhere, next_grown):
                self.same(one[:, :, :done], new_one, "rows in place are wrong")
                self.same(other[:, :, :done], new_one, "rows are wrong")
                if not (other[:, :, done:] == 7).all() or not np.isnan(one[:, :, done:]).all():
                    sys.exit(f"attention of {self.dtype} wrote after the last row")
            grown = next_grown
        return q, k, v, whole

    def causal_beside_float64(self, heads, shared, depth, width, q, k, v, out):
        wide = [x.astype(np.float64).reshape(1, x.shape[1], n, -1).transpose(0, 2, 1, 3)
                for x, n in ((q, heads), (k, shared), (v, shared))]
        keys, values = (np.repeat(x, heads // shared, axis=1) for x in wide[1:])
        scores = wide[0] @ keys.swapaxes(-1, -2) * 0.25
        scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        exact = (weights @ values / weights.sum(axis=-1, keepdims=True)).transpose(0, 2, 1, 3).reshape(out.shape)
        tolerance = 2e-3 if self.dtype == np.float16 else 1e-5
        if not np.allclose(out.astype(np.float64), exact, rtol=tolerance, atol=tolerance):
            sys.exit(f"attention of {self.dtype} with past lengths differs from FLOAT64")

    def full_cache(self):
        """Lengths that do not fit: nothing is written after the present tensors, and queries without a place give NaN."""
        for length in (-2**31, -1, 0, 2, 3, 4, 5, 2**31 - 1):
            q, k, v = (self.random.standard_normal((1, 2, 8)).astype(self.dtype) for _ in range(3))
            past = [self.random.standard_normal((1, 2, 5, 4)).astype(self.dtype) for _ in range(2)]
            guarded = [np.full((1, 2, 9, 4), 7, self.dtype) for _ in range(2)]
            present = [x[:, :, 2:7] for x in guarded]
            for x, from_past in zip(present, past):
                x[...] = from_past
            out = self.token(q, k, v, *past, *present, np.array([length], np.int32), 2, 2)
            first = min(max(length, 0), 5)
            for x, from_past, new in zip(guarded, past, (k, v)):
                expected = from_past.copy()
                expected[:, :, first:first + 2] = new.reshape(1, 2, 2, 4).transpose(0, 2, 1, 3)[:, :, :max(0, 5 - first)]
                self.same(x[:, :, 2:7], expected, f"the present rows of a full cache are wrong for the length {length}")
                if not ((x[:, :, :2] == 7).all() and (x[:, :, 7:] == 7).all()):
                    sys.exit(f"attention of {self.dtype} wrote outside a full cache")
            fits = np.arange(2) + first < 5
            if (np.isnan(out).all(axis=2) != ~fits).any() or np.isnan(out[:, fits]).any():
                sys.exit(f"attention of {self.dtype} with the length {length} in a full cache: {out}")

    def beside_float64(self, sizes, scale=None):
        """Computes attention in FLOAT64, which is effectively exact here. The bound covers the errors of the scores
        times the magnitudes of the values, averaged with the weights, plus the errors of both sums."""
        batches, heads, queries, keys, depth, width = sizes
        q, k, v = (self.random.standard_normal((batches, rows, heads * elements)).astype(self.dtype)
                   for rows, elements in ((queries, depth), (keys, depth), (keys, width)))
        scale = float(np.float32(depth ** -0.5 if scale is None else scale))
        out = np.empty((batches, queries, heads * width), self.dtype)
        self.library.run("MULTIHEAD_ATTENTION", [q, k, v] + [None] * 8, [out, None, None],
                         (("Scale", scale), ("MaskFilterValue", 0.0), ("HeadCount", heads), ("MaskType", "NONE")))
        wide = [x.astype(np.float64).reshape(batches, -1, heads, x.shape[-1] // heads).transpose(0, 2, 1, 3) for x in (q, k, v)]
        scores = wide[0] @ wide[1].swapaxes(-1, -2) * scale
        of_scores = (depth + 4) * 2.0**-24 * (np.abs(wide[0]) @ np.abs(wide[1]).swapaxes(-1, -2)) * abs(scale)
        differences = scores.max(axis=-1, keepdims=True) - scores
        weights = np.exp(-differences)
        total = weights.sum(axis=-1, keepdims=True)
        exact = weights @ wide[2] / total
        magnitudes = weights @ np.abs(wide[2]) / total
        of_weights = 2 * of_scores.max(axis=-1, keepdims=True) + 2.0**-24 * (differences.max(axis=-1, keepdims=True) + 1)
        sums = (min(keys, 256) + keys // 256 + 3 + keys // 64 + 20) * 2.0**-24
        bound = 1.01 * (2 * of_weights + sums) * magnitudes
        if self.dtype == np.float16:
            bound = bound + np.abs(exact) * 2.0**-11 + 2.0**-25
        result = out.astype(np.float64).reshape(batches, queries, heads, width).transpose(0, 2, 1, 3)
        worst = float(np.max(np.abs(result - exact) / bound))
        self.worst = max(self.worst, worst)
        if not worst <= 1:
            sys.exit(f"attention of {self.dtype} {sizes}: {worst} times the error bound, compared with FLOAT64")
        self.elements += out.size
        self.cases += 1
        return q, k, v, scale, out

    def beside_others(self, torch):
        """Compares with ONNX's reference evaluator for Attention, and with PyTorch in FLOAT64."""
        for sizes in ((2, 3, 7, 9, 8, 5), (1, 4, 20, 33, 16, 16)):
            q, k, v, scale, out = self.beside_float64(sizes)
            heads = sizes[1]
            answers = []
            if ReferenceEvaluator is not None:
                from onnx.helper import make_graph, make_model, make_opsetid, make_tensor_value_info
                names = ["q", "k", "v"]
                node = make_node("Attention", names, ["y"], q_num_heads=heads, kv_num_heads=heads, scale=scale)
                graph = make_graph([node], "g", [make_tensor_value_info(name, 1, None) for name in names],
                                   [make_tensor_value_info("y", 1, None)])
                model = make_model(graph, opset_imports=[make_opsetid("", 23)])
                wide = dict(zip(names, (x.astype(np.float32) for x in (q, k, v))))
                answers.append(ReferenceEvaluator(model).run(None, wide)[0])
            if torch is not None:
                of = [torch.tensor(x.astype(np.float64)).reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)
                      for x in (q, k, v)]
                result = torch.nn.functional.scaled_dot_product_attention(*of, scale=scale)
                answers.append(result.transpose(1, 2).reshape(out.shape).numpy())
            for answer in answers:
                tolerance = 2e-3 if self.dtype == np.float16 else 2e-6
                if not np.allclose(out.astype(np.float64), answer, rtol=tolerance, atol=tolerance):
                    sys.exit(f"attention of {self.dtype} {sizes} differs from another library's result")
                self.elements += out.size


def main():
    library = Library(sys.argv[1])
    cases = int(sys.argv[sys.argv.index("--cases") + 1]) if "--cases" in sys.argv else CASES
    torch = None
    if "--torch" in sys.argv:
        import torch
    for dtype in (np.float32, np.float16):
        checks = Checks(library, np.random.default_rng(SEED), dtype)
        with np.errstate(all="ignore"):
            for number in range(cases):
                checks.compare(special=number % 5 == 4)
            for sizes in LARGE:
                checks.compare(sizes)
            for sizes in ((1, 2, 50, 300, 64, 64), (1, 1, 9, 5000, 16, 8), (2, 2, 100, 100, 32, 16)):
                checks.beside_float64(sizes)
                checks.beside_float64(sizes, 2.0)
            checks.beside_others(torch)
            for heads, shared, depth, width, chunks, slots in (
                    (2, 1, 8, 5, (3, 1, 1, 7, 40, 1), 64), (2, 2, 16, 16, (250, 1, 9, 1, 1, 20, 33), 600),
                    (4, 2, 64, 64, (100, 150, 5, 1, 1, 2), 4096), (1, 1, 3, 20, (1, 511, 1, 1, 1, 5), 520)):
                checks.causal_beside_float64(heads, shared, depth, width, *checks.beside_growing(heads, shared, depth, width,
                                                                                                 chunks, slots))
            checks.full_cache()
        print(f"{np.dtype(dtype).name}: {checks.cases} cases, {checks.elements} elements; at most {checks.worst:.2f} of the "
              f"error bound, compared with FLOAT64")


if __name__ == "__main__":
    main()
