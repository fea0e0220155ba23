# SPDX-License-Identifier: MIT
"""Examples for the operators on regions of interest, and for random numbers."""
from __future__ import annotations

from example_types import Example, f32, u32

_PLANE = f32(*range(1, 9)).shaped(1, 1, 2, 4)
_SAMPLES = {"ReductionFunction": "AVERAGE", "InterpolationMode": "LINEAR", "SpatialScaleX": 1, "SpatialScaleY": 1,
            "MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 2}

REGIONS: dict[str, Example] = {
    "ROI_POOLING": Example((_PLANE, f32(0, 1, 0, 3, 1).shaped(1, 1, 1, 5)), f32(7, 8).shaped(1, 1, 1, 2),
                           {"SpatialScale": 1, "PooledSize": [2, 1]}),
    "ROI_ALIGN": Example((_PLANE, f32(0, 0, 4, 2).shaped(1, 4), u32(0)), f32(3.5, 5.5).shaped(1, 1, 1, 2),
                         {**_SAMPLES, "OutOfBoundsInputValue": 0}),
    "ROI_ALIGN1": Example((_PLANE, f32(0, 0, 4, 2).shaped(1, 4), u32(0)), f32(3.5, 5.5).shaped(1, 1, 1, 2), {
        **_SAMPLES, "InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "OutOfBoundsInputValue": 0,
        "AlignRegionsToCorners": False}),
    "ROI_ALIGN_GRAD": Example(
        (_PLANE, f32(4, 8).shaped(1, 1, 1, 2), f32(0.5, 0, 2.5, 1).shaped(1, 4), u32(0)),
        (f32(2, 6, 4, 0, 0, 0, 0, 0).shaped(1, 1, 2, 4), f32(5, 0, 7, 0).shaped(1, 4)),
        {**_SAMPLES, "InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}),
    "RANDOM_GENERATOR": Example(
        (u32(0, 0, 0, 0, 0, 0).shaped(1, 1, 1, 6),),
        (u32(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8).shaped(1, 1, 1, 4), u32(1, 0, 0, 0, 0, 0).shaped(1, 1, 1, 6)),
        {"Type": "PHILOX_4X32_10"}),
}
