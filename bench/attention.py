#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares attention with 12 heads over 128, 512 and 2,048 tokens with PyTorch and ONNX Runtime, in one run.

usage: attention.py [LIBANYDML] [options]   python3 bench/attention.py --no-venv --json build/attention.json
                                            python3 bench/attention.py --device cuda

The options and the report are the same as in moving.py. Attention multiplies more than it moves, so the fraction of the
pass means little here; the ratio to the faster peer is what counts.
"""
from attention_cases import CASES
from beside import run_program

if __name__ == "__main__":
    run_program("attention.py", __doc__, CASES)
