# SPDX-License-Identifier: MIT
"""Fourier transforms on the host, computed by NumPy: in double for double tensors, and otherwise in float."""
import numpy as np

from ._rows import axis_of


def _wide(x):
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _complex(x):
    """Converts to complex numbers. The last axis contains real numbers, or real and imaginary parts."""
    wide = _wide(x)
    if x.shape[-1] == 1:
        return wide[..., 0]
    if x.shape[-1] == 2:
        return np.ascontiguousarray(wide).view(np.dtype(f"c{2 * wide.itemsize}"))[..., 0]
    raise ValueError(f"the tensor has the shape {list(x.shape)}; expected 1 or 2 numbers along the last axis")


def _pairs(values, dtype):
    return np.stack([values.real, values.imag], -1).astype(dtype)


def dft(node):
    options = node.attributes

    def compute(x, length=None, axis=None):
        position = options.get("axis") if axis is None else int(axis.reshape(()).item())
        position = axis_of(-2 if position is None else position, x.ndim)
        if position == x.ndim - 1:
            raise ValueError("axis is the last one, which contains the parts of a number")
        is_half = options["inverse"] and options["onesided"]  # the second half of the elements follows from the first
        count = 2 * (x.shape[position] - 1) if is_half else x.shape[position]
        count = count if length is None else int(length.reshape(()).item())
        if count < 1:
            raise ValueError(f"the transform has {count} elements; expected 1 or more")
        values = _complex(x)
        if options["inverse"]:
            if is_half:
                return np.fft.irfft(values, count, position)[..., None].astype(x.dtype)
            return _pairs(np.fft.ifft(values, count, position), x.dtype)
        result = np.fft.fft(values, count, position)
        if options["onesided"]:
            result = np.take(result, range(count // 2 + 1), position)
        return _pairs(result, x.dtype)

    return compute


def stft(node):
    def compute(signal, step, window=None, length=None):
        step = int(step.reshape(()).item())
        count = len(window) if length is None else int(length.reshape(()).item())
        values = _complex(signal) if signal.ndim == 3 else _wide(signal)
        if step < 1 or not 1 <= count <= values.shape[1]:
            raise ValueError(f"the frames have {count} elements and the step is {step}; expected 1 or more, and frames "
                             f"of at most {values.shape[1]} elements")
        frames = np.lib.stride_tricks.sliding_window_view(values, count, 1)[:, ::step]
        if window is not None:
            frames = frames * _wide(window)
        result = np.fft.fft(frames, count, -1)
        return _pairs(result[..., :count // 2 + 1] if node.attributes["onesided"] else result, signal.dtype)

    return compute
