#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests dmlrun as people and scripts use it: the examples, invalid models, the facts, files, the manual page.

usage: dmlrun_test.py DMLRUN SOURCE WORK [PYTHON_WITH_NUMPY]
       dmlrun_test.py DMLRUN SOURCE WORK --update     rewrite the examples' expected output and docs/dmlrun-errors.md
"""
import itertools
import json
import math
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from harness import BAD, DMLRUN, EXAMPLES, NUMPY, SOURCE, WORK, empty_folder, run
from oracle import Oracle

ERRORS = SOURCE / "docs" / "dmlrun-errors.md"


def masked(text):
    """Masks values that vary between runs and machines: times, names, folders, the bits of NaNs."""
    text = re.sub(r"Running on '.*'", "Running on '...'", text)
    text = re.sub(r"[0-9.]+ ms", "... ms", text)
    text = re.sub(r"[0-9.e+-]+ GB/s", "... GB/s", text)
    text = re.sub(r"[0-9.e+]+ dispatches/s", "... dispatches/s", text)
    text = re.sub(r"^step +ms .*", "steps", text, flags=re.M)
    text = re.sub(r"^ +\d+ +[0-9.]+ +(once|[0-9.]+)  ", "step ", text, flags=re.M)
    text = re.sub(r"written to '.*/", "written to '.../", text)
    return re.sub(r"nan \(0x[0-9A-F]+\)", "nan (0x...)", text)


def of_this_machine(text):
    """Like masked(), but also masks JSON and tables."""
    text = re.sub(r'"(adapter|average|min|median|p90|p99|max|gigabytesPerSecond|dispatchesPerSecond)": .*', r'"\1": ...', masked(text))
    return re.sub(r"^.*, \d+ threads  .*", "an adapter", re.sub(r"^adapter .*", "adapters", text, flags=re.M),
                  flags=re.M)


def example_output(model):
    return masked(run(model, folder=empty_folder("example")).stdout)


def bad_models():
    """Returns (name, mistake, message) for each row of the page."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", ERRORS.read_text(), re.M)
    return [(name, what, sentence.replace("\\|", "|")) for name, what, sentence in rows]


def bad_sentence(name):
    """Returns the one-line message for a bad model. dmlrun must exit with status 2 and leave no files behind."""
    folder = empty_folder("bad")
    done = run(BAD / f"{name}.json", "--max-memory", "8GiB", folder=folder, status=2)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("dmlrun: "), (name, done.stderr)
    assert re.fullmatch(r"(Running on '.*'\n)?", done.stdout), (name, done.stdout)
    assert not list(folder.iterdir()), name
    assert all(letter.isprintable() for letter in lines[0]), name
    sentence = lines[0].removeprefix("dmlrun: ").removeprefix(f"{BAD}/").replace(str(folder.resolve()), "FOLDER")
    sentence = sentence.replace(str(BAD.resolve()), "FOLDER").replace(str(SOURCE.resolve()), "SOURCE")
    return re.sub(r"leads to '(?!/etc)[^']*'", "leads to '...'", sentence)


