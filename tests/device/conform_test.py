#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that scripts/conform.py reports which devices conform, and detects each way in which wrong_backend.cpp breaks
the contract.

usage: conform_test.py SOURCE BUILD LATER WRONG      the paths of the two plugins
"""
import os
import subprocess
import sys
from pathlib import Path

# Each violation, with part of the failing test's name, or of the message that explains why no test runs.
WRONG = {
    "alignment": "DeviceMemory.HasItsNames",
    "zeros": "DeviceMemory.BuffersHoldZeros",
    "bytes": "DeviceMemory.BufferBytesGoUpAndDown",
    "refusal": "it returned failed (the CPU device has no memory for this); expected out_of_memory",
    "copy": "DeviceCopies.WithinOneBlock",
    "fill": "DeviceFills.RepeatTheirPattern",
    "timestamp": "60 ms passed between the two; expected nanoseconds",
    "name": "the device's name is 'right'; expected the table's, 'wrong'",
    "program": "DeviceRefusals.PlansOfUnknownFamilies",
    "joined": "expected not_joined, so that the graph is compiled with separate steps",
    "message": "without a message; expected one that says why",
    "text": "expected a text that ends within",
    "temporary": "expected the plan's own bytes plus the workspace of the kernels",
    "wait": "hangs: it has not ended after 3 seconds",
    "missing": "the table has no function follow; backend.h says which may be null",
}


def conform(source, *arguments, **variables):
    done = subprocess.run([sys.executable, "-B", str(source / "scripts/conform.py"), *arguments], capture_output=True,
                          text=True, env={**os.environ, **variables})
    return done.returncode, done.stdout + done.stderr


def expect(result, code, *texts):
    assert result[0] == code, f"status {result[0]}; expected {code}\n{result[1]}"
    for text in texts:
        assert text in result[1], f"expected '{text}' in\n{result[1]}"


def main(arguments):
    source, build, later, wrong = [Path(one).resolve() for one in arguments]
    here = ["--build", str(build)]
    expect(conform(source, *here, str(later), "--only", "table,lost"), 0, "later:0: a device of the tests",
           "later:0: conforms in", "the device does not share addresses (access is null)")
    expect(conform(source, *here, "later", "--plugins", str(later.parent), "--only", "lost"), 0, "later:0: conforms in 3 checks")
    expect(conform(source, *here, "cpu", "--only", "lost"), 0, "nothing made the device fail")
    expect(conform(source, *here, str(wrong), "--only", "table"), 0, "wrong:0: conforms in")
    for way, text in WRONG.items():
        code = 2 if way == "missing" else 1
        limit = {"ANYDML_TEST_LIMIT": "3"} if way == "wait" else {}
        expect(conform(source, *here, str(wrong), "--only", "table", ANYDML_WRONG=way, **limit), code, text)
    expect(conform(source, *here, "nothing"), 2, "expected the name or a part of the description of a device: cpu")
    expect(conform(source, *here, str(build / "nothing.so")), 2, "--plugin: ")
    expect(conform(source, *here, "cpu", "--only", "tables"), 2, "there is no part 'tables'; expected one of table, ")
    expect(conform(source, *here), 2, "expected a name, such as cpu, or the path of a plugin")
    expect(conform(source, "--build", str(source), "cpu"), 2, "has no tests/device_conformance")
    listed = conform(source, "--list")
    expect(listed, 0, "operator_digests")
    expect(conform(source, "--help"), 0, "usage: scripts/conform.py [options] DEVICE")
    print(f"{len(WRONG)} wrong devices: all were detected")


if __name__ == "__main__":
    main(sys.argv[1:])
