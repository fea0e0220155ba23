# SPDX-License-Identifier: MIT
"""docs/python.md tells the truth: its blocks run in order as one script and print what the page says."""
import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def blocks():
    """(line, fence, code, the text block right below or None) of each block of Python."""
    page = PAGE.read_text(encoding="utf-8")
    fenced = list(re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    for block, after in zip(fenced, [*fenced[1:], None]):
        if block[1].split()[0] == "python":
            near = after is not None and after[1] == "text" and page[block.end():after.start()].strip() == ""
            yield page[:block.start()].count("\n") + 2, block[1], block[2], after[2] if near else None


def test_page_runs_and_prints_what_it_says():
    torch_is_here = True
    try:
        import torch  # noqa: F401
    except ImportError:
        torch_is_here = False
    namespace, ran = {}, 0
    for line, fence, code, expected in blocks():
        if fence == "python torch" and not torch_is_here:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # Empty lines before it give tracebacks the page's own line numbers.
            exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), namespace)
        if expected is not None:
            assert printed.getvalue() == expected, f"{PAGE.name}, the block at line {line}"
        ran += 1
    assert ran >= 7


@pytest.mark.parametrize("page", ["python.md", "dask.md"])
def test_links_lead_somewhere(page):
    text = (PAGE.parent / page).read_text(encoding="utf-8")
    written_elsewhere = {"onnx.md"}
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert target in written_elsewhere or (PAGE.parent / target).exists(), f"{page}: {target}"
