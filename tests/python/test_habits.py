# SPDX-License-Identifier: MIT
"""Tests behavior that NumPy users expect: NumPy's conventions in odd cases, its names, bool arrays, masks, arrays with
their own protocols, and messages that name an argument and a remedy."""
import array
import inspect
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import anydml

X = np.float32([[1, -2, 3], [4, 5, -6]])
N = np.int32([[7, -7, 2], [0, 5, -6]])
B = np.array([[True, False, True], [False, False, True]])
WIDE = X.astype(np.float64)
EMPTY = np.empty((0, 3), np.float32)
TURNED = np.float32(np.arange(24)).reshape(2, 3, 4).transpose(2, 0, 1)[::-1]
NAN = np.float32([[1, np.nan, -np.inf], [np.inf, -0.0, 0.0]])
out = {name: np.empty(shape, kind) for name, shape, kind in (
    ("row", 3, "f4"), ("same", (2, 3), "f4"), ("truth", (2, 3), "?"), ("kept", (2, 1), "f4"), ("long", (2, 6), "f4"))}


# ---- NumPy's results ------------------------------------------------------------------------------------------------
# Ten functions of each kind, with odd cases. Each is called like NumPy's function of the same name.

REDUCTIONS = ["sum", "prod", "mean", "max", "min", "argmax", "argmin"]
REDUCED = [((X,), {}), ((X,), {"axis": 1}), ((X,), {"axis": -1}), ((X,), {"axis": -2, "keepdims": True}),
           ((X,), {"axis": None, "keepdims": True}), ((X[:, ::-2],), {"axis": 0}), ((X.T,), {"axis": 0}),
           ((TURNED,), {"axis": 1}), ((np.float32(3),), {}), ((np.float32([3]),), {"axis": 0}), ((N,), {}),
           ((N,), {"axis": 1}), ((N.astype(np.uint8),), {"axis": 0}), ((WIDE,), {"axis": 0}),
           ((X.astype(np.float16),), {"axis": 1}), (([[1.0, 2.0], [3.0, 5.0]],), {"axis": 0}), (([1, 2, 4],), {})]
SEVERAL = [((X,), {"axis": (0, 1)}), ((TURNED,), {"axis": (0, -1)}), ((TURNED,), {"axis": (2, 0), "keepdims": True}),
           ((X,), {"axis": 0, "out": out["row"]}), ((X,), {"axis": 1, "out": out["kept"], "keepdims": True})]
PAIRS = ["maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal"]
PAIRED = [((X, X[0]), {}), ((X, 2), {}), ((2.5, X), {}), ((X, [1, 2, 3]), {}), ((X, N), {}), ((N, 2), {}),
          ((N, 2.5), {}), ((X, WIDE), {}), ((NAN, 0), {}), ((B, B[::-1]), {}), ((B, True), {}), ((1, 2), {}),
          ((EMPTY, X[:1]), {}), ((X.T, X[:1].T), {}), ((X, np.float32(1)), {}),
          ((np.uint8([1, 200]), np.int8([-1, 100])), {})]
