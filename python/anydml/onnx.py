# SPDX-License-Identifier: MIT
"""ONNX models made of the operators that anydml has, in ONNX's own backend interface; see docs/onnx.md.

>>> import numpy as np, onnx.parser, anydml.onnx as backend
>>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
... hours (int64[N] t) => (int64[N] h) { day = Constant<value = int64 {24}>() h = Mod(t, day) }''')
>>> backend.run_model(model, [np.array([25, -1])])[0]
array([ 1, 23])
"""
from collections import namedtuple as _namedtuple
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from functools import partial as _partial

import numpy as _np

import anydml as _anydml

try:
    import onnx as _onnx
    from onnx import numpy_helper as _numpy_helper
    from onnx.backend.base import Backend as _BackendInterface, BackendRep as _RepInterface, namedtupledict as _outputs
    from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt as _NotSupposedTo
except ImportError as _error:
    raise ImportError("anydml.onnx needs the onnx package: pip install anydml[onnx]") from _error

__all__ = ["Backend", "Prepared", "Unsupported", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

_ROWS = {"Abs": "ELEMENT_WISE_ABS", "Add": "ELEMENT_WISE_ADD", "Cast": "CAST", "Ceil": "ELEMENT_WISE_CEIL",
         "Clip": "ELEMENT_WISE_CLIP", "ConstantOfShape": "FILL_VALUE_CONSTANT", "Div": "ELEMENT_WISE_DIVIDE",
         "Equal": "ELEMENT_WISE_LOGICAL_EQUALS", "Floor": "ELEMENT_WISE_FLOOR", "Identity": "ELEMENT_WISE_IDENTITY",
         "Mod": "ELEMENT_WISE_MODULUS_FLOOR", "Mul": "ELEMENT_WISE_MULTIPLY", "Neg": "ELEMENT_WISE_NEGATE",
         "Sub": "ELEMENT_WISE_SUBTRACT", "Where": "ELEMENT_WISE_IF"}
_ROW_TYPES = {row["name"]: row["types"] for row in _anydml.operators(built=True)}
_WITH_TRUTHS = ("Cast", "ConstantOfShape", "Equal", "Where")  # bool too, as uint8
_TENSOR_TYPES = {name.lower() for name in _onnx.TensorProto.DataType.keys()}
_DEFAULT_DOMAIN = ("", "ai.onnx")
_MOST_DIMENSIONS = 8
_LAST_MOD_OF_INTEGERS = 13  # the types of all Mods are the same; that floats need fmod=1 in 10 and 13 is in their text
_FIRST_NUMPY_BROADCASTING = 7

_Step = _namedtuple("_Step", "label compute inputs output last_uses")


class Unsupported(_NotSupposedTo, NotImplementedError):
    """The model needs what anydml does not have; the message names it, and ``needs`` lists it.

    ONNX's own test suite counts such a model as one that the backend is not supposed to run.
    """

    def __init__(self, message, needs):
        super().__init__(message)
        self.needs = needs


class Prepared(_RepInterface):
    """A model that was checked, to be run many times: one dispatch of an operator after the other."""

    def __init__(self, model):
        if not isinstance(model, _onnx.ModelProto):
            raise TypeError(f"the model must be an onnx.ModelProto, as onnx.load gives it, and not a {type(model)}")
        graph = model.graph
        _refuse_what_is_not_here(model)
        self._values = {tensor.name: _array_of(tensor) for tensor in graph.initializer}
        types = {tensor.name: _tensor_type(tensor.data_type) for tensor in graph.initializer}
        types.update((value.name, _type_of(value.type)) for value in graph.input)
        self._declared = {value.name: value.type for value in graph.input}
        self._required = [name for name in self._declared if name not in self._values]
        self._output_names = [value.name for value in graph.output]
        opset = _opset(model)
        self._steps = []
        for node in graph.node:
            if node.op_type == "Constant":
                value, types[node.output[0]] = _constant(node)
                self._values[node.output[0]] = value
            else:
                types[node.output[0]] = _check_types(node, types, opset)
                self._steps.append(_Step(_label(node), _computation(node, types, opset), list(node.input),
                                         node.output[0], []))
        self._note_last_uses()

    def _note_last_uses(self):
        """So that a run keeps no tensor longer than it is needed."""
        seen = set(self._output_names)
        for step in reversed(self._steps):
            new = {name for name in (*step.inputs, step.output) if name} - seen
            step.last_uses.extend(new)
            seen |= new

    def run(self, inputs, **_):
        """The outputs, as a tuple that can be asked by name too: ``outputs[0]``, ``outputs["y"]``.

        The inputs are arrays in the order of the graph's inputs without initializers, or a dict by name, which may
        replace initializers that the graph lists as inputs.
        """
        values = {**self._values, **self._take(inputs)}
        sources = set(values)
        with _np.errstate(all="ignore"):
            for step in self._steps:
                arrays = [values[name] if name else None for name in step.inputs]
                try:
                    values[step.output] = step.compute(*arrays)
                except (TypeError, ValueError) as error:
                    kind = TypeError if isinstance(error, TypeError) else ValueError
                    raise kind(f"{step.label}: {error}") from error
                for name in step.last_uses:
                    del values[name]
        return _outputs("Outputs", self._output_names)(*(
            values[name].copy() if name in sources else values[name] for name in self._output_names))

    def _take(self, inputs):
        if isinstance(inputs, _Mapping):
            given = dict(inputs)
            unknown = [name for name in given if name not in self._declared]
            missing = [name for name in self._required if name not in given]
            if unknown or missing:
                raise ValueError(f"the model has no input {unknown[0]!r}" if unknown else
                                 f"input {missing[0]!r} is missing")
        else:
            arrays = _listed(inputs, " or a dict by name")
            names = list(self._declared) if len(arrays) == len(self._declared) else self._required
            if len(arrays) != len(names):
                raise ValueError(f"the model takes {len(names)} inputs, and {len(arrays)} were given")
            given = dict(zip(names, arrays))
        return {name: _checked_input(name, value, self._declared[name]) for name, value in given.items()}


class Backend(_BackendInterface):
    """ONNX's backend interface; the functions of this module are its methods."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **_):
        """Whether `prepare` would take this model."""
        try:
            cls.prepare(model, device)
        except (Unsupported, TypeError, ValueError, _onnx.checker.ValidationError):
            return False
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        """Checks a ModelProto once, types and operators included, to be run many times."""
        _check_device(device)
        if isinstance(model, _onnx.ModelProto):
            _onnx.checker.check_model(model)
        return Prepared(model)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **_):
        """Prepares a model and runs it once."""
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Runs a single node, of the newest opset that onnx knows or of ``opset_version``."""
        _check_device(device)
        if not isinstance(node, _onnx.NodeProto):
            raise TypeError(f"node must be an onnx.NodeProto, and not a {type(node)}")
        version = kwargs.get("opset_version", _onnx.defs.onnx_opset_version())
        if not isinstance(version, int):
            raise TypeError(f"opset_version is {version!r}; expected an int")
        given = _listed(inputs)
        super().run_node(node, given, device, outputs_info, **kwargs)
        arrays = [_as_array(f"number {i}", value) for i, value in enumerate(given)]
        names = [name for name in node.input if name]
        if len(arrays) != len(names):
            raise ValueError(f"{_label(node)} takes {len(names)} inputs, and {len(arrays)} were given")
        helper = _onnx.helper
        declared = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
                    for name, array in dict(zip(names, arrays)).items()]
        graph = helper.make_graph([node], "node", declared, [_onnx.ValueInfoProto(name=name) for name in node.output])
        opset = helper.make_opsetid(node.domain, version)
        return Prepared(helper.make_model(graph, opset_imports=[opset])).run(dict(zip(names, arrays)))

    @classmethod
    def supports_device(cls, device):
        """Whether models run on this device, by ONNX's name for it; "CPU" alone is."""
        return isinstance(device, str) and device in ("CPU", "CPU:0")


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device


