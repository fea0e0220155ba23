# SPDX-License-Identifier: MIT
anydml_test(base_test NO_RACES LIBRARIES anydml_base)
anydml_test(buffer_memory_test NO_RACES LIBRARIES anydml_base)
