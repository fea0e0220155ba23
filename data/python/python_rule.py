# SPDX-License-Identifier: MIT
"""The rule that determines each DirectML operator's name, parameters and results in Python. generate_python.py and the
site's generators use it; docs/python-reference.md states it.
"""
import builtins
import collections
import json
import keyword
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "facts"))
from generate_tables import enum_prefix, field_type  # noqa: E402
from entries import ROOT, read_entries  # noqa: E402
from python_defaults import DEFAULTS, SHAPED, By  # noqa: E402

FACTS = ROOT / "data" / "facts"
PREFIXES = ("ELEMENT_WISE_", "ACTIVATION_")

# Short names that are also Python builtins or NumPy functions. A test compares both sets with the installed NumPy, so
# that each new NumPy function or operator must be added to one of them.
SAME_MEANING = {
    "abs", "acos", "acosh", "add", "argmax", "argmin", "asin", "asinh", "atan", "atanh", "ceil", "clip", "cos", "cosh",
    "divide", "exp", "floor", "log", "logical_and", "logical_not", "logical_or", "logical_xor", "multiply", "pow",
    "sign", "sin", "sinh", "split", "sqrt", "subtract", "tan", "tanh", "tile",
}
OTHER_MEANING = {"identity", "max", "mean", "min", "round", "slice"}

HAND_WRITTEN = {"ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE"}  # in python/anydml/__init__.py
# Functions that are NumPy ufuncs, because they are correctly rounded and have no attribute other than DirectML's
# ScaleBias.
UFUNCS = {
    *(f"ELEMENT_WISE_{name}" for name in ("EXP", "LOG", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH",
                                          "TANH", "ASINH", "ACOSH", "ATANH", "ERF", "POW", "ATAN_YX")),
    *(f"ACTIVATION_{name}" for name in ("SIGMOID", "TANH", "GELU", "SOFTSIGN")),
}
UFUNC_OPTIONS = ("where=True", "casting='same_kind'", "order='K'", "dtype=None", "subok=True", "signature=None",
                 "device=None")
TAKEN = {"run", "compile", "graph", "Compiled", "Graph", "Operator", "Symbol", "adapters", "operators", "onnx",
         "compare", "DeviceArray", "to_device"}  # names of the package
# Parameters that only Python has, which follow the attributes.
EXTRAS = {"REDUCE": ("axis", "keepdims"), "ARGMIN": ("axis", "keepdims"), "ARGMAX": ("axis", "keepdims"),
          "ACTIVATION_SOFTMAX": ("axis",), "ACTIVATION_LOG_SOFTMAX": ("axis",), "ACTIVATION_HARDMAX": ("axis",)}
NUMPYS_TYPES = {"ARGMIN": "int64", "ARGMAX": "int64"}  # types of results that NumPy defines and DirectML leaves open
# Attributes that may also be positional, as in NumPy's function.
POSITIONAL = {"ELEMENT_WISE_CLIP": ("min", "max"), "ELEMENT_WISE_CLIP1": ("min", "max"), "TILE": ("repeats",)}
EXTRA_TEXTS = {
    "REDUCE": "``axes``: one axis or several; negative numbers count from the end. These axes are kept, with size 1. "
              "``axis`` is the same, but removes the axes, as NumPy does. Without either, all axes are reduced and "
              "removed. ``keepdims`` overrides this.",
    "ACTIVATION_SOFTMAX": "The rows are along the last axis, or along ``axis``: one axis or several; negative numbers "
                          "count from the end."}
EXTRA_TEXTS["ARGMIN"] = EXTRA_TEXTS["ARGMAX"] = EXTRA_TEXTS["REDUCE"]
EXTRA_TEXTS["ACTIVATION_LOG_SOFTMAX"] = EXTRA_TEXTS["ACTIVATION_HARDMAX"] = EXTRA_TEXTS["ACTIVATION_SOFTMAX"]
# The types of results that depend on an attribute.
RESULT_TEXTS = {
    "REDUCE": "The result has the type of ``input``. For 'ARGMAX' and 'ARGMIN' it is int64 by default; ``dtype`` may be "
              "int32, int64, uint32 or uint64."}
