#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of a length that a model has not seen before, as a language model has one for every token.

usage: new_lengths.py [--layers N] [--elements N] [--tokens N] [--prompt N] [--threads N] [--beside] [--model FILE]
       python3 bench/new_lengths.py --beside

The script writes a decoder with random weights as exporters write it: 35 nodes in a layer, rotated queries and keys, and
a cache that grows by a row for each token. The first run at each length records and compiles a graph; the next runs at
this length only compute. The cost of the new length is the time of the first run minus the median of three later runs at
the same length. It does not depend on the sizes of the weights, so heads have few elements (--elements 64 makes the
shape of SmolLM2-135M); then the runs are short, and noise hides less. With --beside, ONNX Runtime
runs the same model, and its results are compared. With --model, the script writes the model to FILE and stops.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

HEADS, SHARED, WORDS, PLACES = 9, 3, 1024, 8192


class Writer:
    """Collects the nodes and weights of a model."""

    def __init__(self, numpy, onnx):
        self.numpy, self.onnx, self.nodes, self.weights, self.count = numpy, onnx, [], {}, 0
        self.random = numpy.random.default_rng(1)

    def __call__(self, kind, *inputs, to=None, outputs=1, **attributes):
        self.count += 1
        names = [to] if isinstance(to, str) else to or [f"v{self.count}.{i}" for i in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), names, name=f"{kind}_{self.count}", **attributes))
        return names[0] if len(names) == 1 else names

    def weight(self, *sizes):
        self.count += 1
        values = self.random.standard_normal(sizes, dtype=self.numpy.float32) / (sizes[0] ** 0.5 if len(sizes) > 1 else 10)
        return self.constant(values + (1 if len(sizes) == 1 else 0), f"w{self.count}")

    def constant(self, values, name=None):
        values = self.numpy.asarray(values)
        name = name or f"c{values.dtype}.{values.tolist()}".replace(" ", "")
        self.weights[name] = values
        return name


