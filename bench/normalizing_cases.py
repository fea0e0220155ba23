# SPDX-License-Identifier: MIT
"""The cases for normalizing.py, in the form that moving_cases.py describes."""
import math

from moving_cases import F32, Case, GeneratedInput, by, scaled

EPSILON = 1e-5


def softmax(operator, function, node, dtype):
    def make(np, random, scale):
        shape = (scaled(4096, scale), 4096)
        x = random.standard_normal(shape).astype(dtype)
        return GeneratedInput(operator, [x], [(shape, dtype)], (("Axes", (1,)),), f"{by(shape)}, {dtype}", 2 * x.nbytes,
                    torch=lambda torch, xs, ys: lambda: getattr(torch, function)(xs[0], 1, out=ys[0]),
                    onnx=(node, {"axis": 1}, {}))
    return make


def layer(np, random, scale):
    rows, columns = scaled(8192, scale), 1024
    x, weight, bias = (random.standard_normal(shape).astype(F32) for shape in ((rows, columns), columns, columns))
    return GeneratedInput("MEAN_VARIANCE_NORMALIZATION1", [x, weight, bias], [(x.shape, F32)],
                (("Axes", (1,)), ("NormalizeVariance", 1), ("Epsilon", EPSILON)), f"{by(x.shape)}, scale and bias",
                2 * x.nbytes, torch=lambda torch, xs, ys: lambda: torch.nn.functional.layer_norm(
                    xs[0], (columns,), xs[1], xs[2], EPSILON),
                onnx=("LayerNormalization", {"axis": 1, "epsilon": EPSILON}, {}),
                views=[(None, None)] + [((1, columns), (columns, 1))] * 2)


def images(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 112, 112
    x = random.standard_normal((n, c, h, w)).astype(F32)
    of_channels = [random.uniform(0.5, 2, c).astype(F32) for _ in range(4)]
    return x, of_channels, [((1, c, 1, 1), (c, 1, 1, 1))]


def instance(np, random, scale):
    x, (weight, bias, *_), view = images(np, random, scale)
    return GeneratedInput("MEAN_VARIANCE_NORMALIZATION1", [x, weight, bias], [(x.shape, F32)],
                (("Axes", (2, 3)), ("NormalizeVariance", 1), ("Epsilon", EPSILON)), f"{by(x.shape)}, each plane",
                2 * x.nbytes, torch=lambda torch, xs, ys: lambda: torch.nn.functional.instance_norm(
                    xs[0], weight=xs[1], bias=xs[2], eps=EPSILON),
                onnx=("InstanceNormalization", {"epsilon": EPSILON}, {}), views=[(None, None)] + view * 2)


def batch(np, random, scale):
    x, of_channels, view = images(np, random, scale)
    return GeneratedInput("BATCH_NORMALIZATION", [x, *of_channels], [(x.shape, F32)], (("Spatial", 1), ("Epsilon", EPSILON)),
                f"{by(x.shape)}, with given moments", 2 * x.nbytes,
                torch=lambda torch, xs, ys: lambda: torch.nn.functional.batch_norm(
                    xs[0], xs[1], xs[2], xs[3], xs[4], False, 0.0, EPSILON),
                onnx=("BatchNormalization", {"epsilon": EPSILON}, {}), order=[0, 3, 4, 1, 2],
                views=[(None, None)] + view * 4)


def local_response(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 56, 56
    x = random.standard_normal((n, c, h, w)).astype(F32)
    size, alpha, beta, bias = 5, 1e-4, 0.75, 1.0
    return GeneratedInput("LOCAL_RESPONSE_NORMALIZATION", [x], [(x.shape, F32)],
                (("CrossChannel", 1), ("LocalSize", size), ("Alpha", alpha), ("Beta", beta), ("Bias", bias)),
                f"{by(x.shape)}, {size} channels", 2 * x.nbytes,
                torch=lambda torch, xs, ys: lambda: torch.nn.functional.local_response_norm(
                    xs[0], size, alpha, beta, bias),
                onnx=("LRN", {"size": size, "alpha": alpha, "beta": beta, "bias": bias}, {}))


def cumulative(axis):
    def make(np, random, scale):
        side = scaled(4096, math.sqrt(scale))
        x = random.standard_normal((side, side)).astype(F32)
        return GeneratedInput("CUMULATIVE_SUMMATION", [x], [(x.shape, F32)],
                    (("Axis", axis), ("AxisDirection", "INCREASING"), ("HasExclusiveSum", 0)),
                    f"{by(x.shape)}, axis {axis}", 2 * x.nbytes,
                    torch=lambda torch, xs, ys: lambda: torch.cumsum(xs[0], axis, out=ys[0]),
                    onnx=("CumSum", {}, {"axis": np.array(axis)}))
    return make


CASES = [Case("softmax", "ACTIVATION_SOFTMAX1", softmax("ACTIVATION_SOFTMAX1", "softmax", "Softmax", F32)),
         Case("softmax_16", "ACTIVATION_SOFTMAX1", softmax("ACTIVATION_SOFTMAX1", "softmax", "Softmax", "float16")),
         Case("log_softmax", "ACTIVATION_LOG_SOFTMAX1",
              softmax("ACTIVATION_LOG_SOFTMAX1", "log_softmax", "LogSoftmax", F32)),
         Case("layer", "MEAN_VARIANCE_NORMALIZATION1", layer),
         Case("instance", "MEAN_VARIANCE_NORMALIZATION1", instance),
         Case("batch", "BATCH_NORMALIZATION", batch),
         Case("local_response", "LOCAL_RESPONSE_NORMALIZATION", local_response),
         Case("cumulative_last", "CUMULATIVE_SUMMATION", cumulative(1)),
         Case("cumulative_first", "CUMULATIVE_SUMMATION", cumulative(0))]
