# SPDX-License-Identifier: MIT
"""The examples for recurrent networks. They have one number at each time step, and one unit with its gates."""
from __future__ import annotations

from example_types import Example, Tensor, f32


def _steps(*values: float) -> Tensor:
    return f32(*values).shaped(1, len(values), 1, 1)


def _gates(*values: float) -> Tensor:
    return f32(*values).shaped(1, 1, len(values), 1)


RECURRENT: dict[str, Example] = {
    "RNN": Example((_steps(1, 2), _gates(2), _gates(0.5), None, None, None), (_steps(2, 5).shaped(2, 1, 1, 1), _steps(5)),
                   {"ActivationDescs": ["ACTIVATION_RELU"], "Direction": "FORWARD"}),
    "LSTM": Example((_steps(1, 2), _gates(1, 2, 0.5, 1), _gates(0, 0, 0, 1), None, None, None, None, None),
                    (_steps(2, 36).shaped(2, 1, 1, 1), _steps(36), _steps(9)),
                    {"ActivationDescs": ["ACTIVATION_RELU", "ACTIVATION_IDENTITY", "ACTIVATION_IDENTITY"],
                     "Direction": "FORWARD", "ClipThreshold": 0, "UseClipThreshold": False, "CoupleInputForget": False}),
    "GRU": Example((_steps(1, 1), _gates(0.5, 1, 1), _gates(0, 0, 1), None, None, None),
                   (_steps(0.5, 1).shaped(2, 1, 1, 1), _steps(1)),
                   {"ActivationDescs": ["ACTIVATION_RELU", "ACTIVATION_IDENTITY"], "Direction": "FORWARD",
                    "LinearBeforeReset": False}),
}
