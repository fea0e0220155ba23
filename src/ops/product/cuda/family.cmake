# SPDX-License-Identifier: MIT
set(runtime_headers scalar/product.h cuda/launch.h cuda/tiles.cuh)
