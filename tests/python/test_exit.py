# SPDX-License-Identifier: MIT
"""Tests that Python exits cleanly while daemon threads may be inside a call, and that all objects are released."""
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

CALLS = """
import threading, time
import numpy as np
import anydml

a, b, whole = np.arange(1.0, {count} + 1.0), np.full({count}, 3.0), np.arange(1, {count} + 1, dtype=np.int32)
step = anydml.compile("ELEMENT_WISE_MODULUS_FLOOR", a, b)

class Foreign:  # has Python methods, so other threads may run in the middle of them
    def __dlpack_device__(self):
        return 1 + 0 * sum(range(200)), 0

    def __dlpack__(self, **options):
        return a.__dlpack__()

class Number:
    def __index__(self):
        return sum(range(200))

def modulus():
    anydml.modulus_floor(a, b)
    anydml.modulus_truncate(a, 3.0, out=np.empty_like(a))

def ufunc():
    anydml.modulus_floor(a, whole)
    anydml.modulus_floor(a, b, out=np.zeros_like(a), where=a > 2)

def run():
    anydml.run("ELEMENT_WISE_ADD", a, b)

def compiled():
    step(a, b)
    anydml.compile("ELEMENT_WISE_ADD", a, b)(a, b)

def asking():
    anydml.modulus_floor(Foreign(), b)
    anydml.run("ELEMENT_WISE_CLIP", a[:1], Min=Number(), Max=Number())
"""
NAMES = ("modulus", "ufunc", "run", "compiled", "asking")

THREADS = """
started = threading.Barrier({threads} + 1)

def loop():
    {call}()
    started.wait()
    while True:
        {call}()

for _ in range({threads}):
    threading.Thread(target=loop, daemon=True).start()
started.wait()
time.sleep({wait})
"""


def end(program):
    """Runs a program, and returns a description of its failure at exit, or an empty string."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    return "" if (done.returncode, done.stderr) == (0, "") else f"{done.returncode} {done.stderr}"


def end_amidst(call):
    """Like end, but Python exits at a random moment while daemon threads are making calls."""
    return end((CALLS + THREADS).format(call=call, count=random.choice((5000, 100000, 1000000)),
                                        threads=random.choice((1, 3)), wait=random.uniform(0, 0.02)))


@pytest.mark.parametrize("call", NAMES)
def test_python_ends_while_daemon_threads_are_inside_a_call(call):
    with ThreadPoolExecutor(3) as all_at_once:
        assert list(all_at_once.map(end_amidst, [call] * 3)) == [""] * 3


def test_nothing_is_left_at_the_end_of_python():
    calls = "".join(f"{call}()\n" for call in NAMES if call != "asking")  # types of foreign arrays are cached forever
    program = CALLS.format(count=5000) + "anydml._core.set_leak_warnings(True)\n" + calls
    assert end(program) == ""
    kept = "import ctypes\nctypes.pythonapi.Py_IncRef(ctypes.py_object(step._compiled))\n"
    assert "leaked 1 instances" in end(program + kept)
