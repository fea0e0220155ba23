// SPDX-License-Identifier: MIT
// The definitions of all rows, for those who make kernels or tables of them. Nobody else needs them.
#pragma once

#include "ops/elementwise/scalar/abs.h"
#include "ops/elementwise/scalar/add.h"
#include "ops/elementwise/scalar/cast.h"
#include "ops/elementwise/scalar/ceil.h"
#include "ops/elementwise/scalar/clip.h"
#include "ops/elementwise/scalar/divide.h"
#include "ops/elementwise/scalar/floor.h"
#include "ops/elementwise/scalar/identity.h"
#include "ops/elementwise/scalar/if.h"
#include "ops/elementwise/scalar/logical_equals.h"
#include "ops/elementwise/scalar/max.h"
#include "ops/elementwise/scalar/modulus_floor.h"
#include "ops/elementwise/scalar/modulus_truncate.h"
#include "ops/elementwise/scalar/multiply.h"
#include "ops/elementwise/scalar/negate.h"
#include "ops/elementwise/scalar/predicates.h"
#include "ops/elementwise/scalar/scale_bias.h"
#include "ops/elementwise/scalar/subtract.h"
