# SPDX-License-Identifier: MIT
"""A model that is checked once and run many times. It wraps the C++ library's model, with NumPy arrays and Python's
errors."""
import contextlib
import copy
import functools
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Optional, Union

import numpy as np
import onnx
from google.protobuf.message import EncodeError
from onnx.backend.base import BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from .. import _core
from .._call import ON_GPU as _ON_GPU
from .._dispatch import refuse_masks as _refuse_masks
from .._graphs import regular

__all__ = ["Prepared", "Unsupported", "Value", "as_array", "check", "label", "listed", "printable"]

# Four-bit integers use a byte each while a model runs. These are the numbers of UINT4 and INT4, which older onnx packages
# do not name.
_BYTES = {21: np.dtype(np.uint8), 22: np.dtype(np.int8)}
_STRING = 8  # TensorProto.STRING
_LARGE = 4096  # the smallest elements of an initializer, in bytes, that are passed separately from the message


class Unsupported(BackendIsNotSupposedToImplementIt, NotImplementedError):
    """The model needs something that anydml does not support; the message names it, and ``needs`` lists it.

    ONNX's own test suite treats such a model as one that the backend is not supposed to run.
    """

    def __init__(self, message, needs):
        super().__init__(message)
        self.needs = needs

    def __reduce__(self):  # errors travel between processes; by default only the message would
        return type(self), (*self.args, self.needs)


class InvalidModel(onnx.checker.ValidationError, ValueError):
    """Something about a model is wrong. The message names the node, the tensor or the attribute."""


class InvalidTypes(onnx.checker.ValidationError, TypeError):
    """An element type in a model is wrong."""


@contextlib.contextmanager
def _errors_of_models():
    """Raises the errors of a model, which are also ONNX's own exceptions."""
    try:
        yield
    except NotImplementedError as error:
        raise Unsupported(*error.args) from None
    except UnicodeDecodeError as error:  # names in a message are decoded only when they are read
        raise InvalidModel(f"a name or text in the model is not UTF-8: {printable(error)}") from None
    except (EncodeError, ValueError) as error:
        raise InvalidModel(str(error)) from None
    except TypeError as error:
        raise InvalidTypes(str(error)) from None


def printable(text):
    """Returns an untrusted name or message on one line, without characters that would move a terminal's cursor or
    change its colors."""
    text = str(text)
    return text if text.isprintable() else "".join(
        one if one.isprintable() else repr(one)[1:-1] for one in " ".join(filter(None, text.split("\n"))))


def label(node):
    """Names a node in messages."""
    op = printable(node.op_type)
    return f"{op} {node.name!r}" if node.name else f"{op} that computes {', '.join(node.output)!r}" if node.output else op


# ---- Messages -------------------------------------------------------------------------------------------------------

def _without_initializers(model):
    """Returns a copy of the parts of a message that matter, without the initializers."""
    light = onnx.ModelProto(ir_version=model.ir_version)
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    graph = model.graph
    light.graph.name = graph.name
    light.graph.node.extend(graph.node)
    light.graph.input.extend(graph.input)
    light.graph.output.extend(graph.output)
    light.graph.sparse_initializer.extend(graph.sparse_initializer)
    return light


def _apart(model):
    """Returns the bytes of a message, and the elements of its large initializers as (number, bytes). A message of more
    than 2 GiB can exist in memory, but protobuf does not convert it to bytes."""
    light, weights = _without_initializers(model), []
    for i, tensor in enumerate(model.graph.initializer):
        raw = b"" if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.HasField("segment") else tensor.raw_data
        if len(raw) < _LARGE:
            light.graph.initializer.add().CopyFrom(tensor)
        else:
            light.graph.initializer.add(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
            weights.append((i, raw))
    return light.SerializeToString(), weights


def _source_of(model):
    """Returns a model as its path or its bytes, and the elements that the bytes lack."""
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb"):  # raises FileNotFoundError and its relatives
            return os.fsdecode(model), []
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model), []
    if not isinstance(model, onnx.ModelProto):
        raise TypeError("the model must be a path, bytes, or an onnx.ModelProto as returned by onnx.load, not a "
                        f"{type(model)}")
    with _errors_of_models():
        return _apart(model)