TRUTHS = ["logical_and", "logical_or", "logical_xor"]
RUNNING = ["cumsum", "cumprod"]
CASES = [
    *((name, *case) for name in REDUCTIONS for case in REDUCED),
    *((name, *case) for name in REDUCTIONS[:5] for case in SEVERAL),
    *((name, *case) for name in PAIRS for case in PAIRED),
    *((name, (X, 0), {"out": out["truth"]}) for name in PAIRS[2:]), ("maximum", (X, 0), {"out": out["same"]}),
    *((name, args, {}) for name in TRUTHS for args in (
        (B, B[::-1]), (X > 0, X < 4), (B, True), (B, [True, False, True]), (B, B[0]), (np.True_, B))),
    ("logical_not", (B,), {}), ("logical_not", (X > 0,), {"out": out["truth"]}),
    *((name, (X,), options) for name in RUNNING
      for options in ({}, {"axis": 0}, {"axis": -1}, {"axis": 1, "dtype": "f8"})),
    *((name, (N,), {"axis": 1}) for name in RUNNING), ("cumsum", ([1, 2, 3],), {}), ("cumsum", (B,), {}),
    ("sum", (B,), {}), ("sum", (B,), {"axis": 0}), ("sum", (EMPTY,), {"axis": 0}), ("prod", (EMPTY,), {}),
    ("sum", (X,), {"dtype": "f8"}), ("mean", (N,), {"dtype": "f4"}), ("max", (B,), {}), ("min", (B,), {"axis": 0}),
    ("where", (X > 0, X, 0), {}), ("where", (B, N, X), {}), ("where", (B, B, ~B), {}), ("where", (X, X, -1), {}),
    ("where", ([[True], [False]], X, X[0]), {}), ("where", (True, 1, 2), {}), ("where", (N > 0, 1.5, N), {}),
    ("concat", ([X, X],), {}), ("concat", ([X, X],), {"axis": -1}), ("concat", ([X, N],), {"axis": None}),
    ("concat", ((B, B),), {"axis": 1}), ("concat", ([X, X],), {"axis": 1, "out": out["long"]}),
    ("concat", ([[1, 2], [3]],), {}),
    ("concatenate", ([X.T, X.T],), {"axis": 1}), ("isnan", (NAN,), {}), ("isinf", (NAN,), {}), ("isnan", (2.5,), {}),
    ("clip", (X, 0, 1), {}), ("clip", (X, None, 1), {}), ("clip", (X,), {"min": 0}), ("clip", (N, -3, 5), {}),
    ("tile", (X, 2), {}), ("tile", (X, (2, 1)), {}), ("tile", (X, [3]), {}), ("matmul", (X, X.T), {}),
    ("matmul", (X, X[0]), {}), ("matmul", (X[0], X.T), {}), ("matmul", (X[0], X[1]), {}), ("abs", (X,), {}),
    ("add", (X, 1), {}), ("add", (X, True), {}), ("subtract", (1, X), {}), ("multiply", (X, X[:, :1]), {}),
    ("divide", (X, 2), {}), ("floor", (X / 4,), {}), ("ceil", (X / 4,), {}), ("sqrt", (np.abs(X),), {}),
    ("sign", (X,), {}), ("exp", (X.astype(np.int8), ), {}), ("exp", ([1, 2],), {"dtype": "f4"}),
]
ARRAYS = {"abs", "add", "subtract", "multiply", "divide", "floor", "ceil", "sqrt", "sign", "where", "tile", "exp"}


@pytest.mark.parametrize("name, inputs, options", CASES, ids=[f"{i}-{one[0]}" for i, one in enumerate(CASES)])
def test_as_numpy(name, inputs, options):
    theirs = getattr(np, name if hasattr(np, name) else "concatenate")(*inputs, **options)
    theirs = np.array(theirs) if "out" in options else theirs
    mine = getattr(anydml, name)(*inputs, **options)
    assert ("out" not in options) or mine is options["out"]
    assert np.shape(mine) == np.shape(theirs) and mine.dtype == theirs.dtype, (mine, theirs)
    assert np.allclose(mine, theirs, rtol=3e-3 if theirs.dtype == np.float16 else 1e-6, equal_nan=True)
    if name not in ARRAYS:
        assert isinstance(mine, np.ndarray) == isinstance(theirs, np.ndarray)  # NumPy returns scalars here


# ---- Odd operands ---------------------------------------------------------------------------------------------------
# Each function gives NumPy's result, or rejects the operand by name.

class Derived(np.ndarray):
    pass


def unwritable(x):
    x = x.copy()
    x.flags.writeable = False
    return x


