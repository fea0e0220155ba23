# SPDX-License-Identifier: MIT
"""`run` and `compile`, which run any operator by its DirectML name."""
from types import GenericAlias as _GenericAlias

import numpy as _np

from . import _core, _dispatch, _libraries
from ._call import OF_NUMPY as _OF_NUMPY, ON_GPU as _ON_GPU, Call as _Call, dtype_of as _dtype_of
from ._specs import SPECS as _SPECS
from ._symbols import Symbol as _Symbol, record as _record
from ._tensors import (call as _call_torch, has_bfloats as _has_bfloats, in_float32 as _in_float32, modules as _modules,
                       takes as _takes)


class Operator:
    """An operator without tensors, for an attribute that accepts an operator, such as FusedActivation.

    >>> import anydml
    >>> anydml.Operator("ACTIVATION_LEAKY_RELU", Alpha=0.1)
    Operator('ACTIVATION_LEAKY_RELU', Alpha=0.1)
    """

    __slots__ = ("name", "attributes")

    def __init__(self, name, /, **attributes):
        self.name, self.attributes = _core.operator_name(name).removeprefix("DML_OPERATOR_"), attributes
        if self.name not in _SPECS:
            _core.run(self.name, (), (), {}, None)  # raises an error that suggests a name

    def __repr__(self):
        attributes = (f", {key}={value!r}" for key, value in self.attributes.items())
        return f"Operator({self.name!r}{''.join(attributes)})"


_core.Operator = Operator  # _core expects this type for such attributes, and imports nothing from here


def given(**attributes):
    """Omits optional attributes that are None."""
    return {name: value for name, value in attributes.items() if value is not None}


