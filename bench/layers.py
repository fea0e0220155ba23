#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares matrix products and convolutions with PyTorch and ONNX Runtime on the CPU or on a GPU in a single run.

usage: layers.py [LIBANYDML] [options]   python3 bench/layers.py --no-venv --device cuda --json build/layers.json
                                         python3 bench/layers.py --cases gemm_1024,depthwise
                                         python3 bench/layers.py --device cuda --cases half_4096 --allow-half

The options and the report are the same as in moving.py. PyTorch runs without TF32, so all libraries multiply FLOAT32.
Weights are ordinary inputs here; products.py and convolutions.py measure the CPU with constant weights. With
--allow-half, anydml multiplies FLOAT16 on tensor cores, as PyTorch does.
"""
from beside import run_program
from layers_cases import CASES

if __name__ == "__main__":
    run_program("layers.py", __doc__, CASES)
