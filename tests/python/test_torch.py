# SPDX-License-Identifier: MIT
"""Tests PyTorch tensors in CPU memory: the fast path, gradients, and compilers."""
import itertools
import subprocess
import sys

import numpy as np
import pytest

import anydml

torch = pytest.importorskip("torch")
import anydml.torch  # noqa: E402: only for torch.ops.anydml


@pytest.fixture(autouse=True)
def anew():
    torch.compiler.reset()  # earlier compilations count toward the recompilation limit


FUNCTIONS = [anydml.modulus_floor, anydml.modulus_truncate]
TYPES = [torch.float16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]


def numbers(kind, *shape):
    built = torch.randint(1, 100, shape)
    return built.to(kind) if not kind.is_floating_point else (built.to(kind) / 7)


def same(ours, theirs):
    assert isinstance(ours, torch.Tensor) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", TYPES)
def test_tensors_give_what_arrays_give(function, kind):
    for a, b in ((numbers(kind, 16), numbers(kind, 16)), (numbers(kind, 3, 1), numbers(kind, 4)),
                 (numbers(kind, 4, 6).T, numbers(kind, 6, 4)), (numbers(kind, 20)[::2], numbers(kind, 10)),
                 (numbers(kind), numbers(kind)), (numbers(kind, 0), numbers(kind, 1)),
                 (numbers(kind, 2, 5000), numbers(kind, 5000))):
        expected = torch.from_numpy(np.asarray(function.ufunc(a.numpy(), b.numpy())))
        same(function(a, b), expected)
        out = torch.empty_like(expected)
        assert function(a, b, out=out) is out
        same(out, expected)
        same(function(a, 5), torch.from_numpy(np.asarray(function.ufunc(a.numpy(), kind_of(a)(5)))))
        same(function(50, b), torch.from_numpy(np.asarray(function.ufunc(kind_of(a)(50), b.numpy()))))


def kind_of(tensor):
    return tensor.numpy().dtype.type


def test_the_result_lies_as_the_operand_does():
    a = numbers(torch.float32, 4, 6).T
    assert anydml.modulus_floor(a, 2.5).stride() == a.stride()


def test_in_place():
    for kind in TYPES:
        a = numbers(kind, 9)
        expected = torch.from_numpy(anydml.modulus_floor(a.numpy(), a.numpy()[::-1].copy()))
        anydml.modulus_floor(a, a.flip(0), out=a)
        same(a, expected)


def test_warnings_are_numpys():
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert torch.isnan(anydml.modulus_floor(torch.tensor([1.0, 2.0]), 0.0)).all()
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        same(anydml.modulus_floor(torch.tensor([1, 2]), 0), torch.tensor([0, 0]))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients(function):
    operator = getattr(torch.ops.anydml, function.__name__)
    a = (torch.randn(3, 1, dtype=torch.float64) * 10).requires_grad_()
    b = (torch.rand(4, dtype=torch.float64) + 0.7).requires_grad_()
    assert torch.autograd.gradcheck(operator, (a, b))
    assert torch.autograd.gradcheck(function, (a, b))
    with torch.no_grad():
        assert not function(a.detach(), b.detach()).requires_grad


def test_the_gradient_is_one_and_minus_the_quotient():
    for function, quotient in ((anydml.modulus_floor, [1.0, -3.0]), (anydml.modulus_truncate, [1.0, -2.0])):
        a = torch.tensor([5.0, -5.5], requires_grad=True)
        b = torch.tensor([3.0, 2.0], requires_grad=True)
        function(a, b).sum().backward()
        same(a.grad, torch.ones(2))
        same(b.grad, -torch.tensor(quotient))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_an_operator_of_pytorch(function):
    operator = getattr(torch.ops.anydml, function.__name__)
    torch.library.opcheck(operator.default, (numbers(torch.float32, 3, 1), numbers(torch.float32, 4)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_compiler_takes_it_whole(function):
    def model(a, b):
        return function(a, b) * 2 + function(a, 3)

    a, b = numbers(torch.float32, 16), numbers(torch.float32, 16)
    same(torch.compile(model, fullgraph=True, backend="aot_eager")(a, b), model(a, b))


def test_further_arguments_are_refused_with_gradients():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="expected a and b, and optionally dtype"):
        anydml.modulus_floor(x, 2, where=[True, False])
    with pytest.raises(TypeError, match="out: a tensor requires a gradient, and writes have no derivative"):
        anydml.add(x, x, out=torch.empty(2))
    assert anydml.modulus_floor(x, 2, dtype="float64").dtype == torch.float64


# PyTorch's functions, and a range on which they are defined.
OTHERS = {"exp": torch.exp, "log": torch.log, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin,
          "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh,
          "activation_tanh": torch.tanh, "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh,
          "erf": torch.erf, "sigmoid": torch.sigmoid, "gelu": torch.nn.functional.gelu,
          "softsign": torch.nn.functional.softsign, "pow": torch.pow, "atan_yx": torch.atan2}
BUILT = sorted(name for name in OTHERS if hasattr(anydml, name))


def test_each_function_is_an_operator_of_pytorch():
    mine = {name for name, one in vars(anydml).items() if isinstance(getattr(one, "ufunc", None), np.ufunc)}
    assert mine == set(BUILT) | {"modulus_floor", "modulus_truncate"}
    assert all(hasattr(torch.ops.anydml, name) for name in mine)


@pytest.mark.parametrize("name", BUILT)
def test_gradients_of_functions(name):
    function, other = getattr(anydml, name), OTHERS[name]
    first = torch.linspace(1.1, 3, 24) if name == "acosh" else torch.linspace(0.05, 0.95, 24)
    shapes = [(6, 4), (4,)] if function.nin == 2 else [(6, 4)]
    gradients = []
    for one in (function, other):
        inputs = [first.flip(0)[:torch.Size(shape).numel()].reshape(shape).clone().requires_grad_() for shape in shapes]
        result = one(*inputs)
        (result * torch.arange(24.0).reshape(6, 4)).sum().backward()
        gradients.append([result.detach(), *(x.grad for x in inputs)])
    for mine, theirs in zip(*gradients):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)
    assert function(*inputs, dtype=torch.float16).dtype == torch.float16