def _check_device(device):
    if not Backend.supports_device(device):
        raise ValueError(f"device {device!r} is not supported; ONNX models run on 'CPU'")


def _listed(inputs, or_what=""):
    """Inputs in their order; one array may stand alone."""
    if isinstance(inputs, (_np.ndarray, _np.generic)):
        return [inputs]
    if isinstance(inputs, (str, bytes, _Mapping)) or not isinstance(inputs, _Iterable):
        raise TypeError(f"inputs is a {type(inputs).__name__}; expected a list of arrays{or_what}")
    return list(inputs)


def _as_array(name, value):
    try:
        return _np.asarray(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"input {name} is no array: {error}") from error


def _label(node):
    return f"{node.op_type} {node.name!r}" if node.name else f"{node.op_type} that makes {', '.join(node.output)!r}"


def _refuse_what_is_not_here(model):
    """Operators first, all of them by name: what is asked about a model that cannot run is what it would take."""
    functions = {(function.domain, function.name) for function in model.functions}
    needs = set()
    for node in model.graph.node:
        known = node.domain in _DEFAULT_DOMAIN and (node.op_type in _ROWS or node.op_type == "Constant")
        if not known or (node.domain, node.op_type) in functions:
            needs.add(node.op_type if node.domain in _DEFAULT_DOMAIN else f"{node.domain}.{node.op_type}")
    if needs:
        raise Unsupported(f"not an operator that anydml runs: {', '.join(sorted(needs))}", sorted(needs))
    if model.graph.sparse_initializer:
        name = model.graph.sparse_initializer[0].values.name
        raise Unsupported(f"initializer {name!r} is sparse, and anydml has dense tensors only", ["sparse initializer"])


