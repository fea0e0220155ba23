# SPDX-License-Identifier: MIT
"""Tests that the site's examples (data/python/examples.py) print the output shown there. They run in Python, in C if a
compiler and the library are available, and as models if dmlrun is available. ANYDML_BUILD is the build folder,
build/release by default."""
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from itertools import islice
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "data" / folder) for folder in ("python", "site")]
import examples  # noqa: E402
import generate_site  # noqa: E402
import python_rule  # noqa: E402
import site_operators  # noqa: E402
import site_pictures  # noqa: E402
from pictures.rows import ROWS, WITHOUT  # noqa: E402

BUILD = Path(os.environ.get("ANYDML_BUILD", SOURCE / "build" / "release")).resolve()
OPERATORS = {op.name: op for op in python_rule.read_operators()}


def test_every_page_is_made_and_has_its_place(tmp_path):
    assert generate_site.Site(tmp_path).make() > len(OPERATORS)


def test_what_is_built_has_an_example():
    assert set(examples.EXAMPLES) == python_rule.built_names()


def test_operators_have_a_picture_or_a_reason(tmp_path):
    assert sorted([*ROWS, *WITHOUT]) == sorted(OPERATORS)
    pages = site_operators.Pages()
    if not pages.library:
        pytest.skip(f"no libanydml.so in {BUILD}")
    for operator in pages.source.operators:
        name = pages.source.name_of(operator)
        if name in ROWS:
            svg, _ = site_pictures.picture(pages.library, name, operator)
            assert name in xml.etree.ElementTree.fromstring(svg).attrib["aria-label"] and len(svg) < 40_000, name


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_python_prints_what_the_page_says(name):
    code, printed = examples.python_code(OPERATORS[name], examples.EXAMPLES[name]), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {})
    assert printed.getvalue() == examples.python_prints(examples.EXAMPLES[name])


def test_c_prints_what_the_page_says(tmp_path):
    """Compiles all examples as one program for speed. Each main becomes a function."""
    library, compiler = BUILD / "lib" / "libanydml.so", shutil.which("cc")
    if not library.exists() or not compiler:
        pytest.skip(f"no compiler, or no libanydml.so in {BUILD}")
    program = []
    for name, example in examples.EXAMPLES.items():
        program.append(examples.c_code(OPERATORS[name], example).replace("int main(void)", f"int {name}(void)"))
    calls = "".join(f"  if ({name}()) return 1;\n" for name in examples.EXAMPLES)
    (tmp_path / "all.c").write_text("".join(program) + f"int main(void) {{\n{calls}  return 0;\n}}\n")
    subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", SOURCE / "include", "all.c", "-o", "all",
                    library, f"-Wl,-rpath,{library.parent}"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "all"], check=True, stdout=subprocess.PIPE, text=True).stdout
    expected = {name: examples.c_prints(example) for name, example in examples.EXAMPLES.items()}
    lines = iter(printed.splitlines(keepends=True))
    assert {name: "".join(islice(lines, text.count("\n"))) for name, text in expected.items()} == expected


def test_models_print_what_the_page_says(tmp_path):
    dmlrun = BUILD / "tools" / "dmlrun" / "dmlrun"
    if not dmlrun.exists():
        pytest.skip(f"no dmlrun in {BUILD}")
    pages = site_operators.Pages()
    for name in examples.EXAMPLES:
        (tmp_path / f"{name}.json").write_text(pages.model(name))
    names = [f"{name}.json" for name in examples.EXAMPLES]
    subprocess.run([dmlrun, "check", *names], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    for name, example in examples.EXAMPLES.items():
        printed = subprocess.run([dmlrun, f"{name}.json"], cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True)
        shown = "".join(re.findall(r"^Resource .*\n", printed.stdout, re.MULTILINE))
        assert shown == examples.model_prints(OPERATORS[name], example), name
