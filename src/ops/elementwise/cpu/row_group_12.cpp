// SPDX-License-Identifier: MIT
#define ANYDML_ROW_GROUP 12
#include "ops/elementwise/cpu/row_group-inl.h"
