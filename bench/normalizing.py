#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares normalization of rows, planes or channels, and cumulative sums, with PyTorch and ONNX Runtime in one run.

usage: normalizing.py [LIBANYDML] [options]   python3 bench/normalizing.py --no-venv --json build/normalizing.json
                                              python3 bench/normalizing.py --device cuda --cases softmax,layer

The method, the options and the report are the same as in moving.py. Each speed is given as a fraction of the pass,
which moves as many bytes, and as a ratio to the faster peer.
"""
from beside import run_program
from normalizing_cases import CASES

if __name__ == "__main__":
    run_program("normalizing.py", __doc__, CASES)
