# SPDX-License-Identifier: MIT
"""anydml's execution provider for ONNX Runtime, in the form of other packages with providers.

    onnxruntime.register_execution_provider_library("anydml", onnxruntime_ep_anydml.get_library_path())
"""
import os

__all__ = ["get_ep_name", "get_ep_names", "get_library_path"]


def get_library_path() -> str:
    """Returns the absolute path of the provider's library, for register_execution_provider_library."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libonnxruntime-ep-anydml.so")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist: this package was not built; run pip install on its folder")
    return path


def get_ep_name() -> str:
    """Returns the provider's name, which get_ep_devices() reports as ep_name."""
    return "AnyDmlExecutionProvider"


def get_ep_names() -> list:
    """Returns the names of all providers of the library."""
    return [get_ep_name()]
