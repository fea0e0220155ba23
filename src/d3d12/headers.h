// SPDX-License-Identifier: MIT
// Includes DirectX-Headers in the only order that works: the Linux adapter, the interfaces, and finally the ids of the
// included interfaces.
#pragma once

// clang-format off
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
// clang-format on
