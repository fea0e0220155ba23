# SPDX-License-Identifier: MIT
"""Tests that gradients are as sparse as their operators. No intermediate tensor may be larger than a few of their
tensors."""
import numpy as np
import pytest

import anydml

torch = pytest.importorskip("torch")
import anydml.torch  # noqa: E402: needs PyTorch
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402


class Largest(TorchDispatchMode):
    """Records the size in bytes of the largest tensor that any operation created. A view counts as its storage."""

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        result = function(*arguments, **(named or {}))
        for one in tree_leaves(result):
            if isinstance(one, torch.Tensor):
                self.bytes = max(self.bytes, one.untyped_storage().nbytes())
        return result


def boxes(count, width):
    result = np.random.default_rng(0).random((1, 1, count, width), np.float32) * 12
    result[..., -2:] += result[..., -4:-2]
    result[..., :width - 4] = 0
    return torch.from_numpy(result)


POOL = {"Strides": [1, 1], "WindowSize": [31, 31], "StartPadding": [15, 15], "EndPadding": [15, 15]}
RESAMPLE = {"InterpolationMode": "LINEAR", "RoundingDirection": "INCREASING", "Scales": [1, 1, 1, 2],
            "InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4}
RESPONSE = {"CrossChannel": False, "LocalSize": 5, "Alpha": 0.5, "Beta": 0.75, "Bias": 1}
ALIGN = {"ReductionFunction": "AVERAGE", "InterpolationMode": "LINEAR", "SpatialScaleX": 1, "SpatialScaleY": 1,
         "OutOfBoundsInputValue": 0, "MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2}
CALLS = {
    "ROI_POOLING": ([(1, 64, 25, 25)], lambda x: anydml.run("ROI_POOLING", x, boxes(50, 5), SpatialScale=1,
                                                            PooledSize=(7, 7), shape=(50, 64, 7, 7))),
    "ROI_ALIGN": ([(1, 64, 100, 100)], lambda x: anydml.run("ROI_ALIGN", x, boxes(50, 4)[0, 0], torch.zeros(
        50, dtype=torch.uint32), shape=(50, 64, 7, 7), **ALIGN)),
    "RESAMPLE2": ([(1, 1, 1, 40000)], lambda x: anydml.run("RESAMPLE2", x, shape=(1, 1, 1, 80000), **RESAMPLE)),
    "RESAMPLE3": ([(1, 1, 1, 40000)], lambda x: anydml.run("RESAMPLE3", x, shape=(1, 1, 1, 4000), **{
        **RESAMPLE, "Scales": [1, 1, 1, 0.1]}, Antialiased=True)),
    "RESAMPLE_GRAD1": ([(1, 1, 1, 80000)], lambda x: anydml.run("RESAMPLE_GRAD1", x, shape=(1, 1, 1, 40000),
                                                                **RESAMPLE)),
    "AVERAGE_POOLING": ([(1, 2, 64, 64)], lambda x: anydml.run("AVERAGE_POOLING", x, IncludePadding=False, **POOL)),
    "AVERAGE_POOLING_GRAD": ([(1, 2, 64, 64)], lambda x: anydml.run(
        "AVERAGE_POOLING_GRAD", x, IncludePadding=False, shape=(1, 2, 64, 64), **POOL)),
    "LP_POOLING": ([(1, 2, 64, 64)], lambda x: anydml.run("LP_POOLING", x, P=2, **POOL)),
    "MAX_POOLING": ([(1, 2, 64, 64)], lambda x: anydml.run("MAX_POOLING", x, **POOL)),
    "MAX_POOLING_GRAD": ([(1, 2, 64, 64)] * 2, lambda x, y: anydml.run("MAX_POOLING_GRAD", x, y, Dilations=[1, 1],
                                                                       **POOL)),
    "LOCAL_RESPONSE_NORMALIZATION": ([(1, 1, 2, 20000)], lambda x: anydml.run("LOCAL_RESPONSE_NORMALIZATION", x,
                                                                              **RESPONSE)),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": ([(1, 1, 2, 20000)] * 2, lambda x, y: anydml.run(
        "LOCAL_RESPONSE_NORMALIZATION_GRAD", x, y, **RESPONSE)),
}


@pytest.mark.parametrize("name", CALLS)
def test_gradients_take_little_memory(name):
    shapes, call = CALLS[name]
    torch.manual_seed(0)
    inputs = [torch.rand(shape, requires_grad=True) for shape in shapes]
    result = call(*inputs)
    largest = Largest()
    with largest:
        found = torch.autograd.grad(result, inputs, torch.ones_like(result))
    assert all(one.isfinite().all() for one in found)
    # Some tensors contain 8-byte indices instead of 4-byte floats, and antialiasing has a few weights for each output.
    assert largest.bytes <= 6 * 4 * max(one.numel() for one in (*inputs, result)), largest.bytes


