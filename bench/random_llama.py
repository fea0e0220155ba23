#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a Llama of any size with random weights, in the form of onnxruntime-genai's builder, to measure with generate.py.

usage: random_llama.py FOLDER [--half] [--codes nbits|qdq] [--level 4] [--tied] [--layers 28] [--hidden 3072] [--heads 24]
       [--shared 8] [--head 128] [--inner 8192] [--vocabulary 128256] [--context 8192]

The defaults have the shape of a model of 3 billion parameters. With --codes, the weights of products are in four bits, in
blocks of 32: in MatMulNBits, or in int4 tensors with DequantizeLinear before MatMul. --level is MatMulNBits' accuracy_level,
and with --tied, the embedding reads the codes of the last product (GatherBlockQuantized). Needs onnx and NumPy.
"""
import argparse
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

BLOCK = 1 << 24  # random numbers, which are repeated
PAGE = 4096
IN_BLOCK = 32  # codes that share a scale
MICROSOFT = "com.microsoft"


class Writer:
    def __init__(self, folder, half, codes, level):
        self.codes, self.level = codes, level
        self.type = TensorProto.FLOAT16 if half else TensorProto.FLOAT
        self.dtype = np.float16 if half else np.float32
        self.random = (np.random.default_rng(0).standard_normal(BLOCK, dtype=np.float32) * np.float32(0.02)).astype(self.dtype)
        self.data = open(folder / "model.onnx.data", "wb")
        self.initializers, self.nodes = [], []

    def weight(self, name, *shape, of=None):
        """Adds random weights to the file of external data. of: bytes instead of numbers, and their type."""
        random, kind = (self.random, self.type) if of is None else of
        count, shift = int(np.prod(shape)), len(self.initializers) * 977 % PAGE
        count = count // 2 if kind == TensorProto.INT4 else count
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "model.onnx.data"), ("offset", self.data.tell()), ("length", count * random.itemsize)):
            tensor.external_data.add(key=key, value=str(value))
        while count:
            part = random[shift:shift + count]
            self.data.write(memoryview(part))
            count, shift = count - len(part), 0
        self.data.write(bytes(-self.data.tell() % PAGE))
        self.initializers.append(tensor)
        return name

    def product(self, x, name, rows, columns, result):
        """Adds the product of a value and a matrix."""
        if self.codes is None:
            return self.node("MatMul", [x, self.weight(name, rows, columns)], [result])
        bytes_of_codes = self.random.view(np.uint8)
        if self.codes == "nbits":
            codes = self.weight(name, columns, rows // IN_BLOCK, IN_BLOCK // 2, of=(bytes_of_codes, TensorProto.UINT8))
            scales = self.weight(f"{name}_scales", columns * rows // IN_BLOCK)
            return self.node("MatMulNBits", [x, codes, scales], [result], MICROSOFT, K=rows, N=columns, bits=4,
                             block_size=IN_BLOCK, accuracy_level=self.level)
        codes = self.weight(name, rows, columns, of=(bytes_of_codes, TensorProto.INT4))
        scales = self.weight(f"{name}_scales", rows // IN_BLOCK, columns)
        floats = self.node("DequantizeLinear", [codes, scales], [f"{name}_floats"], axis=0, block_size=IN_BLOCK)
        return self.node("MatMul", [x, floats], [result])

    def constant(self, name, array):
        self.initializers.append(onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, outputs, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, name=f"{op}_{len(self.nodes)}", domain=domain, **attributes))
        return outputs[0]


def write_layers(to, size):
    """Adds the nodes, and returns the names of the inputs and outputs of the cache."""
    queries, all_heads = size.heads * size.head, (size.heads + 2 * size.shared) * size.head
    ones = np.ones(size.hidden, to.dtype)
    angles = np.outer(np.arange(size.context), 500000.0 ** -(np.arange(0, size.head, 2) / size.head))
    cosines, sines = (to.constant(name, f(angles).astype(to.dtype)) for name, f in (("cos", np.cos), ("sin", np.sin)))
    to.constant("one", np.array([1], np.int64))
    to.node("ReduceSum", ["attention_mask", "one"], ["tokens_in_all"], keepdims=0)
    to.node("Sub", ["tokens_in_all", "one"], ["last"])
    to.node("Cast", ["last"], ["seqlens_k"], to=TensorProto.INT32)
    to.node("Shape", ["attention_mask"], ["mask_shape"])
    to.node("Gather", ["mask_shape", to.constant("second", np.array(1, np.int64))], ["columns"], axis=0)
    to.node("Cast", ["columns"], ["total"], to=TensorProto.INT32)
    if size.tied:
        codes = to.node("Reshape", ["head", to.constant("rows", np.array([size.vocabulary, -1]))], ["head_rows"])
        scales = to.node("Reshape", ["head_scales", "rows"], ["head_row_scales"])
        x = to.node("GatherBlockQuantized", [codes, "input_ids", scales], ["embedded"], MICROSOFT, bits=4,
                    block_size=IN_BLOCK, gather_axis=0, quantize_axis=1)
    else:
        x = to.node("Gather", [to.weight("embedding", size.vocabulary, size.hidden), "input_ids"], ["embedded"])
    y = to.node("SimplifiedLayerNormalization", [x, to.constant("norm", ones)], ["normalized"], axis=-1, epsilon=1e-5,
                stash_type=1)
    caches = []
    for i in range(size.layers):
        past, present = ([f"{name}.{i}.{part}" for part in ("key", "value")] for name in ("past_key_values", "present"))
        caches += zip(past, present)
        packed = to.product(y, f"qkv{i}", size.hidden, all_heads, f"packed{i}")
        attended = to.node("GroupQueryAttention", [packed, "", "", *past, "seqlens_k", "total", cosines, sines],
                           [f"attended{i}", *present], MICROSOFT, num_heads=size.heads, kv_num_heads=size.shared,
                           do_rotary=1, scale=size.head ** -0.5)
        out = to.product(attended, f"out{i}", queries, size.hidden, f"projected{i}")
        y = to.node("SkipSimplifiedLayerNormalization", [x, out, to.constant(f"norm_a{i}", ones)],
                    [f"middle{i}", "", "", f"sum_a{i}"], MICROSOFT, epsilon=1e-5)
        gate, up = (to.product(y, f"{name}_w{i}", size.hidden, size.inner, f"{name}{i}") for name in ("gate", "up"))
        swish = to.node("Mul", [gate, to.node("Sigmoid", [gate], [f"sigmoid{i}"])], [f"swish{i}"])
        inner = to.node("Mul", [swish, up], [f"inner{i}"])
        down = to.product(inner, f"down_w{i}", size.inner, size.hidden, f"down{i}")
        y = to.node("SkipSimplifiedLayerNormalization", [f"sum_a{i}", down, to.constant(f"norm_b{i}", ones)],
                    [f"end{i}", "", "", f"sum_b{i}"], MICROSOFT, epsilon=1e-5)
        x = f"sum_b{i}"
    to.product(y, "head", size.hidden, size.vocabulary, "logits")
    return caches


def config_of(size):
    return {"model": {
        "type": "llama", "vocab_size": size.vocabulary, "context_length": size.context, "bos_token_id": 1,
        "eos_token_id": size.vocabulary - 1, "pad_token_id": 0,
        "decoder": {
            "filename": "model.onnx", "head_size": size.head, "hidden_size": size.hidden, "num_attention_heads": size.heads,
            "num_hidden_layers": size.layers, "num_key_value_heads": size.shared,
            "session_options": {"provider_options": []},
            "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask",
                       "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"},
            "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"}}},
        "search": {"do_sample": False, "max_length": size.context, "past_present_share_buffer": False}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--half", action="store_true", help="weights of FLOAT16 instead of FLOAT32")
    parser.add_argument("--codes", choices=("nbits", "qdq"), help="weights in codes of four bits")
    parser.add_argument("--level", type=int, default=4, help="the accuracy_level of MatMulNBits")
    parser.add_argument("--tied", action="store_true", help="the embedding reads the codes of the last product")
    for name, default in (("layers", 28), ("hidden", 3072), ("heads", 24), ("shared", 8), ("head", 128), ("inner", 8192),
                          ("vocabulary", 128256), ("context", 8192)):
        parser.add_argument(f"--{name}", type=int, default=default)
    size = parser.parse_args()
    if size.tied and size.codes != "nbits":
        parser.error("--tied needs --codes nbits")
    size.folder.mkdir(parents=True, exist_ok=True)
    to = Writer(size.folder, size.half, size.codes, size.level)
    caches = write_layers(to, size)
    to.data.close()
    rows = ["batch", size.shared, "rows", size.head]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", name]) for name in ("input_ids", "attention_mask")]
    inputs += [helper.make_tensor_value_info(past, to.type, rows) for past, _ in caches]
    outputs = [helper.make_tensor_value_info("logits", to.type, ["batch", "tokens", size.vocabulary])]
    outputs += [helper.make_tensor_value_info(present, to.type, ["batch", size.shared, "all_rows", size.head])
                for _, present in caches]
    graph = helper.make_graph(to.nodes, "llama", inputs, outputs, to.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)],
                              ir_version=10)
    (size.folder / "model.onnx").write_bytes(model.SerializeToString())
    (size.folder / "genai_config.json").write_text(json.dumps(config_of(size), indent=2))


if __name__ == "__main__":
    main()
