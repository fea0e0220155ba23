#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs networks that onnxruntime.quantization quantizes in anydml and in ONNX Runtime, and compares times and results.

usage: quantized.py [NAME ...] [--rounds N] [--turns N] [--threads N] [--processor] [--literal] [--also FILE ...]
                    [--folder FOLDER]
       python3 bench/quantized.py mobilenet_v2

A NAME is a network, or a network and a form, such as mobilenet_v2/qdq-uint8. The script builds each network as
torch.onnx.export does, with random weights, and quantizes it in each form: dynamic (the weights are quantized, and the
activations when the model runs), qdq (QuantizeLinear and DequantizeLinear) and qoperator (operators of integers), with
weights of the type in the name. The models are kept in FOLDER. --also adds other ONNX files, whose inputs are random.
The two libraries run alternately in separate processes with the same number of threads, ONNX Runtime with its default
options; the time of a run is the median over all rounds of all turns. With --processor, it is the lowest processor time
of a run with one thread, which other programs on the machine change less. The difference is the largest one between the
outputs, divided by the largest output. Needs onnx and onnxruntime.
"""
import argparse
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 48
OPSET = 17
FORMS = ("dynamic-uint8", "qdq-int8", "qdq-uint8", "qoperator-int8", "qoperator-uint8")
LIBRARIES = ("anydml", "ONNX Runtime")


# ---- Networks -------------------------------------------------------------------------------------------------------

class Network:
    """Adds nodes to a graph; weights are random, such that activations keep their size."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(SEED)

    def weight(self, *shape, size):
        return self.constant((self.random.normal(0, 1, shape) * size).astype(np.float32))

    def constant(self, array):
        from onnx import numpy_helper
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, kind, *inputs, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs, [f"t{len(self.nodes)}"], f"n{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def convolution(self, x, ins, outs, kernel, stride=1, groups=1, gain=2.0):
        terms = ins // groups * kernel * kernel
        pad = kernel // 2
        return self.add("Conv", x, self.weight(outs, ins // groups, kernel, kernel, size=(gain / terms) ** 0.5),
                        self.weight(outs, size=0.1), kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                        group=groups)

    def product(self, x, ins, outs):
        return self.add("Gemm", x, self.weight(outs, ins, size=ins ** -0.5), self.weight(outs, size=0.1), transB=1)

    def model(self, x, shape, y):
        import onnx
        from onnx import TensorProto, helper
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def mobilenet_v2():
    net = Network()
    low, high = net.constant(np.float32(0)), net.constant(np.float32(6))

    def layer(x, *sizes, **more):
        return net.add("Clip", net.convolution(x, *sizes, **more), low, high)

    x, channels = layer("x", 3, 32, 3, stride=2), 32
    for expansion, outs, count, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                                 (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            stride, before, hidden = first_stride if i == 0 else 1, x, channels * expansion
            if expansion != 1:
                x = layer(x, channels, hidden, 1)
            x = layer(x, hidden, hidden, 3, stride=stride, groups=hidden)
            x = net.convolution(x, hidden, outs, 1, gain=1.0)
            if stride == 1 and channels == outs:
                x = net.add("Add", before, x)
            channels = outs
    x = layer(x, channels, 1280, 1)
    x = net.add("Flatten", net.add("GlobalAveragePool", x), axis=1)
    return net.model("x", [1, 3, 224, 224], net.product(x, 1280, 1000)), (1, 3, 224, 224)


def resnet18():
    net = Network()
    x = net.add("Relu", net.convolution("x", 3, 64, 7, stride=2))
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for outs, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first_stride, 1):
            before = x if stride == 1 else net.convolution(x, channels, outs, 1, stride=stride, gain=1.0)
            x = net.add("Relu", net.convolution(x, channels, outs, 3, stride=stride))
            x = net.add("Relu", net.add("Add", net.convolution(x, outs, outs, 3, gain=0.5), before))
            channels = outs
    x = net.add("Flatten", net.add("GlobalAveragePool", x), axis=1)
    return net.model("x", [1, 3, 224, 224], net.product(x, 512, 1000)), (1, 3, 224, 224)


def lstm():
    """Two bidirectional layers of 256 units over 64 steps of 512 features, as in recognizers of text."""
    net, steps, features, units = Network(), 64, 512, 256
    x = "x"
    for ins in (features, 2 * units):
        y = net.add("LSTM", x, net.weight(2, 4 * units, ins, size=ins ** -0.5),
                    net.weight(2, 4 * units, units, size=units ** -0.5), net.weight(2, 8 * units, size=0.1),
                    hidden_size=units, direction="bidirectional")
        x = net.add("Reshape", net.add("Transpose", y, perm=[0, 2, 1, 3]),
                    net.constant(np.array([steps, 1, 2 * units], np.int64)))
    y = net.add("MatMul", x, net.weight(2 * units, 100, size=(2 * units) ** -0.5))
    return net.model("x", [steps, 1, features], y), (steps, 1, features)


NETWORKS = {"mobilenet_v2": (mobilenet_v2, FORMS), "resnet18": (resnet18, FORMS), "lstm": (lstm, FORMS[:1])}


# ---- Quantization ---------------------------------------------------------------------------------------------------

def quantize(name, form, folder):
    """Returns the path of a quantized network, which is written at its first use."""
    path = folder / f"{name}-{form}.onnx"
    if path.exists():
        return path
    import onnx
    from onnxruntime import quantization
    model, shape = NETWORKS[name][0]()
    plain = folder / f"{name}.onnx"
    onnx.save(model, plain)
    kind, weights = form.split("-")
    weight_type = getattr(quantization.QuantType, {"int8": "QInt8", "uint8": "QUInt8"}[weights])
    if kind == "dynamic":
        quantization.quantize_dynamic(plain, path, weight_type=weight_type)
        return path

    class Samples(quantization.CalibrationDataReader):
        def __init__(self):
            random = np.random.default_rng(SEED)
            self.rest = iter([{"x": random.normal(0, 1, shape).astype(np.float32)} for _ in range(4)])

        def get_next(self):
            return next(self.rest, None)

    quantization.quantize_static(plain, path, Samples(), activation_type=quantization.QuantType.QUInt8,
                                 weight_type=weight_type,
                                 quant_format=getattr(quantization.QuantFormat, {"qdq": "QDQ", "qoperator": "QOperator"}[kind]))
    return path


# ---- Measurement ----------------------------------------------------------------------------------------------------

def given_for(path):
    """Random inputs for a model, of the sizes that it declares; unknown sizes are 1."""
    import onnx
    model, random = onnx.load(path, load_external_data=False), np.random.default_rng(1)
    constants = {one.name for one in model.graph.initializer}
    given = {}
    for one in model.graph.input:
        if one.name not in constants:
            shape = [size.dim_value or 1 for size in one.type.tensor_type.shape.dim]
            dtype = onnx.helper.tensor_dtype_to_np_dtype(one.type.tensor_type.elem_type)
            given[one.name] = random.normal(0, 1, shape).astype(dtype)
    return given


def work(library, path, reading, clock, rounds, answer):
    """Runs one model in one library, in a separate process."""
    from anydml.onnx import _report
    given = given_for(path)
    if library == "anydml":
        import anydml.onnx
        prepared = anydml.onnx.prepare(path, literal=reading == "literal")
        def run():
            return prepared.run(given)
    else:
        session = _report.session_of(path)
        def run():
            return session.run(None, given)
    outputs, times = [run() for _ in range(3)][0], []
    for _ in range(rounds):
        begin = getattr(time, clock)()
        run()
        times.append(getattr(time, clock)() - begin)
    pathlib.Path(answer).write_bytes(pickle.dumps({"times": times, "outputs": list(outputs)}))


def measure(path, options, scratch):
    """Returns the median times of both libraries and the difference, or the reason for a failure."""
    from anydml.onnx import _report
    answer = pathlib.Path(scratch) / "answer"
    environment = {**os.environ, "ANYDML_THREADS": str(options.threads)}
    clock, choose = ("process_time", min) if options.processor else ("perf_counter", statistics.median)
    times, outputs = {library: [] for library in LIBRARIES}, {}
    for _ in range(options.turns):
        for library in LIBRARIES:
            command = [sys.executable, __file__, "--work", library, str(path), "literal" if options.literal else "integers", clock,
                       str(options.rounds), str(answer)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                return f"{library}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
            found = pickle.loads(answer.read_bytes())
            times[library] += found["times"]
            outputs[library] = found["outputs"]
    return (*(1e3 * choose(times[library]) for library in LIBRARIES),
            max(_report.difference(one, other) for one, other in zip(*outputs.values(), strict=True)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    known = [f"{name}/{form}" for name, (_, forms) in NETWORKS.items() for form in forms]
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"networks or forms; all if none is given: {', '.join(known)}")
    parser.add_argument("--rounds", type=int, default=30, help="runs of each process (30)")
    parser.add_argument("--turns", type=int, default=3, help="processes of each library (3)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                        help="threads for each library (default: all cores)")
    parser.add_argument("--processor", action="store_true", help="measure processor time, with one thread")
    parser.add_argument("--literal", action="store_true", help="anydml computes with dequantized floats")
    parser.add_argument("--also", metavar="FILE", nargs="+", type=pathlib.Path, default=[], help="other ONNX models")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "quantized", help="where models are kept")
    options = parser.parse_args()
    options.threads = 1 if options.processor else options.threads
    unknown = [name for name in options.names if name not in NETWORKS and name not in known]
    if unknown:
        parser.error(f"no such network: {', '.join(unknown)}")
    chosen = [one for one in known if one in options.names or one.split("/")[0] in options.names or
              not (options.names or options.also)]
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{options.threads} threads; times in ms\n\n| model | anydml | ONNX Runtime | ratio | difference |\n|---|---|---|---|---|",
          flush=True)
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, find in [(one, lambda one=one: quantize(*one.split("/"), options.folder)) for one in chosen] + [
                (path.stem, lambda path=path: path) for path in options.also]:
            row = measure(find(), options, scratch)
            if isinstance(row, str):
                failures += 1
                print(f"| {name} | {row} |", flush=True)
                continue
            ours, theirs, difference = row
            print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} | {difference:.1e} |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:6], int(sys.argv[6]), sys.argv[7])
    else:
        sys.exit(main())