# How functions differ from the NumPy functions of the same name, and which arguments they accept that DirectML rejects.
_COUNTED = "The tensors may have different numbers of dimensions; the result has the shape of ONNX's {}."
_PROMOTED = "NumPy arrays of different types are first promoted to a common type, as in NumPy."
DIFFERENCES = {
    "ELEMENT_WISE_DIVIDE": "Unlike ``numpy.divide``, it returns integers for integers: the quotient is truncated, and "
                           "a divisor of 0 gives 0.",
    "ELEMENT_WISE_SIGN": "Unlike ``numpy.sign``, it returns 0 for NaN.",
    "ELEMENT_WISE_CLIP": "Unlike ``numpy.clip``, it accepts only numbers as bounds, and converts them to the type of "
                         "the input, which is also the type of the result.",
    "ELEMENT_WISE_ABS": "Like ``numpy.abs``, it returns the smallest integer of a type unchanged, because the type "
                        "cannot represent its absolute value.",
    "ELEMENT_WISE_CEIL": "Unlike ``numpy.ceil``, it accepts only floats.",
    "ELEMENT_WISE_FLOOR": "Unlike ``numpy.floor``, it accepts only floats.",
    "ELEMENT_WISE_SQRT": "Unlike ``numpy.sqrt``, it accepts only floats, and does not warn about negative numbers.",
    **dict.fromkeys(("ELEMENT_WISE_LOGICAL_AND", "ELEMENT_WISE_LOGICAL_OR", "ELEMENT_WISE_LOGICAL_XOR",
                     "ELEMENT_WISE_LOGICAL_NOT"), "For arrays of bool it returns an array of bool, as NumPy does."),
    **dict.fromkeys(("ELEMENT_WISE_ADD", "ELEMENT_WISE_SUBTRACT", "ELEMENT_WISE_MULTIPLY"), _PROMOTED),
    "CAST": "When casting to bool, nonzero elements become True, as in NumPy.",
    "NONZERO_COORDINATES": "It also accepts an array of bool.",
    "CONVOLUTION": "``bias`` may have one dimension, with a number for each output channel.",
    "QUANTIZED_LINEAR_CONVOLUTION": "``bias`` may have one dimension, with a number for each output channel.",
    "GEMM": "``c`` is broadcast to the shape of the product according to NumPy's rules.",
    **dict.fromkeys(("MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"),
                    "``scale`` and ``bias`` may have fewer dimensions than ``input``; they are broadcast as in NumPy."),
    "GATHER": "Without ``index_dimensions``, the dimensions of ``indices`` replace the axis, as in ``numpy.take``.",
    "GATHER_ND": _COUNTED.format("GatherND"), "GATHER_ND1": _COUNTED.format("GatherND"),
    "SCATTER_ND": _COUNTED.format("ScatterND"),
    "ONE_HOT": "If ``shape`` has one more dimension than ``indices``, the extra dimension is inserted at ``axis``, as "
               "in PyTorch.",
    "GRU": "PyTorch's GRU has ``linear_before_reset=True``; ONNX's default is False.",
    **dict.fromkeys(("TOP_K", "TOP_K1"), "For PyTorch tensors, the indices are int64, like PyTorch's own; for NumPy "
                                         "arrays, request that with ``dtype=(None, 'int64')``."),
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"),
                    "Without ``shape`` and ``out``, each size is the input's multiplied by its scale and rounded down."),
    **dict.fromkeys(("DEPTH_TO_SPACE1", "SPACE_TO_DEPTH1"),
                    "The order of PyTorch's pixel_shuffle and pixel_unshuffle is 'COLUMN_ROW_DEPTH'."),
    "ROI_ALIGN": "It matches torchvision's roi_align with ``aligned=True``; for ``aligned=False``, use `roi_align1`.",
    "ROI_ALIGN1": "By default it matches torchvision's roi_align; ``input_pixel_offset=0.5`` corresponds to "
                  "``aligned=True``.",
    "SPLIT": "Unlike ``numpy.split``, it takes the shapes of the parts, and returns new arrays.",
    "TILE": "``repeats`` may be one number, or fewer numbers than dimensions, as for ``numpy.tile``.",
    **dict.fromkeys(("ARGMIN", "ARGMAX"), "For several axes, the index counts their elements in row-major order, as "
                                          "``numpy.argmax`` does for all axes."),
}
# Fields for which a single number applies to every dimension, in addition to fields with a default.
REPEATED = {"WindowSize", "WindowSizes"}
# Fields in the shared tables of windows that older operators may lack.
SHARED_FIELDS = {"Dilations"}
OPTIONS = ("out", "dtype", "shape", "device")
UNSIGNED = ("UINT8", "UINT16", "UINT32", "UINT64")  # the smallest first
TYPE_ORDER = ("FLOAT16", "FLOAT32", "FLOAT64", "INT4", "INT8", "INT16", "INT32", "INT64", "UINT4", *UNSIGNED)