class Graphs(unittest.TestCase):
    def test_every_example_is_shown(self):
        models = sorted(EXAMPLES.glob("*.json"))
        self.assertGreater(len(models), 10)
        for model in models:
            with self.subTest(model.name):
                shown = run("graph", model).stdout
                self.assertIn("output0: %", shown)
                self.assertRegex(shown, r"run: 1 step|run: \d+ steps")
                self.assertNotIn("run:", run("graph", "--as-given", model).stdout)

    def test_steps_are_named_and_framed(self):
        shown = run("graph", EXAMPLES / "graph.json").stdout
        self.assertIn("initialize: %0 ELEMENT_WISE_IDENTITY | reads input1 | writes persistent+0", shown)
        self.assertIn("run: prologue %1 ELEMENT_WISE_ADD, %2 ACTIVATION_RELU, %3 ELEMENT_WISE_ADD; %4 REDUCE |", shown)
        dot = run("graph", "--dot", EXAMPLES / "graph.json").stdout
        self.assertEqual(dot.count("digraph {"), 2)
        self.assertEqual(dot.count("subgraph cluster"), 3)
        self.assertEqual(dot.count("{"), dot.count("}"))
        self.assertIn('n2 [label="positive: ACTIVATION_RELU"];', dot)
        self.assertNotIn("subgraph", run("graph", "--dot", "--as-given", EXAMPLES / "graph.json").stdout)

    def test_names_cannot_command_a_terminal(self):
        odd = 'a\x00b\n\x1b[2J"\\'
        shown_odd = 'a\\x00b\\x0A\\x1B[2J"\\'
        model = empty_folder("graph_names") / "model.json"
        text = (EXAMPLES / "graph.json").read_text()
        for name in ("block", "positive", "x"):  # a dispatchable, a node, an input
            text = text.replace(f'"{name}"', json.dumps(name + odd))
        model.write_text(text)
        shown = run("graph", model).stdout
        self.assertIn(f"block{shown_odd}:\n", shown)
        self.assertIn(f"%2 'positive{shown_odd}': ", shown)
        dot = run("graph", "--dot", model).stdout
        in_dot = shown_odd.replace("\\", "\\\\").replace('"', '\\"')
        self.assertIn(f'n2 [label="positive{in_dot}: ACTIVATION_RELU"];', dot)
        self.assertEqual(dot.count("digraph {"), 2)
        self.assertTrue(dot.endswith("}\n"))
        printed = [shown, dot, run("--print_commands", model).stdout, run("check", model).stdout]
        unbound = text.replace(f'{json.dumps("x" + odd)}: "X", ', "", 1)
        self.assertNotEqual(unbound, text)
        model.write_text(unbound)
        refused = run("graph", model, status=2).stderr
        self.assertIn(f"x{shown_odd} is not bound", refused)
        printed += [refused, run("check", model, status=2).stdout, run(model, status=2).stderr]
        for one in printed:
            self.assertTrue(all(letter.isprintable() or letter == "\n" for letter in one), one)

    def test_a_wrong_graph_is_refused(self):
        self.assertIn("the edges form a cycle", run("graph", BAD / "graph_cycle.json", status=2).stderr)
        self.assertIn("expected one model", run("graph", status=2).stderr)


class Examples(unittest.TestCase):
    def test_output_is_as_expected(self):
        models = sorted(EXAMPLES.glob("*.json"))
        self.assertGreater(len(models), 10)
        for model in models:
            with self.subTest(model.name):
                self.assertEqual(example_output(model), (EXAMPLES / "expected" / f"{model.stem}.txt").read_text())

    def test_values_are_those_of_pythons_arithmetic(self):
        compared = 0
        for model in sorted(EXAMPLES.glob("*.json")):
            if model.stem == "timing":
                continue  # prints nothing
            with self.subTest(model.name):
                commands = json.loads(run("--json", model, folder=empty_folder("example")).stdout)["commands"]
                prints = [(one["resource"], one["values"]) for one in commands if one["type"] == "print"]
                oracle = Oracle(model)
                for (name, values), (resource, expected) in itertools.zip_longest(prints, oracle.printed()):
                    self.assertEqual(name, resource)
                    kind = oracle.CODES[oracle.types[name]]
                    for value, right in itertools.zip_longest(values, expected):
                        value = float(value) if isinstance(right, float) else value
                        nan = isinstance(right, float) and math.isnan(right)
                        same = math.isnan(value) if nan else struct.pack(kind, value) == struct.pack(kind, right)
                        self.assertTrue(same, (name, value, right))
                        compared += 1
        self.assertGreater(compared, 150)

    def test_through_copies_and_compute_queues(self):
        for model in sorted(EXAMPLES.glob("*.json")):
            with self.subTest(model.name):
                done = run("run", "--disable_custom_heaps", "-q", "compute", model, folder=empty_folder("example"))
                self.assertEqual(masked(done.stdout), (EXAMPLES / "expected" / f"{model.stem}.txt").read_text())

    def test_debug_layer_finds_nothing_wrong(self):
        for model in sorted(EXAMPLES.glob("*.json")):
            for options in ([], ["-i", 3], ["-i", 3, "--disable_custom_heaps", "-q", "compute"]):
                with self.subTest(model.name, options=options):
                    done = run("run", *options, model, folder=empty_folder("example"),
                               environment={"ANYDML_DEBUG": "abort"})
                    self.assertEqual(done.stderr, "")

    def test_check_finds_nothing_wrong(self):
        models = sorted(EXAMPLES.glob("*.json"))
        self.assertEqual(run("check", *models).stdout.count(" runs at feature level 6_4"), len(models))

    def test_files_written_are_numpys(self):
        folder = empty_folder("example")
        run(EXAMPLES / "files.json", "--output_path", folder / "a" / "b")
        data = (folder / "a" / "b" / "wrapped.npy").read_bytes()
        values = struct.unpack("<12f", data[-48:])
        self.assertEqual(data[:10], b"\x93NUMPY\x01\x00v\x00")
        self.assertIn(b"'shape': (3, 4)", data)
        self.assertEqual(values[4:6], (270.0, 269.5))
        self.assertEqual((folder / "a" / "b" / "wrapped.dat").read_bytes(), data[-48:])
        self.assertEqual(sorted(path.name for path in (folder / "a" / "b").iterdir()), ["wrapped.dat", "wrapped.npy"])


