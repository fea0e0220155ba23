# SPDX-License-Identifier: MIT
"""Malicious models with misleading sizes, offsets and names. Each gets a clear error message before any memory is
allocated for it."""
import os
import re

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

import anydml.onnx as backend

ESCAPES = "\x1b[2J\x07\x9b\n\u202e"


def value(name, kind=TensorProto.FLOAT, shape=()):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs=(), outputs=("y",), initializers=(), functions=(), opset=17):
    graph = helper.make_graph(nodes, "g", list(inputs), [value(name) for name in outputs], list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)


def negated(tensor):
    return model_of([helper.make_node("Neg", [tensor.name], ["y"])], initializers=[tensor])


# ---- Elements in a file -------------------------------------------------------------------------------------------------

def external(dims=(4,), kind=TensorProto.FLOAT, **entries):
    tensor = TensorProto(name="w\x1b", data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in entries.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def saved(folder, tensor):
    """A model with this tensor, next to a file with the 64 bytes 0 to 63."""
    (folder / "w.bin").write_bytes(bytes(range(64)))
    (folder / "m.onnx").write_bytes(negated(tensor).SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("entries, message", [
    ({}, r"tensor 'w\x1b': its external_data has no location; expected the name of a file next to the model"),
    ({"location": ""}, r"tensor 'w\x1b': its external_data has no location"),
    ({"location": "w.bin", "offset": "-4"}, r"tensor 'w\x1b': offset is '-4' in its external_data; expected a number of bytes, "
     "0 or more"),
    ({"location": "w.bin", "offset": "1e3"}, "offset is '1e3'"),
    ({"location": "w.bin", "offset": "\x1b"}, r"offset is '\x1b'"),
    ({"location": "w.bin", "offset": "9" * 5000}, "offset is '99999"),
    ({"location": "w.bin", "offset": "52"}, "needs 16 bytes at offset 52 of 'w.bin', which has 64"),
    ({"location": "w.bin", "offset": "9" * 30}, "needs 16 bytes at offset " + "9" * 30),
    ({"location": "w.bin", "length": "-16"}, "length is '-16'"),
    ({"location": "w.bin", "length": "12"}, "length is 12 in its external_data; expected 16, since dims are [4]"),
    ({"location": "w.bin", "dims": [-1]}, "dims are [-1]; expected 0 or more"),
    ({"location": "w.bin", "dims": [1 << 62, 1 << 62]}, f"needs {1 << 126} bytes at offset 0 of 'w.bin', which has 64"),
    ({"location": "/etc/passwd"}, "is in '/etc/passwd', which is outside the model's folder"),
    ({"location": "../w.bin"}, "is in '../w.bin', which is outside the model's folder"),
    ({"location": "link"}, "is in 'link', which is outside the model's folder"),
    ({"location": "loop"}, "location is 'loop'"),
    ({"location": "a\0b"}, r"location is 'a\x00b', which is not a valid file name"),
    ({"location": "a" * 5000}, "which is not a valid file name: File name too long"),
    ({"location": "pipe"}, "location is 'pipe', but there is no such file next to the model"),
    ({"location": "none\x1b"}, r"location is 'none\x1b', but there is no such file next to the model"),
    ({"location": "w.bin", "kind": 99}, "data_type is 99; expected the number of one of ONNX's data types"),
])
def test_places_of_elements(tmp_path, entries, message):
    (tmp_path / "m").mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(64))
    os.symlink("../w.bin", tmp_path / "m" / "link")
    os.symlink("loop", tmp_path / "m" / "loop")
    os.mkfifo(tmp_path / "m" / "pipe")
    path = saved(tmp_path / "m", external(**entries))
    with pytest.raises(ValueError) as caught:
        backend.prepare(path)
    assert message in str(caught.value) and r"'w\x1b'" in str(caught.value)
    assert not backend.is_compatible(path)


@pytest.mark.parametrize("offset", (0, 4, 3))
def test_places_that_are_right(tmp_path, offset):
    path = saved(tmp_path, external(location="w.bin", offset=str(offset), length="16"))
    expected = -np.frombuffer(bytes(range(64)), np.float32, 4, offset) if offset % 4 == 0 else (
        -np.frombuffer(bytes(range(offset, 64)), np.float32, 4))
    np.testing.assert_array_equal(backend.prepare(path).run([])[0].view(np.uint32), expected.view(np.uint32))


# ---- Sizes --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("tensor, message", [
    (TensorProto(dims=[1 << 40], data_type=1, raw_data=bytes(16)), f"dims are [{1 << 40}], which need {1 << 42} bytes of "
     "raw_data; the model has 16"),
    (TensorProto(dims=[1 << 31, 1 << 31], data_type=1), f"which need {1 << 62} elements of float_data; the model has 0"),
    (TensorProto(dims=[3], data_type=7, int64_data=[1, 2]), "which need 3 elements of int64_data; the model has 2"),
    (TensorProto(dims=[1 << 50], data_type=22, raw_data=bytes(16)), "bytes of raw_data; the model has 16"),
    (TensorProto(dims=[-4], data_type=1, raw_data=bytes(16)), "dims are [-4]; expected 0 or more"),
    (TensorProto(dims=[1] * 70, data_type=1, raw_data=bytes(4)), "dims are 70 numbers; expected 64 at most"),
    (TensorProto(dims=[4], data_type=99, raw_data=bytes(16)), "data_type is 99; expected the number of one of ONNX's data "
     "types"),
])
def test_sizes_of_tensors(tensor, message):
    tensor.name = "w" + ESCAPES
    for wrong, what in ((negated(tensor), f"tensor {tensor.name!r}: "),
                        (model_of([helper.make_node("Constant", [], ["y"], value=tensor)]), "the value of Constant")):
        with pytest.raises((ValueError, onnx.checker.ValidationError)) as caught:
            backend.prepare(wrong)
        assert str(caught.value).isprintable()
        with pytest.raises(ValueError) as caught:
            backend.Prepared(wrong)
        assert message in str(caught.value) and what in str(caught.value)