# An input or output. field: its name in DirectML. name: its name in Python.
Tensor = collections.namedtuple("Tensor", "field name optional array types")
# like: the indices of the inputs that have the output's type. dtype: the output's type if `like` is empty; "" if
# nothing determines the type. sizes: the inputs that are broadcast to its shape; None if other rules, or no rules,
# determine the shape. shaped: whether the inputs and attributes determine its shape: yes, sometimes or no
# (inferred_outputs.txt).
Output = collections.namedtuple("Output", "tensor like dtype sizes chosen shaped")
# default: a default value that only Python has, as text, or None. by: the default's rule, if it depends on the
# arguments.
Attribute = collections.namedtuple("Attribute", "field name kind optional values default by", defaults=(None, None))
Operator = collections.namedtuple("Operator", "name python formula inputs outputs attributes same")


def fail(message):
    sys.exit(f"python_rule.py: {message}")


# ---- The rule -------------------------------------------------------------------------------------------------------

def snake_case(name):
    """SpatialScaleX: spatial_scale_x; AZeroPoint: a_zero_point; ROI: roi."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def tensor_name(field):
    """ATensor: a; InputTensors: inputs."""
    return snake_case(re.sub(r"Tensor(s?)$", r"\1", field))


def short_name(name):
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name.lower()


def is_free(name):
    return not keyword.iskeyword(name) and name not in OTHER_MEANING


def python_names(names):
    """Names all operators together, because two operators may have the same short name. The element-wise operator gets
    the name if NumPy uses it with the same meaning."""
    short = collections.Counter(map(short_name, names))
    result = {}
    for name in names:
        python = short_name(name)
        is_numpys = python in SAME_MEANING and name.startswith("ELEMENT_WISE_")
        if not is_free(python) or (short[python] > 1 and not is_numpys):
            python = name.lower()
        if not is_free(python):
            python += "_"
        result[name] = python
    if len(set(result.values())) != len(names) or set(result.values()) & TAKEN:
        fail("two objects of the package have the same name")
    return result


def newest_types(operator, field):
    """Returns the types that DirectML's newest level accepts. It is empty if its documentation lists none."""
    rows = [row for row in operator["support"] if row["tensor"] == field]
    newest = max((tuple(map(int, row["feature_level"].split("_"))) for row in rows), default=None)
    types = {kind for row in rows if tuple(map(int, row["feature_level"].split("_"))) == newest
             for kind in row["data_types"]}
    return tuple(kind for kind in TYPE_ORDER if kind in types)


def groups(operator, what):
    """Yields groups of fields that agree, and whether they always do."""
    for constraint in operator["constraints"]:
        kind, _, rest = constraint.partition(": ")
        if kind == what:
            fields, unless, _ = rest.partition(" unless ")
            yield fields.split(), not unless


def read_shaped():
    """Returns yes, sometimes or no for each operator and output."""
    return dict(re.findall(r"^(\w+ \w+): type \w+, sizes (\w+)", (FACTS / "inferred_outputs.txt").read_text(), re.MULTILINE))


