# SPDX-License-Identifier: MIT
"""Records arithmetic on Symbols, and NumPy ufuncs applied to them, as operators.

Types follow NumPy 2: operands of different types are converted to the type that numpy.result_type returns, Python
numbers are converted to the other operand's type, and functions of floats convert integers to the same floats as NumPy.
If no operator supports that type, such as float64 for the exponential of an int32, a TypeError suggests an alternative.
"""
import functools
import math

import numpy as np

from ._call import _number
from ._matrices import PLAIN, check_floats, multiplied
from ._symbols import UFUNCS, Symbol, changed, fresh, plain, record


def operate(name, *operands, dtype=None, shape=None, **attributes):
    return record(name, operands, None, dtype, shape, None, attributes)


def is_number(one):
    return type(one) in (int, float, bool)


def taken(one):
    """Returns an operand as a Symbol, an array or a Python number."""
    if type(one) is Symbol or is_number(one) or type(one) is np.ndarray:
        return one
    if isinstance(one, (int, float)) and not isinstance(one, np.generic):
        return int(one) if isinstance(one, int) else float(one)
    array = np.asarray(one)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an operand is of type {type(one).__name__}{'' if array.ndim == 0 else f' with {array.dtype}'}; expected "
                        "a number, or an array of bool, integers or floats")
    return array


def dtypes_of(operands):
    return {one.dtype for one in operands if not is_number(one)}


def together(*operands):
    """Converts operands to the type that NumPy chooses for them. Returns the operands and the type."""
    operands = [taken(one) for one in operands]
    kinds = dtypes_of(operands)
    kind = np.result_type(*kinds) if kinds else np.dtype(bool)
    numbers = [type(one) for one in operands if is_number(one)]
    if float in numbers and kind.kind != "f":
        kind = np.dtype(np.float64)
    elif int in numbers and kind == bool:
        kind = np.dtype(int)
    return [converted(one, kind) for one in operands], kind


def converted(one, kind):
    """Converts an operand to this type."""
    if is_number(one):
        return np.asarray(one, bool) if kind == bool else _number(int(one) if type(one) is bool else one, kind, 0)
    return one.astype(kind) if one.dtype != kind else one


def symbols(*operands):
    """Converts the operands to one type and constants to Symbols, and returns the operands and the type."""
    operands, kind = together(*operands)
    recorder = next(one for one in operands if type(one) is Symbol)._recorder
    return [one if type(one) is Symbol else recorder.known(one) for one in operands], kind


def view_as_bool(value):
    return value.view(bool)


def truths(one):
    """Returns whether each element is nonzero, as bool."""
    one = taken(one)
    if is_number(one) or type(one) is np.ndarray:
        return np.asarray(one, bool)
    return one if one.dtype == bool else differ(one, 0)


# ---- Two operands ---------------------------------------------------------------------------------------------------

def _arithmetic(name, of_truths=None, instead="convert them with astype"):
    def function(a, b):
        (a, b), kind = together(a, b)
        if kind != bool:
            return operate(f"ELEMENT_WISE_{name}", a, b)
        if of_truths is None:
            raise TypeError(f"{name.lower()} of bool and bool cannot be part of a graph; {instead}")
        return of_truths(a, b)

    return function


def _logical(name):
    return lambda a, b: view_as_bool(operate(f"ELEMENT_WISE_LOGICAL_{name}", plain(truths(a)), plain(truths(b))))


logical_and, logical_or, logical_xor = map(_logical, ("AND", "OR", "XOR"))
add, multiply = _arithmetic("ADD", logical_or), _arithmetic("MULTIPLY", logical_and)
subtract = _arithmetic("SUBTRACT", None, "use ^ or numpy.logical_xor, as in NumPy")
maximum, minimum = _arithmetic("MAX", logical_or), _arithmetic("MIN", logical_and)
modulus_floor, modulus_truncate = _arithmetic("MODULUS_FLOOR"), _arithmetic("MODULUS_TRUNCATE")


