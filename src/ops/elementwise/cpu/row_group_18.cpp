// SPDX-License-Identifier: MIT
#define ANYDML_ROW_GROUP 18
#include "ops/elementwise/cpu/row_group-inl.h"