ODD = {
    "no dimensions": np.float32(2.5).reshape(()), "a scalar": np.float32(2.5), "an int": 3, "a float": 2.5,
    "True": True, "a list": [1, 2, 3], "floats": [1.0, 2.5], "nested": [[1.5, 2], [3, 4]], "a tuple": (1, 2),
    "a range": range(4), "an array": array.array("f", [1, 2, 3]), "a view of memory": memoryview(X),
    "strided": X[:, ::2], "reversed": X[::-1, ::-1], "transposed": X.T, "by columns": np.asfortranarray(X),
    "repeated": np.broadcast_to(X[0], (4, 3)),
    "empty": EMPTY, "unwritable": unwritable(X), "swapped bytes": X.astype(X.dtype.newbyteorder()),
    "between elements": np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3),
    "a field": np.array([(1, 2), (3, 4)], [("a", "f4"), ("b", "i2")])["a"], "float16": X.astype("f2"), "float64": WIDE,
    "int8": X.astype("i1"), "uint8": np.abs(X).astype("u1"), "int16": X.astype("i2"), "int32": N,
    "int64": X.astype("i8"), "uint64": np.abs(X).astype("u8"), "truths": B, "not finite": NAN,
    "zeros": np.float32([[0.0, -0.0]]), "one": np.float32([[7]]),
    "nine dimensions": np.ones((1,) * 9, np.float32), "complex": X.astype("c8"), "objects": np.array([1, "a"], object),
    "a string": "abc", "None": None, "a subclass": X.view(Derived),
}
KINDS = {
    "of one": ("abs negate:negative exp sqrt floor ceil sign tanh isnan logical_not", lambda f, x: f(x)),
    "of two": ("add subtract multiply divide maximum minimum greater equal modulus_floor:remainder logical_and",
               lambda f, x: f(x, x)),
    "beside a number": ("add subtract multiply divide maximum minimum greater less_equal modulus_truncate:fmod "
                        "not_equal", lambda f, x: f(x, 2)),
    "over all": ("sum prod mean max min argmax argmin cumsum cumprod clip", lambda f, x: f(x, 0, 2) if f in (
        anydml.clip, np.clip) else f(x)),
    "along an axis": ("sum prod mean max min argmax argmin cumsum cumprod tile", lambda f, x: f(x, 2) if f in (
        anydml.tile, np.tile) else f(x, axis=-1)),
    "of several": ("where concatenate matmul", lambda f, x: f([x, x]) if f in (anydml.concatenate, np.concatenate) else
                   f(x, np.asarray(x).T) if f in (anydml.matmul, np.matmul) else f(x, x, 2)),
}
# Cases in which NumPy and anydml both give a result but the results differ, as help() says: integer division, and the
# sign of NaN. A lone True is a number for operators, logical operators return bytes for bytes, and tile uses native
# byte order.
DIFFERENT = {("divide", None), ("sign", "not finite"), ("abs", "True"), ("add", "True"), ("multiply", "True"),
             ("logical_not", "uint8"), ("logical_and", "uint8"), ("tile", "swapped bytes")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_odd_operands(kind):
    names, call = KINDS[kind]
    answers = refused = 0
    for name in names.split():
        name, _, theirs = name.partition(":")
        for odd, x in ODD.items():
            try:
                mine = call(getattr(anydml, name), x)
            except (TypeError, ValueError, OverflowError) as error:
                refused += 1
                assert str(error).startswith(f"{name}: ") or odd in ("a string", "objects"), (odd, error)
                continue
            try:
                right = np.asarray(call(getattr(np, theirs or name), x))
            except (TypeError, ValueError):
                assert odd == "True" or np.ndim(x) == 0, (name, odd)  # NumPy rejects -True and the axis of a scalar
                continue
            mine = np.asarray(mine)
            assert mine.shape == right.shape, (name, odd)
            if {(name, None), (name, odd)} & DIFFERENT:
                continue
            assert mine.dtype == right.dtype, (name, odd, mine.dtype, right.dtype)
            near = 1e-2 if mine.dtype == np.float16 else 1e-5
            assert np.allclose(mine, right, rtol=near, equal_nan=True), (name, odd)
            answers += 1
    assert answers > refused


def test_axes_of_operators():
    for axes, axis in ((1, 1), (-1, 1), ([-1], 1), ((0, 1), (0, 1)), (None, None), (np.int64(-2), 0)):
        kept = anydml.reduce(X, function="sum", axes=axes, keepdims=True)
        assert np.array_equal(kept, X.sum(axis=axis, keepdims=True))
        assert np.array_equal(anydml.reduce(X, function="sum", axes=axes, keepdims=False), X.sum(axis=axis))
        assert np.array_equal(anydml.reduce(X, function="sum", axis=axis), X.sum(axis=axis))
    assert anydml.reduce(X, function="sum", axes=1).shape == (2, 1)
    assert anydml.argmax(X) == 4 and anydml.argmax(X).dtype == np.int64 and anydml.argmax(X, axes=1).shape == (2, 1)
    assert anydml.argmax(X, axis=1, out=np.empty(2, np.uint32)).tolist() == [2, 1]
    for name in ("softmax", "log_softmax", "hardmax"):
        turned = getattr(anydml, name)(X.T.copy()).T
        assert np.array_equal(getattr(anydml, name)(X, axis=0), turned)
        assert np.array_equal(getattr(anydml, name + "1")(X, axes=-2), turned)
    assert np.array_equal(anydml.join([X, X], axis=-1), np.hstack([X, X]))
    assert np.array_equal(anydml.top_k(X, k=2)[1], [[2, 0], [1, 0]])
    assert np.array_equal(anydml.cumulative_summation(X, axis=-1), X.cumsum(1))
    assert np.array_equal(anydml.gemm(X, X.T), X @ X.T) and anydml.is_infinity(NAN).sum() == 2
    assert np.array_equal(anydml.element_wise_round(np.float32([0.5, 1.5, -2.5])), [0, 2, -2])
    image, filters = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4), np.ones((3, 2, 3, 3), np.float32)
    assert anydml.convolution(image, filters).shape == (1, 3, 2, 2)
    assert anydml.convolution(image, filters, strides=2, start_padding=1, end_padding=1).shape == (1, 3, 2, 2)
    assert anydml.max_pooling(image, window_size=2, strides=2).shape == (1, 2, 2, 2)


