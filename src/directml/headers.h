// SPDX-License-Identifier: MIT
// Includes DirectML's header after the headers it depends on, and finally its ids.
#pragma once

// clang-format off
#include "d3d12/headers.h"
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on
