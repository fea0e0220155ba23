# SPDX-License-Identifier: MIT
"""A model that is checked once and run many times: the C++ library's models, with NumPy arrays and Python's errors."""
import contextlib
import os
from collections.abc import Iterable, Mapping

import numpy as np
import onnx
from onnx.backend.base import BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from .. import _core
from .._dispatch import refuse_masks as _refuse_masks
from .._graphs import regular

# Four-bit integers use a byte each while a model runs.
_BYTES = {onnx.TensorProto.INT4: np.dtype(np.int8), onnx.TensorProto.UINT4: np.dtype(np.uint8)}


class Unsupported(BackendIsNotSupposedToImplementIt, NotImplementedError):
    """The model needs something that anydml does not support; the message names it, and ``needs`` lists it.

    ONNX's own test suite treats such a model as one that the backend is not supposed to run.
    """

    def __init__(self, message, needs):
        super().__init__(message)
        self.needs = needs


class InvalidModel(onnx.checker.ValidationError, ValueError):
    """Something about a model is wrong. The message names the node, the tensor or the attribute."""


class InvalidTypes(onnx.checker.ValidationError, TypeError):
    """An element type in a model is wrong."""


@contextlib.contextmanager
def _errors_of_models():
    """Raises the errors of a model, which may be ONNX's own exceptions too."""
    try:
        yield
    except NotImplementedError as error:
        raise Unsupported(*error.args) from None
    except ValueError as error:
        raise InvalidModel(str(error)) from None
    except TypeError as error:
        raise InvalidTypes(str(error)) from None


def source_of(model):
    """Returns a model as its path or its bytes."""
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb"):  # raises FileNotFoundError and its relatives
            return os.fsdecode(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if not isinstance(model, onnx.ModelProto):
        raise TypeError("the model must be a path, bytes, or an onnx.ModelProto as returned by onnx.load, not a "
                        f"{type(model)}")
    return model.SerializeToString()


class Prepared(BackendRep):
    """A model that has been checked and can run many times.

    For inputs of new types and shapes, its nodes are recorded as graphs, which are compiled and kept; see docs/onnx.md.
    folder: the folder of the model's external tensors, if the model is not a path. integers: whether products of
    dequantized floats become integer products. device: the name of the adapter that runs the graphs; None is the
    default.
    """

    def __init__(self, model, folder=None, integers=False, *, device=None):
        source = source_of(model)
        with _errors_of_models():
            self._model = _core.OnnxModel(source, None if folder is None else os.fsdecode(folder), bool(integers), device)
        inputs, outputs = self._model.inputs, self._model.outputs
        self.declared = {name: onnx.helper.make_tensor_type_proto(number, shape) for name, number, shape, _ in inputs}
        self.required = [name for name, _, _, has_initializer in inputs if not has_initializer]
        self._types = {name: (number, onnx.helper.tensor_dtype_to_np_dtype(number)) for name, number, _, _ in inputs}
        self._output_types = [number for _, number, _, _ in outputs]
        self._outputs = namedtupledict("Outputs", [name for name, _, _, _ in outputs])

    def run(self, inputs, **_):
        """Returns the outputs as a tuple that can also be indexed by name: ``outputs[0]``, ``outputs["y"]``.

        The inputs are arrays in the order of the graph's inputs without initializers, or a dict by name, which may
        replace initializers that the graph lists as inputs.
        """
        given = self.taken(inputs)
        try:
            results = self._model.run([given.get(name) for name in self.declared])
        except NotImplementedError as error:
            raise Unsupported(*error.args) from None
        return self._outputs(*map(_narrowed, results, self._output_types))

    def explain(self):
        """Returns lines that describe how the nodes run, which nodes run on the host, and, after a run, the graphs."""
        return self._model.explain().splitlines()

    def profile(self, inputs, rounds=3):
        """Returns (seconds, operator, label) for each node, the slowest first, when the nodes run one by one."""
        given = self.taken(inputs)
        return sorted(self._model.profile([given.get(name) for name in self.declared], rounds), reverse=True)

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

    def _checked(self, name, value):
        """Checks an input's type; the library checks its shape."""
        array = value if type(value) is np.ndarray else as_array(repr(name), value)
        number, dtype = self._types[name]
        if array.dtype != dtype:
            raise TypeError(f"input {name!r} is {array.dtype}, but the model declares {dtype}")
        return regular(array.astype(_BYTES[number]) if number in _BYTES else array)


def _narrowed(array, number):
    """Converts bytes to ONNX's own four-bit types; returns other arrays unchanged."""
    return array.astype(onnx.helper.tensor_dtype_to_np_dtype(number)) if number in _BYTES else array


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
