# SPDX-License-Identifier: MIT
"""docs/python.md and the README tell the truth: their blocks run in order as one script and print what the page says."""
import contextlib
import io
import re
import sys
from pathlib import Path

import pytest

import anydml

SOURCE = Path(__file__).resolve().parents[2]
PAGES = {"docs/python.md": 7, "README.md": 1}  # and how many blocks they have at least


def blocks(page):
    """(line, fence, code, the text block right below or None) of each block of Python."""
    fenced = list(re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    for block, after in zip(fenced, [*fenced[1:], None]):
        if block[1].split()[0] == "python":
            near = after is not None and after[1] == "text" and page[block.end():after.start()].strip() == ""
            yield page[:block.start()].count("\n") + 2, block[1], block[2], after[2] if near else None


@pytest.mark.parametrize("page", PAGES)
def test_page_runs_and_prints_what_it_says(page, monkeypatch):
    torch_is_here = True
    try:
        import torch  # noqa: F401
    except ImportError:
        torch_is_here = False
    if "anydml.torch" in sys.modules:  # imported by another test: once more has no effect
        monkeypatch.setattr(anydml, "_torch", None)
        monkeypatch.setattr(anydml, "_is_traced", None)
        sys.modules["anydml.torch"].hook()
    namespace, ran = {}, 0
    for line, fence, code, expected in blocks((SOURCE / page).read_text(encoding="utf-8")):
        if fence == "python torch" and not torch_is_here:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # Empty lines before it give tracebacks the page's own line numbers.
            exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)
        if expected is not None:
            assert printed.getvalue() == expected, f"{page}, the block at line {line}"
        ran += 1
    assert ran >= PAGES[page]


@pytest.mark.parametrize("page", ["python.md", "dask.md", "onnx.md"])
def test_links_lead_somewhere(page):
    text = (SOURCE / "docs" / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (SOURCE / "docs" / target).exists(), f"{page}: {target}"
