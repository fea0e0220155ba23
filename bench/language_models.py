# SPDX-License-Identifier: MIT
"""Errors of language models that onnxruntime-genai's builder wrote: of anydml and of ONNX Runtime, compared with
transformers in float64.

    python3 bench/language_models.py FOLDER [NAME...] [--prompt 48] [--steps 8]

FOLDER has a folder for each model, named CHECKPOINT-PRECISION-TARGET, and the checkpoints themselves under hf. The
reference gets the weights of the ONNX file, dequantized in float64, and its tables of cosines and sines, so that the
errors are those of the computation alone. A model runs a prompt and then token by token, with a cache that grows.

needs: anydml, numpy, onnx, onnxruntime, torch, transformers
"""
import argparse
import json
import pathlib
import re
import unittest.mock

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from onnx import helper, numpy_helper

import anydml.onnx


# ---- The reference --------------------------------------------------------------------------------------------------


def unpacked(data, bits):
    """Returns the numbers in bytes, the first one in the lowest bits."""
    parts = [data >> shift & 2**bits - 1 for shift in range(0, 8, bits)]
    return np.stack(parts, axis=-1).reshape(*data.shape[:-1], -1)


def dequantized(node, arrays):
    """Returns the weights of a MatMulNBits in float64, {columns, rows}."""
    given = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    columns, rows, block, bits = given["N"], given["K"], given["block_size"], given.get("bits", 4)
    scale = arrays[node.input[2]].reshape(columns, -1, 1).astype(np.float64)
    numbers = unpacked(arrays[node.input[1]].reshape(columns, -1), bits).reshape(columns, -1, block)
    zero = np.float64(2 ** (bits - 1))
    if len(node.input) > 3 and node.input[3]:
        packed = arrays[node.input[3]].reshape(columns, -1)
        zero = unpacked(packed, bits)[:, :scale.shape[1], None].astype(np.float64)
    return ((numbers - zero) * scale).reshape(columns, -1)[:, :rows]


def weights_of(graph, arrays):
    """Returns the weights of products as {columns, rows} and all other tensors, by their names in the file."""
    used = {name for node in graph.node for name in node.input}
    found = {name: array.astype(np.float64) for name, array in arrays.items() if array.dtype.kind == "f" and name in used}
    is_turned = any(node.op_type == "MoE" for node in graph.node)  # {experts, columns, rows}; otherwise rows come first
    for name, array in found.items():
        if name.endswith(".MatMul.weight") or (is_turned and array.ndim == 3):
            found[name] = array.swapaxes(-1, -2)
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            found[node.input[1].partition("_Q")[0]] = dequantized(node, arrays)
    return found


def checkpoint_name(name):
    """Returns the name in the checkpoint of a tensor in the file."""
    name = name.replace(".MatMul.weight", ".weight").replace(".Add.bias", ".bias").replace(".attn.", ".self_attn.")
    name = name.replace("_norm.layernorm.", "_norm.").replace(".moe.router.", ".mlp.router.")
    name = re.sub(r"\.moe\.experts\.(\w+)\.weight", r".mlp.experts.\1", name)
    name = re.sub(r"\.moe\.experts\.(\w+)\.bias", r".mlp.experts.\1_bias", name)
    return re.sub(r"model\.layers\.\d+\.final_norm_layernorm\.", "model.norm.", name)


