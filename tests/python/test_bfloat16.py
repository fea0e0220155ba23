# SPDX-License-Identifier: MIT
"""Tests that PyTorch's bfloat16 is computed in float32, and that results are rounded to nearest, ties to even."""
import pytest

import anydml

torch = pytest.importorskip("torch")


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).bfloat16()


def same(result, expected):
    result, expected = (one if isinstance(one, tuple) else (one,) for one in (result, expected))
    assert len(result) == len(expected)
    for one, other in zip(result, expected):
        assert one.dtype == other.dtype and torch.equal(one, other)


FUNCTIONS = {
    "ufunc": (anydml.exp, (numbers(3, 4),)),
    "modulus": (anydml.modulus_floor, (numbers(3, 4), numbers(3, 4, seed=1))),
    "two operands": (anydml.add, (numbers(3, 4), numbers(3, 4, seed=1))),
    "a number": (lambda x: anydml.multiply(x, 1.1), (numbers(3, 4),)),
    "along an axis": (lambda x: anydml.softmax(x, axis=1), (numbers(3, 40),)),
    "a sum": (lambda x: anydml.sum(x, axis=0), (numbers(300, 4),)),
    "a product": (anydml.matmul, (numbers(5, 300), numbers(300, 7, seed=1))),
    "gemm": (anydml.gemm, (numbers(5, 30), numbers(30, 7, seed=1), numbers(5, 7, seed=2))),
    "several inputs": (lambda x, y: anydml.join([x, y], axis=1), (numbers(3, 4), numbers(3, 2))),
    "several outputs": (lambda x: anydml.top_k(x, axis=-1, k=2), (numbers(3, 9),)),
    "by name": (lambda x: anydml.run("ACTIVATION_ELU", x, Alpha=0.3), (numbers(3, 4),)),
    "a comparison": (anydml.less, (numbers(3, 4), numbers(3, 4, seed=1))),
    "NumPy's name": (anydml.maximum, (numbers(3, 4), numbers(3, 4, seed=1))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_float32_rounded(name):
    function, inputs = FUNCTIONS[name]
    expected = function(*(one.float() for one in inputs))
    several = expected if isinstance(expected, tuple) else (expected,)
    rounded = tuple(one.bfloat16() if one.dtype == torch.float32 else one for one in several)
    same(function(*inputs), rounded if isinstance(expected, tuple) else rounded[0])


def test_sums_are_not_rounded_on_the_way():
    x = torch.full((1000,), 1.0).bfloat16()  # in bfloat16 the sum would stop at 256
    assert anydml.sum(x).item() == 1000
    halves = torch.tensor([1.0, 2.0**-8, 3 * 2.0**-8]).bfloat16()
    same(anydml.add(halves[:1], halves[1:]), torch.tensor([1.0, 1.0 + 2.0**-6]).bfloat16())  # both ties round to even


def test_gradients():
    for function, count in ((anydml.exp, 1), (anydml.multiply, 2), (anydml.matmul, 2),
                            (lambda x: anydml.softmax(x, axis=1), 1)):
        given = [numbers(4, 4, seed=i).requires_grad_() for i in range(count)]
        wide = [one.detach().float().requires_grad_() for one in given]
        result, expected = function(*given), function(*wide)
        gradient = numbers(4, 4, seed=9)
        result.backward(gradient)
        expected.backward(gradient.float())
        for one, other in zip(given, wide):
            same(one.grad, other.grad.bfloat16())


def test_other_types_beside_it():
    x, y = numbers(3, 4), torch.ones(3, 4)
    same(anydml.add(x, y), anydml.add(x.float(), y))  # PyTorch's promotion
    same(anydml.exp(x, dtype="float32"), anydml.exp(x.float()))
    same(anydml.cast(x, dtype="float32"), x.float())
    assert anydml.gather(x, torch.tensor([[2, 0]], dtype=torch.int32), axis=0, index_dimensions=1).dtype == torch.bfloat16
    with pytest.raises(TypeError, match=r"where its bits differ; use x.view\(torch.int16\)"):
        anydml.bit_not(x)


def test_out():
    x, out = numbers(3, 4), torch.zeros(3, 4).bfloat16()
    version = out._version
    for call in (lambda: anydml.add(x, x, out=out), lambda: anydml.exp(x, out=out),
                 lambda: anydml.run("ACTIVATION_RELU", x, out=out)):
        assert call() is out
    same(out, torch.relu(x))
    assert out._version > version
    square = numbers(4, 4)
    result = torch.zeros(4, 4).bfloat16()
    assert anydml.matmul(square, square, out=result) is result
    same(result, anydml.matmul(square, square))


def test_autocast():
    linear = torch.nn.Linear(8, 3)
    x = torch.ones(2, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = linear(x)
        result = anydml.softmax(hidden, axis=1)
    assert hidden.dtype == torch.bfloat16 and result.dtype == torch.bfloat16
    result[:, 0].sum().backward()
    assert linear.weight.grad.dtype == torch.float32 and linear.weight.grad.abs().sum() > 0


def test_transformed_and_compiled():
    x = numbers(3, 4)
    same(torch.func.vmap(anydml.exp)(x), anydml.exp(x))
    same(torch.func.grad(lambda one: anydml.exp(one).sum())(x), anydml.exp(x))
    same(torch.compile(lambda one: anydml.exp(one) + 1, backend="eager", fullgraph=True)(x), anydml.exp(x) + 1)
    assert anydml.exp(x.to("meta")).dtype == torch.bfloat16
