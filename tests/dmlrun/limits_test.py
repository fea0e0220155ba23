#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests dmlrun's limits: the memory a process actually uses, and the files left behind when it is killed.

usage: limits_test.py DMLRUN SOURCE WORK
"""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from harness import DMLRUN, WORK, empty_folder

MIB = 1 << 20
BASE = 24 * MIB  # the program, its libraries and its threads use this much without a model


def measured(*arguments, folder):
    """Returns the status, the output, the error output and the peak memory of the process."""
    with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
        child = subprocess.Popen([DMLRUN, *map(str, arguments)], stdout=out, stderr=err, cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
        return child.returncode, folder / "stdout", (folder / "stderr").read_text(), usage.ru_maxrss * 1024


def constant(count, kind="FLOAT32", value=1):
    return {"initialValuesDataType": kind, "initialValues": {"valueCount": count, "value": value}}


def floor(count, owned=False):
    tensor = {"DataType": "FLOAT32", "Sizes": [count]}
    if not owned:
        return {"type": "ELEMENT_WISE_MODULUS_FLOOR",
                "desc": {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor}}
    return {"type": "ELEMENT_WISE_MODULUS_FLOOR", "bindings": {"BTensor": "B"},
            "desc": {"ATensor": tensor, "BTensor": {**tensor, "Flags": "OWNED_BY_DML"}, "OutputTensor": tensor}}


def dispatch(name, owned=False):
    bound = {"ATensor": "A", "OutputTensor": "Out"}
    return {"type": "dispatch", "dispatchable": name, "bindings": bound if owned else {**bound, "BTensor": "B"}}


def model(resources, dispatchables=None, commands=()):
    return {"resources": resources, "dispatchables": dispatchables or {}, "commands": list(commands)}


def print_of(name, **more):
    return {"type": "print", "resource": name, **more}


class Memory(unittest.TestCase):
    """Each model is run with less memory than it needs, which must fail, and with slightly more, which must succeed.
    The process must never use more than the allowance plus its usage without a model."""

    def cases(self, folder):
        """Yields (name, model, options, MiB needed)."""
        eight = 2 * MIB  # the number of floats in 8 MiB
        three = {"A": constant(eight), "B": constant(eight), "Out": constant(eight)}
        with open(folder / "in.npy", "wb") as file:
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({8 * MIB},), }}".ljust(117) + "\n"
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            file.truncate(10 + len(header) + 32 * MIB)
        yield "constants", model({name: constant(16 * MIB) for name in "AB"}), [], 128
        yield "owned", model(three, {f"d{i}": floor(eight, True) for i in range(9)},
                             [dispatch(f"d{i}", True) for i in range(9)]), [], 24 + 72
        yield "dispatches", model(three, {f"d{i}": floor(eight) for i in range(9)},
                                  [dispatch(f"d{i}") for i in range(9)]), ["-i", 3], 24
        # Text several times larger than its values, printed four times.
        long = constant(MIB // 2, "UINT64", 2**64 - 1)
        yield "json", model({"A": long}, commands=4 * [print_of("A")]), ["--json"], 4
        yield "text", model({"A": long}, commands=3 * [print_of("A")] + [print_of("A", verbose=True)]), ["-v", 0], 4
        files = model({"A": {"initialValues": {"sourcePath": "in.npy"}}}, commands=[
            {"type": "writeFile", "resource": "A", "targetPath": "out.npy"},
            {"type": "writeFile", "resource": "A", "targetPath": "out.dat"}])
        yield "files", files, [], 32
        yield "files, copied", files, ["--disable_custom_heaps"], 64
        yield "constants, copied", model({name: constant(8 * MIB) for name in "AB"}), ["--disable_custom_heaps"], 96
        yield "owned, copied", model(three, {f"d{i}": floor(eight, True) for i in range(6)},
                                     [dispatch("d0", True), print_of("Out")]), ["--disable_custom_heaps"], 24 + 48 + 8
        # The text may use only part of the allowance. The memory for parsing is temporary.
        yield "list", model({"A": {"initialValuesDataType": "INT8", "initialValues": [1] * 500000}}), [], 31
        yield "many buffers", model({f"A{i}": constant(1) for i in range(10000)}), [], 49
        yield "many operators", model(three, {f"d{i}": floor(4, True) for i in range(3000)}), [], 24 + 36
        yield "a long list", model({"A": constant(4), "B": constant(4), "Out": constant(4)}, {"d": floor(4)},
                                   [dispatch("d")]), ["-r", 300000], 55

    def test_no_run_takes_more_than_it_is_allowed(self):
        folder = empty_folder("memory")
        for name, what, options, needs in self.cases(folder):
            (folder / "model.json").write_text(json.dumps(what, separators=(",", ":")))
            for command in ([], ["check"]):
                if command and options:
                    continue  # the options apply only to a run
                for allowed, right in ((needs * MIB * 3 // 4, False), (needs * MIB + 3 * MIB, True)):
                    with self.subTest(name, allowed=allowed // MIB, command=command):
                        status, out, error, most = measured(*command, "model.json", *options, "--max-memory", allowed,
                                                            folder=folder)
                        self.assertLess(most, allowed + BASE, f"{most // MIB} MiB: {error}")
                        self.assertEqual(status, 0 if right else 2, error)
                        if not right:
                            said = error or out.read_text()
                            self.assertRegex(said, r"needs .* for .*; the total is .*, but --max-memory allows|"
                                                   r"--max-memory of .* allows a model of")
                            self.assertFalse(list(folder.glob("out.*")))
                        for path in folder.glob("out.*"):
                            path.unlink()

    def test_what_was_needed_for_what_is_said(self):
        folder = empty_folder("memory")
        for wanted, *case in (
                ("model.json: resources.B: needs 8.0 MiB for its buffer; the total is 16.0 MiB (16.0 MiB of buffers, "
                 "1024 bytes of objects), but --max-memory allows 12.0 MiB", 12, []),
                ("dispatchables.d.desc: needs 8.0 MiB for the tensors that DirectML keeps; the total is 32.0 MiB "
                 "(24.0 MiB of buffers, 8.0 MiB of tensors that DirectML keeps, ", 28, []),
                ("commands[0]: needs 31.0 MiB for recording and timing dispatches; the total is ", 40,
                 ["-i", "1000000"]),
                ("model.json: needs 8.0 MiB for copying a buffer to or from the device; the total is ", 36,
                 ["--disable_custom_heaps"])):
            (folder / "model.json").write_text(json.dumps(model(
                {name: constant(2 * MIB) for name in ("A", "B", "Out")}, {"d": floor(2 * MIB, True)},
                [dispatch("d", True), print_of("Out")])))
            allowed, options = case
            status, _, error, _ = measured("model.json", *options, "--max-memory", f"{allowed}MiB", folder=folder)
            self.assertEqual((status, wanted in error), (2, True), error)

    def test_timings_of_a_run_by_time_are_counted_as_they_come(self):
        folder = empty_folder("memory")
        (folder / "model.json").write_text(json.dumps(model(
            {name: constant(4) for name in ("A", "B", "Out")}, {"d": floor(4)}, [dispatch("d")])))
        status, out, error, _ = measured("model.json", "--json", "-t", 60000, "--max-memory", "4MiB", folder=folder)
        self.assertEqual(status, 1)
        self.assertIn("commands[0]: needs 4.0 MiB for recording and timing dispatches", error)
        self.assertEqual(json.loads(out.read_text())["runs"], False)


class Json(unittest.TestCase):
    def test_a_run_that_fails_in_the_midst_is_one_document(self):
        folder = empty_folder("json")
        (folder / "model.json").write_text(json.dumps(model({"A": constant(40000)}, commands=[
            print_of("A"), {"type": "writeFile", "resource": "A", "targetPath": "out.npy"}, print_of("A")])))
        # A limit on file sizes stands in for a full disk.
        script = f"ulimit -f 8; trap '' XFSZ; '{DMLRUN}' --json model.json"
        done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        document = json.loads(done.stdout)
        self.assertEqual([command["type"] for command in document["commands"]], ["print"])
        self.assertEqual(len(document["commands"][0]["values"]), 40000)
        self.assertEqual((document["runs"], document["problems"][0]["path"]), (False, "commands[1].targetPath"))
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["model.json"])


class Killed(unittest.TestCase):
    """dmlrun is killed while it writes a file."""

    def test_leaves_nothing_behind(self):
        folder = empty_folder("killed")
        (folder / "model.json").write_text(json.dumps(model({"A": constant(24 * MIB)}, commands=[
            {"type": "writeFile", "resource": "A", "targetPath": "there.npy"},
            {"type": "writeFile", "resource": "A", "targetPath": "new/folder/file.npy"}])))
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                self.assertTrue(any(self.killed_while_writing(folder, number) for _ in range(20)),
                                "no run could be killed while it was writing")

    def killed_while_writing(self, folder, number):
        (folder / "there.npy").write_text("before")
        child = subprocess.Popen([DMLRUN, "model.json"], cwd=folder, stdout=subprocess.DEVNULL)
        descriptors = f"/proc/{child.pid}/fd"
        writing = False
        while not writing and child.poll() is None:
            for one in os.listdir(descriptors):
                try:
                    position = os.readlink(f"{descriptors}/{one}")
                except OSError:
                    continue
                writing = writing or bool(re.match(re.escape(str(folder)) + r"/(#|\.dmlrun-|new)", position))
        child.send_signal(number)
        self.assertEqual(child.wait(), -number if writing else 0)
        left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        self.assertEqual(left, ["model.json", "there.npy"])
        return writing and (folder / "there.npy").read_text(errors="replace") == "before"


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=["limits_test.py"])
