# SPDX-License-Identifier: MIT
"""Tensors that differ from a valid input of a model, for tests of wrong inputs."""
import numpy as np


def other_shapes(array):
    """The tensor one larger and one smaller in each dimension, and with another rank: descriptions and arrays."""
    for axis in range(array.ndim):
        for by in (-1, 1):
            shape = list(array.shape)
            shape[axis] += by
            yield f"{list(array.shape)} as {shape}", np.resize(array, shape)
    if array.ndim:
        yield "with a dimension less", array[0].copy()
    yield "with a dimension more", array[None]
    if array.ndim > 1:
        yield "as a scalar", array.ravel()[0].reshape(())


def backwards(array):
    """The same elements with a negative stride along each axis in turn, and along all of them."""
    for axes in [(axis,) for axis in range(array.ndim)] + [tuple(range(array.ndim))]:
        turn = tuple(slice(None, None, -1) if axis in axes else slice(None) for axis in range(array.ndim))
        yield np.ascontiguousarray(array[turn])[turn]
