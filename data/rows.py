# SPDX-License-Identifier: MIT
"""The operators that are built: the rows of src/ops/*/*.def. Every script that needs them reads them here."""
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OPS = ROOT / "src" / "ops"
# A line such as ANYDML_ROW(ELEMENT_WISE_ADD, Add, 0). The families' macros end with ROW. ABSENT rows repeat an operator,
# and INTERNAL rows are steps that DirectML does not have.
ROW = re.compile(r"^ANYDML_(?!INTERNAL_|ABSENT_)\w*ROW\((\w+)", re.MULTILINE)


class Row(NamedTuple):
    operator: str  # DirectML's name without DML_OPERATOR_
    family: str    # its folder in src/ops


def read_rows():
    """In the order of families.def and of the families' own files."""
    families = re.findall(r"^ANYDML_FAMILY\((\w+)\)", (OPS / "families.def").read_text(encoding="utf-8"), re.MULTILINE)
    return [Row(operator, family) for family in families
            for operator in ROW.findall((OPS / family / f"{family}.def").read_text(encoding="utf-8"))]
