#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares operators that move or select elements with PyTorch and ONNX Runtime in a single run.

usage: moving.py [LIBANYDML] [options]      python3 bench/moving.py --no-venv --json build/moving.json
                                            python3 bench/moving.py --device cuda --cases join,pad

Each case is one DirectML operator over FLOAT32. Its time is compared with
  - a plain pass that reads and writes as many bytes: the fastest of anydml's ELEMENT_WISE_IDENTITY, PyTorch's copy_ and,
    on the CPU, memmove with the same number of threads;
  - the faster of the peers. Every peer writes to existing memory if it can.
Contenders alternate, and each time is the median over all rounds. Results that differ from a peer's are reported. An
operator that the library lacks, and a peer that cannot be imported or lacks the operator, are reported as missing.

PyTorch and ONNX Runtime come from PyPI, in a separate virtual environment (build/peers), or with --no-venv from the
Python that runs this script. On a GPU the arrays are PyTorch's, so PyTorch is required, and times come from the GPU's
clock.
"""
from beside import run_program
from moving_cases import CASES

if __name__ == "__main__":
    run_program("moving.py", __doc__, CASES)
