# SPDX-License-Identifier: MIT
"""Registers the operators as one PyTorch operator, so that autograd, torch.func and torch.compile support them.

>>> import torch, anydml
>>> x = torch.tensor([5.0, -5.5], requires_grad=True)
>>> y = torch.tensor([3.0, 2.0], requires_grad=True)
>>> anydml.modulus_floor(x, y).sum().backward()
>>> x.grad, y.grad
(tensor([1., 1.]), tensor([-1.,  3.]))

You do not need to import this module: anydml's functions load it for the first tensor that requires a gradient, is
traced by a compiler, or is transformed by torch.func. The call then becomes ``torch.ops.anydml.run``, which returns the
same bits as the operator. PyTorch computes the derivatives from an equivalent that uses its own functions
(``anydml._equivalents``), in the tensors' type.
"""
import contextlib
import functools
import json
import operator as _operator

import numpy as _np
import torch
from torch import _C
from torch._C._functorch import (get_inplace_requires_grad_allowed, peek_interpreter_stack,
                                  set_inplace_requires_grad_allowed)
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd.forward_ad import _set_fwd_grad_enabled

from anydml import _core, _equivalents, _ufuncs
from anydml._call import ON_GPU as _ON_GPU, Call as _Call, dtype_of as _dtype_of
from anydml._run import Operator as _Operator, run as _run
from anydml._specs import SPECS as _SPECS
from anydml._tensors import FUNCTIONS as _FUNCTIONS, takes as _takes

__all__ = ["modulus_floor", "modulus_truncate"]

modulus_floor, modulus_truncate = (_FUNCTIONS[name] for name in __all__)


# ---- From a call to the operator's arguments, and back --------------------------------------------------------------

def call(op, inputs, out, dtype, shape, device, attributes, converts=False):
    """Calls the operator over tensors; a number becomes a tensor of the other tensors' type. If `converts` is true,
    tensors are converted to dtype, as by a ufunc."""
    if any(one is not None and one is not True for one in (out if isinstance(out, (tuple, list)) else (out,))):
        return with_out(lambda inputs, out: _run(op, *inputs, out=out, dtype=dtype, shape=shape, device=device,
                                                 **attributes), inputs, out)
    return _dispatch(op, inputs, out, dtype, shape, device, {name: _described(one) for name, one in attributes.items()},
                     converts)


def with_out(function, inputs, out):
    """Calls a function that writes to `out`. As in PyTorch, writes have no derivative, so none may be recorded."""
    several = isinstance(out, (tuple, list))
    given = (*inputs, *(out if several else (out,)))
    tensors = [one for one in given if isinstance(one, torch.Tensor)]
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        raise TypeError("out: a tensor requires a gradient, and writes have no derivative; call without out, or within "
                        "torch.no_grad()")
    arrays = [one.detach() if isinstance(one, torch.Tensor) else one for one in given]
    if _takes(arrays):
        _device_of("out", tensors)
        raise TypeError("out: a tensor is traced, transformed or without memory (meta), so it cannot be written; "
                        "call without out")
    plain = arrays[len(inputs):]
    built = function(arrays[:len(inputs)], plain if several else plain[0])
    if not isinstance(built, tuple):
        return out
    # The caller's tensors share memory and version counters with the detached tensors.
    return tuple(old if one is new else new for old, one, new in zip(given[len(inputs):], plain, built))


def call_by_name(name, arguments, named):
    """Calls the anydml function with this name, as a single call in the graph of PyTorch's compiler."""
    return _by_name(name, [_described(one) for one in arguments], {key: _described(one) for key, one in named.items()})


@torch.compiler.allow_in_graph
def _by_name(name, arguments, named):
    built = _FUNCTIONS[name](*map(_restored, arguments), **{key: _restored(one) for key, one in named.items()})
    # Without a tensor argument the results are NumPy arrays, but values in PyTorch's graphs must be tensors.
    built = [torch.from_numpy(one) if isinstance(one, _np.ndarray) else one
            for one in (built if isinstance(built, tuple) else (built,))]
    return tuple(built) if len(built) > 1 else built[0]


