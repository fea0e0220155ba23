#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the operators that train a network with the NumPy programs in docs/numerics.md, bit for bit, and with
PyTorch in FLOAT64 and ONNX's reference within a tolerance, if these packages are installed.

usage: training_oracle.py LIBANYDML
"""
import itertools
import sys

import numpy as np

from normalize_oracle import ACTIVATIONS, KINDS, TYPES, coefficients, laid_out
from numpy_oracle import SEED, Library, count_different
from softmax_oracle import numbers
from training_reference import adam, batch_gradient, batch_training, batch_training_gradient, local_response_gradient

EPSILON = 1e-3
# Sums along the innermost dimension and across it, over blocks, over all dimensions and over none.
BATCHES = [((7,), 0), ((7,), 1), ((6, 5), 2), ((6, 5), 1), ((70, 3), 3), ((2, 3, 4, 5), 2), ((3, 2, 65, 64), 2),
           ((9, 3, 1), 2), ((4100, 6), 2), ((2, 9000), 1), ((2, 3, 2, 2, 3, 2, 2, 3), 0b10010), ((5, 4, 33), 0b110)]
RESPONSES = ((1, 1, 1, 1), (2, 7, 5, 6), (1, 20, 3, 50), (2, 3, 1100), (2, 2, 3, 4, 5))
ADAM = (("LearningRate", 0.01), ("Beta1", 0.9), ("Beta2", 0.999), ("Epsilon", 1e-7))


class Checker:
    def __init__(self, library):
        self.library = library
        self.compared = self.cases = 0

    def run(self, name, inputs, shapes, attributes, layout=0):
        outs = [laid_out(np.full(shape, 77, inputs[0].dtype), layout + i) for i, shape in enumerate(shapes)]
        self.library.run(name, inputs, outs, attributes)
        return outs

    def check(self, name, inputs, attributes, expected, layout=0):
        """The results also have a different layout."""
        outs = self.run(name, inputs, [one.shape for one in expected], attributes, layout)
        for i, (out, wanted) in enumerate(zip(outs, expected)):
            different = count_different(out, wanted)
            if different.any():
                where = tuple(np.argwhere(different)[0])
                given = [None if one is None else (one.shape, one.strides) for one in inputs]
                sys.exit(f"{name} of {inputs[0].dtype} {given} with {attributes}: {different.sum()} of {out.size} differ "
                         f"in output {i}; first {where}: {out[where]!r}, expected {wanted[where]!r}")
            self.compared += out.size
        self.cases += 1


def batch_inputs(random, shape, kept, dtype, kind):
    x, gradient, addend = (numbers(random, dtype, shape, kind) for _ in range(3))
    mean, variance, scale, bias = (coefficients(random, shape, dtype, "everyday", kept) for _ in range(4))
    return x, gradient, addend, mean, np.abs(variance), scale, bias


def check_batches(checker, random):
    for number, ((shape, kept), dtype, kind) in enumerate(itertools.product(BATCHES, TYPES, KINDS)):
        x, gradient, addend, mean, variance, scale, bias = batch_inputs(random, shape, kept, dtype, kind)
        for turn in range(2):
            layout = number + turn
            x, gradient, addend, scale = (laid_out(one, layout + i) for i, one in enumerate((x, gradient, addend, scale)))
            added = addend if turn else None
            expected = batch_training(x, scale, bias, added, EPSILON)
            inputs = [x, scale, bias, added]
            checker.check("BATCH_NORMALIZATION_TRAINING", inputs, [("Epsilon", EPSILON)], expected, layout)
            if kind == "everyday":
                fused = ACTIVATIONS[layout % len(ACTIVATIONS)]
                active = np.empty(x.shape, dtype)
                checker.library.run(fused[0], [np.ascontiguousarray(expected[0])], active, fused[1])
                checker.check("BATCH_NORMALIZATION_TRAINING", inputs, [("Epsilon", EPSILON), ("FusedActivation", fused)],
                              (active, *expected[1:]), layout)
            for name, gradients in (("BATCH_NORMALIZATION_GRAD", batch_gradient),
                                    ("BATCH_NORMALIZATION_TRAINING_GRAD", batch_training_gradient)):
                inputs = [x, gradient, mean, variance, scale]
                checker.check(name, inputs, [("Epsilon", EPSILON)], gradients(*inputs, EPSILON), layout)


def check_responses(checker, random):
    for number, (shape, dtype, kind, cross) in enumerate(itertools.product(RESPONSES, TYPES, KINDS, (0, 1))):
        x, gradient = (numbers(random, dtype, shape, kind) for _ in range(2))
        for turn, size in enumerate((1, 2, 3, 5, 40)):
            if size == 40 and (x.size > 1000 or not cross) and len(shape) > 3:
                continue
            values = ((1e-4, 0.75, 1.0), (0.3, 0.5, 2.0), (-0.2, 1.25, 0.1))[(number + turn) % 3]
            inputs = [laid_out(x, turn), laid_out(gradient, number)]
            checker.check("LOCAL_RESPONSE_NORMALIZATION_GRAD", inputs,
                          [("CrossChannel", cross), ("LocalSize", size), ("Alpha", values[0]), ("Beta", values[1]),
                           ("Bias", values[2])], [local_response_gradient(*inputs, cross, size, *values)], turn)


def check_adam(checker, random):
    steps = [np.uint32(1), np.uint32(2), np.uint32(1000), np.uint32(2**32 - 1), np.float32(3), np.float16(40), np.uint32(0)]
    options = (ADAM, (("LearningRate", -0.3), ("Beta1", 0.25), ("Beta2", 0.6), ("Epsilon", 0.5)),
               (("LearningRate", 1), ("Beta1", 0), ("Beta2", 1), ("Epsilon", 0)))
    shapes = ((1, 1, 1, 1), (1, 1, 1, 4), (2, 3, 4, 5), (1, 1, 130, 700), (3, 1, 5, 1))
    for number, (shape, dtype, kind) in enumerate(itertools.product(shapes, TYPES, KINDS)):
        tensors = [laid_out(numbers(random, dtype, shape, kind), number + i) for i in range(4)]
        tensors[2] = np.abs(tensors[2]) if kind == "everyday" else tensors[2]
        for turn, step in enumerate(steps):
            attributes = options[(number + turn) % len(options)]
            expected = adam(*tensors, step, *(value for _, value in attributes))
            inputs = [*tensors, np.asarray(step).reshape(1, 1, 1, 1)]
            checker.check("ADAM_OPTIMIZER", inputs, attributes, expected, number + turn)
            kept = [one.copy() for one in tensors]  # then in place
            outs = [kept[i] for i in ((0, 1, 2), (3, 1, 0))[turn % 2]]
            checker.library.run("ADAM_OPTIMIZER", [*kept, inputs[4]], outs, attributes)
            if any(count_different(out, wanted).any() for out, wanted in zip(outs, expected)):
                sys.exit(f"ADAM_OPTIMIZER of {dtype} {shape} at step {step} gives different results in place")


def near(name, actual, exact, bound):
    """Checks the error relative to the largest result against the bound."""
    worst = float(np.abs(actual - exact).max() / max(1e-30, np.abs(exact).max()))
    if not worst <= bound:
        sys.exit(f"{name}: {worst:.2g} of the largest result away from FLOAT64; expected at most {bound:.2g}")
    return worst


def beside_torch(checker, random):
    """Compares with the gradients of PyTorch's autograd in FLOAT64."""
    try:
        import torch
        import torch.nn.functional as functional
    except ImportError:
        print("  PyTorch is not installed")
        return
    worst = 0.0
    epsilon = [("Epsilon", EPSILON)]

    def exact(*arrays):
        return [torch.tensor(one.astype(np.float64), requires_grad=True) for one in arrays]

    def compare(name, inputs, attributes, wanted, bound=1e-5):
        nonlocal worst
        result = checker.run(name, inputs, [one.shape for one in wanted], attributes)
        for out, one in zip(result, wanted):
            worst = max(worst, near(name, out, one, bound))
        return result

    for shape in ((64, 5), (8, 6, 9, 11), (3, 4, 70, 70), (6, 3, 40)):
        channels = (1, shape[1]) + (1,) * (len(shape) - 2)
        x, g = ((random.standard_normal(shape) * 2 + 0.5).astype(np.float32) for _ in range(2))
        scale, bias = (random.uniform(-2, 2, channels).astype(np.float32) for _ in range(2))
        for training in (True, False):
            mean, variance = random.standard_normal(channels), random.uniform(0.5, 2, channels)
            mean, variance = mean.astype(np.float32), variance.astype(np.float32)
            tx, tg, ts, tb = exact(x, g, scale.ravel(), bias.ravel())
            running = [torch.tensor(one.astype(np.float64).ravel()) for one in (mean, variance)]
            ty = functional.batch_norm(tx, *running, ts, tb, training, 1.0, EPSILON)
            ty.backward(tg.detach())
            if training:
                wanted = [ty.detach().numpy(), x.astype(np.float64).mean(axis=summed(channels), keepdims=True),
                          x.astype(np.float64).var(axis=summed(channels), keepdims=True)]
                _, mean, variance = compare("BATCH_NORMALIZATION_TRAINING", [x, scale, bias, None], epsilon, wanted)
            name = "BATCH_NORMALIZATION_TRAINING_GRAD" if training else "BATCH_NORMALIZATION_GRAD"
            wanted = [tx.grad.numpy(), *(one.grad.numpy().reshape(channels) for one in (ts, tb))]
            compare(name, [x, g, mean, variance, scale], epsilon, wanted)
    for size, cross in itertools.product((1, 2, 3, 5), (1, 0)):
        x, g = ((random.standard_normal((3, 9, 6, 7)) * 2).astype(np.float32) for _ in range(2))
        alpha, beta, bias = 0.4, 0.75, 1.25
        tx, tg = exact(x, g)
        before, after = (size - 1) // 2, size // 2
        pads = (0, 0, 0, 0, before, after) if cross else (before, after, before, after)
        squares = functional.pad(tx * tx, pads).unsqueeze(1)
        window = (size, 1, 1) if cross else (1, size, size)
        sums = functional.avg_pool3d(squares, window, stride=1).squeeze(1) * (size if cross else size * size)
        ty = tx / (bias + alpha / size * sums) ** beta
        if cross and size % 2:
            same = functional.local_response_norm(tx, size, alpha, beta, bias)
            assert torch.allclose(ty, same), "the window differs from PyTorch's"
        ty.backward(tg.detach())
        compare("LOCAL_RESPONSE_NORMALIZATION_GRAD", [x, g],
                [("CrossChannel", cross), ("LocalSize", size), ("Alpha", alpha), ("Beta", beta), ("Bias", bias)],
                [tx.grad.numpy()])
    # PyTorch adds epsilon at a different point, but epsilon is too small to matter.
    parameter = torch.tensor(random.standard_normal((1, 1, 4, 50)), requires_grad=True)
    ours = [parameter.detach().numpy().astype(np.float32), *(np.zeros((1, 1, 4, 50), np.float32) for _ in range(2))]
    optimizer = torch.optim.Adam([parameter], lr=0.01, betas=(float(np.float32(0.9)), float(np.float32(0.999))), eps=1e-30)
    for step in range(1, 6):
        g = random.standard_normal((1, 1, 4, 50)).astype(np.float32)
        parameter.grad = torch.tensor(g.astype(np.float64))
        optimizer.step()
        state = optimizer.state[parameter]
        wanted = [one.detach().numpy() for one in (parameter, state["exp_avg"], state["exp_avg_sq"])]
        ours = compare("ADAM_OPTIMIZER", [*ours, g, np.uint32([step]).reshape(1, 1, 1, 1)],
                       (*ADAM[:3], ("Epsilon", 1e-30)), wanted)
    print(f"  PyTorch in FLOAT64: at most {worst:.1g} of the largest result away")