def check(model):
    """Runs ONNX's checker on a copy of a message with inputs in place of the initializers. The checker would copy the
    initializers' elements twice."""
    with _errors_of_models():
        light = _without_initializers(model)
        names = {value.name for value in light.graph.input}
        for tensor in model.graph.initializer:
            if tensor.name not in names:
                light.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
                names.add(tensor.name)
        try:
            onnx.checker.check_model(light)
        except (onnx.checker.ValidationError, IndexError, OverflowError, RuntimeError) as error:
            # Its message contains the model's raw names. The other errors are exceptions of C++.
            raise onnx.checker.ValidationError(printable(error)) from None


# ---- Running --------------------------------------------------------------------------------------------------------

class Value(NamedTuple):
    """An input or output of a model, as the model declares it."""

    name: str
    type: Optional[np.dtype]
    """NumPy's type; None for values that are not arrays of a type that NumPy has."""
    sizes: Optional[tuple[Union[int, str, None], ...]]
    """An int, a name of a symbolic dimension such as "batch", or None (any size) for each dimension. None if the model
    declares no shape."""

    def __str__(self):
        sizes = "" if self.sizes is None else f"[{', '.join('?' if one is None else printable(one) for one in self.sizes)}]"
        return f"{printable(self.name)} {self.type or 'of another type'}{sizes}"


_ACTIVATIONS = ("model", "float", "integer")


def activations_number(name):
    if name not in _ACTIVATIONS:
        raise ValueError(f"activations is {name!r}; expected {', '.join(map(repr, _ACTIVATIONS))}")
    return _ACTIVATIONS.index(name)


class Prepared(BackendRep):
    """A model that has been checked and can run many times.

    For inputs of new types and shapes, its nodes are recorded as graphs, which are compiled and kept; see docs/onnx.md.
    folder: the folder of the model's external tensors, if the model is not a path. literal: whether a quantized
    model computes with dequantized floats, as it is written. device: the name of the adapter that runs the graphs; None
    is the default. trace: whether to collect events for `write_trace`. activations: "model", "float" or "integer"; see
    `prepare`.

    It can be pickled, for other processes: a model from a path keeps the path and the options, and every other model
    keeps its bytes. It is prepared again where it is unpickled, so the file must exist there. A process keeps the last
    two models that it unpickled, so that a model that comes with every task is prepared once. A copy in the same process
    shares the model and its compiled graphs.
    """

    def __init__(self, model, folder=None, literal=False, *, device=None, trace=False, activations="model"):
        number = activations_number(activations)
        source, weights = _source_of(model)
        self._prepare(source, weights, None if folder is None else os.fsdecode(folder), bool(literal), device,
                      bool(trace), number)

    def _prepare(self, source, weights, folder, literal, device, trace, activations):
        _core.device_name(device)  # an unknown device is not an error in the model
        with _errors_of_models():
            self._model = _core.OnnxModel(source, list(weights), folder, literal, device, trace, activations)
        # Another process may have another current directory.
        self._arguments = (os.path.abspath(source) if isinstance(source, str) else source, tuple(weights),
                           None if folder is None else os.path.abspath(folder), literal, device, trace, activations)
        inputs, outputs = self._model.inputs, self._model.outputs
        self.declared = {name: onnx.helper.make_tensor_type_proto(number, shape) for name, number, shape, _ in inputs}
        self.required = [name for name, _, _, has_initializer in inputs if not has_initializer]
        self._types = {name: (number, _dtype_of(number)) for name, number, _, _ in inputs}
        self._output_types = [number for _, number, _, _ in outputs]
        self._outputs = _outputs_named(tuple(name for name, _, _, _ in outputs))
        self._values = tuple(tuple(Value(name, _dtype_of(number), shape) for name, number, shape, has_initializer in values
                                   if not has_initializer) for values in (inputs, outputs))

    @property
    def inputs(self):
        """The inputs that a run needs, in order, as tuples of name, type and sizes. Inputs for which the model contains
        a value are left out.

        >>> import onnx.parser, anydml.onnx as backend
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
        ... clock (int64[N, 2] t, int64 day) => (int64[N, 2] hour) { hour = Mod(t, day) }''')
        >>> for one in backend.prepare(model).inputs:
        ...     print(one.name, one.type, one.sizes)
        t int64 ('N', 2)
        day int64 ()
        """
        return self._values[0]

    @property
    def outputs(self):
        """The outputs, described as in `inputs`."""
        return self._values[1]

    def __repr__(self):
        return f"<prepared {', '.join(map(str, self.inputs)) or 'nothing'} -> {', '.join(map(str, self.outputs))}>"

    def __reduce__(self):
        return _prepared_again, (type(self), *self._arguments)

    def __copy__(self):
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo):
        return self.__copy__()  # nothing in it can change

    def run(self, inputs, *, on_device=None, **_):
        """Returns the outputs as a tuple that can also be indexed by name: ``outputs[0]``, ``outputs["y"]``.

        The inputs are arrays in the order of the graph's inputs without initializers, or a dict by name, which may
        replace initializers that the graph lists as inputs. Arrays in the memory of the model's device (`DeviceArray`,
        or PyTorch's and other libraries' arrays on a GPU) are used there.

        on_device: whether the outputs are arrays on the model's device; by default, they are if an input is. They are
        arrays of the library of the first such input, or `DeviceArray`s if there is none. Outputs of four-bit types are
        always NumPy arrays.
        """
        given = self._listed(inputs)
        try:
            results = self._model.run(given, None if on_device is None else bool(on_device))
        except NotImplementedError as error:  # what a node needs may depend on an input
            raise Unsupported(*error.args) from None
        return self._outputs(*map(_narrowed, results, self._output_types))

    def explain(self):
        """Returns lines that describe how the nodes run, which nodes run on the host, and, after a run, the graphs."""
        return self._model.explain().splitlines()

    def profile(self, inputs, rounds=3):
        """Runs the nodes one by one, and returns (seconds, operator, label) for each node, the slowest first."""
        given = self._listed(inputs)
        try:
            return self._model.profile(given, rounds)
        except NotImplementedError as error:
            raise Unsupported(*error.args) from None

    def write_trace(self, path):
        """Writes the events so far to a file in Chrome's trace event format, which https://ui.perfetto.dev and
        chrome://tracing open. The model must have been prepared with ``trace=True``."""
        lines = self._model.trace()
        if not lines:
            raise ValueError("the model is not traced; prepare it with trace=True")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

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
        return {name: self._checked(name, value) for name, value in given.items()}

    def _listed(self, inputs):
        """Checks the inputs and returns an array for each declared input, or None if a run keeps the initializer."""
        given = self.taken(inputs)
        return [given.get(name) for name in self.declared]

    def _checked(self, name, value):
        """Checks an input's type; the library checks its shape."""
        number, dtype = self._types[name]
        if number == _STRING:
            return _strings(name, value)
        if _is_on_device(value):
            return value  # the library checks its type too
        array = value if type(value) is np.ndarray else as_array(repr(name), value)
        if dtype is None or array.dtype != dtype:
            raise TypeError(f"input {name!r} is {array.dtype}, but the model declares {dtype or 'no type of arrays'}")
        return regular(array.astype(_BYTES[number]) if number in _BYTES else array)


