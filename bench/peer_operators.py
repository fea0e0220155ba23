# SPDX-License-Identifier: MIT
"""NumPy's and PyTorch's equivalents of anydml's operators, by the names of `dmlrun bench`, for peers.py.

Every function writes to existing memory, except for functions without an out argument: numpy.where, PyTorch's product
of all elements. Attributes are the same as in the benchmark (tools/bench/operators.cpp). An operator that a library
only offers as several passes over memory is omitted, because timing it would measure something different.
"""
COLUMNS = 4096  # the size of the reduced dimension
ANSWERS = ("logical_equals", "logical_greater_than", "logical_less_than", "logical_greater_than_or_equal",
           "logical_less_than_or_equal", "is_nan", "is_infinity")
REDUCTION_LAYOUTS = {"inner": (1,), "outer": (0,), "whole": (0, 1)}


class Row:
    """An operator: its inputs by kind of values, its attributes, and the calls to the two libraries."""

    def __init__(self, name, inputs="a", numpy=None, torch=None, attributes=(), directml=None, output=None,
                 only=lambda kind: True):
        self.name, self.inputs, self.numpy, self.torch = name, inputs, numpy, torch
        self.attributes = dict(attributes)
        self.directml = directml or f"ELEMENT_WISE_{name.upper()}"
        self.output = output  # the dtype's name, or None for the first input's dtype
        self.only = only      # by NumPy's kind of dtype: "f", "i", "u"
        self.is_reduction = self.directml in ("REDUCE", "ARGMIN", "ARGMAX")

    @property
    def layouts(self):
        return tuple(REDUCTION_LAYOUTS) if self.is_reduction else ("tensor",)


def direct(name):
    """Returns a call to a function that both libraries have and that accepts out=."""
    return lambda library, out, *inputs: getattr(library, name)(*inputs, out=out)


def numpy_cast(np, out, a):
    np.copyto(out, a, casting="unsafe")


def torch_copy(torch, out, a):
    out.copy_(a)


def as_bool(library, out):
    return out.view(library.bool) if hasattr(library, "from_numpy") else out.view(bool)


def answer(name):
    return lambda library, out, *inputs: getattr(library, name)(*inputs, out=as_bool(library, out))


def numpy_divide(np, out, a, b):
    # NumPy's only integer quotient rounds signed integers down, but DirectML's rounds towards zero.
    (np.divide if a.dtype.kind == "f" else np.floor_divide)(a, b, out=out)


def torch_divide(torch, out, a, b):
    torch.div(a, b, rounding_mode=None if a.is_floating_point() else "trunc", out=out)


def simple_rows():
    """Yields the element-wise operators."""
    both = {"abs": "abs abs", "add": "add add", "subtract": "subtract sub", "multiply": "multiply mul",
            "ceil": "ceil ceil", "floor": "floor floor", "sqrt": "sqrt sqrt", "recip": "reciprocal reciprocal",
            "max": "maximum maximum", "min": "minimum minimum", "sign": "sign sign", "negate": "negative neg",
            "round": "rint round", "logical_and": "logical_and logical_and", "logical_or": "logical_or logical_or",
            "logical_xor": "logical_xor logical_xor", "logical_not": "logical_not logical_not",
            "bit_and": "bitwise_and bitwise_and", "bit_or": "bitwise_or bitwise_or",
            "bit_xor": "bitwise_xor bitwise_xor", "bit_not": "bitwise_not bitwise_not",
            "bit_shift_left": "left_shift bitwise_left_shift", "bit_shift_right": "right_shift bitwise_right_shift"}
    one = {"abs", "ceil", "floor", "sqrt", "recip", "sign", "negate", "round", "logical_not", "bit_not"}
    attributes = {"round": {"RoundingMode": "HALVES_TO_NEAREST_EVEN"}}
    for name, words in both.items():
        inputs = "m" if name == "sqrt" else "a" if name in one else "as" if "shift" in name else "ab"
        bits = name.startswith("bit")
        yield Row(name, inputs, direct(words.split()[0]), direct(words.split()[1]), attributes.get(name, {}),
                  only=(lambda kind: kind != "f") if bits else lambda kind: True)
    yield Row("identity", "a", numpy_cast, torch_copy)
    yield Row("divide", "ab", numpy_divide, torch_divide)
    yield Row("clip", "a", lambda np, out, a: np.clip(a, a.dtype.type(1), a.dtype.type(50), out=out),
              lambda torch, out, a: torch.clamp(a, 1, 50, out=out), {"Min": 1.0, "Max": 50.0})
    yield Row("threshold", "a", lambda np, out, a: np.maximum(a, a.dtype.type(1), out=out),
              lambda torch, out, a: torch.clamp_min(a, 1, out=out), {"Min": 1.0})
    yield Row("if", "cab", lambda np, out, c, a, b: np.where(c.view(bool), a, b),
              lambda torch, out, c, a, b: torch.where(c.view(torch.bool), a, b, out=out))
    names = {"logical_equals": "equal eq", "logical_greater_than": "greater gt", "logical_less_than": "less lt",
             "logical_greater_than_or_equal": "greater_equal ge", "logical_less_than_or_equal": "less_equal le"}
    for name, words in names.items():
        yield Row(name, "ab", answer(words.split()[0]), answer(words.split()[1]), output="uint8")
    yield Row("is_nan", "a", answer("isnan"), lambda torch, out, a: torch.ne(a, a, out=out.view(torch.bool)),
              output="uint8")
    yield Row("is_infinity", "a", answer("isinf"), attributes={"InfinityMode": "EITHER"}, output="uint8")
    yield Row("bit_count", "a", lambda np, out, a: np.bitwise_count(a, out=out), output="uint8",
              only=lambda kind: kind == "u")  # for a negative number NumPy counts the bits of its magnitude