def test_graphs_take_the_same():
    @anydml.graph
    def step(x):
        y = anydml.maximum(x, 0.0)
        chosen = anydml.where(anydml.greater(x, 0), x, 0)
        return anydml.sum(y, axis=-1), anydml.argmax(x, axis=0), chosen, anydml.mean(x)

    total, positions, chosen, mean = step(X)
    positive = np.maximum(X, 0)
    assert np.array_equal(total, positive.sum(1)) and np.array_equal(positions, X.argmax(0))
    assert np.array_equal(chosen, positive) and mean.shape == () and np.isclose(mean, X.mean())


def test_tensors_take_the_same():
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(X)
    for call in (lambda x: anydml.argmax(x), lambda x: anydml.sum(x, axis=0), lambda x: anydml.greater(x, 0),
                 lambda x: anydml.maximum(x, 0), lambda x: anydml.where(x > 0, x, 0), lambda x: anydml.cumsum(x),
                 lambda x: anydml.concat([x, x], axis=-1), lambda x: anydml.logical_and(x > 0, x < 4),
                 lambda x: anydml.softmax(x, axis=0)):
        mine, right = call(t), call(X)
        assert isinstance(mine, torch.Tensor)
        assert mine.numpy().dtype == right.dtype and np.array_equal(mine.numpy(), right)


