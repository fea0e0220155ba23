# SPDX-License-Identifier: MIT
"""Python's errors for a device that lacks operators or types: the device in tests/plugin, configured to lack some.
ANYDML_BUILD is the build folder with the plugin, build/release by default."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
PLUGINS = Path(os.environ.get("ANYDML_BUILD", SOURCE / "build" / "release")).resolve() / "tests" / "plugins"
pytestmark = pytest.mark.skipif(not (PLUGINS / "libanydml-later.so").exists(), reason=f"no plugin in {PLUGINS}")

PROGRAM = """
import numpy as np
import anydml

square = np.ones((2, 2), "float32")
for call in (lambda: anydml.run("ELEMENT_WISE_ABS", np.ones(2), device="later"),
             lambda: anydml.matmul(square, square, device="later"),
             lambda: anydml.graph(lambda x: anydml.reduce(abs(x), function="SUM", axes=[0]), device="later")(square),
             lambda: anydml.run("ELEMENT_WISE_ABS", square, device="later")):
    try:
        print(call().sum())
    except Exception as error:
        print(type(error).__name__ + ":", error)
"""


def test_the_message_names_the_operator_the_device_and_the_reason():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "ANYDML_PLUGINS": str(PLUGINS),
                               "ANYDML_LATER_LACKS": "PRODUCT,REDUCE,FLOAT64"})
    if "built from other sources" in done.stdout + done.stderr:
        pytest.skip("the plugin and the package come from different builds")
    assert done.stdout.splitlines() == [
        "NotImplementedError: ELEMENT_WISE_ABS: device later:0 lacks this operator: it was told to lack FLOAT64",
        "NotImplementedError: GEMM: device later:0 lacks PRODUCT, a part of this operator: it was told to lack it",
        "NotImplementedError: node 1 (REDUCE): device later:0 lacks this operator: it was told to lack it",
        "4.0"], done.stderr