def read_output(operator, tensor, inputs, shaped):
    number = {one.field: i for i, one in enumerate(inputs)}
    like, always = next(((sorted(number[field] for field in fields if field in number), always)
                         for fields, always in groups(operator, "same_datatype")
                         if tensor.field in fields and any(field in number for field in fields)), ([], True))
    # This is the only type, or the smallest unsigned type, because unsigned outputs are booleans, counts and indices.
    is_clear = len(tensor.types) == 1 or (tensor.types and set(tensor.types) <= set(UNSIGNED))
    dtype = tensor.types[0].lower() if is_clear and not like else ""
    dtype = NUMPYS_TYPES.get(operator["name"].removeprefix("DML_OPERATOR_"), dtype)
    sizes = next((sorted(number[field] for field in fields if field in number)
                  for fields, _ in groups(operator, "same_sizes")
                  if tensor.field in fields and any(field in number for field in fields)), None)
    if operator["name"].startswith("DML_OPERATOR_ELEMENT_WISE_") and inputs:
        sizes = list(range(len(inputs)))
    # Whether a caller may have to specify the type, or may choose it.
    chosen = not always or (all(inputs[i].optional for i in like) if like else len(tensor.types) != 1)
    name = operator["name"].removeprefix("DML_OPERATOR_")
    is_shaped = "sometimes" if name in SHAPED else shaped[f"{name} {tensor.field}"]
    return Output(tensor, tuple(like), dtype, None if sizes is None else tuple(sizes), chosen, is_shaped)


def read_operator(operator, struct, enums, python, shaped):
    name = operator["name"].removeprefix("DML_OPERATOR_")
    tensors = [(one["kind"], Tensor(one["field"], tensor_name(one["field"]), one["kind"].startswith("optional"),
                                    one["kind"].startswith("array"), newest_types(operator, one["field"])))
               for one in operator["tensors"]]
    inputs = [tensor for kind, tensor in tensors if "input" in kind]
    outputs = [read_output(operator, tensor, inputs, shaped) for kind, tensor in tensors if "output" in kind]
    number = {one.field: i for i, one in enumerate(inputs)}
    same = [tuple(sorted(number[field] for field in fields if field in number))
            for fields, _ in groups(operator, "same_datatype")]
    counts = {field["count_field"] for field in struct["fields"] if "count_field" in field}
    optional = {one["field"] for one in operator["attributes"] if one.get("optional")}
    kinds = {field["name"]: field_type(field["type"], enums) for field in struct["fields"]}
    attributes = []
    for field in struct["fields"]:
        kind = kinds[field["name"]]
        if kind == "tensors" or field["name"] in counts:
            continue
        if field["type"] == "DML_TENSOR_DATA_TYPE" and "scalar_union" in kinds.values():
            continue  # the output's type
        if kind == "scale_bias":
            attributes += [Attribute(one, one.lower(), "real", True, ()) for one in ("Scale", "Bias")]
            continue
        enum = enums.get(field["type"])
        values = [value["name"].removeprefix(enum_prefix(enum)) for value in enum["values"]] if enum else ()
        if kind == "operators" and "count_field" in field:
            kind = "operator_list"
        default = DEFAULTS.get(name, {}).get(field["name"])
        by = default if isinstance(default, By) else None
        attributes.append(Attribute(field["name"], snake_case(field["name"]), kind, field["name"] in optional, values,
                                    "None" if by else None if default is None else repr(default), by))
    unknown = set(DEFAULTS.get(name, {})) - {one.field for one in attributes} - SHARED_FIELDS
    if unknown:
        fail(f"{name} has no {english(sorted(unknown))}, which python_defaults.py gives a default")
    attributes.sort(key=lambda one: one.optional)  # otherwise they keep the order of the fields
    built = Operator(name, python, operator["formula"] or "", inputs, outputs, attributes,
                    [group for group in same if len(group) > 1])
    names = [one.name for one in (*inputs, *attributes)]
    if len(set(names) | set(OPTIONS)) != len(names) + len(OPTIONS) or any(map(keyword.iskeyword, names)):
        fail(f"{name}: its parameters are {', '.join(names)}; two are the same, or one is not allowed")
    return built


def read_operators():
    api = json.loads((FACTS / "api.json").read_text())
    facts = json.loads((FACTS / "operators.json").read_text())["operators"]
    structs = {struct["name"]: struct for struct in api["structs"]}
    aliases = {alias["name"]: alias["target"] for alias in api["aliases"]}
    enums = {enum["name"]: enum for enum in api["enums"]}
    names = python_names([operator["name"].removeprefix("DML_OPERATOR_") for operator in facts])
    shaped = read_shaped()
    return [read_operator(operator, structs[aliases.get(operator["desc_struct"], operator["desc_struct"])], enums,
                          names[operator["name"].removeprefix("DML_OPERATOR_")], shaped)
            for operator in sorted(facts, key=lambda operator: operator["enum_value"])]


