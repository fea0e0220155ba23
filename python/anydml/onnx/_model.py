# SPDX-License-Identifier: MIT
"""A model that is checked once and run many times."""
import os
import pathlib
import weakref
from collections.abc import Iterable, Mapping

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx.backend.base import BackendRep, namedtupledict

from .._dispatch import refuse_masks as _refuse_masks
from .._graphs import regular
from ._build import Builder, opset_of, refuse_unknown
from ._inlining import check_size, inlined
from ._rows import FOUR_BITS
from ._tensors import array_of, in_words, narrowed, printable, tensor_type, widened
from ._types import kind_of, label
from ._weights import read

__all__ = ["Prepared", "as_array", "check", "label", "listed", "loaded"]


_MAX_FORMS = 64  # forms of inputs that are looked up directly


def _no_piece():
    """Used in place of a weak reference to a piece, for forms whose runs are not a single graph."""
    return None


def loaded(model):
    """Returns the message of a model given as a path, bytes or a message, the folder that may contain its tensors, and
    a dict of the weights that were read separately from the message."""
    if isinstance(model, (str, os.PathLike)):
        path = pathlib.Path(model)
        text, arrays = read(path)
        return _parsed(text, path), path.parent, arrays
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _parsed(bytes(model), "the bytes"), None, {}
    if not isinstance(model, onnx.ModelProto):
        raise TypeError("the model must be a path, bytes, or an onnx.ModelProto as returned by onnx.load, not a "
                        f"{type(model)}")
    return model, None, {}


def _parsed(text, where):
    try:
        return onnx.load_model_from_string(text)
    except DecodeError as error:
        raise ValueError(f"cannot parse {where} as an ONNX model: {printable(error)}") from error


def _taken_out(graph, folder, is_own, arrays):
    """Returns the initializers as arrays. If the message is our own, the bytes of each initializer are released as soon
    as it is converted, so memory never contains two copies of all weights."""
    built = {}
    for tensor in graph.initializer:
        if tensor.name in built:
            raise ValueError(f"two initializers have the name {tensor.name!r}; expected unique names")
        built[tensor.name] = arrays.pop(tensor.name) if tensor.name in arrays else array_of(tensor, folder)
        if is_own:
            tensor.ClearField("raw_data")
    return built


def check(model):
    """Runs ONNX's checker on a copy of the model with inputs in place of the initializers. The checker would copy the
    initializers' elements twice."""
    with in_words():
        _check(model)


def _check(model):
    check_size(model)
    light = onnx.ModelProto(ir_version=model.ir_version)
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    graph = model.graph
    light.graph.name = graph.name
    light.graph.node.extend(graph.node)
    light.graph.input.extend(graph.input)
    light.graph.output.extend(graph.output)
    light.graph.sparse_initializer.extend(graph.sparse_initializer)
    names = {value.name for value in graph.input}
    for tensor in graph.initializer:
        if tensor.name not in names:
            light.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
            names.add(tensor.name)
    try:
        onnx.checker.check_model(light)
    except onnx.checker.ValidationError as error:  # its message contains the model's raw names
        raise onnx.checker.ValidationError(printable(error)) from None