def test_gradients_of_large_windows():
    """Gradients equal PyTorch's, at sizes where materialized windows would fill the memory."""
    x = torch.rand(1, 2, 80, 90, dtype=torch.float32)
    pools = torch.nn.functional
    for call, other in ((CALLS["AVERAGE_POOLING"][1], lambda x: pools.avg_pool2d(x, 31, 1, 15, count_include_pad=False)),
                        (CALLS["LP_POOLING"][1], lambda x: pools.lp_pool2d(pools.pad(x, (15,) * 4), 2, 31, 1)),
                        (CALLS["MAX_POOLING"][1], lambda x: pools.max_pool2d(x, 31, 1, 15))):
        found = []
        for one in (call, other):
            leaf = x.clone().requires_grad_()
            result = one(leaf)
            (result * torch.linspace(-1, 1, result.numel()).reshape(result.shape)).sum().backward()
            found.append(leaf.grad)
        torch.testing.assert_close(*found, rtol=1e-3, atol=1e-4)
    x = torch.rand(1, 1, 1, 4000)
    for scale in (2, 0.1):
        found = []
        for one in (lambda x: anydml.run("RESAMPLE2", x, shape=(1, 1, 1, int(4000 * scale)), **{
                **RESAMPLE, "Scales": [1, 1, 1, scale]}),
                    lambda x: pools.interpolate(x[0], int(4000 * scale), mode="linear")[None]):
            leaf = x.clone().requires_grad_()
            result = one(leaf)
            (result * torch.linspace(-1, 1, result.numel())).sum().backward()
            found.append(leaf.grad)
        torch.testing.assert_close(*found, rtol=1e-3, atol=1e-3)


# ---- Derivatives of any order ---------------------------------------------------------------------------------------

SMALL = {"Strides": [1, 1], "WindowSize": [3, 3], "StartPadding": [1, 1], "EndPadding": [1, 1]}
TWO_BOXES = torch.tensor([[[[0.0, 0, 0, 2, 2], [0, 1, 1, 3, 3]]]])
SAME = {
    "AVERAGE_POOLING": (lambda x: anydml.run("AVERAGE_POOLING", x, IncludePadding=False, **SMALL),
                        lambda x: torch.nn.functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)),
    "MAX_POOLING": (lambda x: anydml.run("MAX_POOLING", x, **SMALL), lambda x: torch.nn.functional.max_pool2d(x, 3, 1, 1)),
    "LP_POOLING": (lambda x: anydml.run("LP_POOLING", x, P=3, **SMALL),
                   lambda x: torch.nn.functional.avg_pool2d(x.abs()**3, 3, 1, 1, divisor_override=1)**(1 / 3)),
    "RESAMPLE2": (lambda x: anydml.run("RESAMPLE2", x, shape=(1, 2, 8, 8), **{**RESAMPLE, "Scales": [1, 1, 2, 2]}),
                  lambda x: torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear")),
    "LOCAL_RESPONSE_NORMALIZATION": (
        lambda x: anydml.run("LOCAL_RESPONSE_NORMALIZATION", x, **{**RESPONSE, "CrossChannel": True, "LocalSize": 3}),
        lambda x: torch.nn.functional.local_response_norm(x, 3, 0.5, 0.75, 1)),
    "ROI_POOLING": (lambda x: anydml.run("ROI_POOLING", x, TWO_BOXES, SpatialScale=1, PooledSize=(1, 1), shape=(2, 2, 1, 1)),
                    lambda x: torch.cat([torch.nn.functional.max_pool2d(x[:, :, k:k + 3, k:k + 3], 3) for k in (0, 1)])),
}
TRANSFORMS = [
    torch.func.jacrev, torch.func.jacfwd, lambda f: torch.func.hessian(lambda x: f(x).sin().sum()),
    lambda f: torch.func.jacfwd(torch.func.jacfwd(lambda x: f(x).sin().sum())),
    lambda f: lambda x: torch.vmap(torch.func.grad(lambda x: f(x).sin().sum()))(torch.stack([x, 2 * x]))]


@pytest.mark.parametrize("name", SAME)
def test_derivatives_are_pytorchs(name):
    torch.manual_seed(0)
    x = torch.rand(1, 2, 4, 4) + 0.1
    for transform in TRANSFORMS:
        mine, theirs = (transform(one)(x) for one in SAME[name])
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-3)
