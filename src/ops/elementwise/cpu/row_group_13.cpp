// SPDX-License-Identifier: MIT
#define ANYDML_ROW_GROUP 13
#include "ops/elementwise/cpu/row_group-inl.h"