def run(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """Runs any operator by its DirectML name. Attributes have the names of its fields.

    The inputs come in the order of the fields; None means absent. They must have a combination of types that the
    operator accepts, usually a single type; Python numbers are converted to the type of the other inputs. Element-wise
    operators broadcast the inputs as NumPy does. Arrays from other libraries are accepted and returned as in
    `modulus_floor`, and arrays on a GPU stay there.

    Attributes are numbers, sequences of numbers, names of enumeration values as str, and `Operator` objects. `out` is
    an array for the result, or a tuple of arrays for several results. In the tuple, None requests a new array for a
    required output and omits an optional output. True requests a new array for an optional output. Without `out`, an
    operator whose outputs are all optional returns all of them. The type and the shape of a new array follow from the
    inputs and attributes if DirectML defines them. Otherwise, pass `dtype` and `shape`, as tuples for several results.

    >>> import numpy as np, anydml
    >>> anydml.run("ELEMENT_WISE_CLIP", np.float32([-3, 0.5, 9]), Min=-1, Max=1)
    array([-1. ,  0.5,  1. ], dtype=float32)
    >>> anydml.run("FILL_VALUE_CONSTANT", Value=7, shape=3, dtype="int8")
    array([7, 7, 7], dtype=int8)
    """
    if "torch" in _modules:
        if _has_bfloats(inputs):
            return _in_float32(lambda wide, outs: run(op, *wide, out=outs, dtype=dtype, shape=shape, device=device,
                                                      **attributes), op, inputs, out, dtype)
        if _takes((*inputs, *out) if type(out) in (tuple, list) else (*inputs, out)):
            return _call_torch(op, inputs, out, dtype, shape, device, attributes)
    if _Symbol in map(type, inputs):
        return _record(op, inputs, out, _dtype_of(dtype), shape, device, attributes)
    name = _core.operator_name(op)
    if not _dispatch.USUAL.issuperset(map(type, (*inputs, out))):
        options = given(dtype=dtype, shape=shape, device=device)
        result = _dispatch.answer(run, name.removeprefix("DML_OPERATOR_"), inputs, out, options, attributes)
        if result is not NotImplemented:
            return result
    call = _Call(name, inputs, out, dtype, shape)
    kind = _core.array_kind(*inputs, *call.outs)
    if kind == _OF_NUMPY:
        return call.result(call.run(inputs, call.outs, attributes, device))
    options = {**attributes, **given(out=out, dtype=dtype, shape=shape, device=device)}
    result = _libraries.by_torch_function(run, (*inputs, *call.outs), (op, *inputs), options)
    if result is not NotImplemented:
        return result
    if kind == _ON_GPU:
        return call.result(call.run_on_device(inputs, attributes, device))
    arrays, outs, give = _libraries.borrow(inputs, call.outs)
    return call.result(give(call.run(arrays, outs, attributes, device)))


def function_of(run, op, required, optional, options, equivalent=None):
    """Returns the body of an operator's function, which accepts all inputs, attributes and options, in this order.
    `equivalent` returns the call to compile for calls that `run` converts.

    Calls with a known form (arrays of the same types, shapes and strides, and the same attributes as before) run
    immediately (call_cache.h). All other calls take the slow path, through `run`.
    """
    spec = _SPECS[op]
    return _core.make_fast_operator(op, spec.inputs, spec.array, required + optional, len(required), options,
                                    spec.same, slow_path(run, op, spec, required, optional, options),
                                    equivalent=equivalent)


def slow_path(run, op, spec, required, optional, options):
    """Returns a function with the same arguments that calls `run`."""
    fields, array = required + optional, spec.array
    count, end = spec.inputs + len(required), spec.inputs + len(fields)

    def call(*values):
        inputs = values[:spec.inputs]
        if array is not None:
            inputs = (*inputs[:array], *inputs[array], *inputs[array + 1:])
        attributes = dict(zip(fields, values[spec.inputs:count]))
        attributes |= given(**dict(zip(optional, values[count:end])))
        return run(op, *inputs, **attributes, **dict(zip(options, values[end:])))

    return call


class Compiled:
    """An operator over arrays of fixed types, shapes and strides, which can run many times without being checked again.
    It can be pickled and copied; it is then compiled again.

    >>> import numpy as np, anydml
    >>> step = anydml.compile("ELEMENT_WISE_ADD", np.empty(3), np.empty(3))
    >>> step
    <compiled ELEMENT_WISE_ADD over float64[3]>
    >>> out = np.empty(3)
    >>> step(np.array([1., 2., 3.]), np.array([10., 20., 30.]), out=out) is out
    True
    """

    def __init__(self, op, inputs, outs, device, attributes, several=False, is_array=False):
        self.op, self._options = op, (device, attributes)
        self._compiled = _core.Compiled(op, inputs, outs, attributes, device)
        self._again = ([*map(_form_of, inputs)], [*map(_form_of, outs)], several, is_array)
        self._like, self._several = outs, several
        dtypes, shapes = zip(*((None, None) if one is None else (one.dtype.name, one.shape) for one in outs))
        self._for_torch = (None, None, shapes) if is_array else (
            tuple(None if one is None else True for one in outs), dtypes, shapes) if several else (
            None, dtypes[0], shapes[0])

    def __call__(self, *inputs, out=None):
        outs = list(out) if self._several and out is not None else [out] * len(self._like)
        if "torch" in _modules and _takes((*inputs, *outs)):
            given, dtype, shape = self._for_torch if out is None else (out, None, None)  # PyTorch plans the call itself
            return _call_torch(self.op, inputs, given, dtype, shape, *self._options)
        give = None
        if _core.array_kind(*inputs, *outs) != _OF_NUMPY:
            inputs, outs, give = _libraries.borrow(inputs, outs)
        outs = [_np.empty_like(like) if one is None and like is not None else one
                for one, like in zip(outs, self._like)] + outs[len(self._like):]
        self._compiled.run(inputs, outs)
        outs = outs if give is None else give(outs)
        return tuple(outs) if self._several else outs[0]

    __class_getitem__ = classmethod(_GenericAlias)  # Compiled[...] in annotations, as in the stubs

    def __reduce__(self):
        return _compiled_again, (type(self), self.op, *self._options, *self._again)

    def __repr__(self):
        arrays = ", ".join(f"{like.dtype}{list(like.shape)}" for like in self._like if like is not None)
        return f"<compiled {self.op} over {arrays}>"


def _form_of(array):
    return None if array is None else (array.dtype, array.shape, array.strides)


def _array_of(form):
    """Returns an array of a form. Its memory is never read, so the system need not provide it."""
    if form is None:
        return None
    dtype, shape, strides = form
    if 0 in shape:
        return _np.empty(shape, dtype)
    ends = [(size - 1) * step for size, step in zip(shape, strides)]
    below = -sum(end for end in ends if end < 0)
    memory = _np.empty(below + sum(end for end in ends if end > 0) + dtype.itemsize, _np.uint8)
    return _np.ndarray(shape, dtype, memory, below, strides)


def _compiled_again(kind, op, device, attributes, inputs, outs, *others):
    """Compiles an operator that was pickled."""
    return kind(op, [*map(_array_of, inputs)], [*map(_array_of, outs)], device, attributes, *others)


def compile(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """Compiles an operator for arrays like these: the same types, shapes and strides. Their contents do not matter.

    >>> import numpy as np, anydml
    >>> step = anydml.compile("ELEMENT_WISE_MODULUS_FLOOR", np.empty(3), np.empty(3))
    >>> step(np.array([5., 6., 7.]), np.array([3., 4., 5.]))
    array([2., 2., 2.])
    """
    name = _core.operator_name(op)
    call = _Call(name, inputs, out, dtype, shape)
    if _core.array_kind(*inputs, *call.outs) == _ON_GPU:
        raise TypeError("compile takes arrays in the CPU's memory; calls on a GPU stay compiled automatically: "
                        "call run")
    # The contents do not matter, so tensors that require a gradient can be detached.
    inputs = [one.detach() if getattr(one, "requires_grad", False) else one for one in inputs]
    arrays, outs, _ = _libraries.borrow(inputs, call.outs)
    arrays = call.arrays(arrays)
    return Compiled(op, arrays, call.new_outs(arrays, outs, attributes), device, attributes, call.several,
                    call.is_array)
