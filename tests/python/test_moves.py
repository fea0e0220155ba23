# SPDX-License-Identifier: MIT
"""Operators that move elements give the same bits in graphs as in separate calls, although in graphs views are free and
the inputs of a join are computed in place."""
import numpy as np
import pytest

import anydml

RANDOM = np.random.default_rng(20240611)
X, Y = RANDOM.standard_normal((2, 3, 4, 5)).astype(np.float32)


def padded(mode):
    return lambda a, b: anydml.negate(anydml.padding1(anydml.add(a, b), padding_mode=mode, padding_value=3, start_padding=[
        1, 0, 7], end_padding=[2, 3, 9], shape=(6, 7, 21)))


def parts(a, b):
    first, second = anydml.split(anydml.add(a, b), axis=1, shape=((3, 1, 5), (3, 3, 5)))
    return anydml.join([anydml.multiply(second, second), first, second], axis=1, shape=(3, 7, 5))


def an_output_that_nobody_reads(a, _):
    first, _, last = anydml.split(a, axis=0, shape=((1, 4, 5),) * 3)
    return anydml.add(last, first)


def slices(a, b):
    part = anydml.slice1(anydml.add(a, b), input_window_offsets=[0, 1, 0], input_window_sizes=[3, 3, 5],
                         input_window_strides=[1, -2, -1], shape=(3, 2, 5))
    return anydml.multiply(part, part), anydml.join([part, part], axis=2, shape=(3, 2, 10)), part


def one_value_in_several_places(a, b):
    both = anydml.add(a, b)
    return anydml.join([both, both, a], axis=0, shape=(9, 4, 5)), both


def joins_of_joins(a, b):
    inner = anydml.join([anydml.add(a, b), anydml.subtract(a, b)], axis=2, shape=(3, 4, 10))
    outer = anydml.join([inner, anydml.negate(inner)], axis=0, shape=(6, 4, 10))
    edged = anydml.padding(outer, padding_mode="edge", padding_value=0, start_padding=[1, 1, 1], end_padding=[0, 0, 2],
                           shape=(7, 5, 13))
    return anydml.tile(edged, repeats=[1, 2, 1], shape=(7, 10, 13))


@pytest.mark.parametrize("function", [
    *map(padded, ("constant", "edge", "reflection", "symmetric", "wrap")), parts, an_output_that_nobody_reads, slices,
    one_value_in_several_places, joins_of_joins])
def test_a_graph_gives_the_same_bits(function):
    one_by_one, at_once = function(X, Y), anydml.graph(function)(X, Y)
    pairs = zip(one_by_one, at_once) if isinstance(one_by_one, tuple) else [(one_by_one, at_once)]
    for one, other in pairs:
        assert one.shape == other.shape and one.tobytes() == other.tobytes()


def test_wrong_descriptions_are_refused():
    image = np.ones((1, 1, 3, 4), np.float32)
    for message, call in (
            ("expected a height and a width that are multiples of block_size", lambda: anydml.space_to_depth(
                image, block_size=2, shape=(1, 4, 1, 2))),
            ("expected channels that are a multiple of the square of block_size", lambda: anydml.depth_to_space(
                np.ones((1, 5, 1, 1), np.float32), block_size=2, shape=(1, 1, 2, 2))),
            ("expected at least one element, unless padding_mode is CONSTANT", lambda: anydml.padding(
                X[:, :0], padding_mode="edge", padding_value=0, start_padding=[0, 1, 0], end_padding=[0, 0, 0],
                shape=(3, 1, 5))),
            (r"InputTensor: sizes are \[3, 4, 5\]; expected \[3, 4, 4\], those of OutputTensor", lambda: anydml.run(
                "DIAGONAL_MATRIX1", X, Value=0, DiagonalFillBegin=0, DiagonalFillEnd=1, shape=(3, 4, 4))),
            ("has 1 dimensions; expected 2 or more", lambda: anydml.diagonal_matrix(
                offset=0, value=1, shape=3, dtype="float32"))):
        with pytest.raises(ValueError, match=message):
            call()
