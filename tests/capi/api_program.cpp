// SPDX-License-Identifier: MIT
#include "api_program.c"  // NOLINT: the same program, compiled as C++