def _described(value):
    """Returns an attribute without anydml's objects, which PyTorch's compiler would not put into a graph."""
    if isinstance(value, _Operator):
        return {"operator": value.name.removeprefix("DML_OPERATOR_"),
                **{name: _described(one) for name, one in value.attributes.items()}}
    return [_described(one) for one in value] if isinstance(value, (list, tuple, range, set, frozenset, dict)) else value


@torch.compiler.allow_in_graph
def _dispatch(op, inputs, out, dtype, shape, device, attributes, converts):
    name = _core.operator_name(op).removeprefix("DML_OPERATOR_")
    if converts and dtype is not None:
        kind = getattr(torch, _np.dtype(_dtype_of(dtype)).name)
        inputs, dtype = [one.to(kind) if isinstance(one, torch.Tensor) else one for one in inputs], None
    if out is None and dtype is None and shape is None and device is None and not attributes and _is_plain(name):
        return _OP(name, _tensors(_read(name, _NOTHING).call, inputs), _NOTHING)[0]
    call = _Call(name, inputs, out, dtype, shape)
    present = [one is True or not call._output(i).optional for i, one in enumerate(call.outs)]
    dtypes = [one if one is None else _np.dtype(one).name for one in call.dtypes]
    shapes = [one if one is None else list(_np.broadcast_shapes(one)) for one in call.shapes]
    attributes = {name: _plain(name, one) for name, one in attributes.items()}
    options = json.dumps([attributes, present, dtypes, shapes, device])
    results = iter(_OP(name, _tensors(call, inputs), options))
    return call.result([next(results) if there else None for there in present])


_NOTHING = json.dumps([{}, [True], [None], [None], None])  # the options of most calls


@functools.lru_cache(maxsize=None)
def _is_plain(name):
    outputs = _SPECS[name].outputs if name in _SPECS else ()
    return len(outputs) == 1 and not outputs[0].array and not outputs[0].optional


def _plain(name, value):
    """Converts an attribute to objects that JSON supports: NumPy's numbers and arrays, other numbers and sequences."""
    def convert(one):
        if hasattr(one, "tolist"):
            return one.tolist()
        if hasattr(one, "__iter__") and not hasattr(one, "__next__") and not isinstance(one, bytes):
            return list(one)
        return _operator.index(one) if hasattr(one, "__index__") else float(one)

    if type(value) in (int, float, bool, str, type(None)):
        return value
    try:
        return json.loads(json.dumps(value, default=convert))
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r} ({type(value).__name__}); expected a number, a name, or a sequence of them"
                        ) from None


def _tensors(call, inputs):
    """Returns the inputs as tensors, with None for absent inputs."""
    inputs = list(inputs)
    known = [one for one in inputs if isinstance(one, torch.Tensor)]
    groups = [call.argument_positions(group, len(inputs)) for group in call.spec.same]
    for i, one in enumerate(inputs):
        if one is None or isinstance(one, torch.Tensor):
            continue
        if type(one) in (int, float) and known:
            beside = next((group for group in groups if i in group), [])
            like = next((inputs[k] for k in beside if isinstance(inputs[k], torch.Tensor)), known[0])
            inputs[i] = torch.tensor(one, dtype=like.dtype, device=like.device)
        else:
            inputs[i] = torch.as_tensor(_np.asarray(one))
    return inputs


