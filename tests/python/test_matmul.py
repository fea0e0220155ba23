# SPDX-License-Identifier: MIT
"""Tests that anydml.matmul follows numpy.matmul's rules for shapes, and gives the same bits as GEMM."""
import numpy as np
import pytest

import anydml

SHAPES = (((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
          ((5, 1, 2, 3), (6, 3, 4)), ((6, 3), (5, 3)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((3,), (5, 3, 2)),
          ((5, 2, 3), (3,)))


def numbers(shape, dtype, seed):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)  # the products are exact


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("shapes", SHAPES)
def test_as_numpy(shapes, dtype):
    a, b = (numbers(shape, dtype, i) for i, shape in enumerate(shapes))
    if a.shape[-1] != b.shape[0 if b.ndim == 1 else -2]:
        with pytest.raises(ValueError, match="rows of b, as many as a has columns"):
            anydml.matmul(a, b)
        return
    expected = np.matmul(a, b)
    for result in (anydml.matmul(a, b), anydml.matmul(a[..., ::-1][..., ::-1], b), anydml.graph(lambda x, y: x @ y)(a, b),
                 anydml.graph(lambda x: np.matmul(x, b))(a), anydml.graph(lambda y: anydml.matmul(a, y))(b)):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        np.testing.assert_array_equal(result, expected)
    out = np.full(expected.shape, 7, dtype)
    assert anydml.matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_wrong_operands():
    x = np.ones((2, 2), np.float32)
    for error, message, call in (
            (TypeError, "matmul: b is float64; expected float32, the type of a; convert it",
             lambda: anydml.matmul(x, [[1.0, 2.0], [3.0, 4.0]])),
            (TypeError, "matmul: a is int8; .*anydml.matrix_multiply_integer",
             lambda: anydml.matmul(x.astype(np.int8), x)),
            (ValueError, "has no dimensions", lambda: anydml.matmul(x, np.float32(3).reshape(()))),
            (ValueError, r"out has the shape \[3, 2\]", lambda: anydml.matmul(x, x, out=np.empty((3, 2), np.float32)))):
        with pytest.raises(error, match=message):
            call()


def test_float64_is_computed_in_float64():
    """Alpha and beta are also float64."""
    assert anydml.matmul(np.array([[2.0**20, 1.0]]), np.array([[2.0**20], [1.0]])).item() == 2.0**40 + 1
    x = np.array([[1 / 3]])
    assert anydml.gemm(x, x, x, alpha=0.1, beta=0.7).item() == 0.1 * (1 / 3 * (1 / 3)) + 0.7 * (1 / 3)
    exact = np.random.default_rng(3).integers(-2**24, 2**24, (2, 40, 50)).astype(np.float64)
    np.testing.assert_array_equal(anydml.matmul(exact[0], exact[1].T), exact[0] @ exact[1].T)  # below 2^53, so exact


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    a, b = torch.ones(4, 2, 3), torch.arange(12.0).reshape(3, 4)
    result = anydml.matmul(a, b)
    assert isinstance(result, torch.Tensor) and torch.equal(result, a @ b)
