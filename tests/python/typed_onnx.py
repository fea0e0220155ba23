# SPDX-License-Identifier: MIT
"""A program with ONNX models that type checkers accept and that also runs; see typed_program.py."""
import copy
import pickle
from typing import Any

import numpy as np
import onnx
import onnx.parser
from numpy.typing import NDArray
from typing_extensions import assert_type

import anydml.onnx as backend

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
negate (float[batch, 3] x) => (float[batch, 3] y) { y = Neg (x) }""")
prepared = backend.prepare(model, trace=True)
assert_type(prepared, backend.Prepared)
assert_type(prepared.inputs, tuple[backend.Value, ...])
for value in (*prepared.inputs, *prepared.outputs):
    assert_type(value.name, str)
    assert_type(value.sizes, tuple[int | str | None, ...] | None)
    assert value.type == np.dtype(np.float32) and value.sizes == ("batch", 3)
x = np.ones((2, 3), np.float32)
assert_type(prepared.run([x])["y"], NDArray[Any])
assert_type(copy.deepcopy(prepared), backend.Prepared)
again: backend.Prepared = pickle.loads(pickle.dumps(prepared))
assert again.run({"x": x})[0].tolist() == (-x).tolist()


def texts(generator: backend.Generator) -> None:
    """Is checked and not called: it needs a language model."""
    one = generator.generate("a text", 8, temperature=0.5, stop="end", stream=print)
    assert_type(one, backend.Generated)
    assert_type(one.text, str)
    assert_type(generator.generate([[1, 2], "b"]), list[backend.Generated])
    assert_type(generator.generate([{"role": "user", "content": "Hello"}]).tokens, list[int])
    for piece in generator.stream([1, 2], seed=3):
        assert_type(piece, str)
    assert_type(backend.Generator("folder", "CPU", 128, cache="growing").slots, int)
