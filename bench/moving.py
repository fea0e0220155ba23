#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators that move or pick elements, beside PyTorch and ONNX Runtime, in one run on one machine.

usage: moving.py [LIBANYDML] [options]      python3 bench/moving.py --no-venv --json build/moving.json
                                            python3 bench/moving.py --device cuda --cases join,pad

Each case is one operator of DirectML over FLOAT32. Its time stands beside
  - a plain pass that reads and writes as many bytes: the fastest of anydml's ELEMENT_WISE_IDENTITY, PyTorch's copy_ and,
    on the CPU, memmove by as many threads;
  - the faster of the peers. Every peer writes into memory that is there already if it can.
Contenders take turns, and a time is the median of the rounds. A result that differs from a peer's is named. An operator
that the library does not have, and a peer that cannot be imported or does not have the operator, are reported as missing.

PyTorch and ONNX Runtime come from PyPI, in a virtual environment of their own (build/peers); with --no-venv those of the
Python that runs this. On a GPU the arrays are PyTorch's, so that PyTorch is needed, and times are those of the wall clock
until the device is done.
"""
from beside import run_program
from moving_cases import CASES

if __name__ == "__main__":
    run_program("moving.py", __doc__, CASES)
