# SPDX-License-Identifier: MIT
"""The libraries and loops that peers.py measures and counts, behind a common interface."""
import ctypes
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peer_operators import REDUCTION_LAYOUTS, extra_arguments

LAYOUTS = ("tensor", "scalar")


def out_kind(row, inputs, out):
    return (inputs[0] if inputs else out).dtype.kind


# A peer has a title and a method prepare(), which returns a function that computes into `out`, or None if the library
# lacks the operator. prepare_row() does the same for a row of peer_operators.py. Types have DirectML's names; arrays
# are NumPy's. For layout "scalar", b has no dimensions.

class Anydml:
    key, short = "anydml", "anydml"

    def __init__(self, path, threads):
        self.handle = ctypes.CDLL(path)
        self.handle.anydml_last_error.restype = ctypes.c_char_p
        self.handle.anydml_version.restype = ctypes.c_char_p
        self.title = f"anydml {self.handle.anydml_version().decode()}"

    def prepare(self, type_name, operator, a, b, out):
        from numpy_oracle import TYPES, Tensor, to_tensor
        value = TYPES[type_name][0]
        inputs = [to_tensor(a), to_tensor(b)]
        output = to_tensor(out)
        compiled = ctypes.c_void_p()
        self.must(self.handle.anydml_compile(
            None, f"ELEMENT_WISE_{operator.upper()}".encode(), (Tensor * 2)(*inputs), ctypes.c_size_t(2),
            ctypes.byref(output), ctypes.c_size_t(1), None, ctypes.c_size_t(0), ctypes.byref(compiled)))
        sources = (ctypes.c_void_p * 2)(a.ctypes.data, b.ctypes.data)
        targets = (ctypes.c_void_p * 1)(out.ctypes.data)
        two, one = ctypes.c_size_t(2), ctypes.c_size_t(1)
        return lambda: self.must(self.handle.anydml_compiled_run(compiled, sources, two, targets, one))

    def prepare_row(self, row, layout, inputs, out):
        from numpy_oracle import Attribute, Tensor, to_attribute, to_tensor
        attributes = dict(row.attributes)
        if row.is_reduction:
            attributes["Axes"] = REDUCTION_LAYOUTS[layout]
        # An array of structs contains copies that point into the originals' data, so the originals must stay alive.
        kept = [to_attribute(*one) for one in attributes.items()], [to_tensor(array) for array in inputs]
        given = (Attribute * max(1, len(attributes)))(*kept[0])
        tensors = (Tensor * max(1, len(inputs)))(*kept[1])
        output = to_tensor(out)
        compiled = ctypes.c_void_p()
        count, one = ctypes.c_size_t(len(inputs)), ctypes.c_size_t(1)
        if self.handle.anydml_compile(None, row.directml.encode(), tensors, count, ctypes.byref(output), one, given,
                                      ctypes.c_size_t(len(attributes)), ctypes.byref(compiled)) != 0:
            return None
        sources = (ctypes.c_void_p * max(1, len(inputs)))(*(array.ctypes.data for array in inputs))
        targets = (ctypes.c_void_p * 1)(out.ctypes.data)
        targets.keep = inputs, out  # the arrays must live as long as the function
        return lambda: self.must(self.handle.anydml_compiled_run(compiled, sources, count, targets, one))

    def must(self, code):
        if code != 0:
            sys.exit(f"anydml: {self.handle.anydml_last_error().decode()}")


class NumPy:
    key, short = "numpy", "NumPy"

    def __init__(self, threads):
        import numpy
        self.numpy = numpy
        self.title = f"NumPy {numpy.__version__}"

    def prepare(self, type_name, operator, a, b, out):
        function = self.numpy.remainder if operator == "modulus_floor" else self.numpy.fmod
        return lambda: function(a, b, out=out)

    def prepare_row(self, row, layout, inputs, out):
        if row.numpy is None or not row.only(out_kind(row, inputs, out)):
            return None
        extra = extra_arguments(row, layout)
        return lambda: row.numpy(self.numpy, out, *inputs, *extra)


class PyTorch:
    key, short = "torch", "PyTorch"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.title = f"PyTorch {torch.__version__}"

    def tensors(self, *arrays):
        return [self.torch.from_numpy(array) for array in arrays]

    def prepare(self, type_name, operator, a, b, out):
        function = self.torch.remainder if operator == "modulus_floor" else self.torch.fmod
        x, y, z = self.tensors(a, b, out)
        return lambda: function(x, y, out=z)

    def prepare_row(self, row, layout, inputs, out):
        if row.torch is None or not row.only(out_kind(row, inputs, out)):
            return None
        extra = extra_arguments(row, layout)
        *tensors, target = self.tensors(*inputs, out)
        return lambda: row.torch(self.torch, target, *tensors, *extra)


