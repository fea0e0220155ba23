#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests requests on dmlrun's command line: different inputs, expected outputs, one operator, steps, closed pipes.

usage: requests_test.py DMLRUN SOURCE WORK
"""
import json
import re
import struct
import subprocess
import sys
import unittest

from harness import DMLRUN, EXAMPLES, WORK, empty_folder, run

ADD, GRAPH = EXAMPLES / "add.json", EXAMPLES / "graph.json"


def numbers(path):
    """Returns the shape and the FLOAT32 elements of an .npy file."""
    data = path.read_bytes()
    shape = tuple(map(int, re.findall(rb"\d+", re.search(rb"'shape': \((.*?)\)", data)[1])))
    return shape, struct.unpack(f"<{(len(data) - 128) // 4}f", data[128:])


class Values(unittest.TestCase):
    def test_inputs_outputs_and_expectations(self):
        folder = empty_folder("values")
        run("--input", "A=random", "--input", "B=ones", "--output", "Out=out.npy", "--output", "Out=out.dat", ADD, folder=folder)
        shape, values = numbers(folder / "out.npy")
        self.assertEqual(shape, (3,))
        self.assertEqual((folder / "out.dat").read_bytes(), (folder / "out.npy").read_bytes()[128:])
        for file in ("out.npy", "out.dat"):
            done = run("--input", "A=random", "--input", "B=ones", "--expect", f"Out={file}", ADD, folder=folder)
            self.assertIn("Compare 'Out': all 3 elements are as expected, bit by bit\n", done.stdout)
        other = run("--input", "A=random", "--input", "B=ones", "--expect", "Out=out.npy", "--seed", 1, ADD, folder=folder, status=3)
        self.assertIn("Compare 'Out': 3 of 3 elements are not as expected, bit by bit; first [0] is ", other.stdout)
        again = run("--input", "A=out.npy", "--input", "B=-1", "--expect", "Out=0", "--atol", 1, ADD, folder=folder)
        self.assertIn("all 3 elements are as expected, within 1; ", again.stdout)
        self.assertTrue(all(0 <= value <= 2 for value in values))

    def test_tolerances(self):
        for tolerance, status in (((), 3), (("--atol", "0.5"), 3), (("--rtol", "0.5"), 0), (("--atol", "1.5", "--rtol", "0.1"), 0),
                                  (("--ulp", 1), 3), (("--ulp", 8388608), 0)):
            with self.subTest(tolerance):
                run("--expect", "Out=6,8,-2", *tolerance, ADD, status=status)
        report = json.loads(run("--expect", "Out=6,nan,-3", "--json", ADD, status=3).stdout)["commands"][-1]
        self.assertEqual((report["type"], report["elements"], report["different"]), ("compare", 3, 2))
        self.assertEqual((report["first"]["index"], report["worst"]["index"]), (1, 1))
        self.assertEqual((report["first"]["expected"], report["largestDistance"]), ("nan", "inf"))

    def test_faults(self):
        folder = empty_folder("values")
        (folder / "short.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff{'descr'")
        (folder / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999,), }".ljust(117) + b"\n")
        for arguments, sentence in (
                (["--input", "A=randm"], "--input A: 'randm' is neither a file nor values; did you mean 'random'?"),
                (["--input", "Ouut=1"], "--input: 'Ouut' is not a resource of this model; did you mean 'Out'?"),
                (["--input", "A"], "--input: is 'A'; expected the name of a resource, = and values"),
                (["--input", "A=1,2"], "--input A: '1,2' has 2 elements; expected 3, which 'A' has"),
                (["--input", "A=random:2:1"], "--input A: high is 1; expected at least 2, the value of low"),
                (["--input", "A=1e99"], "--input A: 1e99 is too large for FLOAT32"),
                (["--input", "A=short.npy"], "--input A: 'short.npy': "),
                (["--input", "A=huge.npy"], "--input A: 'huge.npy': "),
                (["--input", "A=./absent.npy"], "--input A: './absent.npy' does not exist"),
                (["--output", "Out=x.png"], "--output Out: 'x.png' is an image"),
                (["--atol", "-1"], "--atol"),
                (["--expct", "Out=1"], "--expct is not an option of run; did you mean '--expect'?")):
            with self.subTest(arguments):
                done = run(*arguments, ADD, folder=folder, status=2)
                self.assertIn(sentence, done.stderr)
                self.assertEqual((len(done.stderr.splitlines()), done.stdout), (1, ""))

    def test_a_file_that_cannot_be_written(self):
        self.assertIn("--output Out", run("--output", "Out=/proc/none/x.npy", ADD, status=None).stderr)


class Operators(unittest.TestCase):
    def test_one_line(self):
        folder = empty_folder("operators")
        run("run-operator", "add", "--input", "float32:2x3:sequence", "--input", "float32:3:10,20,30", "-o", "sum.npy",
            folder=folder)
        self.assertEqual(numbers(folder / "sum.npy"), ((2, 3), (10, 21, 32, 13, 24, 35)))
        done = run("run-operator", "REDUCE", "--input", "sum.npy", "--attribute", "Function=SUM", "--attribute", "Axes=1",
                   "--expect", "63,72", folder=folder)
        self.assertIn("Resource 'Output': 63, 72\n", done.stdout)
        run("run-operator", "REDUCE", "--input", "sum.npy", "--attribute", "Function=SUM", "--attribute", "Axes=1",
            "--expect", "63,73", folder=folder, status=3)
        large = run("run-operator", "relu", "--input", "float16:100x100", "--json", "-i", 3)
        self.assertEqual(json.loads(large.stdout)["commands"][0]["iterations"], 3)

    def test_skeletons_run(self):
        for name in ("SOFTMAX", "CONVOLUTION", "LSTM", "SPLIT", "FILL_VALUE_CONSTANT"):
            with self.subTest(name):
                model = run("skeleton", name).stdout
                done = subprocess.run([DMLRUN, "-"], input=model, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                shown = re.findall("^Resource .*", done.stdout, re.M)
                self.assertEqual(re.findall("^Resource .*", run("run-operator", name).stdout, re.M), shown)

    def test_an_operator_is_not_a_command(self):
        self.assertIn("dmlrun run-operator SOFTMAX runs it", run("SOFTMAX", status=2).stderr)

    def test_faults(self):
        for arguments, sentence in (
                (["SOFTMAXX"], "'SOFTMAXX' is not an operator of DirectML; did you mean 'SOFTMAX'?"),
                (["RELU", "--input", "f4:65536x65536"], "--max-memory"),
                (["RELU", "--input", "f4:4294967295x4294967295"], "fits in memory"),
                (["RELU", "--input", "absent.npy"], "'absent.npy' cannot be read: No such file or directory"),
                (["RELU", "--input", "uint8:2"], "InputTensor: DataType is UINT8; expected"),
                (["RELU", "--expect", "Outt=1"], "--expect: 'Outt' is not an output of ACTIVATION_RELU"),
                (["REDUCE", "--attribute", "Axes"], "--attribute is 'Axes'; expected a name, = and a value")):
            with self.subTest(arguments):
                done = run("run-operator", *arguments, "--max-memory", "1GiB", folder=empty_folder("operators"), status=2)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)


class Steps(unittest.TestCase):
    def test_profile(self):
        report = json.loads(run("--profile", "--json", "-i", 3, GRAPH).stdout)["commands"]
        steps = next(one for one in report if one["type"] == "profile")["steps"]
        self.assertEqual([step["once"] for step in steps], [True, False])
        self.assertEqual(steps[1]["operators"], "ELEMENT_WISE_ADD 'shifted', ACTIVATION_RELU 'positive', "
                                                "ELEMENT_WISE_ADD 'result', REDUCE 'sums'")
        self.assertTrue(all(step["deviceMilliseconds"] > 0 for step in steps))

    def test_a_profile_changes_no_result(self):
        for name in ("graph", "in_place", "owned_tensor", "convolution", "constants"):
            with self.subTest(name):
                prints = [re.findall("^Resource .*", run(*options, EXAMPLES / f"{name}.json").stdout, re.M)
                          for options in ([], ["--profile"], ["--profile", "--disable_custom_heaps"])]
                self.assertEqual(prints[1:], [prints[0]] * 2)

    def test_duration(self):
        iterations = int(re.search(r": (\d+) iterations", run("--duration", "0.02", ADD).stdout)[1])
        self.assertGreater(iterations, 0)


class Pipes(unittest.TestCase):
    def test_a_closed_pipe_is_no_fault(self):
        for command in (["operators", "--json"], ["operators"], ["--help"], [str(ADD)]):
            for ignored in (False, True):
                with self.subTest(command, ignored=ignored):
                    run_it = subprocess.Popen([DMLRUN, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                              restore_signals=not ignored)
                    run_it.stdout.close()
                    self.assertEqual((run_it.stderr.read(), run_it.wait()), (b"", 0))
                    run_it.stderr.close()


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
