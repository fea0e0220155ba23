#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Regenerates the polynomials and tables of the functions. Each data/functions/NAME.sollya prints the constants of
src/ops/scalar/functions/NAME_constants.h. The headers are committed, and --check compares them with the output. Needs
sollya."""

import argparse
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADER = """// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/{name}.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::{name} {{

{body}
}}  // namespace anydml::{name}
// clang-format on
"""


def constants(script: pathlib.Path) -> str:
    body = subprocess.run(["sollya", "--warnonstderr", script.name], cwd=script.parent, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    return HEADER.format(name=script.stem, body=body)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the committed files, and write nothing")
    parser.add_argument("names", nargs="*", help="the functions to generate (default: all)")
    arguments = parser.parse_args()
    if shutil.which("sollya") is None:
        print("sollya was not found: apt-get install sollya", file=sys.stderr)
        return 77
    status = 0
    for script in sorted(HERE.glob("*.sollya")):
        if arguments.names and script.stem not in arguments.names:
            continue
        text = constants(script)
        path = ROOT / f"src/ops/scalar/functions/{script.stem}_constants.h"
        if arguments.check:
            if not path.exists() or path.read_text() != text:
                print(f"{path.relative_to(ROOT)} does not match {script.relative_to(ROOT)}", file=sys.stderr)
                status = 1
        else:
            path.write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
