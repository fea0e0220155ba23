# SPDX-License-Identifier: MIT
"""Reads the entries of src/ops/*/*.def, which list the implemented operators. Every script that needs this list uses
this module."""
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "src" / "ops"
# A line such as ANYDML_ENTRY(ELEMENT_WISE_ADD, Add). The families' macros end with ENTRY. ABSENT entries are skipped,
# because a different entry lists their operator. INTERNAL entries are skipped, because they are not DirectML operators.
ENTRY = re.compile(r"^ANYDML_(?!INTERNAL_|ABSENT_)\w*ENTRY\((\w+)", re.MULTILINE)


class Entry(NamedTuple):
    operator: str  # DirectML's name without DML_OPERATOR_
    family: str    # its folder in src/ops


def read_entries():
    """Returns the entries in the order of families.def and of the families' own files."""
    families = re.findall(r"^ANYDML_FAMILY\((\w+)\)", (OPS / "families.def").read_text(encoding="utf-8"), re.MULTILINE)
    return [Entry(operator, family) for family in families
            for operator in ENTRY.findall((OPS / family / f"{family}.def").read_text(encoding="utf-8"))]
