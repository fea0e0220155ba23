# SPDX-License-Identifier: MIT
"""Any operator by DirectML's name: what `run` and `compile` make of their arguments.

What an operator's results are follows from its row in SPECS, which _operators.py fills. What is wrong with a call is
said by the library, so that every interface says the same.
"""
from collections import namedtuple as _namedtuple
from types import GenericAlias as _GenericAlias

import numpy as _np

from . import _core, _libraries

# inputs: how many there are. array: which of them is an array of tensors. same: those that have one type. truths: those
# of UINT8 alone, which take arrays of bool too.
Spec = _namedtuple("Spec", "inputs outputs array same truths", defaults=(None, (), ()))
# like: the inputs whose type it has. dtype: its type where there is none of these. sizes: the inputs that are broadcast
# to its shape. array: it is an array of tensors, and the operator's only output.
Output = _namedtuple("Output", "name optional array like dtype sizes", defaults=(False, False, (), "", None))
SPECS = {}

OF_NUMPY, OF_LIBRARY, ON_GPU = range(3)  # what _core.place_of says


class Operator:
    """An operator without tensors, for an attribute that takes one, such as FusedActivation.

    >>> import anydml
    >>> anydml.Operator("ACTIVATION_LEAKY_RELU", Alpha=0.1)
    Operator('ACTIVATION_LEAKY_RELU', Alpha=0.1)
    """

    __slots__ = ("name", "attributes")

    def __init__(self, name, /, **attributes):
        self.name, self.attributes = _core.operator_name(name), attributes

    def __repr__(self):
        attributes = (f", {key}={value!r}" for key, value in self.attributes.items())
        return f"Operator({self.name!r}{''.join(attributes)})"


def given(**attributes):
    """The optional attributes that are there."""
    return {name: value for name, value in attributes.items() if value is not None}


