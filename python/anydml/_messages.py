# SPDX-License-Identifier: MIT
"""Puts Python's names into the library's messages: parameters instead of fields, functions instead of operators."""
import functools
import re

from . import _words

_TYPE = r"(?:float|int|uint)(?:4|8|16|32|64)"

_NAMES = {_words.FUNCTIONS.get(op, op.lower()) for op in _words.INPUTS}


def function_of(op):
    """Returns the name of an operator's function."""
    return _words.FUNCTIONS.get(op, op.lower())


def named(function, own=None):
    """Decorates a function so that messages contain its own name instead of the name of the function that it calls."""
    if isinstance(function, str):
        return functools.partial(named, own=function)

    @functools.wraps(function)
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except (TypeError, ValueError) as error:
            name, _, text = str(error).partition(": ")
            if type(error) not in (TypeError, ValueError) or name not in _NAMES:
                raise
            failed = type(error)(f"{own or function.__name__}: {text}")
        raise failed from None

    return call


def said(error, op, inputs, attributes, own=None):
    """Returns the error with Python's names instead of the names of the fields and the operator. `own` is the operator
    of the function that the user called, if that function runs a different operator."""
    function, names = function_of(own or op), _words.INPUTS.get(op, "").split()
    if len(names) == 1 and names[0] == "inputs":
        names = [f"inputs[{i}]" for i in range(len(inputs))]
    for one, name in zip(inputs, names):
        if one is None and not name.endswith("?"):
            return TypeError(f"{function}: {name} is None; expected an array")

    def parameter(match):
        word = match[0]
        if word in _words.FIELDS or not word.endswith("Count"):
            return _words.FIELDS.get(word, word)
        counted = "Axes" if word == "AxisCount" else word.removesuffix("Count")
        counted = next((one for one in (counted, f"{counted}s") if one in _words.FIELDS), None)
        return word if counted is None else f"the length of {_words.FIELDS[counted]}"

    def choices(match):
        values = _words.CHOICES.get(f"{op}.{match[1]}", "").split()
        if not values or match[1] not in attributes:  # the fields of an operator that is an attribute
            return match[0]
        other = {"'MEAN'": "; NumPy's mean is 'AVERAGE'", "'PROD'": "; NumPy's prod is 'MULTIPLY'"}.get(match[2], "")
        known = " or ".join((", ".join(map(repr, values[:-1])), repr(values[-1])) if values[1:] else map(repr, values))
        return f"{match[1]} is {attributes[match[1]]!r}; expected {known}{other if 'AVERAGE' in values else ''}"

    text = re.sub(rf"^(node \d+: )?{op}: ", "", str(error)).replace("attribute ", "")
    text = text.removesuffix("; convert it to float32")  # the conversion suggested below uses the array's library
    text = re.sub(r"(\w+): is ('[^']*'); expected the name of a value of \w+", choices, text)
    text = re.sub(r"\binputs\[(\d+)\]", lambda match: names[int(match[1])].rstrip("?")
                  if int(match[1]) < len(names) else match[0], text)
    text = re.sub(r"\.(Sizes|DimensionCount|DataType)\b", lambda match: {
        "Sizes": ".shape", "DimensionCount": ".ndim", "DataType": ".dtype"}[match[1]], text)
    text = re.sub(r"\b[A-Z]\w*", parameter, text.replace("DimensionCount", "ndim"))
    text = re.sub(_TYPE, lambda match: match[0].lower(), text, flags=re.IGNORECASE)
    text = re.sub(rf": type is ({_TYPE})", r" is \1", text)
    text = text.replace(": sizes are", " has the shape").replace(": ndim is", ".ndim is")
    match = re.search(rf"(\w+) is ({_TYPE}); expected ((?:{_TYPE}(?:, )?)+)", text)
    if match:
        wanted = match[3].rstrip(", ").split(", ")
        array = dict(zip(names, inputs)).get(match[1], next((one for one in inputs if hasattr(one, "dtype")), None))
        text += "; convert it with " + conversion(array, wanted)
    return type(error)(f"{function}: {text}")


def conversion(array, types):
    """Suggests a conversion to one of these types, preferably float32."""
    kind = "float32" if "float32" in types else types[0]
    if type(array).__module__.partition(".")[0] == "torch":
        return f"to(torch.{kind})"
    return f"astype({kind!r})" if hasattr(array, "astype") else f"numpy.{kind}(...)"
