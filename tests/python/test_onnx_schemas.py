# SPDX-License-Identifier: MIT
"""Tests that the tables in src/onnx/schema equal the generator's output for the installed onnx package."""
import sys
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "data" / "onnx"))
import generate_schemas  # noqa: E402


def test_tables_are_current():
    made_from = generate_schemas.version()
    if made_from != onnx.__version__:
        pytest.skip(f"the tables were made with onnx {made_from}, but onnx {onnx.__version__} is installed")
    for name, content in generate_schemas.tables().items():
        assert (generate_schemas.FOLDER / name).read_text() == content, f"run data/onnx/generate_schemas.py: {name} is old"


def test_table_contains_each_operator_of_onnx_once():
    lines = (generate_schemas.FOLDER / "schemas.inc").read_text().splitlines()
    keys = [tuple(line.split("(")[1].split(", ")[:2]) for line in lines if "SCHEMA(" in line]
    assert len(keys) == len(set(keys)) and len(keys) >= 600
    assert keys == sorted(keys, key=lambda key: (key[0].strip('"'), int(key[1])))
