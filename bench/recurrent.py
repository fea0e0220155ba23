#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recurrent networks beside PyTorch and ONNX Runtime, in one run.

usage: recurrent.py [LIBANYDML] [options]     python3 bench/recurrent.py --no-venv --json build/recurrent.json
                                              python3 bench/recurrent.py --device cuda --cases lstm-1,gru-32

The measure, the options and the report are those of moving.py: a fraction of the pass that moves as many bytes as the
weights have, once for each time step, and a ratio to the faster peer. Weights are constants for everybody.
"""
from beside import run_program
from recurrent_cases import CASES

if __name__ == "__main__":
    run_program("recurrent.py", __doc__, CASES)