def exported_names(operators):
    """Returns the names in import *, and the names that it leaves out because they are Python builtins."""
    names = sorted(op.python for op in operators)
    return ([name for name in names if not hasattr(builtins, name)], [name for name in names if hasattr(builtins, name)])


def built_names():
    return {entry.operator for entry in read_entries()}


# ---- Signatures -----------------------------------------------------------------------------------------------------

def ufunc_inputs(op):
    """Returns the names of a ufunc's parameters, which are positional only."""
    return ("x",) if len(op.inputs) == 1 else ("a", "b")


def ufunc_signature(op):
    return [*ufunc_inputs(op), "/", "out=None", "*", *UFUNC_OPTIONS]


def options(op):
    """Returns the names of the operator's options."""
    has_choice = any(output.chosen for output in op.outputs)
    has_shape = any(output.sizes is None or all(op.inputs[i].optional for i in output.sizes) for output in op.outputs)
    return [name for name in OPTIONS if (name != "dtype" or has_choice) and (name != "shape" or has_shape)]


def last_required(op):
    """Returns the number of inputs that a call must pass; an optional input before a required one is passed as None."""
    return max((i + 1 for i, one in enumerate(op.inputs) if not one.optional), default=0)


def default_text(attribute):
    return f"={attribute.default}" if attribute.default is not None else "=None" if attribute.optional else ""


def signature(op, of_input=lambda one, default: f"{one.name}{default}", of_attribute=None, of_option=None):
    required = last_required(op)
    parts = [of_input(one, "") for one in op.inputs[:required]]
    parts += ["/"] if required else []
    parts += [of_input(one, "=None") for one in op.inputs[required:]]
    if op.name in POSITIONAL:
        attributes = [one for one in op.attributes if one.name in POSITIONAL[op.name]]
        rest = [one for one in op.attributes if one not in attributes]
    else:
        attributes, rest = [], op.attributes

    def given(one):
        return of_attribute(one) if of_attribute else one.name + default_text(one)

    parts += [*map(given, attributes), "*", *map(given, rest)]
    parts += [of_option(one) if of_option else f"{one}=None" for one in EXTRAS.get(op.name, ())]
    parts += [of_option(one) if of_option else f"{one}=None" for one in options(op)]
    return parts


def wrapped(head, parts, tail, indent):
    """Joins the parts between head and tail, in lines of up to 120 columns that break only between parts."""
    text = head + ", ".join(parts)
    if len(text) + len(tail.splitlines()[0]) > 120:
        lines = [head]
        for i, part in enumerate(parts):
            end = ", " if i + 1 < len(parts) else tail.splitlines()[0]
            if len(lines[-1] + part + end.rstrip()) > 120 and lines[-1].strip():
                lines.append(" " * indent)
            lines[-1] += part + (", " if i + 1 < len(parts) else "")
        text = "\n".join(line.rstrip() for line in lines)
    return text + tail


def list_text(name, words):
    head = f"{name} = ["
    return wrapped(head, [f'"{word}"' for word in words], "]\n", len(head))


def english(words, last="and"):
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""


def types_text(types, last="and"):
    """Abbreviates runs of three or more types, as in "float16 to float64". It is empty without types."""
    parts = []
    for kind in ("FLOAT", "INT", "UINT"):
        found = [one.lower() for one in types if re.match(rf"{kind}\d", one)]
        parts += [f"{found[0]} to {found[-1]}"] if len(found) > 2 and _has_no_gap(found) else found
    if last == "or" and len(parts) > 2 and " to " in parts[-1]:
        return f"{', '.join(parts[:-1])}, or {parts[-1]}"
    return english(parts, last)


def _has_no_gap(found):
    order = [one.lower() for one in TYPE_ORDER]
    return order.index(found[-1]) - order.index(found[0]) == len(found) - 1


