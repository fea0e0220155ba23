#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes the last digits of coefficients until no input has a wrong result, for print_moved_polynomial.

  search.py GROUP "kSin1 kSin2 kSin3" 2.47 SinOf:mpfr_sin:sin.hard CosOf:mpfr_cos:cos.hard

The inputs are the ones that `prove --write-hard FILE NAME` had to check with MPFR. 2.47 is the maximum of the
polynomial's variable: a change to the coefficient of degree i is multiplied by at most the i-th power of 2.47. Changes
that do not increase the number of wrong results are kept. Needs g++ and MPFR."""

import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FUNCTIONS = "ops/scalar/functions"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group")
    parser.add_argument("constants")
    parser.add_argument("greatest", type=float)
    parser.add_argument("functions", nargs="+", metavar="OF:MPFR:FILE")
    parser.add_argument("--tries", type=int, default=30000)
    parser.add_argument("--start", default="", help="the initial changes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # A copy of the group's headers, with constants that can change.
        (folder / FUNCTIONS).mkdir(parents=True)
        for file, old, new in ((f"{arguments.group}_constants.h", "inline constexpr f64", "inline f64"),
                               (f"{arguments.group}.h", r"(ANYDML_HOST_DEVICE) (static )?constexpr", r"\1 \2inline")):
            text = (ROOT / "src" / FUNCTIONS / file).read_text()
            (folder / FUNCTIONS / file).write_text(re.sub(old, new, text))
        constants = ", ".join(f"&{arguments.group}::{one}" for one in arguments.constants.split())
        rows = ", ".join('{{run<{0}>, {1}, "{2}"}}'.format(*one.split(":")) for one in arguments.functions)
        (folder / "search_these.h").write_text(
            f'#include "{FUNCTIONS}/{arguments.group}.h"\n'
            f"#define SEARCH_CONSTANTS {constants}\n#define SEARCH_FUNCTIONS {rows}\n")
        subprocess.run(["g++", "-O2", "-std=c++20", "-fpermissive", "-w", "-ffp-contract=off", f"-I{folder}",
                        f"-I{ROOT / 'src'}", ROOT / "data/functions/search.cpp", "-o", folder / "search", "-lmpfr", "-lgmp"],
                       check=True)
        subprocess.run([folder / "search", str(arguments.greatest), str(arguments.tries), *arguments.start.split()],
                       check=True)


if __name__ == "__main__":
    main()