def put_weights(model, weights):
    """Copies the weights of a file into a model. One of both may have joined matrices."""
    state = model.state_dict()
    is_gemma = "gemma" in model.config.model_type
    parts = {}
    for name, array in weights.items():
        own = checkpoint_name(name)
        if "qkv_proj" in own and own not in state:
            heads = [model.config.num_attention_heads] + 2 * [model.config.num_key_value_heads]
            sizes = np.cumsum([count * (array.shape[0] // sum(heads)) for count in heads])
            for letter, part in zip("qkv", np.split(array, sizes[:2])):
                parts[own.replace("qkv_proj", letter + "_proj")] = part
        else:
            parts[own] = array
    for joined, names in (("self_attn.qkv_proj", "q_proj k_proj v_proj"), ("mlp.gate_up_proj", "gate_proj up_proj")):
        for own in [one for one in state if joined in one and one not in parts]:
            each = [own.replace(joined.partition(".")[2], name) for name in names.split()]
            if all(name in parts for name in each):
                parts[own] = np.concatenate([parts.pop(name) for name in each])
    for own, array in parts.items():
        if own not in state:
            continue
        if is_gemma and "norm" in own:  # the checkpoint's weights are those of the file without 1
            array = array - 1
        state[own].copy_(torch.from_numpy(np.ascontiguousarray(array)))
    for own in [one for one in state if one.endswith(".sinks") and one not in parts]:
        state[own].fill_(-torch.inf)  # the file has no sinks
        parts[own] = None
    missing = [own for own in state if own not in parts and not own.endswith(("lm_head.weight", "embed_tokens.weight"))]
    if missing:
        raise ValueError(f"the file has no weights for {missing}")
    if "lm_head.weight" not in parts:
        state["lm_head.weight"].copy_(state["model.embed_tokens.weight"])
    elif "model.embed_tokens.weight" not in parts:
        state["model.embed_tokens.weight"].copy_(state["lm_head.weight"])


def put_angles(model, cosines, sines):
    """Replaces the computed angles by the tables of a file."""
    def forward(_, position_ids, *rest, **__):
        repeats = 1 if model.config.model_type == "gpt_oss" else 2
        return tuple(torch.from_numpy(np.concatenate(repeats * [table], axis=-1))[position_ids] for table in (cosines, sines))
    model.model.rotary_emb.forward = forward


def reference_logits(path, checkpoint, tokens):
    """Returns the logits of all tokens in float64."""
    graph = onnx.load(path).graph
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    model = transformers.AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager").eval()
    weights = weights_of(graph, arrays)
    with torch.no_grad():
        put_angles(model, weights.pop("cos_cache"), weights.pop("sin_cache"))
        put_weights(model, weights)
        # transformers computes norms and softmax in float32, whatever the model's type is.
        with unittest.mock.patch.object(torch, "float32", torch.float64), \
                unittest.mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
            return model(torch.from_numpy(tokens), use_cache=False).logits[0].numpy()


# ---- Runs -----------------------------------------------------------------------------------------------------------

DTYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16}


class Sequence:
    """What a model gets with each call: tokens, and what it returned before."""

    def __init__(self, path):
        graph = onnx.load(path, load_external_data=False).graph
        windows = {name: attribute.i for node in graph.node for name in node.input for attribute in node.attribute
                   if attribute.name == "local_window_size" and name.startswith("past_key_values")}
        self.outputs = [one.name for one in graph.output]
        self.inputs = [one.name for one in graph.input]
        self.past = {}
        for one in graph.input:
            sizes = one.type.tensor_type.shape.dim
            if one.name.startswith("past_key_values"):
                width = json.loads((path.parent / "genai_config.json").read_text())["model"]["decoder"]["head_size"]
                rows = windows.get(one.name, 0) if sizes[2].dim_param == "past_sliding_length" else 0
                dtype = DTYPES[one.type.tensor_type.elem_type]
                self.past[one.name] = np.zeros((1, sizes[1].dim_value, rows, width), dtype)

    def feeds(self, tokens, begin, end):
        given = {"input_ids": tokens[:, begin:end], "attention_mask": np.ones((1, end), np.int64),
                 "position_ids": np.arange(begin, end)[None]}
        return {name: self.past[name] if name in self.past else given[name] for name in self.inputs}

    def keep(self, outputs):
        for name in self.past:
            self.past[name] = outputs[name.replace("past_key_values", "present")]


def logits_of(run, path, tokens, prompt):
    """Returns the logits of a prompt and of the tokens after it, one by one."""
    sequence, logits, begin = Sequence(path), [], 0
    for end in range(prompt, tokens.shape[1] + 1):
        outputs = dict(zip(sequence.outputs, map(np.asarray, run(sequence.feeds(tokens, begin, end)))))
        logits.append(outputs["logits"][0].astype(np.float64))
        sequence.keep(outputs)
        begin = end
    return np.concatenate(logits)


def with_anydml(path):
    prepared = anydml.onnx.prepare(path)
    return lambda given: prepared.run({name: given[name] for name in prepared.required})


def with_onnxruntime(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda given: session.run(None, given)


def error_text(prepare, path, tokens, prompt, truth):
    try:
        logits = logits_of(prepare(path), path, tokens, prompt)
    except Exception as error:  # what it is, is the result
        return f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"
    far = np.abs(logits - truth).max() / np.abs(truth).max()
    same = 100 * (logits.argmax(-1) == truth.argmax(-1)).mean()
    return f"{far:.1e} ({same:.0f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--prompt", type=int, default=48)
    parser.add_argument("--steps", type=int, default=8)
    options = parser.parse_args()
    names = options.names or sorted(one.parent.name for one in options.folder.glob("*/model.onnx"))
    print("The largest error of a logit over the largest logit, and how many greedy choices are those of float64:\n")
    print("| model | anydml | ONNX Runtime |\n|---|---|---|")
    for name in names:
        path = options.folder / name / "model.onnx"
        checkpoint = options.folder / "hf" / name.rsplit("-", 2)[0]
        words = json.loads((checkpoint / "config.json").read_text())["vocab_size"]
        tokens = np.random.default_rng(1).integers(2, min(words, 250), (1, options.prompt + options.steps))
        try:
            truth = reference_logits(path, checkpoint, tokens)
        except Exception as error:
            truth = np.full((tokens.shape[1], 1), np.nan)
            print("no reference:", error)
        each = [error_text(prepare, path, tokens, options.prompt, truth) for prepare in (with_anydml, with_onnxruntime)]
        print(f"| {name} | {each[0]} | {each[1]} |", flush=True)


if __name__ == "__main__":
    main()