class BadModels(unittest.TestCase):
    def test_each_has_its_sentence(self):
        rows = bad_models()
        self.assertEqual(sorted(name for name, _, _ in rows), sorted(path.stem for path in BAD.glob("*.json")))
        for name, _, sentence in rows:
            with self.subTest(name):
                self.assertEqual(bad_sentence(name), sentence)

    def test_check_finds_them_too(self):
        models = sorted(BAD.glob("*.json"))
        done = run("check", *models, "--max-memory", "8GiB", status=2)
        self.assertEqual(done.stderr, "")
        last = re.findall(r"^(\S+?)(?:: \d+ problems? at feature level 6_4| is valid for .*, but does not run here)$",
                          done.stdout, re.M)
        self.assertEqual(last, [str(path) for path in models])

    def test_check_lists_all(self):
        done = run("check", "--feature-level", "2_1", "--json", EXAMPLES / "integers_64.json", status=2)
        report = json.loads(done.stdout)
        self.assertEqual(len(report["problems"]), 6)
        self.assertEqual((report["runs"], report["needsFeatureLevel"]), (False, "6_0"))

    def test_check_takes_several(self):
        done = run("check", "--json", EXAMPLES / "add.json", BAD / "unknown_type.json", status=2)
        right, wrong = json.loads(done.stdout)
        self.assertEqual((right["valid"], right["runs"], right["notBuilt"]), (True, True, []))
        self.assertEqual((wrong["valid"], wrong["runs"]), (False, False))

    def test_check_at_the_devices_level(self):
        done = run("check", EXAMPLES / "add.json", environment={"ANYDML_FEATURE_LEVEL": "2_1"}, status=2)
        self.assertIn("3 problems at feature level 2_1", done.stdout)

    def test_names_command_no_terminal_and_forge_no_lines(self):
        folder = empty_folder("names")
        model = json.loads((BAD / "print_unknown.json").read_text())
        model["resources"]["\x1b[2J\nResource 'Out': 42"] = model["resources"]["Out"]
        model["commands"] = [{"type": "print", "resource": "\x1b[2J\nResource 'Out': 42"}]
        (folder / "model.json").write_text(json.dumps(model))
        self.assertEqual(run("model.json", folder=folder).stdout.splitlines()[1:],
                         ["Resource '\\x1B[2J\\x0AResource 'Out': 42': 0, 0"])
        model["commands"][0]["resource"] = "\x1b[2J\nResource 'Out': 4"
        (folder / "model.json").write_text(json.dumps(model))
        self.assertTrue(run("model.json", folder=folder, status=2).stderr.strip().isprintable())

    def test_many_unknown_names_take_no_time(self):
        folder = empty_folder("many")
        model = json.loads((BAD / "print_unknown.json").read_text())
        model["resources"] = {f"a long name of a buffer {i}": model["resources"]["A"] for i in range(5000)}
        model["commands"] = [{"type": "print", "resource": f"another long name of a buffer {i}"} for i in range(5000)]
        (folder / "model.json").write_text(json.dumps(model))
        self.assertIn("more: dmlrun check", run("model.json", folder=folder, status=2).stderr)

    def test_constants_are_copied_not_added(self):
        folder = empty_folder("zeros")
        model = json.loads((BAD / "print_unknown.json").read_text())
        model["resources"]["Z"] = {"initialValuesDataType": "FLOAT32",
                                   "initialValues": {"valueCount": 3, "value": "-0.0"}}
        model["commands"] = [{"type": "print", "resource": "Z"}]
        (folder / "model.json").write_text(json.dumps(model).replace('"-0.0"', "-0.0"))
        self.assertIn("Resource 'Z': -0, -0, -0\n", run("model.json", folder=folder).stdout)
        self.assertIn("[-0.0, -0.0, -0.0]", run("--json", "model.json", folder=folder).stdout)

    def test_standard_input(self):
        text = (EXAMPLES / "add.json").read_bytes()
        done = subprocess.run([DMLRUN, "-"], input=text, capture_output=True)
        self.assertIn(b"Resource 'Out': 6, 10, -2", done.stdout)
        done = subprocess.run([DMLRUN, "check", "-"], input=text, capture_output=True)
        self.assertEqual(done.returncode, 0)

    def test_absent_unreadable_and_odd_models(self):
        folder = empty_folder("odd")
        os.mkfifo(folder / "pipe.json")
        (folder / "folder.json").mkdir()
        for name in ("absent.json", "pipe.json", "folder.json"):
            done = run(folder / name, status=2)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        (folder / "large.json").write_text("[" + "1," * 100000 + "1]")
        self.assertIn("--max-memory", run(folder / "large.json", "--max-memory", "1MiB", status=2).stderr)

    def test_outside_files_only_when_allowed(self):
        folder = empty_folder("outside")
        model = json.loads((BAD / "write_outside.json").read_text())
        model["resources"]["A"] = {"initialValues": {"sourcePath": str(EXAMPLES / "angles.npy")}}
        model["dispatchables"], model["commands"] = {}, [
            {"type": "print", "resource": "A"},
            {"type": "writeFile", "resource": "A", "targetPath": str(folder / "there" / "copy.npy")}]
        inner = folder / "inner"
        inner.mkdir()
        (inner / "model.json").write_text(json.dumps(model))
        self.assertIn("--allow-outside", run("model.json", folder=inner, status=2).stderr)
        run("model.json", "--allow-outside", folder=inner)
        copy = (folder / "there" / "copy.npy").read_bytes()
        self.assertEqual(copy[-48:], (EXAMPLES / "angles.npy").read_bytes()[-48:])

    def test_a_write_that_fails_leaves_what_was_there(self):
        folder = empty_folder("full")
        (folder / "wrapped.npy").write_text("before")
        # A limit on file sizes stands in for a full disk.
        script = f"ulimit -f 0; trap '' XFSZ; '{DMLRUN}' '{EXAMPLES / 'files.json'}'"
        done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("files.json: commands[3].targetPath: ", done.stderr)
        self.assertEqual((folder / "wrapped.npy").read_text(), "before")
        self.assertEqual([path.name for path in folder.iterdir()], ["wrapped.npy"])


