# SPDX-License-Identifier: MIT
"""Tests every operator as a PyTorch operator: derivatives, torch.func, compilers.

Most operators do not support FLOAT64, so gradcheck compares in FLOAT32. With steps of 0.01, rounding adds 1e-5 and
curvature 1e-4 to the differences, so a tolerance of 0.01 distinguishes a wrong formula from a right one.
"""
import numpy as np
import pytest

import anydml

torch = pytest.importorskip("torch")
import anydml.torch  # noqa: E402: needs PyTorch
from torch_cases import MORE, differentiable  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Input #.* requires gradient and is not a double")
EXAMPLES = list(differentiable())
CASES = EXAMPLES + MORE
IDS = [f"{name}-{i}" for i, (name, _, _) in enumerate(CASES)]


def tensor(value):
    if isinstance(value, list):
        return [tensor(one) for one in value]
    return torch.from_numpy(np.array(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def results(result):
    return tuple(one for one in (result if isinstance(result, tuple) else (result,)) if one is not None)


class Case:
    """A call as a function of only its float arguments."""

    def __init__(self, name, arguments, options):
        self.name, self.function, self.options = name, getattr(anydml, name), options
        self.arguments = [tensor(one) for one in arguments]
        self.floats = [one for one in self._each(self.arguments) if one.is_floating_point()]

    def _each(self, values):
        for one in values:
            if isinstance(one, list):
                yield from self._each(one)
            elif isinstance(one, torch.Tensor):
                yield one

    def __call__(self, *floats):
        given = iter(floats)

        def filled(value):
            if isinstance(value, list):
                return [filled(one) for one in value]
            return next(given) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

        return results(self.function(*map(filled, self.arguments), **self.options))

    def leaves(self):
        return [one.clone().requires_grad_() for one in self.floats]

    def of_floats(self, *floats):
        return tuple(one for one in self(*floats) if one.is_floating_point())


@pytest.fixture
def given(monkeypatch):
    """Returns the arguments that a call passes to torch.ops.anydml.run, whichever path it takes."""
    seen, operator = [], anydml.torch._OP

    class Spy:
        redispatch = staticmethod(operator.redispatch)

        def __call__(self, *arguments):
            seen.append(arguments)
            return operator(*arguments)

    def find(case):
        with monkeypatch.context() as patch:
            patch.setattr(anydml.torch, "_OP", Spy())
            with torch.autograd.forward_ad.dual_level():  # this makes PyTorch see every tensor
                case(*case.floats)
        return seen[0] if seen else None  # an operator without inputs has no tensors

    return find


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_gradients(case):
    case = Case(*case)
    if not case.floats:
        return
    expected = case(*case.floats)
    result = case(*case.leaves())
    for mine, plain in zip(result, expected):
        assert mine.dtype == plain.dtype and mine.requires_grad == plain.is_floating_point()
        assert torch.equal(mine.detach(), plain)  # the operator's own bits
    if any(one.is_floating_point() for one in result) and case.name not in ("hardmax", "hardmax1", "cast"):
        # This checks forward and reverse mode.
        assert torch.autograd.gradcheck(case.of_floats, case.leaves(), eps=1e-2, atol=1e-2, rtol=1e-2, fast_mode=True,
                                        check_forward_ad=True)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_equivalent_is_the_operator(case, given):
    case = Case(*case)
    if not case.floats or case.name in ("hardmax", "hardmax1", "element_wise_round", "matmul"):
        return  # step functions, whose derivative is 0; and matmul, which reshapes GEMM's result
    expected = case(*case.floats)
    wanted = [i for i, one in enumerate(expected) if one.is_floating_point()]
    if not wanted:
        return
    op, inputs, options = given(case)
    which = [i for i, one in enumerate(inputs) if one is not None][:1]
    found = anydml.torch._Options(op, options).equivalent(inputs, [(tuple(one.shape), one.dtype) for one in expected],
                                                          which, wanted)(inputs[which[0]])
    for i, one in zip(wanted, found):
        torch.testing.assert_close(one, expected[i], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", EXAMPLES, ids=[name for name, _, _ in EXAMPLES])
def test_as_an_operator_of_pytorch(case, given):
    case = Case(*case)
    if (found := given(case)) is None:
        return
    op, inputs, options = found
    torch.library.opcheck(torch.ops.anydml.run.default, (op, inputs, options),
                          test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


# One operator for each kind of equivalent.
KINDS = {"clip", "reduce", "gemm", "convolution", "max_pooling", "gather", "split", "resample2", "top_k", "scatter_nd", "rnn"}


@pytest.mark.parametrize("case", [one for one in EXAMPLES if one[0] in KINDS], ids=lambda one: one[0])
def test_with_a_compiler_and_gradients(case, given):
    case = Case(*case)
    op, inputs, options = given(case)
    inputs = [one.clone().requires_grad_() if one is not None and one.is_floating_point() else one for one in inputs]
    torch.library.opcheck(torch.ops.anydml.run.default, (op, inputs, options), test_utils="test_aot_dispatch_dynamic")


def test_a_compiler_takes_every_operator_at_once():
    """All calls are in one graph without a break, although none is written with torch.ops."""
    cases = [Case(*case) for case in EXAMPLES]

    def model(*inputs):
        given = iter(inputs)
        return [case(*[next(given) for _ in case.floats]) for case in cases]

    inputs = [one for case in cases for one in case.floats]
    torch.compiler.reset()
    result = torch.compile(model, fullgraph=True, backend="eager")(*inputs)
    for case, mine, expected in zip(cases, result, model(*inputs)):
        for one, other in zip(mine, expected):
            assert torch.equal(one, torch.as_tensor(other)), case.name


@pytest.mark.parametrize("case", EXAMPLES, ids=[name for name, _, _ in EXAMPLES])
def test_vmap(case):
    case = Case(*case)
    if not case.floats:
        return
    batch = [torch.stack([one, one * 0.95, one * 0.9], -1) for one in case.floats]
    result = torch.func.vmap(case, in_dims=-1)(*batch)
    expected = [case(*(one[..., k] for one in batch)) for k in range(3)]
    for mine, each in zip(result, zip(*expected)):
        assert torch.equal(mine, torch.stack(each)) or mine.isnan().any()
