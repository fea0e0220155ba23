# SPDX-License-Identifier: MIT
"""The cases for layers.py, in the form that moving_cases.py describes."""
from moving_cases import F32, Case, GeneratedInput, by, scaled, size_of


def product(rows, columns, depth, dtype=F32):
    def make(np, random, scale):
        m, n, k = (scaled(size, scale ** (1 / 3)) for size in (rows, columns, depth))
        a, b = (random.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
        return GeneratedInput("GEMM", [a, b], [((m, n), dtype)],
                    (("TransA", "NONE"), ("TransB", "NONE"), ("Alpha", 1.0), ("Beta", 0.0)), f"{by((m, n, k))}, {dtype}",
                    a.nbytes + b.nbytes + size_of((m, n), a.itemsize),
                    torch=lambda torch, xs, ys: lambda: torch.matmul(xs[0], xs[1], out=ys[0]), onnx=("MatMul", {}, {}),
                    flops=2 * m * n * k, near=1e-2)
    return make


def byte_product(size):
    def make(np, random, scale):
        n = scaled(size, scale ** (1 / 3))
        a, b = (random.integers(-128, 128, (n, n), np.int8) for _ in range(2))

        def of_torch(torch, xs, ys):
            return lambda: torch._int_mm(xs[0], xs[2])
        zeros = [np.zeros(1, np.int8) for _ in range(2)]
        return GeneratedInput("MATRIX_MULTIPLY_INTEGER", [a, zeros[0], b, zeros[1]], [((n, n), "int32")], (), f"{by((n, n, n))}, int8",
                    2 * a.nbytes + 4 * n * n, torch=of_torch, onnx=("MatMulInteger", {}, {}),
                    views=[(None, None), ((1, 1), None)] * 2, order=[0, 2, 1, 3], flops=2 * n ** 3)
    return make


def convolution(channels, filters, side, kernel, stride=1, groups=1, transposed=False, batch=8, dtype=F32):
    def make(np, random, scale):
        n, padding = scaled(batch, scale), kernel // 2
        x = random.standard_normal((n, channels, side, side)).astype(dtype)
        shape = (channels, filters // groups) if transposed else (filters, channels // groups)
        w = random.standard_normal((*shape, kernel, kernel)).astype(dtype)
        bias = random.standard_normal(filters).astype(dtype)
        result = side * stride if transposed else (side + 2 * padding - kernel) // stride + 1
        more = result - ((side - 1) * stride - 2 * padding + kernel) if transposed else 0
        out = (n, filters, result, result)
        options = {"stride": stride, "padding": padding, "groups": groups}

        def of_torch(torch, xs, ys):
            torch.backends.cudnn.allow_tf32 = False
            torch.backends.cudnn.benchmark = True
            if transposed:
                return lambda: torch.nn.functional.conv_transpose2d(*xs, output_padding=more, **options)
            return lambda: torch.nn.functional.conv2d(*xs, **options)
        attributes = (("Mode", "CROSS_CORRELATION"), ("Direction", "BACKWARD" if transposed else "FORWARD"),
                      ("Strides", (stride, stride)), ("Dilations", (1, 1)), ("StartPadding", (padding, padding)),
                      ("EndPadding", (padding, padding)), ("OutputPadding", (more, more)), ("GroupCount", groups))
        node = {"strides": [stride] * 2, "pads": [padding] * 4, "group": groups}
        if transposed:
            node["output_padding"] = [more] * 2
        pixels = side * side if transposed else result * result
        return GeneratedInput("CONVOLUTION", [x, w, bias], [(out, dtype)], attributes,
                    f"{kernel}x{kernel}, {channels} to {filters} at {side}, batch {n}"
                    + (f", stride {stride}" if stride > 1 else "") + (f", {groups} groups" if groups > 1 else "")
                    + (", transposed" if transposed else "") + ("" if dtype == F32 else f", {dtype}"),
                    x.nbytes + w.nbytes + size_of(out, x.itemsize), torch=of_torch,
                    onnx=("ConvTranspose" if transposed else "Conv", node, {}),
                    views=[(None, None), (None, None), ((1, filters, 1, 1), None)], flops=2 * n * w.size * pixels,
                    near=1e-2)
    return make


SHAPES = {"gemm_512": (512, 512, 512), "gemm_1024": (1024, 1024, 1024), "gemm_2048": (2048, 2048, 2048),
          "gemm_4096": (4096, 4096, 4096), "gemm_tall": (4096, 64, 1024), "gemm_deep": (128, 128, 8192),
          "gemm_row": (1, 4096, 4096), "gemm_1000": (1000, 1000, 1000)}
LAYERS = {"conv_3x3_64": (64, 64, 56, 3), "conv_3x3_256": (256, 256, 14, 3), "conv_7x7": (3, 64, 224, 7, 2),
          "conv_1x1": (256, 64, 56, 1), "conv_1x1_deep": (1024, 256, 14, 1), "conv_3x3_stride": (128, 128, 56, 3, 2),
          "conv_style": (3, 32, 256, 9), "depthwise": (96, 96, 112, 3, 1, 96), "depthwise_stride": (96, 96, 112, 3, 2, 96),
          "transposed": (64, 32, 112, 3, 2, 1, True)}
CASES = [*(Case(name, "GEMM", product(*shape)) for name, shape in SHAPES.items()),
         *(Case(f"half_{size}", "GEMM", product(size, size, size, "float16")) for size in (1024, 4096)),
         *(Case(f"bytes_{size}", "MATRIX_MULTIPLY_INTEGER", byte_product(size)) for size in (1024, 4096)),
         *(Case(name, "CONVOLUTION", convolution(*layer)) for name, layer in LAYERS.items()),
         Case("conv_3x3_half", "CONVOLUTION", convolution(64, 64, 56, 3, dtype="float16"))]
