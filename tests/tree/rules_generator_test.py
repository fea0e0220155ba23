#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""data/facts/rules.py rejects rules that do not match their operator's fields, and constraints that no rule covers.

usage: rules_generator_test.py SOURCE
"""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / "data" / "facts"))
import generate_tables  # noqa: E402
import rules  # noqa: E402

OPERATORS = generate_tables.Source()


def compiler(name):
    operator = next(each for each in OPERATORS.operators if each["name"] == f"DML_OPERATOR_{name}")
    return OPERATORS.compiler(operator)


class Rules(unittest.TestCase):
    def test_what_does_not_fit_is_refused(self):
        for name, line in (
            ("SPLIT", "Axes < InputTensor.DimensionCount"),  # no such field
            ("SPLIT", "Axis < InputTensor.Rank"),  # no such member
            ("SPLIT", "Axis < OutputTensors.DimensionCount"),  # ambiguous: refers to several tensors
            ("SPLIT", "Axis < InputTensor[0].DimensionCount"),  # not an array
            ("SPLIT", "Axis == 0.5"),  # Axis is an integer
            ("SPLIT", "Axis < 5_2"),  # 5_2 is a feature level, not a number
            ("SPLIT", "level < 5_2"),  # not a condition on the operator
            ("SPLIT", "Axis"),
            ("SPLIT", "4 < 5"),  # blames no field
            ("SPLIT", "Axis < i"),
            ("SPLIT", "for i in range(2): for i in range(2): Axis < i"),
            ("SPLIT", "while Axis: Axis < 2"),
            ("SPLIT", "Axis < length(OutputTensors)"),
            ("SPLIT", "Axis < "),
            ("REDUCE", "Axes < 4"),  # Axes is an array
            ("REDUCE", "Function == FLOAT32"),  # from a different enumeration
            ("REDUCE", "Function == 3"),
            ("REDUCE", "InputTensor.DataType == SUM"),
            ("UPSAMPLE_2D", "ScaleSize.Depth > 0"),
            ("ADAM_OPTIMIZER", "Beta1 == InputParametersTensor.DimensionCount"),
        ):
            with self.subTest(line), self.assertRaises(rules.RuleError):
                compiler(name).rules_of(line)

    def test_a_line_may_be_several_rules(self):
        self.assertEqual(len(compiler("GEMM").rules_of("each X in ATensor, BTensor: X.Sizes[0] == 1")), 2)
        self.assertEqual(len(compiler("SLICE1").rules_of("1 <= OutputTensor.Sizes[0] <= 2")), 2)
        self.assertEqual(len(compiler("ROI_POOLING").rules_of("ROITensor.Sizes == [1, 1, _, 5]")), 3)
        self.assertEqual(len(compiler("ROI_ALIGN").rules_of("ROITensor.Sizes == [_, 4]")), 2)
        self.assertEqual(compiler("FOLD").rules_of("only UNFOLD: DimensionCount == 1"), [])

    def test_every_constraint_has_an_entry(self):
        entries = dict(OPERATORS.entries)
        operator = next(each for each in OPERATORS.operators if each["name"] == "DML_OPERATOR_SPLIT")
        try:
            del OPERATORS.entries["value: OutputCount > 0"]
            with self.assertRaises(SystemExit) as stopped:
                generate_tables.operator_rules(OPERATORS, operator, generate_tables.Arrays())
            self.assertIn("rules.txt has nothing for: value: OutputCount > 0", str(stopped.exception))
        finally:
            OPERATORS.entries = entries

    def test_an_entry_is_judged_in_one_way(self):
        for text in ("value: a\n", "value: a\n    Axis < 1\n    prose: b\n", "    Axis < 1\n"):
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file, self.assertRaises(rules.RuleError):
                file.write(text)
                file.flush()
                rules.read(Path(file.name))


if __name__ == "__main__":
    unittest.main()
