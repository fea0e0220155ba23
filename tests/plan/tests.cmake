# SPDX-License-Identifier: MIT
anydml_test(plan_test NO_RACES LIBRARIES anydml_graph anydml_elementwise)
