#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares gradients, regions, random numbers and training with PyTorch on the CPU or on a GPU in a single run.

usage: training.py [LIBANYDML] [options]   python3 bench/training.py --no-venv --json build/training.json
                                           python3 bench/training.py --device cuda --cases adam,random

The method, the options and the report are the same as in moving.py. PyTorch's ROI_ALIGN comes from torchvision and is
skipped if torchvision is missing. PyTorch's max pooling gradient receives the indices of the maxima, which anydml
recomputes.
"""
from beside import run_program
from training_cases import CASES

if __name__ == "__main__":
    run_program("training.py", __doc__, CASES)