def activation_rows():
    def row(name, torch, numpy=None, **attributes):
        return Row(name, "a", numpy, torch, attributes, f"ACTIVATION_{name.upper()}")
    yield row("relu", lambda torch, out, a: torch.clamp_min(a, 0, out=out),
              lambda np, out, a: np.maximum(a, a.dtype.type(0), out=out))
    yield row("leaky_relu", lambda torch, out, a: torch._C._nn.leaky_relu(a, 0.2, out=out), Alpha=0.2)
    yield row("thresholded_relu", lambda torch, out, a: torch.threshold(a, 0.2, 0, out=out), Alpha=0.2)
    # PyTorch's version has a slope of 1/6.
    yield row("hard_sigmoid", lambda torch, out, a: torch._C._nn.hardsigmoid(a, out=out), Alpha=1 / 6, Beta=0.5)
    yield row("hard_swish", lambda torch, out, a: torch._C._nn.hardswish(a, out=out), Alpha=1 / 6, Beta=0.5)


def typed_rows():
    for name in ("float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                 "uint64"):
        yield Row(f"cast_{name}", "a", numpy_cast, torch_copy, directml="CAST", output=name)
    yield Row("fill_value_constant", "", lambda np, out: out.fill(3), lambda torch, out: out.fill_(3), {"Value": 3.0},
              "FILL_VALUE_CONSTANT")
    yield Row("fill_value_sequence", "", None, lambda torch, out: torch.arange(1, out.numel() + 1, out=out),
              {"ValueStart": 1.0, "ValueDelta": 1.0}, "FILL_VALUE_SEQUENCE")


def numpy_reduction(name):
    def reduce(np, out, a, axes):
        typed = {"dtype": a.dtype} if name in ("sum", "prod") else {}
        getattr(np, name)(a, axis=axes, keepdims=True, out=out, **typed)
    return reduce


def torch_reduction(name):
    def reduce(torch, out, a, axes):
        getattr(torch, name)(a, axes, keepdim=True, out=out)
    return reduce


def torch_product(torch, out, a, axes):
    if len(axes) == 1:
        torch.prod(a, axes[0], keepdim=True, dtype=a.dtype, out=out)
    else:
        torch.prod(a, dtype=a.dtype)


def index_of(name):
    """Finds the index of an extreme. Both libraries return only 64-bit indices, and reduce one axis or all axes."""
    def reduce(library, out, a, axes):
        axis = axes[0] if len(axes) == 1 else None
        if hasattr(library, "from_numpy"):
            getattr(library, name)(a, axis, keepdim=len(axes) == 1, out=out if len(axes) == 1 else out.view(()))
        else:
            getattr(library, name)(a, axis=axis, keepdims=True, out=out)
    return reduce


def torch_norm(order):
    return lambda torch, out, a, axes: torch.linalg.vector_norm(a, order, axes, True, out=out)


def reduction_rows():
    def row(function, numpy, torch):
        return Row(f"reduce_{function.lower()}", "a", numpy, torch, {"Function": function}, "REDUCE")
    yield row("SUM", numpy_reduction("sum"), torch_reduction("sum"))
    yield row("AVERAGE", numpy_reduction("mean"), torch_reduction("mean"))
    yield row("MULTIPLY", numpy_reduction("prod"), torch_product)
    yield row("MAX", numpy_reduction("max"), torch_reduction("amax"))
    yield row("MIN", numpy_reduction("min"), torch_reduction("amin"))
    yield row("L1", None, torch_norm(1))
    yield row("L2", None, torch_norm(2))
    for name in ("argmax", "argmin"):
        yield Row(name, "a", index_of(name), index_of(name), {"AxisDirection": "INCREASING"}, name.upper(), "int64")


ROWS = {row.name: row for rows in (simple_rows(), activation_rows(), typed_rows(), reduction_rows()) for row in rows}


# ---- Operands -------------------------------------------------------------------------------------------------------

PERIOD = 1 << 20  # the number of values after which they repeat


def make_inputs(np, random, row, dtype, count, operands, result):
    """Returns arrays for the row's letters: a and b are operands as for the modulus, m has no signs, s has shift
    counts, and c is a condition.

    `result` keeps the arrays for the type's other rows."""
    def draw(letter):
        if letter in "ab":
            return operands(np, random, "ordinary", dtype, PERIOD)["ab".index(letter)]
        if letter == "m":
            return np.abs(operands(np, random, "ordinary", dtype, PERIOD)[0])
        most, kind = (2, np.uint8) if letter == "c" else (8 * np.dtype(dtype).itemsize, dtype)
        return random.integers(0, most, PERIOD).astype(kind)
    for letter in row.inputs:
        if letter not in result or result[letter].size < count:
            result[letter] = np.resize(draw(letter), count)
    shape = (count // COLUMNS, COLUMNS) if row.is_reduction else (count,)
    return [result[letter][:count].reshape(shape) for letter in row.inputs]


def make_output(np, row, dtype, count, layout):
    shape = (count,)
    if row.is_reduction:
        axes = REDUCTION_LAYOUTS[layout]
        shape = tuple(1 if i in axes else size for i, size in enumerate((count // COLUMNS, COLUMNS)))
    return np.zeros(shape, row.output or dtype)


def extra_arguments(row, layout):
    """Returns the additional arguments for a peer's function."""
    return (REDUCTION_LAYOUTS[layout],) if row.is_reduction else ()
