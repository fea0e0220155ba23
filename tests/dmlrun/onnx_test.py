#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests ONNX models in dmlrun, with models that this file writes.

usage: onnx_test.py DMLRUN SOURCE WORK [EXAMPLE...]     the examples onnx and onnx_top, if they were built
"""
import json
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from harness import EXAMPLES, SOURCE, WORK, empty_folder, run

sys.dont_write_bytecode = True  # leave the source folder unchanged
sys.path.append(str(SOURCE / "tests" / "python"))
import trace_events  # noqa: E402

FLOAT, INT64, BOOL, INT4 = 1, 7, 9, 22
PROGRAMS = {Path(one).name: Path(one).resolve() for one in sys.argv[4:]}


# ---- Models, as protobuf messages -----------------------------------------------------------------------------------

def varint(number):
    data = b""
    while number >= 128:
        data += bytes([number % 128 + 128])
        number //= 128
    return data + bytes([number])


def field(number, value):
    """A field of a message: an int, or a str or bytes."""
    if isinstance(value, int):
        return varint(number * 8) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number * 8 + 2) + varint(len(value)) + value


def value_info(name, kind, dims):
    shape = b"".join(field(1, b"" if one is None else field(1 if isinstance(one, int) else 2, one)) for one in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(op, inputs, outputs, domain=""):
    return b"".join(field(1, one) for one in inputs) + b"".join(field(2, one) for one in outputs) + field(4, op) + (
        field(7, domain) if domain else b"")


def initializer(name, values):
    return field(1, len(values)) + field(2, FLOAT) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def model(nodes, inputs, outputs, initializers=(), opset=13):
    graph = b"".join(field(1, one) for one in nodes) + field(2, "g") + b"".join(field(5, one) for one in initializers)
    graph += b"".join(field(11, value_info(*one)) for one in inputs) + b"".join(field(12, value_info(*one)) for one in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))


# y = relu((x + bias) * w), the places where y is not 0, and whether y is more than 5
STEPS = model([node("Add", ["x", "bias"], ["a"]), node("Mul", ["a", "w"], ["b"]), node("Relu", ["b"], ["y"]),
               node("NonZero", ["y"], ["places"]), node("Greater", ["y", "five"], ["large"])],
              [("x", FLOAT, ["batch", 3]), ("w", FLOAT, []), ("bias", FLOAT, [3])],
              [("y", FLOAT, ["batch", 3]), ("places", INT64, [2, None]), ("large", BOOL, ["batch", 3])],
              [initializer("bias", [1, 2, 3]), initializer("five", [5])])
X, Y = (1, -2, 3, -4, 5, -6), (4, 0, 12, 0, 14, 0)


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def floats(shape, values):
    return npy("<f4", shape, struct.pack(f"<{len(values)}f", *values))


class Onnx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = folder = empty_folder("onnx")
        (folder / "m.onnx").write_bytes(STEPS)
        (folder / "x.npy").write_bytes(floats((2, 3), X))
        (folder / "x.raw").write_bytes(struct.pack("<6f", *X))
        (folder / "y.npy").write_bytes(floats((2, 3), Y))
        (folder / "flat.npy").write_bytes(floats((6,), X))
        (folder / "large.npy").write_bytes(npy("|b1", (2, 3), bytes(one > 5 for one in Y)))

    def go(self, *arguments, **options):
        return run(*arguments, folder=self.folder, **options)

    def fails(self, sentence, *arguments, status=2):
        done = self.go(*arguments, status=status)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        return done

    # ---- Inputs and outputs ----

    def test_inputs_of_every_kind(self):
        for x in ("x.npy", "x.raw", "1,-2,3,-4,5,-6"):
            with self.subTest(x):
                done = self.go("--input", f"x={x}", "--input", "w=2", "--expect", "y=y.npy", "--expect", "y=4,0,12,0,14,0",
                                "--expect", "large=large.npy", "--expect", "large=0,0,1,0,1,0", "m.onnx")
                self.assertIn("Output 'y': FLOAT32[2, 3]\nResource 'y': 4, 0, 12, 0, 14, 0\n", done.stdout)
                self.assertIn("Output 'places': INT64[2, 3]\nResource 'places': 0, 0, 1, 0, 2, 1\n", done.stdout)
                self.assertEqual(done.stdout.count(" elements are as expected, bit by bit"), 4)

    def test_made_up_inputs(self):
        first, again, other = (self.go("--size", "batch=2", "--seed", seed, "m.onnx").stdout for seed in (0, 0, 1))
        self.assertIn("Input 'x': FLOAT32[2, 3], normal\nInput 'w': FLOAT32[], normal\nDispatch", first)
        values = [re.findall("^Resource .*", one, re.M) for one in (first, again, other)]
        self.assertEqual(values[0], values[1])
        self.assertNotEqual(values[0], values[2])
        self.assertIn("FLOAT32[1, 3]", self.go("m.onnx").stdout)
        self.assertIn("Input 'bias': FLOAT32[3], zeros", self.go("--input", "bias=zeros", "m.onnx").stdout)

    def test_empty_and_unnamed_sizes(self):
        self.assertIn("Output 'y': FLOAT32[0, 3]\nResource 'y':\n", self.go("--size", "batch=0", "m.onnx").stdout)
        (self.folder / "any.onnx").write_bytes(model([node("Neg", ["x"], ["y"])], [("x", FLOAT, [None, 2])], [("y", FLOAT, [None, 2])]))
        self.assertIn("Resource 'y': -1, -2, -3, -4", self.go("--input", "x=1,2,3,4", "any.onnx").stdout)
        self.fails("--size: the model has no dimension 'n'; no size of its inputs has a name", "--size", "n=1", "any.onnx")

    def test_outputs_in_files(self):
        self.go("--input", "x=x.npy", "--input", "w=2", "--output", "y=out/y.npy", "--output", "y=y.raw", "--output",
                 "large=l.npy", "m.onnx")
        self.assertEqual((self.folder / "y.raw").read_bytes(), struct.pack("<6f", *Y))
        written = (self.folder / "out" / "y.npy").read_bytes()
        self.assertTrue(written.endswith(struct.pack("<6f", *Y)) and b"(2, 3)" in written)
        self.go("--input", "x=x.npy", "--input", "w=2", "--expect", "y=out/y.npy", "--expect", "large=l.npy", "m.onnx")

    def test_wrong_results(self):
        done = self.go("--input", "x=x.npy", "--input", "w=2", "--expect", "y=4,0,12,0,15,0", "m.onnx", status=3)
        self.assertIn("1 of 6 elements are not as expected, bit by bit; first [4] is 14, expected 15", done.stdout)
        self.go("--input", "x=x.npy", "--input", "w=2", "--expect", "y=4,0,12,0,15,0", "--atol", 1, "m.onnx")
        self.fails("--expect y: 'flat.npy' has the shape [6], but the output has [2, 3]", "--input", "x=x.npy", "--expect",
                   "y=flat.npy", "m.onnx", status=3)
        self.fails("--expect y: '1,2' has 2 elements, but the output has FLOAT32[2, 3]", "--input", "x=x.npy", "--expect",
                   "y=1,2", "m.onnx", status=3)

    def test_four_bit_elements_in_files(self):
        """A file has their bytes, two elements each, as one list."""
        nodes = [node("DequantizeLinear", ["q", "scale", "zero"], ["x"]), node("QuantizeLinear", ["x", "scale", "zero"], ["y"])]
        (self.folder / "four.onnx").write_bytes(model(
            nodes, [("q", INT4, [5]), ("scale", FLOAT, []), ("zero", INT4, [])], [("y", INT4, [5])], opset=21))
        (self.folder / "q.npy").write_bytes(npy("|u1", (3,), b"\x21\x43\x05"))
        (self.folder / "five.npy").write_bytes(npy("|u1", (5,), bytes(5)))
        given = ["--input", "scale=1", "--input", "zero=0", "four.onnx"]
        self.go("--input", "q=q.npy", "--output", "y=y4.npy", "--expect", "y=q.npy", *given)
        self.go("--input", "q=q.npy", "--expect", "y=y4.npy", *given)
        self.fails("--expect y: 'five.npy' has the shape [5], but the output has [3]", "--input", "q=q.npy", "--expect",
                   "y=five.npy", *given, status=3)
        self.fails("--input q: 'five.npy' has 5 bytes; expected 3, which INT4[5] has", "--input", "q=five.npy", *given)

    def test_large_outputs(self):
        report = json.loads(self.go("--json", "--size", "batch=30", "m.onnx").stdout)
        self.assertIn("y", [one["resource"] for one in report["commands"] if one["type"] == "print"])
        done = self.go("--size", "batch=30", "m.onnx")
        self.assertIn("Resource 'y' has too many elements to be printed; --output y=FILE.npy writes them", done.stdout)
        self.assertNotIn("Resource 'y':", done.stdout)

    # ---- Reports ----

    def test_json(self):
        report = json.loads(self.go("--json", "--input", "x=x.npy", "--input", "w=2", "-i", 5, "--explain", "--profile",
                                     "--trace", "j.json", "--expect", "y=0", "--output", "y=y.raw", "m.onnx", status=3).stdout)
        self.assertEqual(report["model"], "m.onnx")
        commands = {one["type"]: one for one in report["commands"]}
        self.assertEqual(set(commands), {"input", "dispatch", "profile", "explain", "trace", "output", "print", "compare", "writeFile"})
        self.assertEqual((commands["dispatch"]["iterations"], commands["dispatch"]["cpuMilliseconds"]["samples"]), (5, 4))
        self.assertEqual(commands["compare"]["different"], 3)
        failed = json.loads(self.go("--json", "--size", "b=1", "m.onnx", status=2).stdout)
        self.assertEqual((failed["runs"], failed["problems"][0]["path"]), (False, "--size"))

    def test_times(self):
        done = self.go("-v", 1, "-i", 20, "-w", 5, "m.onnx").stdout
        self.assertRegex(done, r"Initialize 'm\.onnx': [\d.]+ ms\nDispatch 'm\.onnx': 20 iterations")
        self.assertRegex(done, r"CPU Timings \(Hot\)  : 15 samples, .* ms p90, .* ms p99\n")
        self.assertGreater(int(re.search(r": (\d+) iterations", self.go("--duration", "0.05", "m.onnx").stdout)[1]), 1)

    def test_profile_and_explain(self):
        done = self.go("--profile", "-i", 3, "--explain", "m.onnx").stdout
        self.assertIn("Profile 'm.onnx': each step timed separately", done)
        for op in ("Add", "Mul", "Relu", "NonZero", "Greater"):
            self.assertRegex(done, rf"\d\.\d+ +[\d.]+  {op} that computes '")
        self.assertIn("1 Relu                         by RELU", done)
        self.assertIn("a graph; it ends where NonZero that computes 'places' needs the elements", done)

    def test_trace(self):
        for options in ([], ["--profile"]):
            with self.subTest(options):
                done = self.go("--size", "batch=2", *options, "-i", 3, "--trace", "t.json", "m.onnx")
                self.assertIn("Trace written to 't.json'\n", done.stdout)
                events = trace_events.checked(json.loads((self.folder / "t.json").read_text()))
                names = [(one["cat"], one["name"]) for one in events]
                self.assertEqual(names[:2], [("Session", "read"), ("Session", "prepare")])
                self.assertEqual(names.count(("Session", "run")), 4)  # the first run compiles
                self.assertEqual(names.count(("Compile", "compile steps 0 to 2")), 1)
                self.assertEqual(names.count(("Graph", "steps 0 to 2")), 4)
                alone = [one for one in events if one["name"] == "run node by node"]
                self.assertEqual(len(alone), 3 if options else 1)
                nodes = [one["args"]["op_name"] for one in events if one["cat"] == "Node" and one["ts"] >= alone[-1]["ts"]]
                self.assertEqual(nodes, ["Add", "Mul", "Relu", "NonZero", "Greater"])
        self.fails("--trace: ", "--trace", "/proc/none/t.json", "m.onnx", status=1)

    def test_check(self):
        (self.folder / "foo.onnx").write_bytes(model([node("Foo", ["x"], ["y"])], [("x", FLOAT, [2])], [("y", FLOAT, [2])]))
        self.assertEqual(self.go("check", "m.onnx").stdout, "m.onnx runs\n")
        self.assertIn("foo.onnx: ", self.go("check", "m.onnx", "foo.onnx", status=2).stdout)
        both = json.loads(self.go("check", "--json", "m.onnx", "foo.onnx", status=2).stdout)
        self.assertEqual([(one["runs"], one["valid"], bool(one["notBuilt"])) for one in both], [(True, True, False), (False, True, True)])

    # ---- Mistakes ----

    def test_sizes(self):
        self.fails("m.onnx: --size: the model has no dimension 'bach'; its inputs have 'batch'", "--size", "bach=2", "m.onnx")
        for wrong in ("batch", "batch=x", "batch=-1", "batch=1.5", "=1", "batch="):
            self.fails(f"--size: is '{wrong}'; expected NAME=NUMBER", "--size", wrong, "m.onnx")
        self.fails("dimension 'batch' has the size 2, but --size gives it 3", "--size", "batch=3", "--input", "x=x.npy", "m.onnx")
        self.fails("needs 10.9 TiB for its buffer", "--size", "batch=1000000000000", "m.onnx")
        self.fails("for its buffer", "--size", f"batch={2 ** 63 - 1}", "m.onnx")
        self.fails("--max-memory allows", "--size", "batch=100", "--max-memory", "1KiB", "m.onnx")

    def test_inputs(self):
        (self.folder / "wide.npy").write_bytes(npy("<f8", (2, 3), bytes(48)))
        (self.folder / "bools.onnx").write_bytes(model([node("Not", ["x"], ["y"])], [("x", BOOL, ["n"])], [("y", BOOL, ["n"])]))
        for sentence, *arguments in (
                ("--input: 'q' is not an input of this model; it has 'x', 'w', 'bias'", "--input", "q=1"),
                ("--input: is 'x'; expected the name of an input, = and values", "--input", "x"),
                ("--expect: 'z' is not an output of this model; it has 'y', 'places', 'large'", "--expect", "z=1"),
                ("--output: is 'y'; expected the name of an output, = and a file", "--output", "y"),
                ("--output y: 'y.png' is an image", "--output", "y=y.png"),
                ("--input x: 'flat.npy' has the shape [6], but the model declares [batch, 3]", "--input", "x=flat.npy"),
                ("--input x: 'wide.npy' holds FLOAT64; expected FLOAT32", "--input", "x=wide.npy"),
                ("--input x: 'large.npy': holds bool elements", "--input", "x=large.npy"),
                ("--input x: './none.npy' does not exist", "--input", "x=./none.npy"),
                ("--input x: '1,2' has 2 elements; expected 3, which FLOAT32[1, 3] has", "--input", "x=1,2"),
                ("--input x: 'randm' is neither a file nor values", "--input", "x=randm"),
                ("--input x: high is 1; expected at least 2", "--input", "x=random:2:1")):
            with self.subTest(sentence):
                self.fails(sentence, *arguments, "m.onnx")
        self.fails("--input x: element 1 is 2; expected 0 or 1, because the type is bool", "--input", "x=1,2", "bools.onnx")
        self.go("--input", "x=random", "--size", "n=100", "bools.onnx")

    def test_models(self):
        (self.folder / "broken.onnx").write_bytes(STEPS[:-20])
        self.fails("broken.onnx: ", "broken.onnx")
        self.fails("none.onnx: cannot read 'none.onnx': No such file or directory", "none.onnx")
        self.fails("--adapter: ", "-a", "no such adapter", "m.onnx")
        self.go("-a", "cpu", "m.onnx")
        for option in (["--feature-level", "2_1"], ["--allow-outside"], ["--queue_type", "compute"], ["--print-commands"]):
            self.fails(f"{option[0]}: does not apply to an ONNX model", *option, "m.onnx")
        self.fails("m.onnx is an ONNX model; dmlrun --explain m.onnx shows how it runs", "graph", "m.onnx")
        self.fails("--size, --trace, --explain, --literal and --activations are for ONNX models", "--explain", EXAMPLES / "add.json")

    # ---- The examples ----

    @unittest.skipUnless(PROGRAMS, "the examples were not built")
    def test_examples(self):
        shown = subprocess.run([PROGRAMS["onnx"], "m.onnx"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("input x: float batch 3\ninput w: float\ninput bias: float 3 (has a default)\n", shown.stdout)
        self.assertIn("output y: float batch 3\n  FLOAT32 1 3\n", shown.stdout)
        (self.folder / "softmax.onnx").write_bytes(
            model([node("Add", ["x", "bias"], ["y"])], [("x", FLOAT, [3])], [("y", FLOAT, [3])], [initializer("bias", [0, 0, 1])]))
        (self.folder / "three.raw").write_bytes(struct.pack("<3f", 5, -1, 7))
        for arguments, expected in ((["softmax.onnx"], "2: 1\n0: 0\n1: 0\n"), (["softmax.onnx", "three.raw"], "2: 8\n0: 5\n1: -1\n")):
            done = subprocess.run([PROGRAMS["onnx_top"], *arguments], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((done.stdout, done.stderr, done.returncode), (expected, "", 0))
        for arguments, sentence in (([], "usage: onnx_top MODEL.onnx"), (["none.onnx"], "cannot read 'none.onnx'"),
                                    (["softmax.onnx", "x.raw"], "x.raw does not have the size of the first input")):
            done = subprocess.run([PROGRAMS["onnx_top"], *arguments], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