def _opset(model):
    """The version of ONNX's own operators that the model is written in."""
    version = next((opset.version for opset in model.opset_import if opset.domain in _DEFAULT_DOMAIN), None)
    if version is None:
        if model.graph.node and model.ir_version >= 3:
            raise ValueError("the model does not say which opset of ONNX's operators it uses")
        version = 1
    if version > _onnx.defs.onnx_opset_version():
        raise ValueError(f"the model uses opset {version}, and the installed onnx {_onnx.__version__} knows them up to "
                         f"{_onnx.defs.onnx_opset_version()}")
    return version


def _tensor_type(number):
    """ONNX's name of an element type: float, double, int8, bfloat16, string..."""
    return _onnx.TensorProto.DataType.Name(number).lower()


def _type_of(declared):
    kind = declared.WhichOneof("value")
    if kind == "tensor_type":
        return _tensor_type(declared.tensor_type.elem_type)
    return "nothing" if kind is None else kind.replace("_type", "")


def _numpy_name(type_name):
    return {"float": "float32", "double": "float64"}.get(type_name, type_name)


def _array_of(tensor):
    if tensor.data_location == _onnx.TensorProto.EXTERNAL:
        raise ValueError(f"tensor {tensor.name!r} lies in a file that was not loaded; onnx.load does that")
    array = _numpy_helper.to_array(tensor)
    array.flags.writeable = False
    return array


def _constant(node):
    """The value of a Constant and ONNX's name of its type."""
    if len(node.attribute) != 1:
        raise ValueError(f"{_label(node)} must have one attribute, its value, and has {len(node.attribute)}")
    attribute = node.attribute[0]
    if attribute.name == "value":
        return _array_of(attribute.t), _tensor_type(attribute.t.data_type)
    if attribute.name in ("value_float", "value_floats"):
        return _np.array(_onnx.helper.get_attribute_value(attribute), _np.float32), "float"
    if attribute.name in ("value_int", "value_ints"):
        return _np.array(_onnx.helper.get_attribute_value(attribute), _np.int64), "int64"
    raise Unsupported(f"{_label(node)} has a {attribute.name}, and anydml has dense tensors of numbers only",
                      [f"Constant of {attribute.name}"])