class Timing(unittest.TestCase):
    def test_verbosity(self):
        model = EXAMPLES / "add.json"
        lines = masked(run("-i", 5, "-w", 2, "-v", 1, model).stdout).splitlines()
        self.assertEqual(lines, [
            "Running on '...'", "Initialize 'add': ... ms", "Dispatch 'add': 5 iterations, ... GB/s, ... dispatches/s",
            "CPU Timings (Cold) : 2 samples, ... ms average, ... ms min, ... ms median, ... ms max, ... ms p90, ... ms p99",
            "device Timings (Cold) : 2 samples, ... ms average, ... ms min, ... ms median, ... ms max, ... ms p90, ... ms p99",
            "CPU Timings (Hot)  : 3 samples, ... ms average, ... ms min, ... ms median, ... ms max, ... ms p90, ... ms p99",
            "device Timings (Hot)  : 3 samples, ... ms average, ... ms min, ... ms median, ... ms max, ... ms p90, ... ms p99",
            "Resource 'Out': 6, 10, -2"])
        every = masked(run("-i", 3, "-v", 2, "--max_gpu_time_measurements", 2, model).stdout)
        self.assertIn("device samples buffer has 1 samples overwritten.\n", every)
        self.assertIn("iteration 0: ... ms (CPU)\niteration 1: ... ms (CPU), ... ms (device)\n", every)
        self.assertNotIn("(device)", run("--max_gpu_time_measurements", 0, model).stdout)

    def test_repeat_interval_and_time_limit(self):
        model = EXAMPLES / "add.json"
        self.assertIn(": 4 iterations", run("-i", 4, "-r", 7, "-I", 1, model).stdout)
        iterations = int(re.search(r": (\d+) iterations", run("-t", 50, model).stdout)[1])
        self.assertGreaterEqual(iterations, 1)

    def test_json(self):
        report = json.loads(run("--json", "-i", 3, EXAMPLES / "half_precision.json").stdout)
        dispatch, printed = report["commands"]
        self.assertEqual((dispatch["type"], dispatch["iterations"]), ("dispatch", 3))
        self.assertEqual(dispatch["cpuMilliseconds"]["samples"], 2)
        self.assertEqual(dispatch["bytes"], 60)
        self.assertEqual(printed["values"][:2] + printed["values"][6:8], [1.5, 0.5, "nan", "-inf"])
        self.assertEqual(json.loads(run("--json", BAD / "not_json.json", status=2).stdout)["runs"], False)

    def test_print_commands(self):
        self.assertIn("Command 1: print 'Out'\n", run("--print_commands", EXAMPLES / "add.json").stdout)


