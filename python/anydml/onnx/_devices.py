# SPDX-License-Identifier: MIT
"""Converts ONNX's names of devices to anydml's."""
from .. import _core

__all__ = ["device_of", "is_known"]

_CPU = ("CPU", "CPU:0")


def _gpus():
    """Returns a dict from ONNX device names to adapter names."""
    named = {adapter["name"].upper(): adapter["name"] for adapter in _core.adapters() if adapter["name"] != "cpu"}
    return {**{name.removesuffix(":0"): own for name, own in named.items() if name.endswith(":0")}, **named}


def is_known(device):
    return isinstance(device, str) and (device.upper() in _CPU or device.upper() in _gpus())


def device_of(device):
    """Returns the name of the adapter that runs the model's graphs, or None for the default adapter."""
    if not is_known(device):
        known = ", ".join(map(repr, ("CPU", *_gpus())))
        raise ValueError(f"device {device!r} is not supported; ONNX models run on {known} here")
    return None if device.upper() in _CPU else _gpus()[device.upper()]