HUGE = 1 << 45
BYTES = {"ConstantOfShape": 1 << 47, "OneHot": 1 << 48, "Exp": 1 << 47, "MatMul": 1 << 50}
HUGE_MODELS = {
    "ConstantOfShape": model_of([helper.make_node("ConstantOfShape", ["n"], ["y"])], [value("n", TensorProto.INT64, [1])]),
    "OneHot": model_of([helper.make_node("OneHot", ["i", "n", "v"], ["y"])], [value("n", TensorProto.INT64, [1])], initializers=[
        numpy_helper.from_array(np.int64([0, 1]), "i"), numpy_helper.from_array(np.float32([0, 1]), "v")]),
    "Exp": model_of([helper.make_node("Expand", ["x", "n"], ["z"]), helper.make_node("Exp", ["z"], ["y"])],
                    [value("n", TensorProto.INT64, [1])], initializers=[numpy_helper.from_array(np.float32([1]), "x")]),
    "MatMul": model_of([helper.make_node("Concat", ["n", "one"], ["s"], axis=0), helper.make_node("Expand", ["x", "s"], ["z"]),
                        helper.make_node("Transpose", ["z"], ["t"]), helper.make_node("MatMul", ["z", "t"], ["y"])],
                       [value("n", TensorProto.INT64, [1])], initializers=[
                           numpy_helper.from_array(np.int64([1]), "one"), numpy_helper.from_array(np.float32([[1]]), "x")]),
}


@pytest.mark.parametrize("op", HUGE_MODELS)
def test_values_larger_than_memory(op):
    """The error names the node and the size, whether the size is known at preparation or only during a run."""
    model, count = HUGE_MODELS[op], np.int64([1 << 24 if op == "MatMul" else HUGE])
    prepared = backend.prepare(model)
    with pytest.raises(MemoryError, match=f"^{op} that computes 'y': .*{BYTES[op]} bytes"):
        prepared.run([count])
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    del fixed.graph.input[:]
    fixed.graph.initializer.append(numpy_helper.from_array(count, "n"))
    with pytest.raises(MemoryError, match=f"^{op} that computes 'y': .*{BYTES[op]} bytes"):
        backend.prepare(fixed).run([])
    assert backend.is_compatible(model) and not backend.is_compatible(fixed)


# ---- Functions ----------------------------------------------------------------------------------------------------------

def calls(functions, times=2, first=None):
    """Functions that each call the previous one `times` times; the first one calls `first`."""
    result = []
    for i in range(functions):
        called = f"f{i - 1}" if i else first
        names = ["a", *(f"t{k}" for k in range(times - 1)), "b"] if called else ["a", "b"]
        nodes = [helper.make_node(called or "Neg", [x], [y], domain="mine" if called else "") for x, y in zip(names, names[1:])]
        result.append(helper.make_function("mine", f"f{i}", ["a"], ["b"], nodes,
                                         [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]))
    return model_of([helper.make_node(f"f{functions - 1}", ["x"], ["y"], domain="mine")], [value("x", shape=[2])],
                    functions=result)