def summed(channels):
    return tuple(axis for axis, size in enumerate(channels) if axis != 1)


def beside_onnx(checker, random):
    try:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        print("  ONNX's reference: the onnx package is not installed")
        return

    def onnx(op, arrays, outputs, domain="", version=17, **attributes):
        names = [f"x{i}" for i in range(len(arrays))]
        results = [f"y{i}" for i in range(outputs)]
        graph = helper.make_graph([helper.make_node(op, names, results, domain=domain, **attributes)], "one",
                                  [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
                                   for name, one in zip(names, arrays)],
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(domain, version)]
                                  if domain else [helper.make_opsetid("", version)])
        return ReferenceEvaluator(model).run(None, dict(zip(names, arrays)))

    x = (random.standard_normal((6, 5, 4, 3)) * 2).astype(np.float32)
    scale, bias, mean, variance = (random.uniform(0.5, 2, 5).astype(np.float32) for _ in range(4))
    channels = (1, 5, 1, 1)
    result = checker.run("BATCH_NORMALIZATION_TRAINING", [x, scale.reshape(channels), bias.reshape(channels), None],
                       [x.shape, channels, channels], [("Epsilon", EPSILON)])
    wanted = onnx("BatchNormalization", [x, scale, bias, mean, variance], 3, epsilon=EPSILON, momentum=0.0, training_mode=1)
    for out, one in zip(result, wanted):
        near("BATCH_NORMALIZATION_TRAINING compared with ONNX", out.reshape(one.shape), one, 1e-5)
    tensors = [random.standard_normal((1, 1, 3, 7)).astype(np.float32) for _ in range(4)]
    tensors[2] = np.abs(tensors[2])
    result = checker.run("ADAM_OPTIMIZER", [*tensors, np.uint32([4]).reshape(1, 1, 1, 1)], [(1, 1, 3, 7)] * 3, ADAM)
    x, first, second, gradient = tensors
    wanted = onnx("Adam", [np.float32(0.01), np.int64(4), x, gradient, first, second], 3, "ai.onnx.preview.training", 1,
                  alpha=0.9, beta=0.999, epsilon=1e-7, norm_coefficient=0.0, norm_coefficient_post=0.0)
    for out, one in zip(result, wanted):
        near("ADAM_OPTIMIZER compared with ONNX", out, one, 1e-5)
    print("  2 operators compared with ONNX's reference")


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(library)
    for name, part in (("batch", check_batches), ("local response", check_responses), ("Adam", check_adam)):
        checker.compared = checker.cases = 0
        part(checker, random)
        print(f"  {name:18} {checker.compared:9} elements in {checker.cases} cases, none different")
    beside_torch(checker, random)
    beside_onnx(checker, random)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
