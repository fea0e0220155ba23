# SPDX-License-Identifier: MIT
"""The examples for normalizations, their gradients and the training step."""
from __future__ import annotations

from example_types import Example, Tensor, f32, single, u32

# Two channels of two elements; each channel has a mean and a deviation.
_TWO_CHANNELS, _NORMALIZED = f32(1, 3, 1, 5).shaped(1, 2, 1, 2), f32(-1, 1, -1, 3).shaped(1, 2, 1, 2)


def _channels(*values: float) -> Tensor:
    return f32(*values).shaped(1, len(values), 1, 1)


NORMALIZING: dict[str, Example] = {
    "BATCH_NORMALIZATION": Example((_TWO_CHANNELS, _channels(1, 4), _channels(4, 0.25), _channels(1, 1), _channels(0, 1)),
                                   f32(0, 1, -5, 3).shaped(1, 2, 1, 2), {"Spatial": True, "Epsilon": 0}),
    "MEAN_VARIANCE_NORMALIZATION": Example((_TWO_CHANNELS, _channels(1, 2), _channels(0, 1)), _NORMALIZED,
                                           {"CrossChannel": False, "NormalizeVariance": True, "Epsilon": 0}),
    "MEAN_VARIANCE_NORMALIZATION1": Example((_TWO_CHANNELS, _channels(1, 2), _channels(0, 1)), _NORMALIZED,
                                            {"Axes": [2, 3], "NormalizeVariance": True, "Epsilon": 0}),
    "MEAN_VARIANCE_NORMALIZATION2": Example((f32(2, -2, 6, 6).shaped(2, 2), None, None), f32(1, -1, 1, 1).shaped(2, 2),
                                            {"Axes": [1], "UseMean": False, "UseVariance": True, "Epsilon": 0}),
    "LOCAL_RESPONSE_NORMALIZATION": Example(
        (f32(3, 6, 4, 8).shaped(1, 2, 1, 2),), single(0.6, 0.6, 1, 1).shaped(1, 2, 1, 2),
        {"CrossChannel": True, "LocalSize": 2, "Alpha": 2, "Beta": 0.5, "Bias": 0}),
    "LP_NORMALIZATION": Example((f32(3, 4, 0, 0).shaped(2, 2),), single(0.6, 0.8, 0, 0).shaped(2, 2),
                                {"Axis": 1, "Epsilon": 1e-05, "P": 2}),
    "BATCH_NORMALIZATION_TRAINING": Example((_TWO_CHANNELS, _channels(1, 2), _channels(0, 1), None),
                                            (_NORMALIZED, _channels(2, 3), _channels(1, 4)), {"Epsilon": 0}),
    "BATCH_NORMALIZATION_GRAD": Example(
        (_TWO_CHANNELS, f32(1, 2, 3, 5).shaped(1, 2, 1, 2), _channels(2, 3), _channels(1, 4), _channels(1, 2)),
        (f32(1, 2, 3, 5).shaped(1, 2, 1, 2), _channels(1, 2), _channels(3, 8)), {"Epsilon": 0}),
    "BATCH_NORMALIZATION_TRAINING_GRAD": Example(
        (f32(1, 1, 3, 3).shaped(4, 1), f32(4, 0, 0, 0).shaped(4, 1), *(f32(one).shaped(1, 1) for one in (2, 1, 1))),
        (f32(2, -2, 0, 0).shaped(4, 1), f32(-4).shaped(1, 1), f32(4).shaped(1, 1)), {"Epsilon": 0}),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": Example(
        (f32(0, 1, 3, -1).shaped(1, 1, 2, 2), f32(7, 4, 100, 2).shaped(1, 1, 2, 2)), f32(7, 0, -8, 0).shaped(1, 1, 2, 2),
        {"CrossChannel": True, "LocalSize": 1, "Alpha": 1, "Beta": 1, "Bias": 1}),
    "ADAM_OPTIMIZER": Example(
        (*(f32(*one).shaped(1, 1, 1, 2) for one in ((1, 2), (0, 0), (0, 0), (2, -4))), u32(1).shaped(1, 1, 1, 1)),
        tuple(f32(*one).shaped(1, 1, 1, 2) for one in ((0.75, 2.25), (1, -2), (1, 4))),
        {"LearningRate": 0.25, "Beta1": 0.5, "Beta2": 0.75, "Epsilon": 0}),
}