def test_functions_that_call_functions():
    pytest.importorskip("onnx.inliner")
    assert backend.run_model(calls(8), [np.float32([1, 2])])[0].tolist() == [1, 2]
    for prepare in (backend.prepare, backend.Prepared):
        with pytest.raises(ValueError, match="^function 'mine.f20' expands to 1048576 nodes once the functions that it calls "
                                             "are replaced by their nodes; expected 1000000 at most$"):
            prepare(calls(64))
        with pytest.raises(ValueError, match=re.escape("function 'mine.f0' calls itself (mine.f0 calls mine.f2 calls mine.f1 "
                                                       "calls mine.f0); expected functions without recursion")):
            prepare(calls(3, 1, "f2"))


def test_the_graph_counts_too():
    model = calls(20)  # f19 stands for 524288 nodes
    model.graph.node.append(helper.make_node("f19", ["y"], ["z"], domain="mine"))
    for prepare in (backend.prepare, backend.Prepared):
        with pytest.raises(ValueError, match="^the model's graph expands to 1048576 nodes"):
            prepare(model)


def test_functions_with_long_names_count_as_bytes():
    """2^18 nodes with a name of 12000 characters would need 3 GiB."""
    model = calls(19)
    model.functions[0].node[0].name = "n" * 12_000
    with pytest.raises(ValueError, match="^function 'mine.f18' expands to [0-9]+ bytes of nodes"):
        backend.prepare(model)


def test_long_chains_of_functions():
    """The library does not recurse from function to function."""
    assert backend.Prepared(calls(9000, 1)).run([np.float32([1, 2])])[0].tolist() == [-1, -2]


# ---- Nodes -------------------------------------------------------------------------------------------------------------

ONE = numpy_helper.from_array(np.float32([1, 2]), "w")
REFERENCE = helper.make_node("Elu", ["x"], ["y"])
REFERENCE.attribute.add(name="alpha", ref_attr_name="a", type=onnx.AttributeProto.FLOAT)
WRONG = [
    (model_of([helper.make_node("Neg", ["w"], ["y"])], initializers=[ONE, ONE]), "two initializers have the name 'w'"),
    (model_of([helper.make_node("Neg", ["x"], ["y"])], [value("x", 99, [2])]), "input 'x': elem_type is 99; expected the number"),
    (model_of([helper.make_node("Neg", ["x"], ["y"])], [value("x", 0, [2])]), "input 'x': elem_type is missing"),
    (model_of([helper.make_node("Neg", ["q"], ["y"])]), "Neg that computes 'y': input 'q' is neither computed by an earlier node"),
    (model_of([], outputs=["z"]), "output 'z' is neither computed by a node"),
    (model_of([helper.make_node("Neg", ["x"], [])], [value("x", shape=[2])]), "Neg has no outputs; expected 1 or more"),
    (model_of([helper.make_node("Neg", ["x"], ["y", "z"])], [value("x", shape=[2])]), "Neg that computes 'y, z' has 2 outputs; "
     "expected 1 at most"),
    (model_of([helper.make_node("Sum", ["x", "", "x"], ["y"])], [value("x", shape=[2])]), "Sum that computes 'y': input data_0 is "
     "missing"),
    (model_of([REFERENCE], [value("x", shape=[2])]), "attribute 'alpha' refers to 'a' of a function, but the node is not "
     "in a function"),
    (model_of([helper.make_node("Neg", ["x"], ["y"])], [value("x", shape=[2])], opset=-1), "the model uses opset -1; expected 1 "
     "or more"),
    (model_of([helper.make_node("If", [""], ["y"])]), "If that computes 'y': input cond is missing"),
    (model_of([helper.make_node("If", ["c"], ["y"], then_branch=1, else_branch=2)], [value("c", TensorProto.BOOL)]),
     "If that computes 'y': then_branch is not a graph"),
    (model_of([helper.make_node("Gelu", ["x"], ["y"])], [value("x", shape=[2])]), "Gelu that computes 'y': ONNX has no Gelu in "
     "opset 17"),
]


