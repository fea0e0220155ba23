// SPDX-License-Identifier: MIT
// DirectX-Headers in the one order that works: the adapter for Linux, the interfaces, and last the ids of those
// included.
#pragma once

// clang-format off
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
// clang-format on
