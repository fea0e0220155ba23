#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares recurrent networks with PyTorch and ONNX Runtime in a single run.

usage: recurrent.py [LIBANYDML] [options]     python3 bench/recurrent.py --no-venv --json build/recurrent.json
                                              python3 bench/recurrent.py --device cuda --cases lstm-1,gru-32

The method, the options and the report are the same as in moving.py. Each speed is given as a fraction of the pass,
which here moves the bytes of the weights once for each time step, and as a ratio to the faster peer. All libraries
treat the weights as constants.
"""
from beside import run_program
from recurrent_cases import CASES

if __name__ == "__main__":
    run_program("recurrent.py", __doc__, CASES)
