# SPDX-License-Identifier: MIT
"""The cases for attention.py, in the form that moving_cases.py describes."""
from moving_cases import F32, Case, GeneratedInput, scaled

HEADS, ELEMENTS = 12, 64


def attention(tokens, dtype=F32):
    def make(np, random, scale):
        rows = scaled(tokens, scale)
        shape = (1, rows, HEADS * ELEMENTS)
        q, k, v = (random.standard_normal(shape).astype(dtype) for _ in range(3))

        def by_torch(torch, xs, ys):
            heads = [x.reshape(1, rows, HEADS, ELEMENTS).transpose(1, 2) for x in xs]
            return lambda: torch.nn.functional.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(shape)

        factor = ELEMENTS ** -0.5
        return GeneratedInput("MULTIHEAD_ATTENTION", [q, k, v], [(shape, dtype)],
                    (("Scale", factor), ("MaskFilterValue", 0.0), ("HeadCount", HEADS), ("MaskType", "NONE")),
                    f"{HEADS} heads of {ELEMENTS}, {rows} tokens, {dtype}", 4 * q.nbytes, torch=by_torch,
                    onnx=("MultiHeadAttention", {"num_heads": HEADS, "scale": factor, "domain": "com.microsoft"}, {}), absent=(8, 2))
    return make


CASES = [*(Case(f"attention_{tokens}", "MULTIHEAD_ATTENTION", attention(tokens)) for tokens in (128, 512, 2048)),
         Case("attention_512_half", "MULTIHEAD_ATTENTION", attention(512, "float16"))]
