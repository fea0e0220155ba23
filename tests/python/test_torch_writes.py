# SPDX-License-Identifier: MIT
"""Tests PyTorch tensors that are written (out=), are on other devices, or have forms that only some calls once
accepted."""
import warnings

import numpy as np
import pytest

import anydml

torch = pytest.importorskip("torch")
import anydml.torch  # noqa: E402: needs PyTorch


@pytest.fixture(autouse=True)
def anew():
    torch.compiler.reset()


# ---- Versions -------------------------------------------------------------------------------------------------------

_compiled = anydml.compile("ELEMENT_WISE_ADD", torch.ones(2), torch.ones(2))
_graph = anydml.graph(lambda x: x + 1)
_pair = anydml.graph(lambda x: (x + 1, x + 2))
WRITES = {
    "function": lambda a: anydml.add(a, 1, out=a),
    "ufunc": lambda a: anydml.exp(a, out=a),
    "ufunc of two": lambda a: anydml.modulus_floor(a, 2, out=a),
    "ufunc into another": lambda a: anydml.exp(torch.ones(2), out=a),
    "ufunc of NumPy's": lambda a: anydml.exp(np.ones(2, "f4"), out=a),
    "ufunc of a part": lambda a: anydml.exp(a, out=a, where=np.array([True, False])),
    "run": lambda a: anydml.run("ELEMENT_WISE_ADD", a, a, out=a),
    "run of several": lambda a: anydml.run("TOP_K", torch.ones(2), Axis=0, K=2, out=(a, None)),
    "NumPy's function": lambda a: anydml.maximum(a, 7, out=a),
    "product": lambda a: anydml.matmul(torch.ones(2, 2), torch.ones(2), out=a),
    "compiled": lambda a: _compiled(a, a, out=a),
    "graph": lambda a: _graph(torch.ones(2), out=a),
    "graph of several": lambda a: _pair(torch.ones(2), out=(None, a)),
    "view": lambda a: anydml.add(a[:1], 1, out=a[:1]),
    "detached": lambda a: anydml.add(a, 1, out=a.detach()),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_a_new_version(name):
    for _ in range(4):  # the third and later calls use the cached form
        w, a = torch.ones(2, requires_grad=True), torch.tensor([2.0, 3.0])
        y = (w * a).sum()
        before = a._version
        WRITES[name](a)
        assert a._version > before
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_a_call_that_writes_nothing_makes_no_version():
    a, b = torch.ones(2), torch.ones(2)
    for _ in range(4):
        anydml.add(a, b), anydml.exp(a), _graph(a)
        for call in (lambda: anydml.add(a, torch.ones(3), out=a), lambda: anydml.exp(torch.ones(3), out=a),
                     lambda: _graph(torch.ones(3), out=a)):
            with pytest.raises(ValueError):
                call()
    assert a._version == 0 and b._version == 0


@pytest.mark.parametrize("how", ["raise", "warn"])
def test_an_error_after_the_write_makes_one(how):
    a = torch.zeros(2)
    with np.errstate(all=how), warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, 5):
            with pytest.raises((FloatingPointError, RuntimeWarning)):
                anydml.log(torch.zeros(2), out=a)
            assert a._version >= k and a[0] == -np.inf


def test_tensors_of_inference_have_no_version():
    with torch.inference_mode():
        a = torch.ones(2)
        for _ in range(4):
            anydml.add(a, 1, out=a)
    assert a.tolist() == [5, 5]


# ---- Gradients and out ----------------------------------------------------------------------------------------------

WITH_OUT = [lambda x, out: anydml.add(x, 1, out=out), lambda x, out: anydml.exp(x, out=out),
            lambda x, out: anydml.run("ACTIVATION_RELU", x, out=out), lambda x, out: anydml.matmul(x, x, out=out),
            lambda x, out: anydml.compile("ACTIVATION_RELU", x)(x, out=out)]


@pytest.mark.parametrize("call", WITH_OUT)
def test_out_is_refused_where_a_gradient_is_recorded(call):
    plain, leaf = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    for x, out in ((plain, leaf), (leaf, plain), (leaf, leaf)):
        with pytest.raises(TypeError, match="out: a tensor requires a gradient, and writes have no derivative; call "
                                            "without out, or within torch.no_grad"):
            call(x, out)
        with torch.no_grad():
            version = out._version
            assert call(x, out) is out and out._version > version and out.requires_grad == (out is leaf)


