#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the table of docs/feature-levels.md: for each operator that is a row, what each level added."""
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = ["FLOAT16", "FLOAT32", "FLOAT64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]


def main():
    rows = re.findall(r"^ANYDML_ROW\((\w+),", (ROOT / "src/ops/elementwise/elementwise.def").read_text(), re.M)
    operators = {operator["name"].removeprefix("DML_OPERATOR_"): operator
                 for operator in json.loads((ROOT / "data/operators.json").read_text())["operators"]}
    print("| operator | from level | dimensions | types |")
    print("|---|---|---|---|")
    for row in rows:
        operator = operators[row]
        first = operator["tensors"][0]["field"]
        levels = [support for support in operator["support"] if support["tensor"] == first]
        for support in sorted(levels, key=lambda support: support["feature_level"]):
            types = sorted(support["data_types"], key=ORDER.index)
            print(f"| {row} | {support['feature_level']} | {support['dimension_counts']} | {', '.join(types)} |")


if __name__ == "__main__":
    main()