@pytest.mark.parametrize("model, message", WRONG)
def test_nodes_that_no_checker_saw(model, message):
    with pytest.raises(ValueError) as caught:
        backend.Prepared(model)
    assert message in str(caught.value)
    assert not backend.is_compatible(model)


def test_texts_that_are_not_utf_8():
    model = model_of([helper.make_node("Gelu", ["x"], ["y"], approximate=b"\xff")], [value("x", shape=[2])], opset=20)
    for prepare in (backend.prepare, backend.Prepared):
        with pytest.raises(ValueError, match="a name or text in the model is not UTF-8"):
            prepare(model)


# ---- Corrupt bytes -----------------------------------------------------------------------------------------------------

WHOLE = [model.SerializeToString() for model in (calls(3), *HUGE_MODELS.values(), onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["": 18]> m (int64 trips, bool go, float[N] x) => (float[N] last, float[K, N] all) {
        last, all = Loop (trips, go, x) <body = b (int64 i, bool c, float[N] v) => (bool d, float[N] w, float[N] u) {
            d = Identity(c) f = Cast<to = 1>(i) w = Add(v, f) u = Gelu(w) }>
    }"""))]


def corrupted(random, text):
    """A text with some bytes changed, missing, new or repeated."""
    text = bytearray(text)
    for _ in range(random.integers(1, 4)):
        at, more = random.integers(len(text)), int(random.integers(1, 6))
        how = random.integers(4)
        if how == 0:
            text[at] = random.integers(256)
        else:
            text[at:at + (more if how == 1 else 0)] = (b"", random.bytes(more), bytes(text[max(0, at - 20):at]))[how - 1]
    return bytes(text)


@pytest.mark.parametrize("whole", WHOLE, ids=range(len(WHOLE)))
def test_corrupt_bytes(tmp_path, whole):
    """A corrupt model raises ValidationError and no other exception, unless it is still a valid model."""
    random, path = np.random.default_rng(1), tmp_path / "m.onnx"
    for text in (corrupted(random, whole) for _ in range(300)):
        path.write_bytes(text)
        given = [text, path]
        try:
            given.append(onnx.load_model_from_string(text))
        except Exception:  # the types of protobuf's exceptions depend on its version
            pass
        for source in given:
            is_accepted = False
            try:
                backend.prepare(source)
                is_accepted = True
            except onnx.checker.ValidationError as error:
                assert str(error).isprintable(), ascii(str(error))
            except (backend.Unsupported, MemoryError):
                pass
            assert backend.is_compatible(source) == is_accepted


# ---- Names --------------------------------------------------------------------------------------------------------------

X = [value("x", shape=[2])]
NAMES = {
    "operator": model_of([helper.make_node("Foo" + ESCAPES, ["x"], ["y"], name="n" + ESCAPES)], X),
    "domain": model_of([helper.make_node("Foo", ["x"], ["y"], domain="mine" + ESCAPES)], X),
    "attribute": model_of([helper.make_node("Neg", ["x"], ["y"], "n" + ESCAPES, **{"a" + ESCAPES: 1})], X),
    "text": model_of([helper.make_node("Gelu", ["x"], ["y"], approximate=ESCAPES)], X, opset=20),
    "input": model_of([helper.make_node("Neg", ["q" + ESCAPES], ["y"])], X),
    "output": model_of([helper.make_node("Neg", ["x"], ["y"])], X, ["z" + ESCAPES]),
    "twice": model_of([helper.make_node("Neg", ["x"], ["y" + ESCAPES]), helper.make_node("Neg", ["x"], ["y" + ESCAPES])], X,
                      ["y" + ESCAPES]),
    "constant": model_of([helper.make_node("Constant", [], ["y" + ESCAPES], **{"value" + ESCAPES: 1})], X, ["y" + ESCAPES]),
    "shape": model_of([helper.make_node("Reshape", ["x", "s"], ["y" + ESCAPES])], X, ["y" + ESCAPES],
                      [numpy_helper.from_array(np.int64([3]), "s")]),
    "function": calls(2, 1, "f1"),
}
NAMES["domain"].opset_import.add(domain="mine" + ESCAPES, version=1)
for _function in NAMES["function"].functions:
    _function.name += ESCAPES
    _function.node[0].op_type += ESCAPES


@pytest.mark.parametrize("prepare", (backend.prepare, backend.Prepared))
@pytest.mark.parametrize("what", NAMES)
def test_names_are_escaped_in_messages(what, prepare):
    """Includes messages from ONNX's checker, which only `prepare` runs."""
    if what == "twice" and prepare is backend.Prepared:
        return
    with pytest.raises((TypeError, ValueError, backend.Unsupported, onnx.checker.ValidationError)) as caught:
        prepare(NAMES[what]).run([np.float32([1, 2])])
    assert str(caught.value).isprintable(), ascii(str(caught.value))


# ---- Types and sizes that only a run knows -----------------------------------------------------------------------------

def parsed(text):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')


@pytest.mark.parametrize("size", (2**40, 2**47, 2**58, 2**60, 2**61, 2**62))
def test_sizes_whose_bytes_overflow(size):
    """2^61 elements of 8 bytes are 2^64 bytes, which wraps to 0."""
    prepared = backend.prepare(parsed("g (int64[1] s, int64[1] a, int64[1] b) => (int64[N] y) "
                                      "{ c = ConstantOfShape<value = int64[1] {7}>(s) y = Slice(c, a, b) }"))
    with pytest.raises((MemoryError, ValueError)):
        prepared.run([np.array([size]), np.array([0]), np.array([40])])
    prepared = backend.prepare(parsed("g (float[2] x, int64[10] s) => (float[a,b,c,d,e,f,g,h,i,j] y) { y = Expand(x, s) }"))
    with pytest.raises((MemoryError, ValueError)):
        prepared.run([np.zeros(2, "f4"), np.array([size // 2, 1, 1, 1, 1, 1, 1, 1, 1, 2])])


@pytest.mark.parametrize("trips", (0, 2))
def test_a_loop_whose_state_changes_its_type(trips):
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Identity", ["s"], ["k"]),
                              helper.make_node("Cast", ["k"], ["s2"], to=TensorProto.DOUBLE)], "b",
                             [value("i", TensorProto.INT64), value("c", TensorProto.BOOL), value("s", TensorProto.UINT8, None)],
                             [value("c2", TensorProto.BOOL), value("s2", TensorProto.DOUBLE, None)])
    loop = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    model = model_of([loop, helper.make_node("Cos", ["y"], ["z"])],
                     [value("x", TensorProto.UINT8, None), value("n", TensorProto.INT64)], ("z",))
    with pytest.raises((onnx.checker.ValidationError, TypeError), match="state 0 is uint8, but the body returns double"):
        backend.prepare(model.SerializeToString()).run([np.zeros(1000, np.uint8), np.array(trips)])


def test_a_scan_whose_state_changes_its_type():
    body = helper.make_graph([helper.make_node("Cast", ["s"], ["s2"], to=TensorProto.UINT8),
                              helper.make_node("Identity", ["q"], ["q2"])], "b",
                             [value("s", TensorProto.DOUBLE, None), value("q", TensorProto.DOUBLE, None)],
                             [value("s2", TensorProto.UINT8, None), value("q2", TensorProto.DOUBLE, None)])
    scan = helper.make_node("Scan", ["x", "q"], ["y", "z"], body=body, num_scan_inputs=1)
    model = model_of([scan], [value("x", TensorProto.DOUBLE, None), value("q", TensorProto.DOUBLE, None)], ("y", "z"))
    with pytest.raises((onnx.checker.ValidationError, TypeError), match="state 0 is double, but the body returns uint8"):
        backend.prepare(model.SerializeToString())


def test_results_do_not_refer_to_the_inputs_of_an_earlier_run():
    prepared = backend.prepare(parsed("g (float[k] x, int64[n] s) => (float[a,b] y, int64[c,d] t) "
                                      "{ z = Constant<value_ints = [0]>() y = Reshape(x, s) t = Unsqueeze(s, z) }"))
    sizes = np.array([2, 2])
    x = np.arange(4, dtype="f4")
    assert prepared.run([x, sizes])[1].tolist() == [[2, 2]]
    sizes[:] = 77, 88
    del sizes
    assert prepared.run([x, np.array([2, 2])])[1].tolist() == [[2, 2]]


def test_known_and_unknown_elements_are_told_apart():
    """A piece that was recorded for a known 0 must not run for other elements of the same form."""
    prepared = backend.prepare(parsed("""g (bool c, int64[1] x, float[k] q, double[3] d) => (int64[1] y, double[3] e) {
      v = If(c) <then_branch = th () => (int64[1] a) { s = Shape(q) n = Constant<value_ints = [-3]>() a = Add(s, n) },
                 else_branch = el () => (int64[1] b) { b = Add(x, x) }>
      dd = Cos(d)
      e = Abs(dd)
      y = Add(v, x) }"""))
    for condition, count, expected in ((True, 3, 5), (True, 4, 6), (True, 5, 7), (False, 3, 15), (True, 3, 5)):
        y = prepared.run([np.array(condition), np.array([5]), np.zeros(count, "f4"), np.zeros(3)])[0]
        assert y.tolist() == [expected]


def test_values_with_too_many_dimensions():
    wide = "1, " * 61 + "1"
    prepared = backend.prepare(parsed(f"g (int64[1, 0, {'1, ' * 59}1] x, int64[{wide}] i) => (int64[n] y) "
                                      '{ z = Gather(x, i) y = Einsum<equation = "...->...">(z) }'))
    with pytest.raises(ValueError, match="would have 123 dimensions; anydml supports up to 64"):
        prepared.run([np.zeros([1, 0] + [1] * 60, np.int64), np.zeros([1] * 62, np.int64)])


def test_an_endless_loop_is_not_run_while_a_model_loads():
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Add", ["s", "s"], ["s2"])], "b",
                             [value("i", TensorProto.INT64), value("c", TensorProto.BOOL), value("s")],
                             [value("c2", TensorProto.BOOL), value("s2")])
    loop = helper.make_node("Loop", ["", "", "w"], ["y"], body=body)
    backend.prepare(model_of([loop], initializers=[helper.make_tensor("w", TensorProto.FLOAT, [], [1.0])]))


@pytest.mark.parametrize("inputs, outputs", [(["", "x"], [""]), (["x"], ["x", ""])])
def test_outputs_without_names(inputs, outputs):
    """An empty name stands for an absent value, which an output cannot be."""
    model = model_of([], [value(name, shape=(2,)) for name in inputs], outputs)
    with pytest.raises(onnx.checker.ValidationError, match=f"output {len(outputs) - 1} has no name"):
        backend.prepare(model.SerializeToString())


def test_weights_of_equal_layers_that_share_a_file(tmp_path):
    """The first layer's bias is before its weights in their file; the second layer's weights are at the start of theirs."""
    (tmp_path / "one.bin").write_bytes(np.ones(8 + 64, np.float32).tobytes())
    (tmp_path / "two.bin").write_bytes(np.ones(64, np.float32).tobytes())

    def part(name, dims, file, offset):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        for key, text in {"location": file, "offset": str(offset), "length": str(4 * int(np.prod(dims)))}.items():
            tensor.external_data.add(key=key, value=text)
        return tensor

    for offset in (0, 16, 32):
        graph = helper.make_graph(
            [helper.make_node("Conv", ["x", "w1", "b1"], ["y1"]), helper.make_node("Conv", ["x", "w2", "b2"], ["y2"])], "g",
            [value("x", shape=(1, 8, 2, 2))], [value("y1", shape=(1, 8, 2, 2)), value("y2", shape=(1, 8, 2, 2))],
            [part("w1", (8, 8, 1, 1), "one.bin", offset), part("b1", (8,), "one.bin", 0), part("w2", (8, 8, 1, 1), "two.bin", 0),
             numpy_helper.from_array(np.ones(8, np.float32), "b2")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
        for y in backend.prepare(tmp_path / "m.onnx").run([np.ones((1, 8, 2, 2), np.float32)]):
            np.testing.assert_array_equal(y, 9)


def test_a_step_that_is_computed_early_and_is_wrong():
    """The body's Reshape needs the elements of a state, so it is computed before the graph that it is part of."""
    body = helper.make_graph(
        [helper.make_node("Reshape", ["row", "size"], ["y"]), helper.make_node("Identity", ["size"], ["size_out"])], "body",
        [value("size", TensorProto.INT64, (1,)), value("row", shape=(4,))],
        [value("size_out", TensorProto.INT64, (1,)), value("y", shape=(None,))])
    node = helper.make_node("Scan", ["size_0", "x"], ["size_n", "y"], body=body, num_scan_inputs=1)
    model = model_of([node], [value("size_0", TensorProto.INT64, (1,)), value("x", shape=(3, 4))], opset=17)
    prepared = backend.prepare(model)
    assert prepared.run([np.int64([4]), np.ones((3, 4), np.float32)])[0].shape == (3, 4)
    for _ in range(2):
        with pytest.raises(ValueError, match="Reshape"):
            prepared.run([np.int64([5]), np.ones((3, 4), np.float32)])
