# SPDX-License-Identifier: MIT
set(runtime_headers functions.h reduce.def scalar/folds.h scalar/totals.h
  cuda/launch.h cuda/values.cuh cuda/along.cuh cuda/across.cuh cuda/combine.cuh)