def _check_types(node, types, opset):
    """The type of a node's output, once those of its inputs are found right."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    given = [types[name] for name in node.input if name]
    schema_types = {kind for constraint in _onnx.defs.get_schema(node.op_type, opset, "").type_constraints
                    for kind in constraint.allowed_type_strs}
    result = given[0]
    if node.op_type == "Cast":
        result = _tensor_type(attributes["to"].i) if "to" in attributes else "nothing"
    elif node.op_type == "ConstantOfShape":
        result = _tensor_type(attributes["value"].t.data_type) if "value" in attributes else "float"
    elif node.op_type == "Equal":
        result = "bool"
    elif node.op_type == "Where":
        if given[0] != "bool":
            raise TypeError(f"{_label(node)}: the condition must be bool, and is {given[0]}")
        given, result = given[1:], given[1]
    for kind in dict.fromkeys([*given, result]):
        if kind in _TENSOR_TYPES and f"tensor({kind})" not in schema_types:
            raise TypeError(f"{_label(node)}: ONNX has no {node.op_type} of {kind} in opset {opset}")
        row = "ELEMENT_WISE_IDENTITY" if node.op_type in _WITH_TRUTHS else _ROWS[node.op_type]
        if not (kind == "bool" and node.op_type in _WITH_TRUTHS) and _numpy_name(kind).upper() not in _ROW_TYPES[row]:
            raise Unsupported(f"{_label(node)}: anydml has no {node.op_type} of {kind}", [f"{node.op_type} of {kind}"])
    kinds = list(dict.fromkeys(given))
    if len(kinds) != 1:
        raise TypeError(f"{_label(node)}: the inputs must have one type, and have {', '.join(kinds)}")
    return result


def _computation(node, types, opset):
    """The function of arrays that a node is."""
    attributes = {attribute.name: _onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    row = _ROWS[node.op_type]
    if node.op_type == "Mod":
        row = _mod_row(node, attributes.get("fmod", 0), types[node.input[0]], opset)
    if node.op_type == "Clip":
        schema = _onnx.defs.get_schema("Clip", opset, "")
        if "min" not in schema.attributes:
            return _clip_by_inputs
        low, high = (_attribute_or_default(schema, attributes, name) for name in ("min", "max"))
        return _partial(_clip, low=low, high=high)
    if node.op_type == "Cast":
        return _partial(_cast, _np.dtype(_numpy_name(types[node.output[0]])))
    if node.op_type == "ConstantOfShape":
        value = _array_of(attributes["value"]) if "value" in attributes else _np.zeros(1, _np.float32)
        if value.size != 1:
            raise ValueError(f"{_label(node)}: value must have one element, and has {value.size}")
        return _partial(_constant_of_shape, value)
    if node.op_type == "Where":
        return _where
    if node.op_type in ("Add", "Sub", "Mul", "Div", "Equal") and opset < _FIRST_NUMPY_BROADCASTING:
        return _partial(_with_old_broadcasting, row, attributes.get("broadcast", 0), attributes.get("axis"))
    return _partial(_dispatch, row)


def _mod_row(node, fmod, kind, opset):
    if fmod not in (0, 1):
        raise ValueError(f"{_label(node)}: fmod is {fmod}, and must be 0 or 1")
    if fmod == 1:
        return "ELEMENT_WISE_MODULUS_TRUNCATE"
    is_float = kind in ("float16", "float", "double")
    version = _onnx.defs.get_schema("Mod", opset, "").since_version
    if is_float and version <= _LAST_MOD_OF_INTEGERS:
        raise ValueError(f"{_label(node)}: floats need fmod=1 in ONNX's Mod of opset {version}")
    return "ELEMENT_WISE_MODULUS_FLOOR"


def _dispatch(row, *arrays, **attributes):
    dimensions = max(array.ndim for array in arrays)
    if dimensions > _MOST_DIMENSIONS:
        raise ValueError(f"a tensor has {dimensions} dimensions, and anydml takes up to {_MOST_DIMENSIONS}")
    result = _anydml.run(row, *map(_plain, arrays), **attributes)
    return result.view(bool) if row == "ELEMENT_WISE_LOGICAL_EQUALS" else result


def _plain(array):
    """DirectML has no bool: it is a uint8, 1 or 0."""
    return array.view(_np.uint8) if array.dtype == bool else array


def _cast(dtype, x):
    if dtype != bool:
        return _dispatch("CAST", x, dtype=dtype)
    zero = _np.zeros((), _plain(x).dtype)  # true is what does not equal 0
    return _dispatch("ELEMENT_WISE_LOGICAL_EQUALS", _dispatch("ELEMENT_WISE_LOGICAL_EQUALS", x, zero), _np.uint8(0))


def _where(condition, x, y):
    result = _dispatch("ELEMENT_WISE_IF", condition, x, y)
    return result.view(bool) if x.dtype == bool else result


def _constant_of_shape(value, shape):
    if shape.ndim != 1 or (shape < 0).any():
        raise ValueError(f"the shape must be a list of sizes, 0 or more, and is {shape.tolist()}")
    if len(shape) > _MOST_DIMENSIONS:
        raise ValueError(f"a tensor has {len(shape)} dimensions, and anydml takes up to {_MOST_DIMENSIONS}")
    result = _anydml.run("FILL_VALUE_CONSTANT", Value=value.item(), shape=tuple(shape.tolist()),
                         dtype=_plain(value).dtype)
    return result.view(value.dtype)


def _with_old_broadcasting(row, broadcast, axis, a, b):
    """Before opset 7 nothing was broadcast unless asked for, and then b alone, against dimensions of a from axis on."""
    aligned = b
    if broadcast and axis is not None:
        aligned = b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))
    if (aligned.shape != a.shape) if not broadcast else (_np.broadcast_shapes(a.shape, aligned.shape) != a.shape):
        raise ValueError(f"shape {list(b.shape)} does not go with {list(a.shape)} by the rules before opset 7")
    return _dispatch(row, a, aligned)


def _attribute_or_default(schema, attributes, name):
    if name in attributes:
        return attributes[name]
    default = schema.attributes[name].default_value
    return default.f if default.type == _onnx.AttributeProto.FLOAT else None


def _clip_by_inputs(x, low=None, high=None):
    for name, bound in (("min", low), ("max", high)):
        if bound is not None and bound.ndim != 0:
            raise ValueError(f"{name} must be a scalar, and has the shape {list(bound.shape)}")
    return _clip(x, *(None if bound is None else bound.item() for bound in (low, high)))


def _clip(x, low, high):
    """Bounds that are missing are the type's least and greatest numbers; where low > high the answer is high."""
    limits = _np.finfo(x.dtype) if x.dtype.kind == "f" else _np.iinfo(x.dtype)
    number = float if x.dtype.kind == "f" else int
    low = number(limits.min) if low is None else low
    high = number(limits.max) if high is None else high
    low = high if low > high else low
    if x.dtype == _np.uint64 and high >= 2**63:  # attributes are int64: both are moved down by half the range
        half = _np.array(2**63, _np.uint64)
        moved = _dispatch("ELEMENT_WISE_SUBTRACT", x, half).view(_np.int64)
        clipped = _dispatch("ELEMENT_WISE_CLIP", moved, Min=low - 2**63, Max=high - 2**63).view(_np.uint64)
        return _dispatch("ELEMENT_WISE_ADD", clipped, half)
    return _dispatch("ELEMENT_WISE_CLIP", x, Min=low, Max=high)


def _checked_input(name, value, declared):
    array = _as_array(repr(name), value)
    kind = _type_of(declared)
    if array.dtype != _onnx.helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type):
        raise TypeError(f"input {name!r} is {array.dtype}, and the model declares {_numpy_name(kind)}")
    if declared.tensor_type.HasField("shape"):
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.tensor_type.shape.dim]
        if len(sizes) != array.ndim or any(size not in (None, given) for size, given in zip(sizes, array.shape)):
            shape = ", ".join("?" if size is None else str(size) for size in sizes)
            raise ValueError(f"input {name!r} has the shape {list(array.shape)}, and the model declares [{shape}]")
    return array