def test_several_outs_without_gradients():
    x, values = torch.tensor([1.0, 3.0, 2.0], requires_grad=True), torch.zeros(2, requires_grad=True)
    with torch.no_grad():
        result, index = anydml.top_k(x, axis=0, k=2, out=(values, None))
    assert result is values and values.tolist() == [3, 2] and index.tolist() == [1, 2] and values._version == 1


def test_out_is_refused_where_a_call_is_traced():
    x = torch.ones(2)
    with pytest.raises(TypeError, match="out: a tensor is traced, transformed or without memory"):
        torch.vmap(lambda x: anydml.exp(x, out=torch.ones(())))(x)
    with pytest.raises(TypeError, match="out: a tensor is traced, transformed or without memory"):
        torch.vmap(lambda out: anydml.add(torch.ones(()), 1, out=out))(x)


# ---- Devices --------------------------------------------------------------------------------------------------------

MIXED = [lambda a, b: anydml.matmul(a, b), lambda a, b: anydml.add(a, b), lambda a, b: anydml.pow(a, b),
         lambda a, b: anydml.run("JOIN", a, b, Axis=0), lambda a, b: anydml.element_wise_if(a > 0, a, b),
         lambda a, b: anydml.add(a, a, out=b), lambda a, b: anydml.exp(a, out=b),
         lambda a, b: anydml.run("GEMM", a, a, b, TransA=0, TransB=0, Alpha=1, Beta=1)]


@pytest.mark.parametrize("call", MIXED)
@pytest.mark.parametrize("gradient", [False, True])
def test_devices_are_not_mixed(call, gradient):
    a, b = torch.ones(2, 2), torch.ones(2, 2, device="meta")
    for x, y in ((a, b), (b, a)):
        x = x.clone().requires_grad_(gradient)
        with torch.set_grad_enabled(gradient), pytest.raises(TypeError, match="on (cpu|meta) and on|requires a gradient"):
            call(x, y)


def test_numbers_stand_beside_any_device():
    x = torch.ones(2, 2, device="meta")
    for number in (2.0, torch.tensor(2.0)):
        result = anydml.add(x, number)
        assert result.device == x.device and result.shape == (2, 2)
    with pytest.raises(TypeError, match="on meta and on cpu"):
        anydml.add(x, np.ones(2, np.float32))
    with pytest.raises(TypeError, match="without memory"):
        anydml.exp(x, out=x)


# ---- shape= ---------------------------------------------------------------------------------------------------------

def _added(x):
    return anydml.run("ELEMENT_WISE_ADD", x, x, shape=(4, 3))


def test_shape_holds_wherever_pytorch_looks():
    x = torch.tensor([[1.0, 2, 3]])
    expected = (x + x).expand(4, 3)
    assert torch.equal(_added(x), expected)
    assert _added(x.to("meta")).shape == (4, 3)
    compiled = torch.compile(lambda x: _added(x) * torch.ones(4, 3), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x), expected)
    assert torch.equal(torch.vmap(_added)(torch.stack([x, -x])), torch.stack([expected, -expected]))
    assert torch.equal(torch.vmap(_added, 1)(torch.stack([x[0], -x[0]], 1)), torch.stack([expected, -expected]))
    assert torch.autograd.gradcheck(_added, x.double().requires_grad_(), check_forward_ad=True)
    assert torch.func.jacrev(_added)(x).sum() == 24 and torch.func.jacfwd(_added)(x).sum() == 24
    assert torch.vmap(torch.func.grad(lambda x: _added(x).sum()))(torch.stack([x, x])).tolist() == [[[8, 8, 8]]] * 2
    for bad in ((3,), (4, 4)):
        for tensor in (x, x.to("meta")):
            with pytest.raises(ValueError, match="broadcast"):
                anydml.run("ELEMENT_WISE_ADD", tensor, tensor, shape=bad)


# ---- Both paths accept the same arguments ---------------------------------------------------------------------------

def _both(call, x):
    """Returns the result or the error of a call, without and with a gradient."""
    answers = []
    for one in (x, x.clone().requires_grad_()):
        try:
            answers.append(call(one).detach().tolist())
        except (TypeError, ValueError) as error:
            answers.append(str(error))
    return answers


