# SPDX-License-Identifier: MIT
"""Comparisons with NumPy shared by several tests: the bits of results, and the warnings and errors."""
import contextlib
import warnings

import numpy as np
import pytest

import anydml

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
PAIRS = [(anydml.modulus_floor, np.remainder), (anydml.modulus_truncate, np.fmod)]
both = pytest.mark.parametrize("ours, numpys", PAIRS, ids=["floor", "truncate"])
compared = {"elements": 0, "examples": 0}


@contextlib.contextmanager
def quiet():
    with np.errstate(all="ignore"):
        yield


def bits(array):
    """Returns the bits that must agree. All NaNs count as one value."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.view(f"u{array.itemsize}")


def assert_same(mine, theirs):
    assert type(mine) is type(theirs)
    assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
    assert np.array_equal(bits(mine), bits(theirs))
    compared["elements"] += np.size(mine)


def outcome(call, mode):
    """Returns the result of call(), or None, and NumPy's report: the error's type and text, then the warnings."""
    with np.errstate(all=mode), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result, raised = call(), None
        except (FloatingPointError, TypeError, ValueError) as error:
            result, raised = None, (type(error), str(error))
    return result, (raised, [str(one.message) for one in seen])


def assert_same_outcome(ours, numpys, call, mode, of=None):
    """Asserts that call(function) gives the same bits, warnings and errors for both functions."""
    mine, said = outcome(lambda: call(ours), mode)
    theirs, numpy_said = outcome(lambda: call(numpys), mode)
    assert repr(said) == repr(numpy_said).replace(numpys.__name__, ours.__name__), of
    if theirs is not None:
        assert_same(mine, theirs)
