#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates parts of the Python package from the facts: the rows of operators (python/anydml/_specs.py and .pyi), their
functions (_operators.py and .pyi), the rules for their default values (_defaults.py), the names in their messages
(_words.py), the names in __init__.pyi, and the table of all operators in docs/python-operators.md. python_rule.py
implements the rule, python_defaults.py has the default values, python_stubs.py writes the types for checkers, and
examples.py has the examples that help() shows.

usage: generate_python.py            write the files
       generate_python.py --check    exit 1 if a committed file does not match the facts
"""
import re
import sys
import textwrap

from examples import EXAMPLES, python_session
from python_rule import (EXTRAS, HAND_WRITTEN, NUMPYS_TYPES, ROOT, UFUNCS, built_names, exported_names, list_text, notes,
                         options, read_operators, signature, types_text, ufunc_inputs, ufunc_signature, wrapped)
from python_stubs import spec_stub_text, stub_module_text


def fail(message):
    sys.exit(f"generate_python.py: {message}")


def first_line(op):
    formula = op.formula
    if [one.name for one in op.inputs] == ["input"] and not re.search(r"\binput\b", formula):
        formula = re.sub(r"\bx\b", "input", formula)
    each = ", element by element" if op.name.startswith("ELEMENT_WISE_") else ""
    return f"DirectML's {op.name}: {formula}{each}." if formula else f"DirectML's {op.name}."


def ufunc_first_line(op):
    formula = op.formula
    for one, name in zip(op.inputs, ufunc_inputs(op)):
        formula = re.sub(rf"\b{one.name}\b", name, formula)
    return f"DirectML's {op.name}: {formula}, element by element and correctly rounded."


# Functions that differ from their counterparts in the C library and NumPy.
UFUNC_EXCEPTIONS = {
    "ELEMENT_WISE_POW": "A negative base, including minus infinity, raised to a finite power that is not an integer is "
                        "NaN, as DirectML documents; C and NumPy return 0 or infinity for minus infinity."}


def ufunc_notes(op):
    if len(op.inputs) == 1:
        types = types_text(op.inputs[0].types)
    else:
        types = "float16 and float32"
    yield f"The types are {types}; the result is the true value rounded to the nearest number of the type."
    yield ("Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other "
           "libraries, GPUs and ``device`` are handled as in `modulus_floor`.")
    if op.name in UFUNC_EXCEPTIONS:
        yield UFUNC_EXCEPTIONS[op.name]
    if op.attributes:
        yield f"For DirectML's ScaleBias, use `run`: run({op.name!r}, {', '.join(ufunc_inputs(op))}, Scale=2, Bias=1)."


def docstring(op):
    """Includes the example if the operator is built. Tests also generate functions for the other operators."""
    first, rest = (ufunc_first_line(op), ufunc_notes(op)) if op.name in UFUNCS else (first_line(op), notes(op))
    lines = textwrap.wrap(first, 112, break_long_words=False, break_on_hyphens=False)
    body = [line for note in rest
            for line in textwrap.wrap(note, 116, break_long_words=False, break_on_hyphens=False)]
    if op.name in EXAMPLES:
        body += ["", *python_session(op, EXAMPLES[op.name])]
    text = '    """' + "\n    ".join(lines).replace("\\", "\\\\")
    return text + "\n\n" + "".join(f"    {line}".rstrip() + "\n" for line in body) + '    """\n'


# ---- The files ------------------------------------------------------------------------------------------------------