class Facts(unittest.TestCase):
    def test_operators_are_as_the_facts_have_them(self):
        facts = json.loads((SOURCE / "data" / "facts" / "operators.json").read_text())["operators"]
        entries = "".join(file.read_text() for file in (SOURCE / "src" / "ops").glob("*/*.def"))
        built = set(re.findall(r"^ANYDML_(?!INTERNAL)(?:[A-Z]+_)*ENTRY\((\w+)", entries, re.M))
        shown = {one["name"]: one for one in json.loads(run("operators", "--json").stdout)}
        self.assertEqual(len(shown), 177)
        self.assertEqual(set(shown), {one["name"].removeprefix("DML_OPERATOR_") for one in facts})
        for fact in facts:
            name = fact["name"].removeprefix("DML_OPERATOR_")
            one = shown[name]
            with self.subTest(name):
                self.assertEqual((one["number"], one["featureLevel"], one["built"], one["descStruct"]),
                                 (fact["enum_value"], fact["introduced"], name in built, fact["desc_struct"]))
                self.assertEqual(one["inPlace"] != "no", bool(fact["in_place"]))
                self.assertEqual([f"DML_OPERATOR_{alias}" for alias in one.get("aliases", [])],
                                 fact.get("enum_aliases", []))
                fields = {field["name"]: field for field in one["fields"]}
                self.assertEqual({name: field["kind"] for name, field in fields.items()
                                  if "attribute" not in field["kind"]},
                                 {tensor["field"]: tensor["kind"] for tensor in fact["tensors"]})
                self.assertEqual({name for name, field in fields.items() if "attribute" in field["kind"]},
                                 {attribute["field"] for attribute in fact["attributes"]})
                support = [(name, row["featureLevel"], row["dimensions"], tuple(sorted(row["dataTypes"])),
                            row.get("onlyFor", ""))
                           for name, field in fields.items() for row in field.get("support", [])]
                self.assertEqual(sorted(support), sorted(
                    (row["tensor"], row["feature_level"], row["dimension_counts"], tuple(sorted(row["data_types"])),
                     " ".join(row.get("for", []))) for row in fact["support"]))

    def test_every_name_of_the_header_is_known_in_models(self):
        header = (SOURCE / "include" / "anydml" / "DirectML.h").read_text()
        names = re.findall(r"^    (DML_OPERATOR_\w+) = ", header, re.M)
        names.remove("DML_OPERATOR_INVALID")
        self.assertGreater(len(names), 177)  # including aliases
        folder = empty_folder("names_of_operators")
        for name in names:
            model = {"resources": {}, "dispatchables": {"one": {"type": name, "desc": {}}}, "commands": []}
            (folder / f"{name}.json").write_text(json.dumps(model))
        reports = json.loads(run("check", "--json", *(f"{name}.json" for name in names), folder=folder, status=2).stdout)
        self.assertEqual([report["model"] for report in reports], [f"{name}.json" for name in names])
        for report in reports:
            self.assertNotIn("is not an operator", json.dumps(report))

    def test_lists(self):
        everything = run("operators").stdout.splitlines()
        missing = run("operators", "--missing").stdout.splitlines()
        self.assertEqual(len(everything), 177 + 4)
        built = sum(1 for line in everything if re.match(r"[A-Z_0-9]+ +yes ", line))
        if built == 177:
            self.assertEqual(missing, ["No operator is missing."])
        else:
            self.assertEqual(len(missing), 177 - built + 4)
        self.assertEqual(len(run("operators", "--built").stdout.splitlines()), built + 4)
        self.assertIn(f"{built} of DirectML's 177 operators are built", everything[-2])
        self.assertNotIn("ELEMENT_WISE_MODULUS_FLOOR", run("operators", "--missing").stdout)
        self.assertEqual(run("operators", "--missing", "modulus").stdout, "No operator with 'modulus' in its name is missing.\n")
        self.assertEqual(run("operators", "--missing", "--json", "modulus").stdout.strip(), "[]")

    def test_one(self):
        for name in ("ELEMENT_WISE_MODULUS_FLOOR", "DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR", "modulus_floor"):
            self.assertIn("feature level  2_1 and newer", run("operators", name).stdout)
        self.assertIn("did you mean 'CONVOLUTION'", run("operators", "CONVOLUTON", status=2).stderr)
        self.assertIn("Mode: CONVOLUTION, CROSS_CORRELATION\n", run("operators", "CONVOLUTION").stdout)
        relus = run("operators", "relu").stdout
        self.assertIn("ACTIVATION_RELU ", relus)
        self.assertIn("ACTIVATION_LEAKY_RELU ", relus)
        self.assertIn("ACTIVATION_RELU is built", run("operators", "--missing", "ACTIVATION_RELU", status=2).stderr)