ENDS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 2.5, -2.5, 3.0, 1e-30, -1e-30, 1e-45, 1e30, -1e30, 3e38, -3e38, 20.0,
        -20.0, 88.0, -88.0, 100.0, -100.0, np.inf, -np.inf, np.nan, 0.9999999, -0.9999999, 1.0000001]


@pytest.mark.parametrize("kind", [torch.float16, torch.float32])
@pytest.mark.parametrize("name", [*BUILT, "modulus_floor", "modulus_truncate"])
def test_gradients_at_special_points(name, kind):
    """Gradients equal PyTorch's, and are NaN only where PyTorch's are."""
    function = getattr(anydml, name)
    other = {"modulus_floor": torch.remainder, "modulus_truncate": torch.fmod}.get(name) or OTHERS[name]
    points = torch.tensor(list(itertools.product(ENDS, repeat=function.nin)), dtype=torch.float64).to(kind).T
    found = []
    for one in (function, other):
        inputs = [column.clone().requires_grad_() for column in points]
        with np.errstate(all="ignore"):
            one(*inputs).sum().backward()
        found.append([x.grad for x in inputs])
    for mine, theirs in zip(*found):
        assert not (mine.isnan() & ~theirs.isnan()).any(), points[:, mine.isnan() & ~theirs.isnan()]
        known = ~theirs.isnan()
        if name == "atan_yx":  # PyTorch gives 0 where the sum of squares underflows or overflows
            squares = points[0] * points[0] + points[1] * points[1]
            known &= (squares > torch.finfo(kind).tiny) & squares.isfinite()
        tolerance = (3e-2, 1e-4) if kind == torch.float16 else (1e-5, 1e-37)
        torch.testing.assert_close(mine[known], theirs[known], rtol=tolerance[0], atol=tolerance[1])


def test_gradients_at_the_origin():
    for name in ("pow", "atan_yx"):
        a, b = (torch.tensor([0.0, -0.0, 0.0], requires_grad=True) for _ in range(2))
        getattr(anydml, name)(a, b).sum().backward()
        same(a.grad, torch.zeros(3))
        same(b.grad, torch.zeros(3))
    a, b = (torch.tensor(x, requires_grad=True) for x in ([3e-30, 3e30], [4e-30, 4e30]))
    anydml.atan_yx(a, b).sum().backward()
    torch.testing.assert_close(a.grad, torch.tensor([0.16e30, 0.16e-30]))
    torch.testing.assert_close(b.grad, torch.tensor([-0.12e30, -0.12e-30]))


# ---- Without an import, transforms, types, compiled operators -------------------------------------------------------

FRESH = """
import sys, anydml
assert "torch" not in sys.modules
import torch
model = torch.compile(lambda x: anydml.relu(x) + anydml.exp(x), fullgraph=True, backend="eager")
assert "anydml.torch" not in sys.modules
x = torch.tensor([1.0, -2.0], requires_grad=True)
model(x).sum().backward()
assert torch.equal(x.grad, (x > 0) + torch.exp(x))
"""


def test_no_import_is_needed():
    subprocess.run([sys.executable, "-c", FRESH], check=True)