def function_text(op):
    if op.name in UFUNCS:
        head = f"def {op.python}("
        parts = [part.replace("'same_kind'", "_CASTING").replace("'K'", "_ORDER") for part in ufunc_signature(op)]
        return f'@_ufunc("{op.name}")\n' + wrapped(head, parts, "):\n", len(head)) + docstring(op)
    body = f"_{op.python}"
    required = tuple(one.field for one in op.attributes if not one.optional)
    optional = tuple(one.field for one in op.attributes if one.optional)
    result, head = f"{body} = _function_of(", f"def {op.python}("
    parts = [f'"{op.name}"', *(_tuple_text(one) for one in (required, optional, tuple(options(op))))]
    call, arguments = f"    return {body}(", [*(one.name for one in (*op.inputs, *op.attributes)), *options(op)]
    text = wrapped(call, arguments, ")\n", len(call))
    if op.name in EXTRAS:  # a call without these parameters calls the body directly
        usual = [f"{one} is None" for one in EXTRAS[op.name]]
        usual += [f"{one} is not None" for one in ("axes", *(["dtype"] if op.name in NUMPYS_TYPES else []))
                  if "keepdims" in EXTRAS[op.name]]
        arguments = [body, f'"{op.name}"', *(one.name for one in op.inputs),
                     *(f"{one.field}={one.name}" for one in op.attributes),
                     *(f"{one}={one}" for one in (*EXTRAS[op.name], *options(op)))]
        text = (f"    if {' and '.join(usual)}:\n" + textwrap.indent(text, "    ") +
                wrapped("    return _over_axes(", arguments, ")\n", 22))
    return (wrapped(result, parts, ")\n", len(result)) + "\n\n" + wrapped(head, signature(op), "):\n", len(head)) +
            docstring(op) + text)


def _tuple_text(names):
    return "(" + ", ".join(f'"{name}"' for name in names) + ("," if len(names) == 1 else "") + ")"


def spec_text(op):
    """Returns a row of the table that `run` uses, without the parts that have their default values."""
    def of_output(output):
        parts = [f'"{output.tensor.name}"', *(["optional=True"] if output.tensor.optional else []),
                 *(["array=True"] if output.tensor.array else [])]
        return f"Output({', '.join(parts)})"

    array = next((i for i, one in enumerate(op.inputs) if one.array), None)
    truths = tuple(i for i, one in enumerate(op.inputs) if one.types == ("UINT8",))
    parts = [str(len(op.inputs)), f"[{', '.join(map(of_output, op.outputs))}]",
             *([f"array={array}"] if array is not None else []), *([f"same={op.same}"] if op.same else []),
             *([f"truths={truths}"] if truths else [])]
    head = f'    "{op.name}": Spec('
    return wrapped(head, parts, "),\n", len(head))


def specs_text(operators):
    head = '''# SPDX-License-Identifier: MIT
"""The inputs and outputs of each implemented operator. data/python/generate_python.py generates this file from
data/facts and the entries in src/ops; edit those instead.
"""
from collections import namedtuple

# inputs: their number. array: the input that is an array of tensors. same: groups of inputs that share a type.
# truths: the inputs that accept only UINT8 in DirectML, and arrays of bool too.
Spec = namedtuple("Spec", "inputs outputs array same truths", defaults=(None, (), ()))
# array: whether it is an array of tensors, which is then the operator's only output.
Output = namedtuple("Output", "name optional array", defaults=(False, False))

SPECS = {
'''
    return head + "".join(map(spec_text, operators)) + "}\n"


def dict_text(name, entries):
    """Writes lines of at most 120 columns."""
    return wrapped(f"{name} = {{", [f"{key!r}: {value!r}" for key, value in entries], "}\n", 4).replace("'", '"')


def words_text(operators):
    fields = {one.field: one.name for op in operators
              for one in (*op.inputs, *(output.tensor for output in op.outputs), *op.attributes)}
    choices = {f"{op.name}.{one.field}": " ".join(one.values) for op in operators for one in op.attributes if one.values}
    return "\n".join(('''# SPDX-License-Identifier: MIT
"""Python's names for messages. data/python/generate_python.py generates this file from data/facts; edit those instead.

FUNCTIONS: the function of each operator. INPUTS: its inputs; a question mark follows inputs that may be None. FIELDS:
the parameter of each field of DirectML's structs. CHOICES: the values of fields that are enumerations.
"""''',
        dict_text("FUNCTIONS", ((op.name, op.python) for op in operators if op.python != op.name.lower())),
        dict_text("INPUTS", ((op.name, " ".join(one.name + "?" * one.optional for one in op.inputs)) for op in operators)),
        dict_text("FIELDS", sorted(fields.items())), dict_text("CHOICES", sorted(choices.items()))))


