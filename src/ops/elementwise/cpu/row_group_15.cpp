// SPDX-License-Identifier: MIT
#define ANYDML_ROW_GROUP 15
#include "ops/elementwise/cpu/row_group-inl.h"
