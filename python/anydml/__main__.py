# SPDX-License-Identifier: MIT
"""python -m anydml: prints the version and the adapters, and runs a self-check."""
import argparse
import sys

import numpy as np

import anydml
from anydml._pipes import exit_with


def self_check():
    """Compares both operators with Python's own arithmetic, for every pair of int8 values."""
    a = np.repeat(np.arange(-128, 128, dtype=np.int8), 255)
    b = np.tile(np.concatenate([np.arange(-128, 0), np.arange(1, 128)]).astype(np.int8), 256)
    wrong = np.count_nonzero(anydml.modulus_floor(a, b) != a.astype(int) % b.astype(int))
    wrong += np.count_nonzero(anydml.modulus_truncate(a, b) != np.fmod(a.astype(int), b.astype(int)))
    return 2 * a.size, wrong


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m anydml", description="Shows the version and the devices, and checks 130,560 results.",
        epilog="python -m anydml.compare compares it with NumPy, PyTorch and ONNX Runtime. docs/python.md is a tour.")
    parser.add_argument("--operators", action="store_true", help="list DirectML's operators, and which are built")
    parser.add_argument("--version", action="version", version=f"anydml {anydml.__version__}")
    if parser.parse_args(arguments).operators:
        for op in anydml.operators():
            print(f"{'built' if op['built'] else '-':6}{op['name']:48}{op['formula']}".rstrip())
        return 0
    print(f"anydml {anydml.__version__}, numerics {anydml.numerics_version}, NumPy {np.__version__}, Python {sys.version.split()[0]}")
    for adapter in anydml.adapters():
        print(f"  {adapter['name']}: {adapter['description']}")
    checked, wrong = self_check()
    print(f"self-check: {checked} results, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    exit_with(main)