def defaults_text(operators):
    rows = [(op.name, {one.field: one.by.rule for one in op.attributes if one.by is not None}) for op in operators]
    lines = [wrapped(f'    "{name}": {{', [f'"{field}": "{rule}"' for field, rule in rules.items()], "},\n",
                     len(name) + 9) for name, rules in rows if rules]
    return '''# SPDX-License-Identifier: MIT
"""The rules that give attributes their default values, if these depend on the arguments. _arguments.py implements them.
data/python/generate_python.py generates this file from data/python/python_defaults.py; edit that instead.
"""

RULES = {
''' + "".join(lines) + "}\n"


def module_text(operators):
    functions = [op for op in operators if op.name not in HAND_WRITTEN]
    exported, shadowing = exported_names(functions)
    lines = ["# SPDX-License-Identifier: MIT\n",
             '"""One function for each implemented operator. data/python/generate_python.py generates this file from '
             'data/facts and\nthe entries in src/ops; edit those instead.\n"""\n',
             "from ._habits import function_of as _function_of, over_axes as _over_axes\n",
             "from ._ufuncs import CASTING as _CASTING, ORDER as _ORDER, ufunc as _ufunc\n\n",
             list_text("__all__", exported), "# names of Python builtins: never imported by import *\n",
             list_text("SHADOWING", shadowing)]
    lines += ["\n\n" + function_text(op) for op in functions]
    return "".join(lines)


def package_stub_text(text, operators):
    """The package's own stub is written by hand, except for the names in import *, which checkers need spelled out."""
    start, end = text.index("__all__ = ["), text.index("]\n", text.index("__all__ = ["))
    own = re.findall(r'"(\w+)"', text[start:end])
    own = own[:own.index("__version__") + 1]
    exported, shadowing = exported_names([op for op in operators if op.name not in HAND_WRITTEN])
    text = text[:start] + list_text("__all__", own + exported) + text[end + 2:]
    others = wrapped("from ._operators import (", [f"{name} as {name}" for name in shadowing], ")\n", 25)
    return re.sub(r"^from \._operators import \([^)]*\)\n", others, text, flags=re.MULTILINE)


def page_text(operators, built):
    others = " The others will have these names and signatures." if len(built) < len(operators) else ""
    lines = ["# DirectML's operators in Python", "",
             "`data/python/generate_python.py` writes this page; [python-reference.md](python-reference.md#a-function-for-each-operator) states the rule.",
             f"{len(built)} of the {len(operators)} operators have a function.{others} A function whose signature ends with",
             "`…` accepts every argument of a NumPy ufunc, and `device`.", "",
             "| DirectML | Python | built |", "|---|---|---|"]
    for op in operators:
        parts = [*ufunc_inputs(op), "/", "out=None", "*", "…"] if op.name in UFUNCS | HAND_WRITTEN else signature(op)
        call = f"{op.python}({', '.join(parts)})"
        lines.append(f"| {op.name} | `{call}` | {'yes' if op.name in built else ''} |")
    return "\n".join(lines) + "\n"


def generate():
    operators = read_operators()
    built = built_names()
    unknown = built - {op.name for op in operators}
    if unknown:
        fail(f"src/ops has entries that are not operators of DirectML: {', '.join(sorted(unknown))}")
    without = built ^ set(EXAMPLES)
    if without:
        fail(f"examples.py has too many or too few examples: {', '.join(sorted(without))}")
    rows = [op for op in operators if op.name in built]
    package = ROOT / "python" / "anydml"
    return {package / "_specs.py": specs_text(rows), package / "_specs.pyi": spec_stub_text(rows),
            package / "_words.py": words_text(rows), package / "_defaults.py": defaults_text(rows),
            package / "_operators.py": module_text(rows), package / "_operators.pyi": stub_module_text(rows),
            package / "__init__.pyi": package_stub_text((package / "__init__.pyi").read_text(), rows),
            ROOT / "docs" / "python-operators.md": page_text(operators, built)}


def main(arguments):
    if arguments not in ([], ["--check"]):
        fail("usage: generate_python.py [--check]")
    for path, text in generate().items():
        if arguments == ["--check"]:
            if not path.exists() or path.read_text() != text:
                fail(f"{path.name} does not match the facts: run data/python/generate_python.py and commit the result")
            print(f"{path.name} is current")
        else:
            path.write_text(text)
            print(f"wrote {path.name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