# ---- Messages -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("error, message, call", [
    (TypeError, "^exp: x is float64; expected float16, float32, .*; anydml.exp\\(x, dtype='float32'\\) converts it$",
     lambda: anydml.exp(1.0)),
    (TypeError, "exp: x is float64; expected", lambda: anydml.exp(WIDE)),
    (TypeError, "exp: x is None; expected an array", lambda: anydml.exp(None)),
    (TypeError, "pow: b is float64; expected int8", lambda: anydml.pow(X, WIDE)),
    (TypeError, r"^gemm: b is float16; expected float32, the type of a; convert it with astype\('float32'\)$",
     lambda: anydml.gemm(X, X.T.astype("f2"))),
    (TypeError, r"^sqrt: input is int64; expected .*; convert it with numpy.float32\(...\)$", lambda: anydml.sqrt([4])),
    (TypeError, "^add: b is None; expected an array$", lambda: anydml.add(X, None)),
    (TypeError, "^relu: input is None; expected an array$", lambda: anydml.relu(None)),
    (TypeError, "^sum: input is None", lambda: anydml.sum(None)),
    (TypeError, r"^join: inputs\[1\] is None", lambda: anydml.join([X, None])),
    (TypeError, "^matmul: b is None", lambda: anydml.matmul(X, None)),
    (ValueError, r"^add: b has the shape \[2\]; expected", lambda: anydml.add(X, X[:, 0])),
    (ValueError, "^reduce: function is 'mean'; expected 'ARGMAX', .*'SUM_SQUARE'; NumPy's mean is 'AVERAGE'$",
     lambda: anydml.reduce(X, function="mean", axes=1)),
    (ValueError, "^gemm: trans_b is 'yes'; expected 'NONE' or 'TRANSPOSE'$", lambda: anydml.gemm(X, X, trans_b="yes")),
    (ValueError, r"^gemm: b.shape\[0\] is 2; expected a.shape\[1\] if trans_a", lambda: anydml.gemm(X, X)),
    (ValueError, "^matmul: a has the shape .2, 3. and b .2, 3.; expected 3 rows of b", lambda: anydml.matmul(X, X)),
    (ValueError, "^sum: axes is 2; expected -2 to 1, for 2 dimensions", lambda: anydml.sum(X, axis=2)),
    (ValueError, "^join: axis is -3; expected -2 to 1", lambda: anydml.join([X, X], axis=-3)),
    (TypeError, "^reduce: axes and axis are both given", lambda: anydml.reduce(X, function="sum", axes=1, axis=1)),
    (TypeError, "^reduce: axes has 'a'; expected whole numbers", lambda: anydml.reduce(X, function="sum", axes=["a"])),
    (ValueError, r"^sum: out is \(3,\); expected \(2,\)", lambda: anydml.sum(X, axis=1, out=np.empty(3, "f4"))),
    (TypeError, "^add: a is an array of bool", lambda: anydml.add(B, B)),
    (TypeError, "^add: b is an array of <U1", lambda: anydml.add(X, "a")),
])
def test_messages_are_pythons(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_the_c_names_are_in_no_message():
    """Each operator with an input that is None or a string."""
    for name in anydml.__all__:
        function = getattr(anydml, name)
        if not inspect.isfunction(function) or name in ("run", "graph", "adapters", "operators"):
            continue
        parameters = inspect.signature(function).parameters.values()
        inputs = [one for one in parameters if one.kind == one.POSITIONAL_ONLY]
        given = [["a"] if one.name == "inputs" else "a" for one in inputs]
        options = {one.name: 1 for one in parameters if one.kind == one.KEYWORD_ONLY and one.default is one.empty}
        if given:
            with pytest.raises(Exception) as caught:
                function(*given, **options)
            assert not any(word in str(caught.value) for word in ("Tensor", "ELEMENT_WISE", "inputs[1]")), caught.value


def test_functions_that_differ_from_numpys_say_so():
    for name in ("divide", "sign", "clip", "floor", "ceil", "split"):
        assert "Unlike ``numpy." in getattr(anydml, name).__doc__, name
    assert anydml.divide(np.int32([7, -7]), 2).tolist() == [3, -3] and anydml.sign(np.float32([np.nan])) == 0


@pytest.mark.parametrize("name, message", [
    ("maximun", "did you mean anydml.maximum"), ("clamp", "it has anydml.clip$"),
    ("remainder", "it has anydml.modulus_floor"),
    ("cat", "it has anydml.concat"), ("element_wise_add", "DirectML's ELEMENT_WISE_ADD is anydml.add"),
    ("REDUCE", "is anydml.reduce"), ("zzz", "list its functions"), ("softmaxx", "anydml.softmax"),
    ("sort", r"it has anydml.top_k1\(x, k=x.shape\[-1\], axis_direction='INCREASING'\)\[0\]$"),
    ("isfinite", "it has anydml.isnan and anydml.isinf$"),
    ("median", "no function does what numpy.median does"), ("einsum", "no function does what numpy.einsum does"),
    ("svd", "no function does what numpy.linalg.svd does"), ("pixel_shuffle", "order='COLUMN_ROW_DEPTH'")])
def test_missing_names(name, message):
    with pytest.raises(AttributeError, match=f"module 'anydml' has no attribute '{name}'.*{message}"):
        getattr(anydml, name)
    assert not hasattr(anydml, "__wrapped__")


def test_suggestions_exist():
    from anydml import _suggest
    for other, name in _suggest.OTHERS.items():
        assert hasattr(anydml, re.match(r"\w+", name)[0]) and other not in dir(anydml), other


@pytest.mark.parametrize("command", [("-m", "anydml"), ("-m", "anydml", "--operators"), ("-m", "anydml.onnx", "MODEL")],
                         ids=" ".join)
def test_a_closed_pipe_is_no_traceback(command, tmp_path):
    if "anydml.onnx" in command:
        onnx = pytest.importorskip("onnx")
        command = (*command[:2], str(tmp_path / "model.onnx"))
        onnx.save(onnx.parser.parse_model('<ir_version: 9, opset_import: ["": 18]> m (float[2] x) => (float[2] y) '
                                          "{ y = Exp(x) }"), command[2])
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, *command], stdout=writer, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writer)
    assert done.stderr == "" and done.returncode == 141