class PyTorchCompiled(PyTorch):
    """Supports only floats, because each type takes seconds to compile."""
    key, short = "torch_compiled", "compiled"

    def __init__(self, threads):
        super().__init__(threads)
        self.title += ", compiled"

        def floor(x, y, z):
            z.copy_(self.torch.remainder(x, y))

        def truncate(x, y, z):
            z.copy_(self.torch.fmod(x, y))
        self.functions = {name: self.torch.compile(function, dynamic=True)
                          for name, function in (("modulus_floor", floor), ("modulus_truncate", truncate))}

    prepare_row = None  # only the modulus is supported

    def prepare(self, type_name, operator, a, b, out):
        if not type_name.startswith("FLOAT"):
            return None
        tensors = self.tensors(a, b, out)
        return lambda: self.functions[operator](*tensors)


class OnnxRuntime:
    key, short = "onnxruntime", "ORT"

    def __init__(self, threads):
        import onnx
        import onnxruntime
        self.onnx, self.runtime, self.threads = onnx, onnxruntime, threads
        self.title = f"ONNX Runtime {onnxruntime.__version__}"

    def prepare(self, type_name, operator, a, b, out):
        truncate = operator == "modulus_truncate"
        if type_name.startswith("FLOAT") and not truncate:
            return None  # for floats, Mod is defined only with fmod=1
        helper = self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(a.dtype)
        node = helper.make_node("Mod", ["a", "b"], ["c"], fmod=int(truncate))
        graph = helper.make_graph([node], "mod", [helper.make_tensor_value_info("a", kind, list(a.shape)),
                                                  helper.make_tensor_value_info("b", kind, list(b.shape))],
                                  [helper.make_tensor_value_info("c", kind, list(out.shape))])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        session = self.runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in (("a", a), ("b", b)):
            binding.bind_input(name, "cpu", 0, array.dtype.type, list(array.shape), array.ctypes.data)
        binding.bind_output("c", "cpu", 0, out.dtype.type, list(out.shape), out.ctypes.data)
        return lambda: session.run_with_iobinding(binding)


class Formula:
    """The formula used in shaders and many kernels. Its wrong answers are counted, but it is not timed, because NumPy
    needs four passes for it."""
    key, short = "formula", "formula"
    timed = False
    title = "a - b*floor(a/b) in floats"

    def __init__(self, threads):
        import numpy
        self.numpy = numpy

    def prepare(self, type_name, operator, a, b, out):
        if not type_name.startswith("FLOAT"):
            return None
        rounded = self.numpy.floor if operator == "modulus_floor" else self.numpy.trunc
        return lambda: self.numpy.subtract(a, b * rounded(a / b), out=out)


