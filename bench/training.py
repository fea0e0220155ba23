#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gradients, regions, random numbers and training beside PyTorch on the CPU or on a GPU, in one run.

usage: training.py [LIBANYDML] [options]   python3 bench/training.py --no-venv --json build/training.json
                                           python3 bench/training.py --device cuda --cases adam,random

The measure, the options and the report are those of moving.py. PyTorch's ROI_ALIGN is torchvision's; it is left out where
torchvision is missing. PyTorch's gradient of max pooling is given the places of the maxima, which anydml finds again.
"""
from beside import run_program
from training_cases import CASES

if __name__ == "__main__":
    run_program("training.py", __doc__, CASES)
