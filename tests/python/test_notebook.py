# SPDX-License-Identifier: MIT
"""The notebook runs from top to bottom, and reproduces its saved text and plots. The cells run here as in a kernel; the
output of cells tagged "installed" depends on other libraries and is not compared."""
import contextlib
import io
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "exact_modulus.ipynb"


def test_notebook():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    namespace = {"__name__": "__main__"}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), cell["id"], "exec"), namespace)
        saved = "".join(line for output in cell["outputs"] for line in output.get("text", ()))
        pictures = [output for output in cell["outputs"] if output["output_type"] == "display_data"]
        assert len(pictures) == len(pyplot.get_fignums()), cell["id"]
        pyplot.close("all")
        assert saved, f"{cell['id']} is saved without its output"
        if "installed" not in cell["metadata"].get("tags", ()):
            assert printed.getvalue() == saved, cell["id"]
