// SPDX-License-Identifier: MIT
// DirectX-Headers in the only order that works: the adapter for Linux, the interfaces, and last the ids of the included
// interfaces.
#pragma once

// clang-format off
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
// clang-format on