class _Options:
    """The arguments of torch.ops.anydml.run other than the tensors."""

    def __init__(self, name, options):
        self.name = name
        self.attributes, self.present, self.dtypes, self.shapes, self.device = json.loads(options)
        self.restored = {name: _restored(one) for name, one in self.attributes.items()}

        spec = _SPECS[name]
        if spec.outputs[0].array:
            self.call = _Call(name, (), None, None, self.shapes)
        else:
            several = len(spec.outputs) > 1
            self.call = _Call(name, (), tuple(there or None for there in self.present) if several else None,
                              *((one if several else one[0]) for one in (self.dtypes, self.shapes)))

    def equivalent(self, inputs, outputs, which, wanted):
        """Returns a function that accepts the inputs `which` and computes the outputs `wanted` with PyTorch's own
        functions. `outputs` are their sizes and types."""
        built = _equivalents.find(self.name)
        if built is None:
            raise NotImplementedError(f"anydml: {self.name} has no gradient")

        given = _equivalents.Given(self.attributes, self.present, *zip(*outputs), inputs[which[0]].device)

        def function(*some):
            every = list(inputs)
            for i, one in zip(which, some):
                every[i] = one
            found = built(given, *every)
            found = found if isinstance(found, (list, tuple)) else [found]
            # The inputs of an element-wise operator may be broadcast to a larger shape.
            return tuple(found[i] if found[i].shape == outputs[i][0] else found[i].expand(outputs[i][0]) for i in wanted)

        return function


_read = functools.lru_cache(maxsize=1024)(_Options)  # these objects are never changed


def _restored(value):
    if isinstance(value, dict):
        return _Operator(value["operator"], **{name: _restored(one) for name, one in value.items() if name != "operator"})
    return [_restored(one) for one in value] if isinstance(value, list) else value


# ---- The operator ---------------------------------------------------------------------------------------------------

_library = torch.library.Library("anydml", "FRAGMENT")
_library.define("run(str op, Tensor?[] inputs, str options) -> Tensor[]")
_OP = torch.ops.anydml.run.default


def _compute(op, inputs, options):
    given = _read(op, options)
    call = given.call
    tensors = [one if one is None else one.detach().resolve_neg() for one in inputs]
    if any(one is not None and not one.is_cpu for one in tensors) and _core.array_kind(*tensors) == _ON_GPU:
        results = call.run_on_device(tensors, given.restored, given.device)
    else:
        arrays = [one if one is None else one.numpy() for one in tensors]
        if op in _UFUNCS and any(one.ndim > 8 for one in arrays):  # only NumPy's ufuncs support more than 8 dimensions
            results = [_np.asarray(_UFUNCS[op](*arrays))]
        else:
            results = call.run(arrays, call.outs, given.restored, given.device)
        results = [one if one is None else torch.from_numpy(one) for one in results]
    return [one for one in results if one is not None]


_library.impl("run", _compute, "CompositeExplicitAutograd")
_UFUNCS = {op: _FUNCTIONS[name].ufunc for name, (op, _) in _ufuncs.OPERATORS.items()}


@torch.library.register_fake("anydml::run", lib=_library)
def _(op, inputs, options):
    given = _read(op, options)
    tensors = [one for one in inputs if one is not None]
    device = _device_of(op, tensors)
    is_broadcast = _equivalents.is_pointwise(op) and len(tensors) == len(inputs)
    # Tensors with one element are enough to infer the types, so the sizes may stay unknown.
    call = given.call
    arrays = call.arrays([None if one is None else _stand_in(one, (1,) * min(one.ndim, 8) if is_broadcast else one.shape)
                          for one in inputs])
    built = call.new_outs(arrays, call.outs, given.restored, make=lambda shape, dtype: (shape, dtype))
    shape = _broadcast(op, [one.shape for one in tensors], given.shapes[0]) if is_broadcast else None
    return [torch.empty(one[0] if shape is None else shape, dtype=getattr(torch, _np.dtype(one[1]).name), device=device)
            for one in built if one is not None]


def _device_of(op, tensors):
    """Returns the common device of all tensors. A zero-dimensional tensor in the CPU's memory counts as a number."""
    devices = list(dict.fromkeys(one.device for one in tensors if one.ndim > 0 or one.device.type != "cpu"))
    if len(devices) > 1:
        raise TypeError(f"{op}: tensors are on {devices[0]} and on {devices[1]}; expected one device: move them yourself "
                        "(x.to(device))")
    return devices[0] if devices else "cpu"


