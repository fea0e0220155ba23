#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles the scalar definitions for CUDA with nvcc and nothing else, from the bare tree, and runs them if there is a GPU.
# usage: run.sh NVCC SOURCE WORK
set -euo pipefail
nvcc=$1 source=$2 work=$3
mkdir -p "$work"
"$nvcc" -std=c++20 -O1 -fmad=false -Xcompiler -ffp-contract=off --Werror all-warnings \
  -I "$source/src" -I "$source/tests" "$source/tests/cuda/scalar_device_test.cu" -o "$work/scalar_device_test"
"$work/scalar_device_test"
