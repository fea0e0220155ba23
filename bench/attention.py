#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares anydml's attention (12 heads; 128, 512 and 2,048 tokens) with PyTorch's and ONNX Runtime's in one run.

usage: attention.py [LIBANYDML] [options]   python3 bench/attention.py --no-venv --json build/attention.json
                                            python3 bench/attention.py --device cuda

The options and the report are the same as in moving.py. Attention multiplies more than it moves, so only the ratio to
the faster peer is meaningful here, not the fraction of the pass.
"""
from attention_cases import CASES
from beside import run_program

if __name__ == "__main__":
    run_program("attention.py", __doc__, CASES)
