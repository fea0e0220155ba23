# SPDX-License-Identifier: MIT
"""Small language models of random weights, as onnxruntime-genai's builder would write them, for tests."""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS, CONTEXT, SIZE, HEADS, SHARED, LAYERS = 260, 96, 8, 2, 1, 2
END = 257  # the end token; 256 begins a text, and smaller tokens are bytes
INITIAL = 256


class Graph:
    """A graph to which nodes and constants are added."""

    def __init__(self, dtype):
        self.nodes, self.constants, self.dtype = [], [], dtype
        self._random = np.random.default_rng(50)

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names[0]

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *shape):
        return self.constant(self._random.uniform(-1, 1, shape).astype(self.dtype))


def _angles():
    return np.outer(np.arange(CONTEXT), 1 / 10.0 ** np.arange(SIZE // 2))


def _grouped_attention(graph, layer, x, given, window):
    packed = graph.add("MatMul", x, graph.weights(HEADS * SIZE, (HEADS + 2 * SHARED) * SIZE))
    options = {"local_window_size": window, "sliding_window_cache": 1} if window else {}
    return graph.add(
        "GroupQueryAttention", packed, "", "", f"past_key_values.{layer}.key", f"past_key_values.{layer}.value",
        given["last"], given["total"], given["cosines"], given["sines"], domain="com.microsoft",
        outputs=[f"y{layer}", f"present.{layer}.key", f"present.{layer}.value"], num_heads=HEADS, kv_num_heads=SHARED,
        do_rotary=1, **options)


def _plain_attention(graph, layer, x, given):
    """Attention of ONNX's own operators, with one head and a cache that grows."""
    def rows():
        return graph.add("Unsqueeze", graph.add("MatMul", x, graph.weights(HEADS * SIZE, SIZE)), given["one"])

    query = rows()
    kept = [graph.add("Concat", f"past_key_values.{layer}.{name}", rows(), axis=2, outputs=[f"present.{layer}.{name}"])
            for name in ("key", "value")]
    scores = graph.add("MatMul", query, graph.add("Transpose", kept[0], perm=[0, 1, 3, 2]))
    weights = graph.add("Softmax", graph.add("Add", scores, given["bias"]), axis=-1)
    y = graph.add("Squeeze", graph.add("MatMul", weights, kept[1]), given["one"])
    return graph.add("MatMul", y, graph.weights(SIZE, HEADS * SIZE))


def write_model(folder, *, is_plain=False, window=0, dtype=np.float32, has_positions=False, is_last_only=False,
                has_softcap=False, config=None):
    """Writes model.onnx and genai_config.json. is_plain: attention without GroupQueryAttention. window: the rows of a
    cache that slides in the first layer. is_last_only: the model returns logits of the last token only. has_softcap: the
    logits are limited by a hyperbolic tangent."""
    graph = Graph(dtype)
    given = {"one": graph.constant(np.array([1]))}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    heads = 1 if is_plain else SHARED
    if is_plain:
        keys = graph.add("Range", graph.constant(np.array(0)), graph.add("Gather", graph.add("Shape", "attention_mask"),
                                                                         graph.constant(np.array(1))), graph.constant(np.array(1)))
        seen = graph.add("LessOrEqual", keys, graph.add("Unsqueeze", graph.add("Unsqueeze", "position_ids", given["one"]),
                                                        graph.constant(np.array([3]))))
        given["bias"] = graph.add("Where", seen, graph.constant(np.array(0, dtype)), graph.constant(np.array(-np.inf, dtype)))
    else:
        count = graph.add("ReduceSum", "attention_mask", given["one"], keepdims=0)
        given["last"] = graph.add("Cast", graph.add("Sub", count, given["one"]), to=TensorProto.INT32)
        width = graph.add("Gather", graph.add("Shape", "attention_mask"), graph.constant(np.array(1)))
        given["total"] = graph.add("Cast", width, to=TensorProto.INT32)
        given["cosines"], given["sines"] = (graph.constant(one(_angles()).astype(dtype)) for one in (np.cos, np.sin))
    x = graph.add("Gather", graph.weights(WORDS, HEADS * SIZE), "input_ids")
    for layer in range(LAYERS):
        own = window if layer == 0 else 0
        y = _plain_attention(graph, layer, x, given) if is_plain else _grouped_attention(graph, layer, x, given, own)
        x = graph.add("Add", x, y)
    if is_last_only:
        x = graph.add("Gather", x, graph.constant(np.array([-1])), axis=1)
    logits = graph.add("MatMul", x, graph.weights(HEADS * SIZE, WORDS), outputs=1 if has_softcap else ["logits"])
    if has_softcap:
        limit = graph.constant(np.array(4, dtype))
        graph.add("Mul", graph.add("Tanh", graph.add("Div", logits, limit)), limit, outputs=["logits"])

    def value(name, type_of, *sizes):
        return helper.make_tensor_value_info(name, type_of, sizes)

    inputs = [value("input_ids", TensorProto.INT64, "batch", "tokens"), value("attention_mask", TensorProto.INT64, "batch", "total")]
    if is_plain or has_positions:
        inputs.append(value("position_ids", TensorProto.INT64, "batch", "tokens"))
    outputs = [value("logits", kind, "batch", 1 if is_last_only else "tokens", WORDS)]
    for layer in range(LAYERS):
        for name in ("key", "value"):
            inputs.append(value(f"past_key_values.{layer}.{name}", kind, "batch", heads, f"past_{layer}", SIZE))
            outputs.append(value(f"present.{layer}.{name}", kind, "batch", heads, f"total_{layer}", SIZE))
    made = helper.make_graph(graph.nodes, "g", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(made, opset_imports=opsets, ir_version=8), str(folder / "model.onnx"))
    described = {
        "model": {"context_length": CONTEXT, "eos_token_id": END, "bos_token_id": INITIAL, "vocab_size": WORDS, "type": "llama",
                  "decoder": {"filename": "model.onnx", "head_size": SIZE, "num_hidden_layers": LAYERS,
                              "num_key_value_heads": heads}},
        "search": {"do_sample": False, "max_length": CONTEXT}}
    for name, member in (config or {}).items():
        at = described
        *path, last = name.split(".")
        for one in path:
            at = at.setdefault(one, {})
        at[last] = member
    (folder / "genai_config.json").write_text(json.dumps(described))
    return folder


TEMPLATE = """{% for message in messages %}{{ bos_token }}{{ message['role'] }}: {{ message['content'] }}
{% endfor %}{% if add_generation_prompt %}model: {% endif %}"""


def write_tokenizer(folder, template=TEMPLATE):
    """Writes a tokenizer whose tokens are bytes. It needs the package tokenizers."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    letters = _letters_of_bytes()
    made = Tokenizer(models.BPE(vocab={letters[i]: i for i in range(256)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(name, special=True) for name in ("<s>", "</s>", "<a>", "<b>")])
    made.save(str(folder / "tokenizer.json"))
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, **({"chat_template": template} if template else {})}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def _letters_of_bytes():
    """The characters by which tokenizers of bytes name them: printable ones name themselves."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(i) if i in printable else chr(next(others)) for i in range(256)]


def plain_loop(folder, prompt, tokens, **options):
    """Returns the most likely tokens after a prompt and the last logits, by a loop over the model with a cache that
    grows."""
    import anydml.onnx as backend
    prepared = backend.prepare(str(folder / "model.onnx"), **options)
    past = {one.name: np.zeros((1, one.sizes[1], 0, SIZE), one.type) for one in prepared.inputs if one.name.startswith("past")}
    text, ran = list(prompt), 0
    while True:
        given = {"input_ids": np.array([text[ran:]]), "attention_mask": np.ones((1, len(text)), np.int64),
                 "position_ids": np.arange(ran, len(text))[None], **past}
        outputs = prepared.run({one.name: given[one.name] for one in prepared.inputs})
        logits = np.float32(outputs["logits"][0, -1])
        if len(text) == len(prompt) + tokens - 1:
            return text[len(prompt):] + [int(logits.argmax())], logits
        past = {name: outputs[name.replace("past_key_values", "present")] for name in past}
        ran = len(text)
        text.append(int(logits.argmax()))