def _broadcast(op, shapes, wanted):
    """Returns the shape of an element-wise operator's output: the requested one, or one inferred from the inputs."""
    if wanted is None:
        return torch.broadcast_shapes(*shapes)
    for shape in shapes:
        if len(shape) > len(wanted) or any(size not in (1, whole) for size, whole
                                           in zip(reversed(shape), reversed(wanted))):
            raise ValueError(f"{op}: shape is {list(wanted)}; expected one to which {list(shape)}, the shape of an input, "
                             "can be broadcast")
    return wanted


def _stand_in(tensor, shape):
    """Returns an array with the tensor's type and this shape, over a single element that is never read."""
    return _np.broadcast_to(_np.empty((), str(tensor.dtype).removeprefix("torch.")), tuple(map(int, shape)))


# ---- Derivatives ----------------------------------------------------------------------------------------------------

def _transformed(function, inputs, gradients):
    """Returns the gradients of the inputs, which can be differentiated again."""
    return torch.func.vjp(function, *inputs)[1](tuple(gradients))


def _plainly(function, inputs, gradients):
    """Like `_transformed`, but three times as fast. The gradients cannot be differentiated again."""
    with torch.enable_grad():
        inputs = [one.detach().requires_grad_() for one in inputs]
        outputs = [(one, gradient) for one, gradient in zip(function(*inputs), gradients) if one.requires_grad]
    if not outputs:
        return [torch.zeros_like(one) for one in inputs]
    outputs, gradients = zip(*outputs)
    return torch.autograd.grad(outputs, inputs, gradients, allow_unused=True, materialize_grads=True)


class _Differentiated(torch.autograd.function._SingleLevelFunction):
    """Computes forward and backward derivatives. torch.func calls it for each level, like PyTorch's own kernels."""

    @staticmethod
    def forward(ctx, keyset, op, options, *inputs):
        # PyTorch turns recording off here, but the levels of torch.func below this one must record.
        with torch.enable_grad(), _set_fwd_grad_enabled(True), _C._AutoDispatchBelowAutograd():
            outputs = _OP.redispatch(keyset & _C._after_autograd_keyset, op, list(inputs), options)
        ctx.given = _read(op, options)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)
        ctx.outputs = [(tuple(one.shape), one.dtype) for one in outputs]
        ctx.mark_non_differentiable(*(one for one in outputs if not one.is_floating_point()))
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *gradients):
        inputs = ctx.saved_tensors
        which = [i for i, needed in enumerate(ctx.needs_input_grad[3:]) if needed]
        wanted = [i for i, one in enumerate(gradients) if one is not None]
        found = [None] * len(inputs)
        if which and wanted:
            function = ctx.given.equivalent(inputs, ctx.outputs, which, wanted)
            differentiate = _transformed if torch.is_grad_enabled() or peek_interpreter_stack() else _plainly
            for i, one in zip(which, differentiate(function, [inputs[i] for i in which], [gradients[i] for i in wanted])):
                found[i] = one
        return (None, None, None, *found)

    @staticmethod
    def jvp(ctx, keyset, op, options, *tangents):
        """The gradient is linear in the outputs' gradients; its gradient with respect to them is the tangent.

        torch.func.jvp cannot be used, because PyTorch is already inside one of its levels.
        """
        inputs = list(ctx.saved_tensors)
        which = [i for i, one in enumerate(tangents) if one is not None]
        floats = [dtype.is_floating_point for _, dtype in ctx.outputs]
        wanted = [i for i, is_float in enumerate(floats) if is_float]
        if not wanted:
            return (None,) * len(floats)
        with torch.enable_grad(), _leaves_allowed(), _set_fwd_grad_enabled(True):
            for i in which:
                inputs[i] = torch._VF._unpack_dual(inputs[i], level=0)[0]  # a view without its tangent
                if not inputs[i].requires_grad:
                    inputs[i].requires_grad_()
            outputs = ctx.given.equivalent(inputs, ctx.outputs, which, wanted)(*(inputs[i] for i in which))
            weights = [torch.zeros_like(one).requires_grad_() for one in outputs]
            linear = [(one, weight) for one, weight in zip(outputs, weights) if one.requires_grad]
            back = torch.autograd.grad([one for one, _ in linear], [inputs[i] for i in which],
                                       [weight for _, weight in linear], create_graph=True, allow_unused=True)
            used = [(one, tangents[i]) for one, i in zip(back, which) if one is not None and one.requires_grad]
            found = torch.autograd.grad([one for one, _ in used], weights, [tangent for _, tangent in used],
                                        create_graph=True, allow_unused=True, materialize_grads=True)
        found = iter(found)
        return tuple(next(found) if is_float else None for is_float in floats)


