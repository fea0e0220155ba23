# SPDX-License-Identifier: MIT
set(runtime_headers scalar/product.h scalar/integer.h cuda/launch.h cuda/window_launch.h cuda/integer_launch.h
  cuda/tile_loop.cuh cuda/tiles.cuh cuda/windows.cuh cuda/planes.cuh cuda/integer_tiles.cuh cuda/integer_windows.cuh)