def decoder(layers, elements):
    import numpy
    import onnx
    write, width, inner = Writer(numpy, onnx), HEADS * elements, 24 * elements
    zero = write.constant(numpy.int64([0]))
    angles = numpy.arange(PLACES)[:, None] / 10000 ** (numpy.arange(elements // 2) / (elements // 2))
    tables = [write.constant(table(angles).astype(numpy.float32), name)
              for table, name in ((numpy.cos, "cos"), (numpy.sin, "sin"))]
    before = write("Squeeze", write("Shape", "past.0.key", start=2, end=3), zero)
    rows = write("Squeeze", write("Shape", "tokens", start=1, end=2), zero)
    places = write("Range", before, write("Add", before, rows), write.constant(numpy.int64(1)))
    cos, sin = (write("Unsqueeze", write("Gather", table, places, axis=0), write.constant(numpy.int64([0, 2])))
                for table in tables)

    def rotated(x, heads):
        x = write("Reshape", x, write.constant(numpy.int64([0, 0, heads, elements])))
        first, second = write("Split", x, outputs=2, axis=-1, num_outputs=2)
        left = write("Sub", write("Mul", first, cos), write("Mul", second, sin))
        right = write("Add", write("Mul", first, sin), write("Mul", second, cos))
        return write("Reshape", write("Concat", left, right, axis=-1), write.constant(numpy.int64([0, 0, heads * elements])))

    x = write("Gather", write.weight(WORDS, width), "tokens", axis=0)
    for layer in range(layers):
        normal = write("RMSNormalization", x, write.weight(width), axis=-1, epsilon=1e-5)
        q, k, v = (write("MatMul", normal, write.weight(width, heads * elements)) for heads in (HEADS, SHARED, SHARED))
        q, k = rotated(q, HEADS), rotated(k, SHARED)
        past = [f"past.{layer}.{one}" for one in ("key", "value")]
        seen = write("Attention", q, k, v, "", *past, to=[f"seen.{layer}", *(p.replace("past", "present") for p in past)],
                     is_causal=1, q_num_heads=HEADS, kv_num_heads=SHARED)[0]
        x = write("Add", x, write("MatMul", seen, write.weight(width, width)))
        normal = write("RMSNormalization", x, write.weight(width), axis=-1, epsilon=1e-5)
        gate, up = (write("MatMul", normal, write.weight(width, inner)) for _ in range(2))
        gate = write("Mul", write("Mul", gate, write("Sigmoid", gate)), up)
        x = write("Add", x, write("MatMul", gate, write.weight(inner, width)))
    x = write("RMSNormalization", x, write.weight(width), axis=-1, epsilon=1e-5)
    write("MatMul", x, write.weight(width, WORDS), to="logits")

    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    def caches(kind, length):
        return [helper.make_tensor_value_info(f"{kind}.{layer}.{one}", float32, [1, SHARED, length, elements])
                for layer in range(layers) for one in ("key", "value")]
    graph = helper.make_graph(
        write.nodes, "decoder",
        [helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, [1, "rows"]), *caches("past", "before")],
        [helper.make_tensor_value_info("logits", float32, [1, "rows", WORDS]), *caches("present", "after")],
        [onnx.numpy_helper.from_array(values, name) for name, values in write.weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


def given(layers, elements, rows, before):
    import numpy
    random = numpy.random.default_rng(before)
    caches = {f"past.{layer}.{one}": random.standard_normal([1, SHARED, before, elements], dtype=numpy.float32)
              for layer in range(layers) for one in ("key", "value")}
    return {"tokens": random.integers(0, WORDS, [1, rows]), **caches}


def timed(run):
    begin = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--elements", type=int, default=8, help="the number of elements of a head, an even number")
    parser.add_argument("--tokens", type=int, default=24, help="the number of lengths with one new row")
    parser.add_argument("--prompt", type=int, default=6, help="the number of lengths with 16 to 31 new rows")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--model", type=pathlib.Path)
    options = parser.parse_args()
    os.environ.setdefault("ANYDML_THREADS", str(options.threads))
    model = decoder(options.layers, options.elements)
    if options.model:
        options.model.write_bytes(model.SerializeToString())
        return
    print(f"{options.layers} layers, {len(model.graph.node)} nodes", flush=True)
    import numpy

    import anydml.onnx
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "decoder.onnx"
        path.write_bytes(model.SerializeToString())
        del model
        begin = time.perf_counter()
        prepared = anydml.onnx.prepare(path)
        print(f"prepare: {1e3 * (time.perf_counter() - begin):.1f} ms", flush=True)
        session = None
        if options.beside:
            import onnxruntime
            settings = onnxruntime.SessionOptions()
            settings.intra_op_num_threads = options.threads
            begin = time.perf_counter()
            session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
            print(f"ONNX Runtime's session: {1e3 * (time.perf_counter() - begin):.1f} ms", flush=True)
        print(f"\n| {'new rows':12} | first run | later run | cost of a new length: median (lowest) |"
              + (" ONNX Runtime's first run | later run | largest difference |" if session else ""), flush=True)
        kinds = (("first", [(1, 7)]), ("1", [(1, 64 + i) for i in range(options.tokens)]),
                 ("16 to 31", [(16 + i % 16, 100 + i) for i in range(options.prompt)]))
        for kind, lengths in kinds:
            firsts, laters, costs, theirs, again, far = [], [], [], [], [], 0.0
            for rows, before in lengths:
                values = given(options.layers, options.elements, rows, before)
                first = timed(lambda: prepared.run(values))
                later = statistics.median(timed(lambda: prepared.run(values)) for _ in range(3))
                firsts.append(first), laters.append(later), costs.append(first - later)
                if session:
                    theirs.append(timed(lambda: session.run(None, values)))
                    again.append(statistics.median(timed(lambda: session.run(None, values)) for _ in range(3)))
                    far = max(far, float(numpy.abs(prepared.run(values)[0] - session.run(["logits"], values)[0]).max()))
            median = statistics.median
            print(f"| {kind:12} | {median(firsts):.2f} ms | {median(laters):.2f} ms | {median(costs):.2f} ({min(costs):.2f}) ms |"
                  + (f" {median(theirs):.2f} ms | {median(again):.2f} ms | {far:.1e} |" if session else ""), flush=True)


if __name__ == "__main__":
    sys.exit(main())
