# SPDX-License-Identifier: MIT
"""One call to an operator: its input arrays, and the arrays for its results.

The library infers the types and shapes of results from the inputs and attributes. It also reports wrong arguments, so
that all interfaces have the same messages.
"""
import numpy as _np

from . import _core, _four_bits
from ._specs import SPECS

OF_NUMPY, OF_LIBRARY, ON_GPU = range(3)  # the return values of _core.array_kind


class Call:
    """One call. `outs` has an entry for each result; None or True requests a new array."""

    def __init__(self, name, inputs, out, dtype, shape):
        self.name = name.removeprefix("DML_OPERATOR_")
        if self.name not in SPECS:
            _core.run(name, (), (), {}, None)  # raises an error, because the operator is unknown or unimplemented
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
        self.dtypes = [dtype_of(one) for one in self.dtypes]
        if out is None and all(one.optional for one in self.spec.outputs):
            self.outs = [True] * count  # a call without any result would be useless
        for i, one in enumerate(self.outs):
            if one is not None and one is not True and not (self.dtypes[i] is None and self.shapes[i] is None):
                raise TypeError(f"{self.name}: dtype and shape are for a new array, but out is given")

    def _each(self, value, what, count):
        if value is None or not self.several:
            return [value] + [None] * (count - 1)
        values = _listed(value, what)
        if len(values) != count:
            raise ValueError(f"{self.name}: {what} has {len(values)} entries; expected {count}, one for each output")
        return values

    def positions(self, count):
        """Returns each input's positions among the arguments; an array of tensors gets all remaining positions."""
        array, more = self.spec.array, max(0, count - self.spec.inputs + 1)
        if array is None:
            return [[i] for i in range(self.spec.inputs)]
        return [[i] if i < array else list(range(array, array + more)) if i == array else [i + more - 1]
                for i in range(self.spec.inputs)]

    def argument_positions(self, which, count):
        if self.spec.array is None:
            return [i for i in which if i < count]
        positions = self.positions(count)
        return [position for i in which for position in positions[i] if position < count]

    def arrays(self, inputs):
        """Converts the arguments to NumPy arrays; None means an absent argument."""
        arrays = []
        try:
            for one in inputs:
                arrays.append(one if one is None or type(one) in (int, float) else _np.asarray(one))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"inputs[{len(arrays)}] is not an array: {error}") from error
        for i in self.argument_positions(self.spec.truths, len(arrays)):
            if isinstance(arrays[i], _np.ndarray) and arrays[i].dtype == bool:
                arrays[i] = arrays[i].view(_np.uint8)
        for group in (self.argument_positions(group, len(arrays)) for group in self.spec.same):
            kind = next((arrays[i].dtype for i in group if isinstance(arrays[i], _np.ndarray)), None)
            for i in group:
                if kind is not None and type(arrays[i]) in (int, float):
                    arrays[i] = _number(arrays[i], kind, i)
        return [one if one is None else _np.asarray(one) for one in arrays]

    def _output(self, i):
        return self.spec.outputs[0 if self.is_array else i]

    def new_outs(self, arrays, outs, attributes, make=_np.empty):
        """Returns an array for each output that is present."""
        if self.spec.inputs and not arrays:
            raise TypeError(f"{self.name}: no input is given")
        built, new, is_known = list(outs), [], True
        for i, one in enumerate(outs):
            if one is True or (one is None and not self._output(i).optional):
                built[i] = True
                new.append(i)
                is_known = is_known and self.shapes[i] is not None and self.dtypes[i] is not None
        if not is_known:
            shapes = [one if one is None or type(one) is tuple else _np.broadcast_shapes(one) for one in self.shapes]
            dtypes = [one if one is None else _four_bits.name_of(one) or _np.dtype(one) for one in self.dtypes]
            inferred = _core.infer_outputs(self.name, arrays, built, dtypes, shapes, attributes)
        for i in new:
            shape, dtype = self.shapes[i], self.dtypes[i]
            built[i] = make(inferred[i][0] if shape is None else shape,
                           _four_bits.dtype_of(inferred[i][1] if dtype is None else dtype))
        return built

    def run(self, inputs, outs, attributes, device):
        """Runs the operator on objects that NumPy accepts. Returns its outputs, with None for absent outputs."""
        arrays = self.arrays(inputs)
        if self.name in _four_bits.OPERATORS:
            return self._run_four_bits([_four_bits.pack(one) for one in arrays], outs, attributes, device)
        make = _np.zeros if _core.keeps_elements(self.name) else _np.empty
        outs = self.new_outs(arrays, outs, attributes, make)
        _core.run(self.name, arrays, outs, attributes, device)
        return outs

    def _run_four_bits(self, arrays, outs, attributes, device):
        if not all(isinstance(one, _np.ndarray) for one in outs):  # some results must be inferred
            outs = self.new_outs(arrays, outs, attributes)
        packed = [_four_bits.room_for(one) for one in outs]
        _core.run(self.name, arrays, packed, attributes, device)
        for one, out in zip(packed, outs):
            _four_bits.unpack(one, out)
        return outs

    def run_on_device(self, inputs, attributes, device):
        count = len(inputs)
        same = [self.argument_positions(group, count) for group in self.spec.same]
        rules = [(one is True or not self._output(i).optional,
                  "" if self.dtypes[i] is None else _np.dtype(self.dtypes[i]).name,
                  None if self.shapes[i] is None else _np.broadcast_shapes(self.shapes[i]))
                 for i, one in enumerate(self.outs)]
        outs = [None if one is True else one for one in self.outs]
        return _core.run_on_device(self.name, inputs, outs, attributes, device, same, rules)

    def result(self, outs):
        return tuple(outs) if self.several else outs[0]


def dtype_of(given):
    """Returns a dtype, or a tuple of dtypes for several outputs. PyTorch dtypes are recognized by their names."""
    if isinstance(given, (tuple, list)):
        return type(given)(map(dtype_of, given))
    if type(given).__module__ != "torch":
        return given
    try:
        kind = _np.dtype(str(given).removeprefix("torch."))
    except TypeError:
        kind = None
    if kind is None or kind.isbuiltin != 1:  # other packages add types to NumPy, such as bfloat16
        raise TypeError(f"dtype is {given}; expected a type that NumPy also has")
    return kind


def _listed(values, what):
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{what} is of type {type(values).__name__}; expected a tuple, one for each output")
    return list(values)


def _number(value, kind, i):
    """Converts a Python number to the type of the arrays that it is combined with."""
    if kind.kind in "iu":
        if isinstance(value, float):
            raise TypeError(f"inputs[{i}] is {value!r} (float) beside arrays of {kind}; expected an int")
        limits = _np.iinfo(kind)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {kind}")
    return _np.asarray(value, kind)
