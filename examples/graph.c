/* SPDX-License-Identifier: MIT */
/* relu(x + bias) and the sum of each of its rows, as one graph: one pass over x. */
#include <anydml/anydml.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
  if (code != ANYDML_OK) exit((puts(anydml_last_error()), code));
}

int main(void) {
  const int64_t sizes[] = {2, 3}, column[] = {2, 1}, axes[] = {1};
  const float bias_data[] = {0.5f, -1.0f, 2.0f};
  const anydml_tensor wide = {ANYDML_FLOAT32, 2, sizes, NULL, NULL}, narrow = {ANYDML_FLOAT32, 2, column, NULL, NULL};
  const anydml_tensor row = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes + 1, NULL, bias_data); /* for both rows */
  const anydml_attribute sum[] = {{"Function", ANYDML_TEXT, 0, {.text = "SUM"}},
                                  {"Axes", ANYDML_INT64 | ANYDML_ARRAY, 1, {.i64s = axes}}};
  anydml_graph* graph;
  anydml_compiled* compiled;
  anydml_value terms[2], added, y, total; /* the terms are x and the bias */
  check(anydml_graph_create(&graph));
  check(anydml_graph_add_input(graph, &wide, &terms[0]));
  check(anydml_graph_add_constant(graph, &row, &terms[1]));
  check(anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", terms, 2, &wide, 1, NULL, 0, &added));
  check(anydml_graph_add_operator(graph, "ACTIVATION_RELU", &added, 1, &wide, 1, NULL, 0, &y));
  check(anydml_graph_add_operator(graph, "REDUCE", &y, 1, &narrow, 1, sum, 2, &total));
  check(anydml_graph_add_output(graph, y));
  check(anydml_graph_add_output(graph, total));
  check(anydml_graph_compile(graph, NULL, &compiled));
  anydml_graph_release(graph);

  const float x[] = {1, 2, -3, -4, 5, -6};
  float y_data[6], totals[2];
  check(anydml_compiled_run(compiled, (const void*[]){x}, 1, (void*[]){y_data, totals}, 2));
  for (int i = 0; i < 2; ++i) {
    printf("%g + %g + %g = %g\n", y_data[3 * i], y_data[3 * i + 1], y_data[3 * i + 2], totals[i]);
  }
  anydml_compiled_release(compiled);
}
