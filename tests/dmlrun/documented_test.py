#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that dmlrun prints the outputs shown on DirectML's own pages (data/python/documented_examples.py).

usage: documented_test.py DMLRUN SOURCE
"""
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DMLRUN, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True  # leave the source folder unchanged
sys.path[:0] = [str(SOURCE / "data" / folder) for folder in ("python", "site")]
import documented_examples  # noqa: E402
import examples  # noqa: E402
import site_operators  # noqa: E402


def difference(pages, folder, name, example):
    """Returns None, or a message with the expected and the printed values."""
    for tensor in [*example.inputs, *example.outputs]:
        for one in tensor if isinstance(tensor, tuple) else [tensor]:
            if one and math.prod(one.sizes) != len(one.values):
                return f"a tensor of sizes {list(one.sizes)} has {len(one.values)} values"
    path = Path(folder) / f"{name}.json"
    path.write_text(pages.model(name, example), encoding="utf-8")
    done = subprocess.run([DMLRUN, path.name], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expected = examples.model_prints(pages.python[name], example)
    printed = "".join(re.findall(r"^Resource .*\n", done.stdout, re.MULTILINE))
    if done.returncode == 0 and printed == expected:
        return None
    return f"expected\n{expected}but dmlrun exited with {done.returncode} and printed\n{printed}{done.stderr}"


def main():
    pages, differences = site_operators.Pages(), 0
    shown = documented_examples.DOCUMENTED
    mended = [(name, example) for name, _, example in documented_examples.SLIPS if example]
    with tempfile.TemporaryDirectory() as folder:
        for name, example in [*shown, *mended]:
            found = difference(pages, folder, name, example)
            if found:
                differences += 1
                print(f"{name}: {found}")
    if differences:
        print(f"{differences} of {len(shown) + len(mended)} examples differ.")
        return 1
    print(f"{len(shown)} examples of {len({name for name, _ in shown})} operators agree with their pages.")
    print(f"{len(documented_examples.SLIPS)} examples break the rules of their own page; "
          f"{len(mended)} of them agree once corrected:")
    for name, fault, _ in documented_examples.SLIPS:
        print(f"  {name}: {fault}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