@contextlib.contextmanager
def _leaves_allowed():
    """torch.func forbids requires_grad_, because users could mix levels. Here it applies to a new view of one level."""
    before = get_inplace_requires_grad_allowed()
    set_inplace_requires_grad_allowed(True)
    try:
        yield
    finally:
        set_inplace_requires_grad_allowed(before)


def _differentiate(keyset, op, inputs, options):
    with enable_single_level_autograd_function():
        return list(_Differentiated.apply(keyset, op, options, *inputs))


_library.impl("run", _differentiate, "Autograd", with_keyset=True)


# ---- vmap -----------------------------------------------------------------------------------------------------------

def _vectorize(info, in_dims, op, inputs, options):
    """Element-wise operators treat the batch as an extra dimension. Other operators are called for each member."""
    dims = in_dims[1]
    if _equivalents.is_pointwise(op) and all(one is not None for one in inputs):
        wanted = _read(op, options).shapes[0]  # the shapes for one member of the batch
        rank = len(wanted) if wanted is not None else max(
            one.ndim - (dim is not None) for one, dim in zip(inputs, dims))
        if rank < 8:
            moved = [one if dim is None else one.movedim(dim, 0) for one, dim in zip(inputs, dims)]
            moved = [one if dim is None else one.reshape(one.shape[:1] + (1,) * (rank + 1 - one.ndim) + one.shape[1:])
                     for one, dim in zip(moved, dims)]
            results = _OP(op, moved, options if wanted is None else _in_batch(options, int(info.batch_size)))
            return results, [0] * len(results)
    if info.batch_size == 0:  # without members, use the shapes and types that a member would have
        of_one = _OP(op, [one if dim is None else one.new_zeros(one.movedim(dim, 0).shape[1:])
                          for one, dim in zip(inputs, dims)], options)
        return [one.new_empty((0, *one.shape)) for one in of_one], [0] * len(of_one)
    each = [_OP(op, [one if dim is None else one.select(dim, k) for one, dim in zip(inputs, dims)], options)
            for k in range(info.batch_size)]
    results = [torch.stack(one) for one in zip(*each)]
    return results, [0] * len(results)


def _in_batch(options, size):
    """Returns the options for the whole batch, whose shapes have one more dimension."""
    attributes, present, dtypes, shapes, device = json.loads(options)
    return json.dumps([attributes, present, dtypes, [[size, *one] for one in shapes], device])


torch.library.register_vmap("anydml::run", _vectorize, lib=_library)


# ---- Ufuncs under their own names -----------------------------------------------------------------------------------

def _declare(name, op, inputs):
    """Declares torch.ops.anydml.exp and the other ufuncs, which accept only tensors here."""
    if inputs == 1:
        _library.define(f"{name}(Tensor x) -> Tensor")
        _library.impl(name, lambda x: call(op, (x,), None, None, None, None, {}), "CompositeImplicitAutograd")
    else:
        _library.define(f"{name}(Tensor a, Tensor b) -> Tensor")
        _library.impl(name, lambda a, b: call(op, (a, b), None, None, None, None, {}), "CompositeImplicitAutograd")


for _name, (_op, _inputs) in _ufuncs.OPERATORS.items():
    _declare(_name, _op, _inputs)