class Calculator(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(run("modulus", "--floor", "--type", "float16", "--", "-7", "3").stdout,
                         "FLOAT16\n a  b  floor  bits\n-7  3      2  0x4000\n")
        self.assertEqual(run("modulus", "--", "-7,7.5", "2").stdout,
                         "FLOAT64\n  a  b  floor  bits                truncate  bits\n"
                         " -7  2      1  0x3FF0000000000000        -1  0xBFF0000000000000\n"
                         "7.5  2    1.5  0x3FF8000000000000       1.5  0x3FF8000000000000\n")
        self.assertIn("'seven' is not a number", run("modulus", "seven", "3", status=2).stderr)
        self.assertIn("300 is not a UINT8", run("modulus", "--type", "uint8", "300", "3", status=2).stderr)
        self.assertIn("do not broadcast", run("modulus", "1,2,3", "1,2", status=2).stderr)
        self.assertIn(".npy", run("modulus", "--floor", "7", "3", "-o", "x.txt", status=2).stderr)
        self.assertIn("--floor or --truncate", run("modulus", "7", "3", "-o", "x.npy", status=2).stderr)
        self.assertIn("is not a type", run("modulus", "--type", "f3", "7", "3", status=2).stderr)

    def test_arrays_as_numpy_has_them(self):
        if NUMPY is None:
            self.skipTest("no Python with NumPy")
        script = f"""
import subprocess, sys, numpy as np
rng = np.random.default_rng(1)
for kind, a_shape, b_shape in [("f4", (3, 1, 5), (4, 1)), ("f8", (), (7,)), ("i1", (100,), ()), ("u8", (2, 3), (3,)),
                               ("f2", (50, 60), (60,)), ("i4", (0, 3), (1, 3)), ("i8", (5, 1), (1, 6))]:
    if kind[0] == "f":
        a, b = rng.normal(0, 100, a_shape).astype(kind), rng.normal(0, 3, b_shape).astype(kind)
    else:
        a = rng.integers(-100 if kind[0] == "i" else 0, 100, a_shape).astype(kind)
        b = rng.integers(1, 9, b_shape).astype(kind)
    np.save("a.npy", a); np.save("b.npy", b)
    for flag, function in [("--floor", np.mod), ("--truncate", np.fmod)]:
        subprocess.run([{str(DMLRUN)!r}, "modulus", flag, "a.npy", "b.npy", "-o", "out.npy"], check=True,
                       stdout=subprocess.DEVNULL)
        out, expected = np.load("out.npy"), function(a, b)
        assert out.dtype == expected.dtype and out.shape == expected.shape, (kind, out.shape)
        assert out.tobytes() == np.asarray(expected).tobytes(), (kind, flag)
"""
        subprocess.run([NUMPY, "-c", script], check=True, cwd=empty_folder("numpy"))


# Skipped under sanitizers because most commands run operators, and dmlrun handles them all the same way.
@unittest.skipIf("ANYDML_SANITIZED" in os.environ, "the build without sanitizers runs this")
class Documents(unittest.TestCase):
    def test_what_they_show_is_what_is_printed(self):
        for page in ("docs/dmlrun.md", "README.md"):
            text = (SOURCE / page).read_text()
            shown = "".join(re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S))
            commands = re.findall(r"^\$ dmlrun (.*)\n((?:(?!\$ ).*\n)*)", shown, re.M)
            self.assertTrue(commands, page)
            for command, expected in commands:
                with self.subTest(command):
                    done = run(*shlex.split(command), folder=EXAMPLES, status=None)
                    self.assertEqual(of_this_machine(done.stdout + done.stderr), of_this_machine(expected))


