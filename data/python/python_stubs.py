# SPDX-License-Identifier: MIT
"""Generates the types of the operators' functions for type checkers: python/anydml/_operators.pyi and _specs.pyi, which
generate_python.py writes."""
from python_rule import (EXTRAS, HAND_WRITTEN, REPEATED, UFUNCS, exported_names, last_required, list_text, options,
                         signature, wrapped)

KINDS = {"real": "_Number", "natural": "SupportsIndex", "integer": "SupportsIndex", "boolean": "bool",
         "reals": "Sequence[_Number]", "naturals": "Sequence[SupportsIndex]", "integers": "Sequence[SupportsIndex]",
         "size_2d": "Sequence[SupportsIndex]", "scalar_union": "_Number", "operators": "Operator",
         "operator_list": "Sequence[Operator]", "enumeration": "str | SupportsIndex"}
ONE = {"naturals": "SupportsIndex", "reals": "_Number"}  # a single number in place of a sequence of equal numbers
AXES = "SupportsIndex | Sequence[SupportsIndex]"
EXTRA_KINDS = {"axis": f"{AXES} | None = None", "keepdims": "bool | None = None"}
TYPED, ANY = "NDArray[_Element]", "_Array"


def is_several(op):
    return len(op.outputs) > 1 or op.outputs[0].tensor.array


def way(op, operands, given, result):
    """Writes one signature. `operands` has each input's type, and `given` the types of the options; other options are
    omitted."""
    required = last_required(op)

    def of_input(one, default):
        i = op.inputs.index(one)
        # Parameters after an input with a default value also need a default.
        is_needed = all(other.startswith("_Typed") for other in operands[required:i + 1])
        kind = f"Sequence[{operands[i]}]" if one.array else operands[i]
        if one.optional and not (default and is_needed):
            kind += " | None"
        return f"{one.name}: {kind}" + (" = None" if default and not is_needed else "")

    def of_attribute(one):
        is_repeated = one.field in REPEATED or (one.by and one.by.rule.startswith(("window", "each")))
        kind = (AXES if one.field in ("Axes", "Repeats") else f"{ONE[one.kind]} | {KINDS[one.kind]}" if is_repeated and
                one.kind in ONE else KINDS[one.kind])
        if one.optional or one.default == "None":
            return f"{one.name}: {kind} | None = None"
        return f"{one.name}: {kind}" + (f" = {one.default}" if one.default else "")

    def of_option(name):
        kind = EXTRA_KINDS[name] if name in EXTRAS.get(op.name, ()) else given.get(name)
        return f"{name}: {kind}" if kind else ""

    parts = signature(op, of_input, of_attribute, of_option)
    head = f"def {op.python}("
    return wrapped(head, [part for part in parts if part], f") -> {result}: ...\n", len(head))


def ways_of_one(op):
    """Yields overloads for NumPy's arrays, with the element type if it is known, for arrays from another library, and
    for out with any inputs."""
    output, has_dtype, is_tied = op.outputs[0], "dtype" in options(op), bool(op.outputs[0].like)
    base = {"out": "None = None", "device": "str | None = None"}
    if "shape" in options(op):
        base["shape"] = "_Shape" if output.shaped == "no" else "_Shape | None = None"
    no_dtype = {"dtype": "None = None"} if has_dtype else {}
    no_shape = {"shape": "None = None"} if "shape" in base else {}
    numpys = ["_NumPys"] * len(op.inputs)

    def tied(kind):
        return [kind if i in output.like else one for i, one in enumerate(numpys)]

    if is_tied:
        if len(output.like) > 1:
            yield way(op, tied("float"), base | no_dtype, ANY)
        yield way(op, tied("_Typed[_Element]" + (" | float" if len(output.like) > 1 else "")), base | no_dtype, TYPED)
    elif output.dtype:
        yield way(op, numpys, base | no_dtype, f"NDArray[np.{output.dtype}]")
    may_be_left = is_tied and not all(op.inputs[i].optional for i in output.like)
    any_dtype = "_DType | None = None" if is_tied or output.dtype else "_DType"
    if has_dtype:
        yield way(op, numpys, base | {"dtype": "_DTypeOf[_Element]"}, TYPED)
        yield way(op, numpys, base | {"dtype": "_DType | None = None" if may_be_left else "_DType"}, ANY)
    elif is_tied:
        yield way(op, numpys, base, ANY)
    if op.inputs:
        libraries = ["_Library | _Array | float"] * len(op.inputs) if len(op.inputs) > 1 else ["_Library"]
        yield way(op, libraries, base | ({"dtype": any_dtype} if has_dtype else {}), "_Library")
    yield way(op, ["_Operand"] * len(op.inputs), base | no_dtype | {"out": "_Out"} | no_shape, "_Out")


def ways_of_several(op):
    """The result is a tuple, with None for an absent output. In out, True requests an optional output."""
    for operand, result in (("_NumPys", "_Array"), ("_Library | _Array | float", "_Library")):
        given = {"out": f"Sequence[{result} | bool | None] | None = None", "device": "str | None = None",
                 "dtype": "Sequence[_DType | None] | None = None", "shape": "Sequence[_Shape | None] | None = None"}
        results = [f"{result}, ..." if one.tensor.array else result + (" | None" if one.tensor.optional else "")
                   for one in op.outputs]
        yield way(op, [operand] * len(op.inputs), given, f"tuple[{', '.join(results)}]")


def stub_text(op):
    if op.name in UFUNCS:
        return f"{op.python}: _UfuncOf{'One' if len(op.inputs) == 1 else 'Two'}\n"
    ways = list(ways_of_several(op) if is_several(op) else ways_of_one(op))
    return "".join(f"@overload\n{text}" for text in ways)


def spec_stub_text(operators):
    names = [f'"{prefix}{op.name}"' for op in operators if not is_several(op) for prefix in ("", "DML_OPERATOR_")]
    head = '''# SPDX-License-Identifier: MIT
# Generated by data/python/generate_python.py, like _specs.py.
from typing import Literal, TypeAlias

# The operators that have one result.
'''
    return head + wrapped("_OneResult: TypeAlias = Literal[", names, "]\n", 4)


def stub_module_text(operators):
    functions = [op for op in operators if op.name not in HAND_WRITTEN]
    exported, shadowing = exported_names(functions)
    head = '''# SPDX-License-Identifier: MIT
# Generated by data/python/generate_python.py, like _operators.py.
from collections.abc import Sequence
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ._run import (Operator, _Array, _DType, _DTypeOf, _Element, _Library, _Number, _NumPys, _Operand, _Out, _Shape,
                   _Typed)
from ._ufuncs import _UfuncOfOne, _UfuncOfTwo

'''
    return (head + list_text("__all__", exported) + list_text("SHADOWING", shadowing) + "\n" +
            "\n".join(stub_text(op) for op in functions))