class CLoops:
    """A shared library of loops over (out, a, b, count), compiled at run time."""

    def __init__(self, threads):
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads)
        self.folder = tempfile.TemporaryDirectory()
        self.libraries = {}

    def compile(self, source, name, flags=()):
        """Returns None if the source does not compile: a C compiler may lack _Float16."""
        if name not in self.libraries:
            path = Path(self.folder.name) / f"{name}.so"
            text = path.with_suffix(".c")
            text.write_text(source)
            command = ["cc", "-std=gnu11", "-O3", "-fno-math-errno", "-shared", "-fPIC", str(text), "-o", str(path),
                       *flags, "-lm"]
            try:
                done = subprocess.run(command, capture_output=True, text=True)
                self.libraries[name] = ctypes.CDLL(str(path)) if done.returncode == 0 else None
            except OSError:
                self.libraries[name] = None
        return self.libraries[name]

    def shared(self, function, a, b, out):
        count = out.size
        ends = [count * i // self.threads // 64 * 64 for i in range(self.threads)] + [count]
        step = 0 if b.ndim == 0 else b.itemsize

        def part(begin, end):
            function(ctypes.c_void_p(out.ctypes.data + begin * out.itemsize),
                     ctypes.c_void_p(a.ctypes.data + begin * a.itemsize),
                     ctypes.c_void_p(b.ctypes.data + begin * step), ctypes.c_size_t(end - begin))
        if self.threads == 1:
            return lambda: part(0, count)
        return lambda: list(self.pool.map(part, ends[:-1], ends[1:]))


class PlainC(CLoops):
    """The obvious loop, with fmod or %. For floor, it also corrects the sign."""
    key, short = "c", "C loop"
    FLOATS = {"FLOAT32": ("float", "fmodf"), "FLOAT64": ("double", "fmod"), "FLOAT16": ("_Float16", "fmodf")}
    SUFFIX = {"FLOAT32": "f", "FLOAT64": "", "FLOAT16": "f"}

    def __init__(self, threads):
        super().__init__(threads)
        try:
            version = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        except (OSError, IndexError):
            raise ImportError("no C compiler") from None
        self.title = f"C loop ({version.split()[0]} {version.split()[-1]}, {' '.join(platform.libc_ver())})"

    def source(self, type_name):
        if type_name in self.FLOATS:
            kind, fmod = self.FLOATS[type_name]
            suffix = self.SUFFIX[type_name]
            wide = "float" if kind == "_Float16" else kind
            floor = (f"{wide} m = {fmod}(x, y); out[i] = m == 0 ? ({kind})copysign{suffix}(0, y) : "
                     f"(m < 0) != (y < 0) ? ({kind})(m + ({wide})y) : ({kind})m;")
            truncate = f"out[i] = ({kind}){fmod}(x, y);"
        else:
            unsigned = type_name.startswith("U")
            kind = type_name.lower() + "_t"
            minus_one = "" if unsigned else " || y == -1"
            correct = "m" if unsigned else "m != 0 && (m < 0) != (y < 0) ? m + y : m"
            floor = (f"if (y == 0{minus_one}) {{ out[i] = 0; }} "
                     f"else {{ {kind} m = x % y; out[i] = ({kind})({correct}); }}")
            truncate = f"out[i] = y == 0{minus_one} ? 0 : x % y;"
        loops = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        for operator, body in (("modulus_floor", floor), ("modulus_truncate", truncate)):
            for layout, divisor in (("tensor", "b[i]"), ("scalar", "*b")):
                loops += (f"void {operator}_{layout}({kind}* restrict out, const {kind}* restrict a, "
                          f"const {kind}* restrict b, size_t n) {{\n  for (size_t i = 0; i < n; ++i) {{ "
                          f"const {kind} x = a[i], y = {divisor}; {body} }}\n}}\n")
        return loops

    def prepare(self, type_name, operator, a, b, out):
        library = self.compile(self.source(type_name), type_name)
        if library is None:
            return None
        return self.shared(getattr(library, f"{operator}_{'scalar' if b.ndim == 0 else 'tensor'}"), a, b, out)


class Sleef(CLoops):
    """SLEEF's fmod with the machine's vectors; it has no floor."""
    key, short = "sleef", "SLEEF"
    # Each row has a flag of /proc/cpuinfo, the compiler's flags, the header and, for each type, the vector type, the
    # number of lanes, and the load, store and modulus functions.
    TARGETS = (
        ("avx512f", ("-mavx512f",), "immintrin.h",
         {"FLOAT32": ("__m512", 16, "_mm512_loadu_ps", "_mm512_storeu_ps", "Sleef_fmodf16_avx512f"),
          "FLOAT64": ("__m512d", 8, "_mm512_loadu_pd", "_mm512_storeu_pd", "Sleef_fmodd8_avx512f")}),
        ("avx2", ("-mavx2", "-mfma"), "immintrin.h",
         {"FLOAT32": ("__m256", 8, "_mm256_loadu_ps", "_mm256_storeu_ps", "Sleef_fmodf8_avx2"),
          "FLOAT64": ("__m256d", 4, "_mm256_loadu_pd", "_mm256_storeu_pd", "Sleef_fmodd4_avx2")}),
        ("asimd", (), "arm_neon.h",
         {"FLOAT32": ("float32x4_t", 4, "vld1q_f32", "vst1q_f32", "Sleef_fmodf4_advsimd"),
          "FLOAT64": ("float64x2_t", 2, "vld1q_f64", "vst1q_f64", "Sleef_fmodd2_advsimd")}),
    )

    def __init__(self, threads):
        super().__init__(threads)
        flags = Path("/proc/cpuinfo").read_text().split()
        self.target = next((target for target in self.TARGETS if target[0] in flags), None)
        if self.target is None or self.compile("#include <sleef.h>\nconst char version[] = {SLEEF_VERSION_MAJOR, "
                                               "SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL};\n", "version",
                                               (*self.target[1], "-lsleef")) is None:
            raise ImportError("SLEEF or a C compiler is missing (Debian: libsleef-dev)")
        numbers = (ctypes.c_char * 3).in_dll(self.libraries["version"], "version")
        self.title = f"SLEEF {'.'.join(str(number) for number in numbers.raw)}"

    def prepare(self, type_name, operator, a, b, out):
        _, flags, header, kinds = self.target
        if operator != "modulus_truncate" or type_name not in kinds:
            return None
        vector, lanes, load, store, name = kinds[type_name]
        kind = "float" if type_name == "FLOAT32" else "double"
        source = f"#include <{header}>\n#include <sleef.h>\n#include <stddef.h>\n"
        for layout in LAYOUTS:
            fixed = f"{kind} same[{lanes}]; for (int i = 0; i < {lanes}; ++i) same[i] = *b;"
            divisor = "same" if layout == "scalar" else "b + i"
            source += (f"void {layout}({kind}* out, const {kind}* a, const {kind}* b, size_t n) {{\n"
                       f"  {fixed if layout == 'scalar' else ''}\n"
                       f"  for (size_t i = 0; i + {lanes} <= n; i += {lanes})\n"
                       f"    {store}(out + i, {name}({load}(a + i), {load}({divisor})));\n"
                       "}\n")
        library = self.compile(source, f"sleef_{type_name}", (*flags, "-lsleef"))
        if library is None or out.size % lanes != 0:
            return None
        return self.shared(getattr(library, "scalar" if b.ndim == 0 else "tensor"), a, b, out)
