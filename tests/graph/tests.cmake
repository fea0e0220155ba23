# SPDX-License-Identifier: MIT
anydml_test(graph_passes_test NO_RACES LIBRARIES anydml_graph anydml_elementwise)
anydml_test(graph_large_test NO_RACES LIBRARIES anydml_graph anydml_elementwise)
anydml_test(graph_memory_test NO_RACES LIBRARIES anydml_graph anydml_elementwise)