def run(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """Runs any operator that is built, by DirectML's name; attributes under the names of its fields.

    The inputs come in the order of the fields, None for one that is absent. They must have the types that the operator
    takes together, mostly one; Python's numbers take that of the arrays beside them. Element-wise operators broadcast
    them by NumPy's rule. Arrays of other libraries come and go as for `modulus_floor`, and those on a GPU stay there.

    Attributes are numbers, sequences of them, names of enumerations' values as str, and `Operator`. `out` is an array
    for the result, or a tuple of them where there are several: None there is a new array for a required output, and no
    output for an optional one, True a new array for that. `dtype` and `shape` are for new arrays of which the inputs do
    not say it, and tuples likewise.

    >>> import numpy as np, anydml
    >>> anydml.run("ELEMENT_WISE_CLIP", np.float32([-3, 0.5, 9]), Min=-1, Max=1)
    array([-1. ,  0.5,  1. ], dtype=float32)
    >>> anydml.run("FILL_VALUE_CONSTANT", Value=7, shape=3, dtype="int8")
    array([7, 7, 7], dtype=int8)
    """
    if _graphs.Symbol in map(type, inputs):
        return _graphs.record(op, inputs, out, dtype, shape, device, attributes)
    name = _core.operator_name(op)
    call = _Call(name, inputs, out, dtype, shape)
    place = _core.place_of(*inputs, *call.outs)
    if place == OF_NUMPY:
        return call.result(call.run(inputs, call.outs, attributes, device))
    options = {**attributes, **given(out=out, dtype=dtype, shape=shape, device=device)}
    result = _libraries.by_torch_function(run, (*inputs, *call.outs), (op, *inputs), options)
    if result is not NotImplemented:
        return result
    if place == ON_GPU:
        return call.result(call.run_on_device(inputs, attributes, device))
    arrays, outs, give = _libraries.borrow(inputs, call.outs)
    return call.result(give(call.run(arrays, outs, attributes, device)))


class Compiled:
    """An operator over arrays of fixed types, shapes and strides, to be run many times without being checked anew.

    >>> import numpy as np, anydml
    >>> step = anydml.compile("ELEMENT_WISE_ADD", np.empty(3), np.empty(3))
    >>> step
    <compiled ELEMENT_WISE_ADD over float64[3]>
    >>> out = np.empty(3)
    >>> step(np.array([1., 2., 3.]), np.array([10., 20., 30.]), out=out) is out
    True
    """

    def __init__(self, op, inputs, outs, device, attributes, several=False):
        self.op = op
        self._compiled = _core.Compiled(op, inputs, outs, attributes, device)
        self._like, self._several = outs, several

    def __call__(self, *inputs, out=None):
        outs = list(out) if self._several and out is not None else [out] * len(self._like)
        outs = [_np.empty_like(like) if one is None and like is not None else one
                for one, like in zip(outs, self._like)] + outs[len(self._like):]
        self._compiled.run(inputs, outs)
        return tuple(outs) if self._several else outs[0]

    __class_getitem__ = classmethod(_GenericAlias)  # Compiled[...] in annotations, as in the stubs

    def __repr__(self):
        arrays = ", ".join(f"{like.dtype}{list(like.shape)}" for like in self._like if like is not None)
        return f"<compiled {self.op} over {arrays}>"


def compile(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """Compiles an operator for arrays like these: the same types, shapes and strides. Their contents do not matter.

    >>> import numpy as np, anydml
    >>> step = anydml.compile("ELEMENT_WISE_MODULUS_FLOOR", np.empty(3), np.empty(3))
    >>> step(np.array([5., 6., 7.]), np.array([3., 4., 5.]))
    array([2., 2., 2.])
    """
    name = _core.operator_name(op)
    call = _Call(name, inputs, out, dtype, shape)
    if _core.place_of(*inputs, *call.outs) == ON_GPU:
        raise TypeError("compile takes arrays in the CPU's memory; what runs on a GPU stays compiled by itself: "
                        "call run")
    arrays, outs, _ = _libraries.borrow(inputs, call.outs)
    arrays = call.arrays(arrays)
    return Compiled(op, arrays, call.new_outs(arrays, outs), device, attributes, call.several)


class _Call:
    """One call. `outs` has an entry for each result, None or True where it is to be made."""

    def __init__(self, name, inputs, out, dtype, shape):
        self.name = name.removeprefix("DML_OPERATOR_")
        if self.name not in SPECS:
            _core.run(name, (), (), {}, None)  # which raises: there is no such operator, or it is not built
        self.spec = SPECS[self.name]
        self.is_array = self.spec.outputs[0].array
        self.several = self.is_array or len(self.spec.outputs) > 1
        count = len(self.spec.outputs)
        if self.is_array:
            if out is None and shape is None:
                raise TypeError(f"{self.name}: shape is missing; expected a sequence of shapes, or out")
            count = len(_listed(shape if out is None else out, "shape" if out is None else "out"))
        self.outs, self.dtypes, self.shapes = (
            self._each(value, what, count) for value, what in ((out, "out"), (dtype, "dtype"), (shape, "shape")))
        for i, one in enumerate(self.outs):
            if one is not None and one is not True and not (self.dtypes[i] is None and self.shapes[i] is None):
                raise TypeError(f"{self.name}: dtype and shape are for a new array, and out is given")

    def _each(self, value, what, count):
        if value is None or not self.several:
            return [value] + [None] * (count - 1)
        values = _listed(value, what)
        if len(values) != count:
            raise ValueError(f"{self.name}: {what} has {len(values)} entries; expected {count}, one for each output")
        return values

    def positions(self, count):
        """For each input of the row, its places among those that were given: an array has what the others leave."""
        array, more = self.spec.array, max(0, count - self.spec.inputs + 1)
        if array is None:
            return [[i] for i in range(self.spec.inputs)]
        return [[i] if i < array else list(range(array, array + more)) if i == array else [i + more - 1]
                for i in range(self.spec.inputs)]

    def places(self, which, count):
        positions = self.positions(count)
        return [place for i in which for place in positions[i] if place < count]

    def arrays(self, inputs):
        """NumPy's arrays of what was given; None is absent."""
        arrays = []
        try:
            for one in inputs:
                arrays.append(one if one is None or type(one) in (int, float) else _np.asarray(one))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"inputs[{len(arrays)}] is no array: {error}") from error
        for i in self.places(self.spec.truths, len(arrays)):
            if isinstance(arrays[i], _np.ndarray) and arrays[i].dtype == bool:
                arrays[i] = arrays[i].view(_np.uint8)
        for group in (self.places(group, len(arrays)) for group in self.spec.same):
            kind = next((arrays[i].dtype for i in group if isinstance(arrays[i], _np.ndarray)), None)
            for i in group:
                if kind is not None and type(arrays[i]) in (int, float):
                    arrays[i] = _number(arrays[i], kind, i)
        return [one if one is None else _np.asarray(one) for one in arrays]

    def new_outs(self, arrays, outs, make=_np.empty):
        """An array for each output that is there."""
        made = []
        for i, one in enumerate(outs):
            output = self.spec.outputs[0 if self.is_array else i]
            if one is True or (one is None and not output.optional):
                one = make(self._shape(output, i, arrays), self._dtype(output, i, arrays))
            made.append(one)
        return made

    def _dtype(self, output, i, arrays):
        if self.dtypes[i] is not None:
            return self.dtypes[i]
        like = next((arrays[place].dtype for place in self.places(output.like, len(arrays))
                     if arrays[place] is not None), None)
        if like is None and not output.dtype:
            self._refuse(output, "dtype", arrays)
        return output.dtype if like is None else like

    def _shape(self, output, i, arrays):
        if self.shapes[i] is not None:
            return self.shapes[i]
        shapes = [arrays[place].shape for place in self.places(output.sizes or (), len(arrays))
                  if arrays[place] is not None]
        if not shapes:
            self._refuse(output, "shape", arrays)
        return _np.broadcast_shapes(*shapes)

    def _refuse(self, output, what, arrays):
        if not arrays and self.spec.inputs:
            raise TypeError(f"{self.name}: no input is given")
        of = f" of {output.name}" if len(self.spec.outputs) > 1 else ""
        raise TypeError(f"{self.name}: {what}{of} is missing; expected one, or out")

    def run(self, inputs, outs, attributes, device):
        """Over what NumPy takes: the results, None for those that are absent."""
        arrays = self.arrays(inputs)
        outs = self.new_outs(arrays, outs)
        _core.run(self.name, arrays, outs, attributes, device)
        return outs

    def run_on_device(self, inputs, attributes, device):
        count = len(inputs)
        same = [self.places(group, count) for group in self.spec.same]
        rules = []
        for i, one in enumerate(self.outs):
            output = self.spec.outputs[0 if self.is_array else i]
            shape = self.shapes[i]
            if shape is None and output.sizes is not None and len(output.sizes) < self.spec.inputs:
                shape = next((inputs[place].shape for place in self.places(output.sizes, count)
                              if inputs[place] is not None), None)
            kind = output.dtype if self.dtypes[i] is None else _np.dtype(self.dtypes[i]).name
            rules.append((one is True or not output.optional, self.places(output.like, count), kind,
                          None if shape is None else tuple(_np.broadcast_shapes(shape))))
        outs = [None if one is True else one for one in self.outs]
        return _core.run_on_device(self.name, inputs, outs, attributes, device, same, rules)

    def result(self, outs):
        return tuple(outs) if self.several else outs[0]


def _listed(values, what):
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{what} is of type {type(values).__name__}; expected a tuple, one for each output")
    return list(values)


def _number(value, kind, i):
    """A Python number beside arrays takes their type."""
    if kind.kind in "iu":
        if isinstance(value, float):
            raise TypeError(f"inputs[{i}] is {value!r} (float) beside arrays of {kind}; expected an int")
        limits = _np.iinfo(kind)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {kind}")
    return _np.asarray(value, kind)


from . import _graphs  # noqa: E402  which records calls of run, and uses what is here