# ---- Masks ----------------------------------------------------------------------------------------------------------

def test_masks_of_elements():
    masked, other = np.ma.masked_less(X, 0), np.ma.masked_greater(X, 3)
    for mine, theirs in ((anydml.add(masked, other), masked + other), (anydml.relu(masked), masked),
                         (anydml.multiply(masked, 2), masked * np.float32([2])), (anydml.add(X, masked), X + masked),
                         (anydml.maximum(masked, 2), np.ma.maximum(masked, 2)), (anydml.greater(masked, 2), masked > 2),
                         (anydml.where(masked > 2, masked, 0), np.ma.where(masked > 2, masked, 0)),
                         (anydml.cast(masked, dtype="i4"), masked.astype("i4"))):
        assert isinstance(mine, np.ma.MaskedArray)
        assert np.array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(theirs))
        assert np.array_equal(mine.filled(7), theirs.filled(7))
    assert np.array_equal(anydml.run("ELEMENT_WISE_ADD", masked, X).mask, masked.mask)
    written = np.ma.zeros((2, 3), np.float32)
    assert anydml.add(masked, 1, out=written) is written and np.array_equal(written.mask, masked.mask)


def test_masks_of_reductions():
    masked = np.ma.masked_less(X, 0)
    masked[:, 1] = np.ma.masked
    for name in ("sum", "prod", "mean", "max", "min"):
        for axis in (0, 1, None):
            mine, theirs = getattr(anydml, name)(masked, axis=axis), getattr(masked, name)(axis=axis)
            assert np.ma.allclose(mine, theirs) and np.array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(theirs))
    assert np.array_equal(anydml.argmax(masked, axis=1).filled(-1), masked.argmax(1))
    assert np.ma.allclose(anydml.cumsum(masked, axis=1), masked.cumsum(1))
    assert np.array_equal(anydml.concat([masked, X]).mask, np.ma.concatenate([masked, X]).mask)
    rows = anydml.softmax(masked)
    assert np.allclose(rows.sum(1), 1) and np.array_equal(rows.mask, masked.mask)
    for call in (lambda: anydml.matmul(masked, masked.T), lambda: anydml.graph(anydml.relu)(masked),
                 lambda: anydml.mean_variance_normalization1(masked, None, None, axes=1, normalize_variance=True,
                                                             epsilon=1e-5)):
        with pytest.raises(TypeError, match="an array is masked, which is not supported here"):
            call()
    assert anydml.matmul(np.ma.array(X), X.T).shape == (2, 2)  # nothing is masked


# ---- Arrays with their own protocols --------------------------------------------------------------------------------

EACH = [lambda x: anydml.exp(x), lambda x: anydml.relu(x), lambda x: anydml.add(x, 1), lambda x: anydml.add(x, x),
        lambda x: anydml.clip(x, -1, 2), lambda x: anydml.divide(2, x), lambda x: anydml.elu(x, alpha=0.5),
        lambda x: anydml.maximum(x, 0), lambda x: anydml.greater(x, 1), lambda x: anydml.where(x > 0, x, 0),
        lambda x: anydml.cast(x, dtype="int32"), lambda x: anydml.multiply(x, np.float32(3)), lambda x: anydml.isnan(x)]
WHOLE = [lambda x: anydml.softmax(x), lambda x: anydml.softmax(x, axis=0), lambda x: anydml.cumsum(x, axis=1),
         lambda x: anydml.lp_normalization(x, axis=-1, p=2, epsilon=1e-5)]
OTHER = [lambda x: anydml.sum(x, axis=0), lambda x: anydml.mean(x), lambda x: anydml.argmax(x, axis=1),
         lambda x: anydml.matmul(x, x.T), lambda x: anydml.concat([x, x]), lambda x: anydml.tile(x, 2),
         lambda x: anydml.top_k(x, k=2)[0]]


