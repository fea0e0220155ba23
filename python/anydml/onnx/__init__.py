# SPDX-License-Identifier: MIT
"""Runs ONNX models with anydml's operators, through ONNX's own backend interface; see docs/onnx.md. `Generator`
generates text with language models; see docs/language-models.md.

>>> import numpy as np, onnx.parser, anydml.onnx as backend
>>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
... hours (int64[N] t) => (int64[N] h) { day = Constant<value = int64 {24}>() h = Mod(t, day) }''')
>>> backend.run_model(model, [np.array([25, -1])])[0]
array([ 1, 23])
"""
try:
    import onnx as _onnx
    from onnx.backend.base import Backend as _BackendInterface
except ImportError as _error:
    raise ImportError("anydml.onnx needs the onnx package: pip install onnx") from _error

from .. import _core
from ._devices import device_of as _device_of, is_known as _is_known
from ._generator import Generated, Generator
from ._model import (Prepared, Unsupported, Value, as_array as _as_array, check as _check, label as _label,
                     listed as _listed)

__all__ = ["Backend", "Generated", "Generator", "Prepared", "Unsupported", "Value", "is_compatible", "prepare", "run_model",
           "run_node", "supports_device"]


class Backend(_BackendInterface):
    """ONNX's backend interface; the functions of this module are its methods."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **_):
        """Whether `prepare` would accept this model.

        >>> import onnx.parser, anydml.onnx as backend
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
        ... clock (int64[N] t, int64[N] day) => (int64[N] hour) { hour = Mod(t, day) }''')
        >>> backend.is_compatible(model)
        True
        """
        try:
            cls.prepare(model, device)
        except (Unsupported, MemoryError, TypeError, ValueError, _onnx.checker.ValidationError):
            return False
        return True

    @classmethod
    def prepare(cls, model, device="CPU", *, literal=False, trace=False, activations="model", **_):
        """Checks a model, including its types and operators, so that it can run many times. The model is a ModelProto,
        its bytes or its path.

        A quantized model computes with its integers where QuantizeLinear and DequantizeLinear describe an integer
        operator, as in ONNX Runtime. With ``literal``, it computes with dequantized floats, as it is written. With
        ``trace``, ``write_trace`` writes a profile of everything that the model does.

        ``activations`` is for products with weights in four bits on the CPU. With "model", activations are rounded to
        eight bits where a node allows it (accuracy_level 4), with "float" never, and with "integer" always; docs/onnx.md
        says more.

        >>> import numpy as np, onnx.parser, anydml.onnx as backend
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
        ... clock (int64[N] t, int64[N] day) => (int64[N] hour) { hour = Mod(t, day) }''')
        >>> prepared = backend.prepare(model)
        >>> prepared.run({"t": np.array([25, -1]), "day": np.array([24, 24])})["hour"]
        array([ 1, 23])
        """
        if "integers" in _:  # an option of earlier versions, which must not be ignored like unknown ones
            raise TypeError("prepare has no option integers: quantized models compute with their integers unless literal "
                            "is True")
        name = _device_of(device)
        prepared = Prepared(model, literal=literal, device=name, trace=trace, activations=activations)
        if isinstance(model, _onnx.ModelProto):  # paths and bytes are checked by the library alone
            _check(model)
        return prepared

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **_):
        """Prepares a model and runs it once.

        >>> import numpy as np, onnx.parser, anydml.onnx as backend
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
        ... clock (int64[N] t, int64[N] day) => (int64[N] hour) { hour = Mod(t, day) }''')
        >>> backend.run_model(model, [np.array([25, -1]), np.array([24, 24])])
        Outputs(hour=array([ 1, 23]))
        """
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Runs a single node of ``opset_version``, by default the newest opset that onnx and anydml know.

        >>> import numpy as np, onnx, anydml.onnx as backend
        >>> node = onnx.helper.make_node("Mod", ["a", "b"], ["c"])
        >>> backend.run_node(node, [np.array([25, -1]), np.array([24, 24])])
        Outputs(c=array([ 1, 23]))
        """
        name = _device_of(device)
        if not isinstance(node, _onnx.NodeProto):
            raise TypeError(f"node must be an onnx.NodeProto, not a {type(node)}")
        version = kwargs.get("opset_version", min(_onnx.defs.onnx_opset_version(), _core.onnx_newest_opset))
        if not isinstance(version, int):
            raise TypeError(f"opset_version is {version!r}; expected an int")
        given = _listed(inputs)
        super().run_node(node, given, device, outputs_info, **kwargs)
        arrays = [_as_array(f"number {i}", value) for i, value in enumerate(given)]
        names = [name for name in node.input if name]
        if len(arrays) != len(names):
            raise ValueError(f"{_label(node)} takes {len(names)} inputs, but {len(arrays)} were given")
        helper = _onnx.helper
        declared = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
                    for name, array in dict(zip(names, arrays)).items()]
        graph = helper.make_graph([node], "node", declared, [_onnx.ValueInfoProto(name=name) for name in node.output])
        opset = helper.make_opsetid(node.domain, version)
        return Prepared(helper.make_model(graph, opset_imports=[opset]), device=name).run(dict(zip(names, arrays)))

    @classmethod
    def supports_device(cls, device):
        """Whether models can run on this device, given by its ONNX name: "CPU", or "CUDA" or "CUDA:1" if that GPU and
        its plugin are present.

        >>> import anydml.onnx as backend
        >>> backend.supports_device("CPU"), backend.supports_device("TPU")
        (True, False)
        """
        return _is_known(device)


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