# Some operators of each kind. They work per element, per window, over a whole tensor, or on two tensors.
TRANSFORMED = {
    "sigmoid": (lambda x: anydml.sigmoid(x), torch.sigmoid),
    "softplus": (lambda x: anydml.softplus(x, steepness=1), torch.nn.functional.softplus),
    "softmax": (lambda x: anydml.softmax1(x, axes=[1]), lambda x: torch.softmax(x, 1)),
    "norm": (lambda x: anydml.reduce(x, function="L2", axes=[0]), lambda x: x.norm(dim=0, keepdim=True)),
    "product": (lambda x: anydml.matmul(x, x.T), lambda x: x @ x.T),
    "slice": (lambda x: anydml.slice1(x, input_window_offsets=[0, 1], input_window_sizes=[2, 2],
                                      input_window_strides=[1, -1])**2, lambda x: x[:2, 1:3].flip(1)**2),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms(name):
    x = torch.linspace(-1, 1, 6).reshape(2, 3).sin()
    func = torch.func
    for transform in (func.jacrev, func.jacfwd, lambda f: func.hessian(lambda x: f(x).sum()),
                      lambda f: func.jacfwd(func.jacfwd(lambda x: f(x).sum())),
                      lambda f: func.jacrev(func.jacfwd(lambda x: f(x).sum())),
                      lambda f: lambda x: func.jvp(f, (x,), (x * 2,)),
                      lambda f: func.vmap(func.grad(lambda x: f(x).sin().sum()))):
        mine, theirs = (transform(one)(torch.stack([x, x * 2]) if "vmap" in transform.__code__.co_names else x)
                        for one in TRANSFORMED[name])
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_transforms_within_a_compiler():
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    for transform in (lambda f: lambda x: torch.func.grad(lambda x: f(x).sum())(x),
                      lambda f: lambda x: torch.func.jvp(f, (x,), (x,))[1], lambda f: torch.vmap(lambda x: f(x))):
        built = torch.compile(transform(anydml.exp), fullgraph=True, backend="aot_eager")(x)
        torch.testing.assert_close(built, transform(torch.exp)(x))


def test_forward_mode_and_arrays_beside_it():
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        x = forward.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        for function in (anydml.exp, anydml.relu):
            assert forward.unpack_dual(function(x)).tangent is not None
        assert type(anydml.exp(np.ones(2, "f4"))) is np.ndarray


def test_types_of_pytorch():
    x = torch.tensor([1.5, -2.0])
    same(anydml.cast(x, dtype=torch.int8), torch.tensor([1, -2], dtype=torch.int8))
    assert anydml.cast(x.numpy(), dtype=torch.int8).dtype == np.int8
    assert anydml.exp(x.double(), dtype=torch.float32).dtype == torch.float32
    assert anydml.top_k(x, axis=0, k=1, dtype=(None, torch.uint64))[1].dtype == torch.uint64
    assert anydml.graph(lambda x: anydml.cast(x, dtype=torch.int32))(x.numpy()).dtype == np.int32
    with pytest.raises(TypeError, match="dtype is torch.bfloat16; expected a type that NumPy also has"):
        anydml.cast(x, dtype=torch.bfloat16)


def test_compiled_operators_take_tensors():
    x = torch.tensor([1.0, -2.0, 3.0])
    step = anydml.compile("ACTIVATION_RELU", x)
    same(step(x), torch.relu(x))
    assert type(step(x.numpy())) is np.ndarray
    out = torch.empty(3)
    assert step(x, out=out) is out and torch.equal(out, torch.relu(x))
    assert step(x.clone().requires_grad_()).requires_grad
    same(torch.compile(lambda x: step(x) * 2, fullgraph=True, backend="aot_eager")(x), torch.relu(x) * 2)
    with pytest.raises(ValueError, match="differs in type, shape or strides"):
        step(torch.ones(4))
    x = x.requires_grad_()
    for op, options in (("TOP_K", {"Axis": 0, "K": 2}), ("SPLIT", {"Axis": 0, "shape": [(1,), (2,)]})):
        built = anydml.compile(op, x, **options)
        for mine, plain in zip(built(x), built(x.detach())):
            same(mine.detach(), plain)
            assert mine.requires_grad == plain.is_floating_point()


def test_double_backward():
    x = torch.tensor([[0.3, -1.2], [0.7, 2.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.7, 0.7], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(anydml.modulus_floor, (x, y), check_fwd_over_rev=True)
    x = x.detach().float().requires_grad_()
    (first,) = torch.autograd.grad(anydml.tanh(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second, -2 * torch.tanh(x) * (1 - torch.tanh(x)**2))


def test_no_gradient():
    x = torch.tensor([1.5, -2.0], requires_grad=True)
    assert not anydml.logical_equals(x, x).requires_grad and not anydml.cast(x, dtype="int8").requires_grad
    anydml.floor(x).sum().backward()
    same(x.grad, torch.zeros(2))


def test_numpys_functions_of_tensors_have_numpys_types():
    small, truths = torch.tensor([100, 100], dtype=torch.int8), torch.tensor([True, False])
    assert anydml.sum(small) == 200 and anydml.sum(small).dtype == torch.int64
    assert anydml.cumsum(small).tolist() == [100, 200] and anydml.mean(small) == 100
    assert anydml.sum(truths) == 1 and anydml.max(truths).dtype == torch.bool


def test_tangents_end_at_integers_and_batches_may_be_empty():
    x = torch.tensor([1.0, -2.0])
    built, tangent = torch.func.jvp(lambda x: anydml.where(anydml.greater(x, 0), x, torch.zeros(2)), (x,), (torch.ones(2),))
    assert built.tolist() == [1, 0] and tangent.tolist() == [1, 0]
    assert torch.vmap(anydml.softmax)(torch.zeros(0, 3)).shape == (0, 3)
    x, slope = torch.zeros(1, requires_grad=True), torch.tensor([0.25])
    anydml.parameterized_relu(x, slope).sum().backward()
    assert x.grad == 0.25  # as in torch.nn.functional.prelu