def test_nine_dimensions():
    x = torch.linspace(0.1, 0.9, 4).reshape((2,) + (1,) * 7 + (2,))
    for call in (anydml.exp, lambda x: anydml.modulus_floor(x, x + 1), anydml.relu, lambda x: anydml.add(x, x),
                 lambda x: anydml.run("ACTIVATION_RELU", x)):
        plain, other = _both(call, x)
        assert plain == other
    leaf = x.clone().requires_grad_()
    anydml.exp(leaf).sum().backward()
    torch.testing.assert_close(leaf.grad, torch.exp(x))
    assert anydml.exp(x.to("meta")).shape == x.shape


class Numbers:
    """A sequence of an unknown type."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (0, 1)[i]

    def __iter__(self):
        return iter((0, 1))


@pytest.mark.parametrize("axes", [range(2), {0, 1}, np.arange(2), (0, 1), Numbers(), torch.arange(2), dict.fromkeys((0, 1)),
                                  "01", 1.5, None, object])
def test_any_sequence_of_numbers(axes):
    x = torch.arange(6.0).reshape(2, 3)
    plain, other = _both(lambda x: anydml.run("REDUCE", x, Function="SUM", Axes=axes), x)
    assert plain == other or (isinstance(plain, str) and isinstance(other, str) and other.startswith("Axes is "))


def test_an_iterator_is_no_sequence():
    x = torch.arange(6.0).reshape(2, 3)
    for one in (x, x.numpy(), x.clone().requires_grad_()):
        with pytest.raises(TypeError, match="Axes is .*generator.*expected a"):
            anydml.run("REDUCE", one, Function="SUM", Axes=(i for i in range(2)))


def test_lazily_negated_tensors():
    x = torch.conj(torch.tensor([1 + 2j, 3 - 4j])).imag
    assert x.is_neg()
    for call in (anydml.exp, anydml.relu, anydml.sum, lambda x: anydml.add(x, x), anydml.graph(lambda x: x + x),
                 lambda x: anydml.matmul(x, x), anydml.compile("ACTIVATION_RELU", torch.ones(2)),
                 lambda x: anydml.run("ACTIVATION_RELU", x)):
        for _ in range(4):
            assert torch.equal(call(x), call(x.resolve_neg()))
    leaf = torch.tensor([1 + 2j, 3 - 4j], requires_grad=True)
    assert torch.equal(anydml.exp(torch.conj(leaf).imag), anydml.exp(x))
    with pytest.raises(TypeError, match="negative bit"):
        anydml.add(torch.ones(2), 1, out=x)


def test_operators_by_their_full_name():
    x = torch.tensor([[[[1.0, -2.0]]]], requires_grad=True)
    relu = anydml.Operator("DML_OPERATOR_ACTIVATION_RELU")
    anydml.run("DML_OPERATOR_ELEMENT_WISE_ADD1", x, x, FusedActivation=relu).sum().backward()
    assert x.grad.tolist() == [[[[2, 0]]]]


def test_a_compiler_takes_functions_themselves():
    x = torch.linspace(0.1, 0.9, 4).reshape(2, 2)
    calls = [(name, (x,)) for name in ("exp", "log", "sin", "cos", "tanh", "relu", "sigmoid", "sqrt", "sum", "softmax")]
    for name, arguments in (*calls, ("add", (x, x)), ("matmul", (x, x)), ("modulus_floor", (x, x))):
        function = getattr(anydml, name)
        result = torch.compile(function, fullgraph=True, backend="eager")(*arguments)
        assert torch.equal(result, function(*arguments)), name


def test_gradients_of_max_pooling_grad_in_batches():
    options = {"strides": [1, 2], "window_size": [2, 2], "start_padding": [1, 0], "end_padding": [0, 0],
               "dilations": [1, 1]}
    x, gradient = torch.rand(3, 1, 2, 3, 4), torch.rand(3, 1, 2, 3, 2)

    def total(x, gradient):
        return anydml.max_pooling_grad(x, gradient, **options).sin().sum()

    for which in (0, 1):
        result = torch.vmap(torch.func.grad(total, which))(x, gradient)
        torch.testing.assert_close(result, torch.stack([torch.func.grad(total, which)(*one) for one in zip(x, gradient)]))