KINDS = {"real": "a number", "natural": "a nonnegative integer", "integer": "an integer",
         "boolean": "true or false", "reals": "a sequence of numbers",
         "naturals": "a sequence of nonnegative integers",
         "integers": "a sequence of integers", "size_2d": "a width and a height", "scalar_union": "a number",
         "operators": "an `Operator`", "operator_list": "a sequence of `Operator`"}


def attribute_text(one):
    if one.kind == "enumeration":
        text = english([repr(value) for value in one.values], "or")
        return text if one.by is None else f"{text} (default: {one.by.text})"
    if one.field in ("Axis", "Axes"):
        which = "an axis" if one.field == "Axis" else "one axis or several"
        return f"{which}; negative numbers count from the end"
    is_repeated = one.field in REPEATED or (one.by and one.by.rule.startswith(("window", "each")))
    return "".join((KINDS[one.kind], ", or None" if one.optional else "",
                    ", or one for all dimensions" if is_repeated else "",
                    f" (default: {one.by.text})" if one.by else ""))


def notes(op):
    """Yields the sentences of a docstring below its first line."""
    if op.inputs:
        by_types = {}
        for one in op.inputs:
            by_types.setdefault(types_text(one.types), []).append(f"``{one.name}``")
        listed = [f"{english(names)} {kinds}" for kinds, names in by_types.items() if kinds]
        if listed:
            yield f"Types in DirectML: {'; '.join(listed)}."
    for group in op.same:
        yield f"{english(f'``{op.inputs[i].name}``' for i in group).capitalize()} must have the same type."
    if op.inputs and all(output.sizes is not None and len(output.sizes) == len(op.inputs) for output in op.outputs):
        if len(op.inputs) > 1:
            yield "Shapes are broadcast according to NumPy's rules."
    if {"Scale", "Bias"} <= {one.field for one in op.attributes if one.optional}:
        yield "With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``."
    for one in op.attributes:
        is_said = one.name == "axes" and op.name in EXTRA_TEXTS
        if (one.field not in ("Scale", "Bias") or not one.optional) and not is_said:
            yield f"``{one.name}``: {attribute_text(one)}."
    if op.name in EXTRA_TEXTS:
        yield EXTRA_TEXTS[op.name]
    for output in op.outputs:
        yield result_text(op, output)
    if op.name in DIFFERENCES:
        yield DIFFERENCES[op.name]


def result_text(op, output):
    if op.name in RESULT_TEXTS:
        return RESULT_TEXTS[op.name]
    name = "" if len(op.outputs) == 1 else f" ``{output.tensor.name}``"
    what = f"The {'optional ' if output.tensor.optional else ''}result{name}"
    has = "The results have" if output.tensor.array else f"{what} has"
    if output.shaped == "no" and (output.dtype or output.like or output.tensor.types):
        has += " the shapes in ``shape`` and" if output.tensor.array else " shape ``shape`` and"
    types = types_text(output.tensor.types, "or")
    if output.like and output.chosen:
        text = f"{has} type ``dtype`` if given, otherwise {like_text(op, output, 'that of')}."
    elif output.like:
        text = f"{has} {like_text(op, output, 'the type of')}."
    elif output.dtype and output.chosen:
        text = f"{what} is {output.dtype} by default; ``dtype`` may be {types}."
    elif output.dtype:
        text = f"{has} type {output.dtype}."
    elif types:
        text = f"{has} type ``dtype``, which may be {types}."
    else:
        shape = " and shape ``shape``" if output.shaped == "no" else ""
        text = f"{has} type ``dtype``{shape}. DirectML's documentation does not list the supported types."
    if output.shaped == "sometimes":
        of = f"the shape of{name}" if name else "the result's shape"
        text += f" ``shape`` is needed only if the inputs do not determine {of}."
    return text


def like_text(op, output, of):
    """Names the type of the inputs that the output shares. Another sentence says that these have the same type."""
    names = [f"``{op.inputs[i].name}``" for i in output.like]
    required = [name for i, name in zip(output.like, names) if not op.inputs[i].optional]
    if len(names) == 2 and not output.chosen:
        return f"the same type as {english(names)}"
    if len(names) > 2 and len(names) == len(op.inputs):
        return "the inputs' common type"
    if len(names) > 1 and not required:
        return f"the common type of {english(names)}"
    return f"{of} {(required or names)[0]}"