def commands():
    """Returns the list that dmlrun prints."""
    listed = run("--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([\w-]+) ", listed, re.M)


class CommandLine(unittest.TestCase):
    def test_nothing_is_help(self):
        self.assertEqual(run().stdout, run("--help").stdout)
        for command in commands():
            done = run(command, "--help", status=None)  # builds with sanitizers do not include the benchmark
            self.assertTrue(done.stdout or "does not include the benchmark" in done.stderr)

    def test_version(self):
        version = re.search(r"project\(anydml VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(run("--version").stdout, f"dmlrun {version}\n")

    def test_wrong_arguments(self):
        for arguments in (["run"], ["--iterations", "0", "x.json"], ["--no-such-option", "x.json"], ["check"],
                          ["modulus", "1"], ["operators", "a", "b"], ["-t", "nan", "x.json"], ["-I", "-1", "x.json"],
                          ["-w", "-1", "x.json"], ["--max-memory", "-1", "x.json"], ["--max-memory", "0", "x.json"],
                          ["a.json", "b.json"], ["help me"], ["completion", "tcsh"], ["-v", "3", "x.json"],
                          ["-i", "many", "x.json"], ["--max-memory", "lots", "x.json"], ["exec"],
                          ["--feature-level", "9_9", EXAMPLES / "add.json"], ["-a", "Radeon", EXAMPLES / "add.json"]):
            with self.subTest(arguments):
                done = run(*arguments, status=2)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_what_was_probably_meant(self):
        for arguments, words in ((["chek", "x.json"], "did you mean 'check'"), (["operator"], "did you mean 'operators'"),
                                 (["--iteration", "5", "x.json"], "did you mean '--iterations'"),
                                 (["check", "--jso", "x.json"], "did you mean '--json'"),
                                 (["-i", "x.json"], "expected a whole number from 1"),
                                 (["-t", "50ms", "x.json"], "expected a number from 0"),
                                 (["--max-memory", "lots", "x.json"], "expected a size such as 512MiB"),
                                 (["--feature-level", "7_0", EXAMPLES / "add.json"], "6_3, 6_4")):
            with self.subTest(arguments):
                self.assertIn(words, run(*arguments, status=2).stderr)
        self.assertIn(": 5 iterations", run("--dispatch-iterations", "5", EXAMPLES / "add.json").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)

    def test_output_that_cannot_be_written_is_a_failure(self):
        for arguments in ([EXAMPLES / "add.json"], ["--json", EXAMPLES / "add.json"], ["operators"], ["adapters"],
                          ["modulus", "7", "3"], ["check", EXAMPLES / "add.json"], ["--version"], ["graph", EXAMPLES / "add.json"],
                          ["graph", "--dot", EXAMPLES / "add.json"], ["completion", "bash"], ["help"]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run([DMLRUN, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("the output cannot be written", done.stderr)

    def test_adapters(self):
        adapters = json.loads(run("adapters", "--json").stdout)
        self.assertGreaterEqual(len(adapters), 1)
        self.assertEqual(adapters[0]["featureLevel"], "6_4")
        self.assertIn(adapters[0]["description"], run("adapters").stdout)
        self.assertEqual(run("-s").stdout, run("adapters").stdout)
        self.assertIn(adapters[0]["description"], run("-a", adapters[0]["description"][1:5].upper(), EXAMPLES / "add.json").stdout)
        self.assertIn("DirectML", run("-S").stdout)

    def test_levels(self):
        model = EXAMPLES / "integers_64.json"
        self.assertIn("at feature level 5_0", run("--dml_feature_level", "5.0", model, status=2).stderr)
        capped = run(model, environment={"ANYDML_FEATURE_LEVEL": "5_0"}, status=2)
        self.assertIn("at feature level 5_0", capped.stderr)
        self.assertEqual(run("--feature-level", "6_0", model).stderr, "")

    def test_options_of_dxdispatch_are_taken(self):
        done = run("-m", EXAMPLES / "add.json", "--clear_shader_caches", "--post_dispatch_barriers", "uav", "-d")
        self.assertIn("Resource 'Out': 6, 10, -2", done.stdout)
        self.assertEqual(done.stderr, "dmlrun: --clear_shader_caches has no effect here\n"
                                      "dmlrun: --post_dispatch_barriers has no effect here\n")

    def test_exec(self):
        shown = run("exec", "--", "sh", "-c", "echo $LD_LIBRARY_PATH \"$1\"", "sh", "--help",
                    environment={"LD_LIBRARY_PATH": "/before"}).stdout
        folder, _, rest = shown.strip().partition(":")
        self.assertTrue((Path(folder) / "libdirectml.so").exists(), shown)
        self.assertEqual(rest, "/before --help")
        self.assertEqual(run("exec", "--", "sh", "-c", "exit 7", status=7).stdout, "")
        self.assertIn("No such file", run("exec", "--", "/no/such/program", status=127).stderr)

    def test_exec_ends_a_program_at_its_first_error(self):
        self.assertEqual(run("exec", "--strict", "--", "sh", "-c", "echo $ANYDML_DEBUG").stdout, "abort\n")
        self.assertEqual(run("exec", "--strict", "sh", "-c", "exit 7", status=7).stdout, "")
        self.assertIn("no program was given", run("exec", "--strict", "--", status=2).stderr)
        # dmlrun itself is a DirectML program.
        right = run("exec", "--strict", "--", DMLRUN, EXAMPLES / "add.json")
        self.assertIn("Resource 'Out': 6, 10, -2", right.stdout)
        model = BAD / "output_overlaps_itself.json"
        wrong = run("exec", "--strict", "--", DMLRUN, model, status=-signal.SIGABRT).stderr
        self.assertRegex(wrong, r"^anydml: IDMLDevice::CreateOperator: ELEMENT_WISE_MODULUS_FLOOR: OutputTensor: .*\n"
                                r"anydml: ANYDML_DEBUG=abort ended the program at this error\n$")

    def test_manual_page_has_every_option(self):
        page = (SOURCE / "tools" / "dmlrun" / "dmlrun.1").read_text().replace("\\-", "-")
        for command in commands():
            section = page.split(f".SS dmlrun {command}\n")[1].split("\n.S")[0]
            help_text = run(command, "--help", status=None).stdout
            if command == "bench" and not help_text:
                continue  # not in builds with sanitizers
            for option in re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", help_text.partition("Options:")[2]):
                if option not in ("--help", "-h"):
                    self.assertIn(option, section, command)
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", str(SOURCE / "tools" / "dmlrun" / "dmlrun.1")],
                                  capture_output=True, text=True, env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))


def update():
    for model in sorted(EXAMPLES.glob("*.json")):
        (EXAMPLES / "expected").mkdir(exist_ok=True)
        (EXAMPLES / "expected" / f"{model.stem}.txt").write_text(example_output(model))
    text = ERRORS.read_text()
    for name, what, _ in bad_models():
        sentence = bad_sentence(name).replace("|", "\\|")
        text = re.sub(rf"^\| `{name}` \| .*$", lambda _: f"| `{name}` | {what} | {sentence} |", text, flags=re.M)
    ERRORS.write_text(text)


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    if "--update" in sys.argv:
        update()
    else:
        unittest.main(argv=sys.argv[:1])
