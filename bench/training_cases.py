# SPDX-License-Identifier: MIT
"""The cases for training.py, in the form that moving_cases.py describes."""
import math

from moving_cases import F32, Case, GeneratedInput, by, scaled, size_of

ANYTHING = math.inf  # for results that cannot be compared: different random numbers, and parameters that change
PLANES = ("StartPadding", "EndPadding")


def resample_grad(np, random, scale):
    n, c, h, w = scaled(8, scale), 64, 56, 56
    gradient = random.standard_normal((n, c, 2 * h, 2 * w)).astype(F32)
    return GeneratedInput("RESAMPLE_GRAD", [gradient], [((n, c, h, w), F32)],
                (("InterpolationMode", "LINEAR"), ("Scales", (1.0, 1.0, 2.0, 2.0)),
                 ("InputPixelOffsets", (0.5,) * 4), ("OutputPixelOffsets", (-0.5,) * 4)),
                f"{by((n, c, h, w))}, twice as high and wide", gradient.nbytes + size_of((n, c, h, w)),
                torch=lambda torch, xs, ys: lambda: torch.ops.aten.upsample_bilinear2d_backward(
                    xs[0], [2 * h, 2 * w], [n, c, h, w], False, None, None))


def average_grad(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 112, 112
    gradient = random.standard_normal((n, c, h // 2, w // 2)).astype(F32)

    def by_torch(torch, xs, ys):
        x = torch.empty((n, c, h, w), device=xs[0].device)
        return lambda: torch.ops.aten.avg_pool2d_backward(xs[0], x, [2, 2], [2, 2], [0, 0], False, True, None)
    return GeneratedInput("AVERAGE_POOLING_GRAD", [gradient], [((n, c, h, w), F32)],
                (("Strides", (2, 2)), ("WindowSize", (2, 2)), *((one, (0, 0)) for one in PLANES), ("IncludePadding", 0)),
                f"2 x 2 of {by((n, c, h, w))}, stride 2", gradient.nbytes + size_of((n, c, h, w)), torch=by_torch)


def max_grad(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 112, 112
    x = random.standard_normal((n, c, h, w)).astype(F32)
    gradient = random.standard_normal((n, c, h // 2, w // 2)).astype(F32)

    def by_torch(torch, xs, ys):
        given = [3, 3], [2, 2], [1, 1], [1, 1], False
        positions = torch.ops.aten.max_pool2d_with_indices(xs[0], *given)[1]
        return lambda: torch.ops.aten.max_pool2d_with_indices_backward(xs[1], xs[0], *given, positions)
    return GeneratedInput("MAX_POOLING_GRAD", [x, gradient], [(x.shape, F32)],
                (("Strides", (2, 2)), ("WindowSize", (3, 3)), ("StartPadding", (1, 1)), ("EndPadding", (0, 0)),
                 ("Dilations", (1, 1))),
                f"3 x 3 of {by(x.shape)}, stride 2", 2 * x.nbytes + gradient.nbytes, torch=by_torch)


def roi_align(np, random, scale):
    n, c, size, regions = 2, 256, 56, scaled(512, scale)
    x = random.standard_normal((n, c, size, size)).astype(F32)
    corners = random.uniform(0, 12 * size, (regions, 2))
    boxes = np.concatenate([corners, corners + random.uniform(32, 4 * size, (regions, 2))], 1).astype(F32)
    images = random.integers(0, n, regions).astype(np.uint32)

    def by_torch(torch, xs, ys):
        from torchvision.ops import roi_align as function
        rows = torch.cat([xs[2].to(torch.float32)[:, None], xs[1]], 1)
        return lambda: function(xs[0], rows, (7, 7), 1 / 16, 2, aligned=False)
    return GeneratedInput("ROI_ALIGN1", [x, boxes, images], [((regions, c, 7, 7), F32)],
                (("ReductionFunction", "AVERAGE"), ("InterpolationMode", "LINEAR"), ("SpatialScaleX", 1 / 16),
                 ("SpatialScaleY", 1 / 16), ("InputPixelOffset", 0.0), ("OutputPixelOffset", -0.5),
                 ("OutOfBoundsInputValue", 0.0), ("MinimumSamplesPerOutput", 2), ("MaximumSamplesPerOutput", 2),
                 ("AlignRegionsToCorners", 0)),
                f"7 x 7 of {regions} regions, {by(x.shape)}", x.nbytes + size_of((regions, c, 7, 7)), torch=by_torch,
                near=ANYTHING)


def random_numbers(np, random, scale):
    count = scaled(1 << 24, scale)
    state = np.array([1, 2, 3, 4, 5, 6], np.uint32).reshape(1, 1, 1, 6)

    def by_torch(torch, xs, ys):
        result = torch.empty(count, dtype=torch.int32, device=xs[0].device)
        return result.random_
    return GeneratedInput("RANDOM_GENERATOR", [state], [((1, 1, 1, count), "uint32"), ((1, 1, 1, 6), "uint32")],
                (("Type", "PHILOX_4X32_10"),), f"{count:,} of 32 bits", 2 * 4 * count, torch=by_torch, near=ANYTHING)


def adam(np, random, scale):
    count = scaled(1 << 24, scale)
    shape = (1, 1, 1, count)
    parameters, first, gradient = (random.standard_normal(shape).astype(F32) for _ in range(3))
    second = np.abs(random.standard_normal(shape)).astype(F32)

    def by_torch(torch, xs, ys):
        own = torch.nn.Parameter(xs[0].clone())
        own.grad = xs[3].clone()
        optimizer = torch.optim.Adam([own], lr=1e-3, fused=True)

        def step():
            with torch.inference_mode(False):
                optimizer.step()
        return step
    return GeneratedInput("ADAM_OPTIMIZER", [parameters, first, second, gradient, np.full((1, 1, 1, 1), 7, np.uint32)],
                [(shape, F32)] * 3, (("LearningRate", 1e-3), ("Beta1", 0.9), ("Beta2", 0.999), ("Epsilon", 1e-8)),
                f"{count:,} parameters", 7 * parameters.nbytes, torch=by_torch, near=ANYTHING)


def batch_norm(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 112, 112
    x = random.standard_normal((n, c, h, w)).astype(F32)
    weight, bias = (random.standard_normal((1, c, 1, 1)).astype(F32) for _ in range(2))

    def by_torch(torch, xs, ys):
        return lambda: torch.nn.functional.batch_norm(xs[0], None, None, xs[1].view(-1), xs[2].view(-1), True, 0.1, 1e-5)
    return GeneratedInput("BATCH_NORMALIZATION_TRAINING", [x, weight, bias], [(x.shape, F32), *[((1, c, 1, 1), F32)] * 2],
                (("Epsilon", 1e-5),), by(x.shape), 2 * x.nbytes, torch=by_torch, near=1e-4, absent=(1, 0))


CASES = [Case("resample_grad", "RESAMPLE_GRAD", resample_grad),
         Case("average_grad", "AVERAGE_POOLING_GRAD", average_grad),
         Case("max_grad", "MAX_POOLING_GRAD", max_grad),
         Case("roi_align", "ROI_ALIGN1", roi_align),
         Case("random", "RANDOM_GENERATOR", random_numbers),
         Case("adam", "ADAM_OPTIMIZER", adam),
         Case("batch_norm", "BATCH_NORMALIZATION_TRAINING", batch_norm)]