def divide(a, b):
    """Integers are divided in float64, as in NumPy; anydml.divide truncates their quotient."""
    (a, b), kind = together(a, b)
    if kind.kind != "f":
        a, b = (one.astype(np.float64) for one in (a, b))
    return operate("ELEMENT_WISE_DIVIDE", a, b)


def floor_divide(a, b):
    """Divides a minus the remainder by b, as NumPy does, so that the result is correct even if a / b is rounded up."""
    (a, b), kind = symbols(a, b)
    if kind == bool:
        raise TypeError("// of bool and bool cannot be part of a graph; convert them with astype")
    if kind == np.float16:  # in float32, as in NumPy
        return floor_divide(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    rest = modulus_truncate(a, b)
    other_sign = logical_and(differ(rest, 0), differ(less(b, 0), less(rest, 0)))
    if kind.kind != "f":
        quotient = operate("ELEMENT_WISE_DIVIDE", a, b)
        return quotient if kind.kind == "u" else where(other_sign, subtract(quotient, 1), quotient)
    quotient = divide(subtract(a, rest), b)
    quotient = where(other_sign, subtract(quotient, 1), quotient)
    whole = operate("ELEMENT_WISE_FLOOR", quotient)
    whole = where(greater(subtract(quotient, whole), 0.5), add(whole, 1), whole)
    plain_quotient = divide(a, b)
    whole = where(equal(quotient, 0), copysign(0.0, plain_quotient), whole)
    return where(equal(b, 0), plain_quotient, whole)


def power(a, b):
    """As in NumPy, x ** 2 is x * x, and x ** 0.5 is the square root."""
    exponent = b.item() if isinstance(b, np.generic) and b.dtype == getattr(a, "dtype", None) else taken(b)
    if type(a) is Symbol and type(exponent) in (int, float) and a.dtype != bool:
        found = _power_of_number(a, exponent)
        if found is not None:
            return found
    (a, b), kind = together(a, b)
    if kind == bool:
        raise TypeError("** of bool and bool cannot be part of a graph; convert them with astype")
    if kind in (np.int64, np.uint64, np.float64):
        raise TypeError(f"** of {kind} accepts "
                        f"{'the numbers 0, 0.5, 1, 2 and -1' if kind.kind == 'f' else 'numbers'} as exponents; convert it "
                        f"with astype('{'float32' if kind.kind == 'f' else 'int32'}')")
    return operate("ELEMENT_WISE_POW", a, b)


def _power_of_number(x, exponent):
    """Handles exponents that do not need POW or are invalid; returns None for all other exponents."""
    if x.dtype.kind == "f":
        if exponent in _POWERS:
            return _POWERS[exponent](x)
        return x._recorder.known(np.ones(x.shape, x.dtype)) if exponent == 0 else None
    if type(exponent) is float:
        raise TypeError(f"** of {x.dtype} and a float is float64 in NumPy; write x.astype('float32') ** {exponent}")
    if exponent < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return _power_of_integer(x, exponent) if x.dtype.itemsize == 8 or exponent in (1, 2) else None


def _power_of_integer(x, exponent):
    """Computes the power by repeated squaring. Products wrap, so the order of the factors does not matter."""
    result = x._recorder.known(np.ones(x.shape, x.dtype)) if exponent == 0 else None
    while exponent:
        if exponent & 1:
            result = x if result is None else multiply(result, x)
        exponent >>= 1
        x = multiply(x, x) if exponent else x
    return result


_POWERS = {1: lambda x: x, 2: lambda x: multiply(x, x), 0.5: functools.partial(operate, "ELEMENT_WISE_SQRT"),
           -1: functools.partial(operate, "ELEMENT_WISE_RECIP")}


def multiply_matrices(a, b):
    (a, b), _ = together(*(one if type(one) is Symbol else np.asarray(one) for one in (a, b)))
    check_floats(a, b)
    return multiplied(a, b, lambda left, right, shape: operate("GEMM", left, right, None, shape=shape, **PLAIN))


def _bitwise(name, of_truths):
    def function(a, b):
        (a, b), kind = together(a, b)
        if kind == bool:
            return of_truths(a, b)
        _check_integers(name, kind)
        return operate(f"ELEMENT_WISE_BIT_{name}", a, b)

    return function


def _check_integers(name, kind):
    if kind.kind not in "iu":
        raise TypeError(f"bitwise {name.lower()} of {kind} cannot be part of a graph; expected integers or bool: "
                        "x.view('uint32') has the bits of a float32")


def _shift_left(a, b):
    (a, b), kind = together(a, b)
    _check_integers("shift", kind)
    bits = f"u{kind.itemsize}"
    return operate("ELEMENT_WISE_BIT_SHIFT_LEFT", a.view(bits), b.view(bits)).view(kind)


def _shift_right(a, b):
    """Shifts right. Negative numbers get ones from the left."""
    (a, b), kind = symbols(a, b)
    _check_integers("shift", kind)
    bits = f"u{kind.itemsize}"
    shift = functools.partial(operate, "ELEMENT_WISE_BIT_SHIFT_RIGHT")
    positive = shift(a.view(bits), b.view(bits)).view(kind)
    if kind.kind == "u":
        return positive
    negative = invert(shift(invert(a).view(bits), b.view(bits)).view(kind))
    return where(less(a, 0), negative, positive)


# ---- Comparisons and selection --------------------------------------------------------------------------------------

def _comparison(name):
    def function(a, b):
        kinds = dtypes_of((taken(a), taken(b)))
        (a, b), kind = together(a, b)
        if kind.kind == "f" and len(kinds) > 1 and all(one.kind in "iu" for one in kinds):
            raise TypeError(f"a comparison of {' and '.join(sorted(map(str, kinds)))}, which NumPy compares exactly, cannot be "
                            "part of a graph; convert one of them with astype")
        return view_as_bool(operate(f"ELEMENT_WISE_LOGICAL_{name}", plain(a), plain(b)))

    return function


equal, less, greater = map(_comparison, ("EQUALS", "LESS_THAN", "GREATER_THAN"))
less_equal, greater_equal = map(_comparison, ("LESS_THAN_OR_EQUAL", "GREATER_THAN_OR_EQUAL"))


def differ(a, b):
    return logical_not(equal(a, b))


def logical_not(x):
    return view_as_bool(operate("ELEMENT_WISE_LOGICAL_NOT", plain(truths(x))))


def where(condition, a, b):
    """Returns the elements of a where the condition is true, and of b elsewhere."""
    if is_number(taken(a)) and is_number(taken(b)):
        a, b = (np.asarray(one, np.result_type(np.asarray(a), np.asarray(b))) for one in (a, b))
    (a, b), kind = together(a, b)
    condition = truths(condition)
    if not any(type(one) is Symbol for one in (condition, a, b)):
        return np.where(condition, a, b)
    built = operate("ELEMENT_WISE_IF", plain(condition), plain(a), plain(b))
    return view_as_bool(built) if kind == bool else built


def _maximum_of_numbers(extreme):
    """fmax and fmin: the result is NaN only if both operands are NaN."""
    def function(a, b):
        (a, b), kind = symbols(a, b)
        if kind.kind != "f":
            return extreme(a, b)
        return where(is_nan(a), b, where(is_nan(b), a, extreme(a, b)))

    return function


def copysign(a, b):
    a, b = (as_floats("numpy.copysign", one, "efd") for one in symbols(a, b)[0])
    kind = a.dtype
    bits = np.dtype(f"u{kind.itemsize}")
    sign = np.left_shift(1, 8 * kind.itemsize - 1, dtype=np.uint64)
    both = functools.partial(operate, "ELEMENT_WISE_BIT_AND")
    return operate("ELEMENT_WISE_BIT_OR", both(a.view(bits), np.asarray(~sign).astype(bits)),
                   both(b.view(bits), np.asarray(sign).astype(bits))).view(kind)


# ---- One operand ----------------------------------------------------------------------------------------------------

def as_floats(name, x, codes="ef"):
    """Converts integers to the same floats as NumPy. `codes` names the types that the operator accepts."""
    kind = x.dtype
    if kind.kind != "f":
        x = x.astype("efd"[min(kind.itemsize.bit_length() - 1, 2)])
    if x.dtype.char in codes:
        return x
    what = f"{name} of {kind} is float64 in NumPy, and" if kind.kind != "f" else f"{name}: an operand is float64;"
    raise TypeError(f"{what} the operator takes float16 and float32: convert the operand with astype('float32')")


def of_floats(name, operator, codes="ef", of_integers=None, **attributes):
    def function(x):
        if of_integers is not None and x.dtype.kind != "f":
            return of_integers(x)
        return operate(operator, as_floats(f"numpy.{name}", x, codes), **attributes)

    return function


def _of_two_floats(name, operator):
    def function(a, b):
        (a, b), _ = symbols(a, b)
        return operate(operator, as_floats(f"numpy.{name}", a), as_floats(f"numpy.{name}", b))

    return function


def negative(x):
    if x.dtype == bool:
        raise TypeError("- of bool cannot be part of a graph; use ~ or numpy.logical_not, as in NumPy")
    return operate("ELEMENT_WISE_NEGATE", x)


def positive(x):
    if x.dtype == bool:
        raise TypeError("+ of bool cannot be part of a graph; convert it with astype")
    return x


def absolute(x):
    return x if x.dtype == bool or x.dtype.kind == "u" else operate("ELEMENT_WISE_ABS", x)


def invert(x):
    if x.dtype == bool:
        return logical_not(x)
    _check_integers("not", x.dtype)
    return operate("ELEMENT_WISE_BIT_NOT", x)


def is_nan(x):
    return differ(x, x)


def is_infinite(x):
    return differ(x, x) if x.dtype.kind != "f" else equal(absolute(x), math.inf)


def is_finite(x):
    return equal(x, x) if x.dtype.kind != "f" else less(absolute(x), math.inf)


def _sign(x):
    if x.dtype == bool:
        raise TypeError("numpy.sign of bool cannot be part of a graph; convert it with astype")
    built = operate("ELEMENT_WISE_SIGN", x)
    return where(is_nan(x), x, built) if x.dtype.kind == "f" else built


def _sign_bit(x):
    x = as_floats("numpy.signbit", x, "efd")
    return less(x.view(f"i{x.dtype.itemsize}"), 0)


def _square(x):
    x = x.astype(np.int8) if x.dtype == bool else x  # as in NumPy
    return multiply(x, x)


def _refused_reciprocal(x):
    raise TypeError(f"numpy.reciprocal of {x.dtype} is a truncated integer in NumPy and cannot be part of a graph; write 1 / x")


def _bit_count(x):
    if x.dtype.kind != "u":
        raise TypeError(f"numpy.bitwise_count of {x.dtype} cannot be part of a graph; expected unsigned integers: convert "
                        "it with astype")
    return operate("ELEMENT_WISE_BIT_COUNT", x, dtype=np.uint32).astype(np.uint8)


def _power_of_two(x):
    return power(2.0, as_floats("numpy.exp2", x))


def _itself(x):
    return x


def _rounding(name, operator, **attributes):
    keeps = getattr(np, name)(np.int8(1)).dtype == np.int8  # integers since NumPy 2.1; older versions converted them to floats
    return of_floats(name, operator, "efd", _itself if keeps else None, **attributes)


_WITH_ONE_NAME = {"exp": "EXP", "log": "LOG", "sin": "SIN", "cos": "COS", "tan": "TAN", "arcsin": "ASIN",
                  "arccos": "ACOS", "arctan": "ATAN", "sinh": "SINH", "cosh": "COSH", "tanh": "TANH",
                  "arcsinh": "ASINH", "arccosh": "ACOSH", "arctanh": "ATANH"}
UFUNCS.update({getattr(np, name): of_floats(name, f"ELEMENT_WISE_{operator}")
               for name, operator in _WITH_ONE_NAME.items()})
round_to_even = of_floats("rint", "ELEMENT_WISE_ROUND", "efd", RoundingMode="HALVES_TO_NEAREST_EVEN")
UFUNCS.update({
    np.sqrt: of_floats("sqrt", "ELEMENT_WISE_SQRT", "efd"),
    np.reciprocal: of_floats("reciprocal", "ELEMENT_WISE_RECIP", "efd", _refused_reciprocal),
    np.exp2: _power_of_two,
    np.floor: _rounding("floor", "ELEMENT_WISE_FLOOR"), np.ceil: _rounding("ceil", "ELEMENT_WISE_CEIL"),
    np.trunc: _rounding("trunc", "ELEMENT_WISE_ROUND", RoundingMode="TOWARD_ZERO"), np.rint: round_to_even,
    np.square: _square, np.sign: _sign, np.signbit: _sign_bit, np.negative: negative, np.positive: positive,
    np.absolute: absolute, np.fabs: of_floats("fabs", "ELEMENT_WISE_ABS", "efd"), np.invert: invert,
    np.isnan: is_nan, np.isinf: is_infinite, np.isfinite: is_finite, np.logical_not: logical_not,
    np.add: add, np.subtract: subtract, np.multiply: multiply, np.true_divide: divide, np.floor_divide: floor_divide,
    np.remainder: modulus_floor, np.fmod: modulus_truncate, np.power: power, np.matmul: multiply_matrices,
    np.divmod: lambda a, b: (floor_divide(a, b), modulus_floor(a, b)), np.copysign: copysign,
    np.arctan2: _of_two_floats("arctan2", "ELEMENT_WISE_ATAN_YX"),
    np.maximum: maximum, np.minimum: minimum, np.fmax: _maximum_of_numbers(maximum),
    np.fmin: _maximum_of_numbers(minimum), np.logical_and: logical_and, np.logical_or: logical_or,
    np.logical_xor: logical_xor, np.bitwise_and: _bitwise("AND", logical_and),
    np.bitwise_or: _bitwise("OR", logical_or), np.bitwise_xor: _bitwise("XOR", logical_xor),
    np.left_shift: _shift_left, np.right_shift: _shift_right, np.equal: equal, np.not_equal: differ, np.less: less,
    np.less_equal: less_equal, np.greater: greater, np.greater_equal: greater_equal})
if hasattr(np, "bitwise_count"):  # since NumPy 2.0
    UFUNCS[np.bitwise_count] = _bit_count

# ---- Python's operators ---------------------------------------------------------------------------------------------

_OF_TWO = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "mod": np.remainder,
           "floordiv": np.floor_divide, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and,
           "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
           "divmod": np.divmod}
_COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                "ge": np.greater_equal}
_OF_ONE = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}


def _methods(function):
    """Returns two methods, for a symbol on the left and on the right."""
    return (lambda self, other: fresh(function(self, other), (self, other)),
            lambda self, other: fresh(function(other, self), (self, other)))


def _method_of_one(function):
    return lambda self: fresh(function(self), (self,))


def _in_place(function, name):
    def method(self, other):
        if self._is_number():
            return fresh(function(self, other), (self, other))
        self._own()
        return changed(self, function(self, other), name)

    return method


for _name, _ufunc in _OF_TWO.items():
    for _side, _method in zip(("", "r"), _methods(UFUNCS[_ufunc])):
        setattr(Symbol, f"__{_side}{_name}__", _method)
    if _name != "divmod":
        setattr(Symbol, f"__i{_name}__", _in_place(UFUNCS[_ufunc], f"numpy.{_ufunc.__name__}"))
for _name, _ufunc in _COMPARISONS.items():
    setattr(Symbol, f"__{_name}__", _methods(UFUNCS[_ufunc])[0])
for _name, _ufunc in _OF_ONE.items():
    setattr(Symbol, f"__{_name}__", _method_of_one(UFUNCS[_ufunc]))
Symbol.__hash__ = object.__hash__