def _prepared_again(kind, *arguments):
    """Prepares a model that was pickled."""
    version = None
    if isinstance(arguments[0], str):
        with open(arguments[0], "rb") as file:  # raises FileNotFoundError and its relatives
            status = os.fstat(file.fileno())
        version = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    return copy.copy(_kept(kind, arguments, version))


@functools.lru_cache(maxsize=2)
def _kept(kind, arguments, _version):
    prepared = object.__new__(kind)
    prepared._prepare(*arguments)
    return prepared


@functools.lru_cache(maxsize=256)
def _outputs_named(names):
    """Returns the type of a run's outputs, whose objects can be pickled although the type is made at run time."""
    kind = namedtupledict("Outputs", names)
    kind.__reduce__ = lambda self: (_outputs_again, (names, tuple(self)))
    return kind


def _outputs_again(names, arrays):
    return _outputs_named(names)(*arrays)


def _dtype_of(number):
    """Returns NumPy's type for the number of an element type, or None if there is none."""
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(number)
    except (KeyError, TypeError):
        return None


def _strings(name, value):
    """Returns an array of str objects. The value may be such an array, or an array or list of NumPy's string types."""
    array = as_array(repr(name), value)
    if array.dtype.kind not in "OUT":
        raise TypeError(f"input {name!r} is {array.dtype}, but the model declares strings")
    return array.astype(object)


def _narrowed(array, number):
    """Converts bytes to ONNX's own four-bit types; returns other arrays unchanged."""
    return array.astype(_dtype_of(number) or array.dtype) if number in _BYTES else array


def _is_on_device(value):
    return type(value) is not np.ndarray and _core.array_kind(value) == _ON_GPU


def listed(inputs, or_what=""):
    """Returns the inputs as a list; a single array may be passed without one."""
    if isinstance(inputs, (np.ndarray, np.generic)) or _is_on_device(inputs):
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