class Prepared(BackendRep):
    """A model that has been checked and can run many times.

    For inputs of new types and shapes, its nodes are recorded as graphs, which are compiled and kept; see docs/onnx.md.
    integers: whether products of dequantized floats become integer products. is_owned: whether the message may be
    emptied. arrays: weights that were read separately from the message. device: the name of the adapter that runs the
    graphs; None is the default.
    """

    def __init__(self, model, folder=None, integers=False, *, is_owned=False, arrays=None, device=None):
        with in_words():
            self._prepare(model, folder, integers, is_owned, arrays, device)

    def _prepare(self, model, folder, integers, is_owned, arrays, device):
        is_own = not isinstance(model, onnx.ModelProto)
        model, beside, apart = loaded(model)
        folder = beside or folder
        self._integers, self._device = bool(integers), device
        if model.functions:
            model = inlined(model)
        refuse_unknown(model)
        graph = model.graph
        self._opset, self._folder = opset_of(model), folder
        initialized = {tensor.name for tensor in graph.initializer}
        self.declared = {value.name: value.type for value in graph.input}
        self._forms = {name: _form_of(name, declared) for name, declared in self.declared.items()
                       if declared.HasField("tensor_type")}
        self.required = [name for name in self.declared if name not in initialized]
        self._output_names = [value.name for value in graph.output]
        self._outputs = namedtupledict("Outputs", self._output_names)
        self._arrays, self._graph = _taken_out(graph, folder, is_own or is_owned, apart if arrays is None else arrays), graph
        self._may_replace = not initialized.isdisjoint(self.declared)
        self._programs = {}  # keyed by the initializers that a run replaces
        self._whole, self._pinned = {}, []  # pieces by input form; inputs whose elements are part of the form
        self._program(frozenset())
        if not self._may_replace:
            self._graph = self._arrays = None
        elif is_own or is_owned:
            self._graph = onnx.GraphProto.FromString(graph.SerializeToString())  # releases the memory of the weights

    def _program(self, replaced):
        if replaced not in self._programs:
            arrays = dict(self._arrays) if self._may_replace else self._arrays  # the builder removes weights from it
            self._programs[replaced] = Builder(self._opset, folder=self._folder, integers=self._integers,
                                               device=self._device).program(
                self._graph, arrays, replaced)
        return self._programs[replaced]

    @property
    def program(self):
        """The steps of a run that replaces no initializer."""
        return self._programs[frozenset()]

    def run(self, inputs, **_):
        """Returns the outputs as a tuple that can also be indexed by name: ``outputs[0]``, ``outputs["y"]``.

        The inputs are arrays in the order of the graph's inputs without initializers, or a dict by name, which may
        replace initializers that the graph lists as inputs.
        """
        key = self._key(inputs)
        known = self._whole.get(key)
        piece = None if known is None else known()
        if piece is not None:
            results = piece.recording.run([inputs[name] for name in piece.inputs], piece.recording.no_outs)
            built = dict(zip(piece.outputs, results))
            return self._outputs(*[built[name] for name in self._output_names])
        given = self.taken(inputs)
        program = self._program(frozenset(given) - frozenset(self.required))
        results, fresh = program.run(given)
        if key is not None and known is not _no_piece:
            self._keep_whole(inputs, given, program)
        return self._outputs(*map(narrowed, self._owned(results, fresh), program.kinds))

    def _key(self, inputs):
        """Returns the forms of a dict of arrays, with the elements that graphs are recorded for, or None for anything
        else."""
        if type(inputs) is not dict or len(inputs) != len(self.required):
            return None
        key = []
        for name in self.required:
            array = inputs.get(name)
            if type(array) is not np.ndarray:
                return None
            key.append((array.dtype, array.shape, array.strides))
        for name in self._pinned:
            key.append(inputs[name].tobytes())
        return tuple(key)

    def _keep_whole(self, inputs, given, program):
        """If a run is a single graph, lets the next run of this form call it directly."""
        if len(self._whole) >= _MAX_FORMS:
            self._whole.clear()
        found = None
        if not any(kind in FOUR_BITS for kind in program.kinds) and all(given[name] is inputs[name] for name in given):
            found = program.whole(given)
        if found is None:
            self._whole[self._key(inputs)] = _no_piece
            return
        self._pinned = found[1]
        self._whole[self._key(inputs)] = weakref.ref(found[0])

    def _owned(self, results, fresh):
        """Yields arrays that belong to the caller: they share no memory with each other or with the model."""
        seen = set()
        for name, result in zip(self._output_names, results):
            is_own = name in fresh and id(result) not in seen and result.flags.writeable
            seen.add(id(result))
            yield result if is_own else np.array(result, order="C")

    def taken(self, inputs):
        """Checks the inputs and returns them by name."""
        if isinstance(inputs, Mapping):
            given = dict(inputs)
            unknown = [name for name in given if name not in self.declared]
            missing = [name for name in self.required if name not in given]
            if unknown or missing:
                raise ValueError(f"the model has no input {unknown[0]!r}" if unknown else
                                 f"input {missing[0]!r} is missing")
        else:
            arrays = listed(inputs, " or a dict by name")
            names = list(self.declared) if len(arrays) == len(self.declared) else self.required
            if len(arrays) != len(names):
                raise ValueError(f"the model takes {len(names)} inputs, but {len(arrays)} were given")
            given = dict(zip(names, arrays))
        return {name: regular(widened(self._checked(name, value), kind_of(self.declared[name])))
                for name, value in given.items()}

    def _checked(self, name, value):
        array = value if type(value) is np.ndarray else as_array(repr(name), value)
        dtype, sizes = self._forms[name]
        if array.dtype != dtype:
            raise TypeError(f"input {name!r} is {array.dtype}, but the model declares {dtype}")
        if sizes is not None and (len(sizes) != array.ndim or any(
                size is not None and size != given for size, given in zip(sizes, array.shape))):
            shape = ", ".join("?" if size is None else str(size) for size in sizes)
            raise ValueError(f"input {name!r} has the shape {list(array.shape)}, but the model declares [{shape}]")
        return array


def listed(inputs, or_what=""):
    """Returns the inputs as a list; a single array may be passed without one."""
    if isinstance(inputs, (np.ndarray, np.generic)):
        return [inputs]
    if isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Iterable):
        raise TypeError(f"inputs is a {type(inputs).__name__}; expected a list of arrays{or_what}")
    return list(inputs)


def as_array(name, value):
    _refuse_masks(f"input {name}", value)
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"input {name} is not an array: {error}") from error


def _form_of(name, declared):
    """Returns the type and the sizes that an input must have; None means any size, or any shape."""
    number = declared.tensor_type.elem_type
    if tensor_type(number, f"input {name!r}: elem_type") == "undefined":
        raise ValueError(f"input {name!r}: elem_type is missing")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
    if not declared.tensor_type.HasField("shape"):
        return dtype, None
    return dtype, [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.tensor_type.shape.dim]
