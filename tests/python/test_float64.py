# SPDX-License-Identifier: MIT
"""Tests FLOAT64. Arithmetic, sums, products and moves are computed in it, and other functions suggest float32."""
import math

import numpy as np
import pytest

import anydml

D = np.random.default_rng(7).standard_normal((3, 4))
E = np.random.default_rng(8).standard_normal((3, 4))
HALF = np.array([[0.5, -1.5, 2.5, -0.5]])

# None of these would be right if computed in FLOAT32.
COMPUTED = {
    "add": (lambda: anydml.add(D, E), D + E), "subtract": (lambda: anydml.subtract(D, E), D - E),
    "multiply": (lambda: anydml.multiply(D, E), D * E), "divide": (lambda: anydml.divide(D, E), D / E),
    "sqrt": (lambda: anydml.sqrt(abs(D)), np.sqrt(abs(D))), "recip": (lambda: anydml.recip(D), 1 / D),
    "abs": (lambda: anydml.abs(D), abs(D)), "negate": (lambda: anydml.negate(D), -D),
    "maximum": (lambda: anydml.maximum(D, E), np.maximum(D, E)),
    "minimum": (lambda: anydml.minimum(D, E), np.minimum(D, E)),
    "clip": (lambda: anydml.clip(D, -0.1, 0.1), np.clip(D, -0.1, 0.1)),
    "round": (lambda: anydml.element_wise_round(HALF, rounding_mode="HALVES_TO_NEAREST_EVEN"), np.rint(HALF)),
    "floor": (lambda: anydml.floor(D), np.floor(D)), "modulus": (lambda: anydml.modulus_floor(D, 0.1), np.mod(D, 0.1)),
    "less": (lambda: anydml.less(D, E), D < E), "where": (lambda: anydml.where(D < E, D, E), np.where(D < E, D, E)),
    "relu": (lambda: anydml.relu(D), np.maximum(D, 0)),
    "leaky_relu": (lambda: anydml.leaky_relu(D, alpha=0.1), np.where(D < 0, 0.1 * D, D)),
    "max": (lambda: anydml.max(D, axis=1), D.max(1)), "cumsum": (lambda: anydml.cumsum(D, axis=0), np.cumsum(D, 0)),
    "join": (lambda: anydml.concat([D, E], axis=0), np.concatenate([D, E])),
    "gather": (lambda: anydml.gather(D, np.int32([[2, 0]]), axis=0, index_dimensions=1), D[[2, 0]]),
    "tile": (lambda: anydml.tile(D, [2, 1]), np.tile(D, (2, 1))),
    "convolution": (lambda: anydml.convolution(D.reshape(1, 1, 3, 4), E[:1, :1].reshape(1, 1, 1, 1), strides=[1, 1],
                                               dilations=[1, 1], start_padding=[0, 0], end_padding=[0, 0],
                                               output_padding=[0, 0]), (D * E[0, 0]).reshape(1, 1, 3, 4)),
    "graph": (lambda: anydml.graph(lambda x, y: (x + y) * x)(D, E), (D + E) * D),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_computed_in_float64(name):
    call, expected = COMPUTED[name]
    result = call()
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_sums_are_near_the_exact_ones():
    x = np.random.default_rng(9).standard_normal(10_000)
    bound = 200 * 2.0**-53 * np.abs(x).sum()
    assert abs(anydml.sum(x) - math.fsum(x)) <= bound
    assert abs(anydml.matmul(x, x) - math.fsum(float(one) * one for one in x)) <= 400 * 2.0**-53 * (x * x).sum()
    assert anydml.sum(x, axis=0).dtype == np.float64


WAYS = {
    "function": (lambda: anydml.exp(D), r"^exp: x is float64; .*; anydml.exp\(x, dtype='float32'\) converts it$"),
    "of two": (lambda: anydml.pow(D, E), r"^pow: a is float64; .*; anydml.pow\(a, b, dtype='float32'\) converts it$"),
    "without dtype": (lambda: anydml.softmax(D), r"^softmax: input is float64; .*; convert it with astype\('float32'\)$"),
    "run": (lambda: anydml.run("ELEMENT_WISE_EXP", D), "type is FLOAT64; expected FLOAT32, FLOAT16; convert it to float32$"),
    "compile": (lambda: anydml.compile("ELEMENT_WISE_EXP", D), "; convert it to float32$"),
    "nested": (lambda: anydml.gemm(D, E.T, fused_activation=anydml.Operator("ACTIVATION_TANH")),
               r"^gemm: ACTIVATION_TANH: input is float64; .*; convert it with astype\('float32'\)$"),
    "graph": (lambda: anydml.graph(anydml.exp)(D),
              r"exp: x is float64; .*; anydml.exp\(x, dtype='float32'\) converts it$"),
    "graph without dtype": (lambda: anydml.graph(anydml.softmax)(D),
                            r"softmax: input is float64; .*; convert it with astype\('float32'\)$"),
    "graph by name": (lambda: anydml.graph(lambda x: anydml.run("ELEMENT_WISE_EXP", x))(D), "; convert it to float32$"),
    "graph by NumPy": (lambda: anydml.graph(np.exp)(D), r"convert the operand with astype\('float32'\)$"),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_way_out_is_named(name):
    call, message = WAYS[name]
    with pytest.raises(TypeError, match=message):
        call()


def test_the_way_out_works():
    wanted = anydml.exp(D.astype(np.float32))
    for result in (anydml.exp(D, dtype="float32"), anydml.graph(lambda x: anydml.exp(x, dtype="float32"))(D)):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, wanted)
    powers = anydml.graph(lambda x: anydml.pow(x, 2, dtype="float32"))(abs(D))
    np.testing.assert_array_equal(powers, anydml.pow(abs(D), 2, dtype="float32"))


def test_tensors():
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: anydml.matmul(a, anydml.multiply(a, a)), (x,))
    for one in (x, x.detach()):
        with pytest.raises(TypeError, match=r"^exp: x is float64; .*anydml.exp\(x, dtype='float32'\) converts it$"):
            anydml.exp(one)
        with pytest.raises(TypeError, match=r"convert it with to\(torch.float32\)$"):
            anydml.softmax(one)