def test_dask():
    da = pytest.importorskip("dask.array")
    x = da.from_array(X, chunks=(1, 2))
    for call in EACH + WHOLE + OTHER:
        lazy, right = call(x), call(X)
        assert isinstance(lazy, da.Array) and lazy.shape == np.shape(right) and lazy.dtype == right.dtype
        assert np.array_equal(lazy.compute(scheduler="sync"), right)
    assert anydml.softmax(x).numblocks == (2, 1)  # blocks along the other axis remain
    assert anydml.relu(x).numblocks == (2, 2)
    again = pickle.loads(pickle.dumps(anydml.softmax(x, axis=0)))  # workers in other processes need this
    assert np.array_equal(again.compute(scheduler="sync"), anydml.softmax(X, axis=0))


def test_pandas():
    pd = pytest.importorskip("pandas")
    frame, series = pd.DataFrame(X, columns=list("abc"), index=[5, 6]), pd.Series(X[0], index=list("xyz"), name="s")
    for call in EACH + WHOLE:
        result, right = call(frame), call(X)
        assert isinstance(result, pd.DataFrame) and list(result) == list("abc") and list(result.index) == [5, 6]
        assert np.array_equal(result.values, right)
    for call in EACH:
        result = call(series)
        assert isinstance(result, pd.Series) and result.name == "s" and np.array_equal(result.values, call(X[0]))
    assert list(anydml.add(series, series[["x", "z"]]).isna()) == [False, True, False]  # indexes are aligned
    assert anydml.sum(frame, axis=0).tolist() == X.sum(0).tolist()


def test_xarray():
    xr = pytest.importorskip("xarray")
    array = xr.DataArray(X, dims=("r", "c"), coords={"c": [3, 4, 5]})
    for call in EACH + WHOLE:
        result = call(array)
        assert isinstance(result, xr.DataArray) and result.dims == ("r", "c") and result.c.values.tolist() == [3, 4, 5]
        assert np.array_equal(result.values, call(X))
    row = xr.DataArray(X[0], dims="c")
    assert anydml.add(array, row).dims == ("r", "c")  # broadcast by name
    assert anydml.relu(array.to_dataset(name="v")).v.shape == (2, 3)


class Asked:
    """Implements both protocols, and rejects None."""

    def __init__(self):
        self.calls = []

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        self.calls.append((ufunc.__name__, method, ufunc.nin, ufunc(*(X if one is self else one for one in inputs))))
        return "by ufunc"

    def __array_function__(self, function, types, args, kwargs):
        self.calls.append((function.__name__, types, function(*(X if one is self else one for one in args))))
        return "by function"


def test_protocols():
    one = Asked()
    assert anydml.add(one, X) == anydml.relu(one) == anydml.run("ACTIVATION_RELU", one) == "by ufunc"
    assert anydml.reduce(one, function="sum", axes=1) == "by function"
    assert one.calls[0][:3] == ("anydml_element_wise_add", "__call__", 2) and np.array_equal(one.calls[0][3], X + X)
    assert one.calls[3][1] == {Asked} and one.calls[3][2].tolist() == [[2], [3]]

    class Refusing:
        __array_ufunc__ = None

    with pytest.raises(TypeError, match="operand 'Refusing' does not support ufuncs"):
        anydml.add(Refusing(), X)

    class Meters(np.ndarray):
        pass

    assert type(anydml.add(X.view(Meters), 1)) is Meters and type(anydml.exp(X.view(Meters))) is Meters


def test_masks_and_axes_at_the_edges():
    half = np.ma.masked_greater(np.float16([6e4, 6e4, 65504]), 6e4)
    assert anydml.mean(half) == np.float16(6e4)  # the sum overflows float16
    built = anydml.isnan(np.ma.masked_equal(np.int8([1, 2]), 2))
    assert built.mask.tolist() == [False, True]
    with pytest.raises(ValueError, match="axis 7 is out of bounds"):
        anydml.cumsum(np.float32(3), axis=7)
    with pytest.warns(RuntimeWarning):
        assert np.isnan(anydml.mean(np.empty(0, np.float32)))
