/* SPDX-License-Identifier: MIT */
/* A tour of the C API: the log, an operator compiled once with a constant, a graph with views, the shape of an output,
   and the list of operators. */
#include <anydml/anydml.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status) {
  if (status != ANYDML_OK) {
    printf("%s: %s\n", anydml_status_name(status), anydml_last_error());
    exit(1);
  }
}

/* Receives the log's lines instead of standard error. Several threads may call it at the same time. */
static void log_line(void* context, int level, const char* line) { fprintf(context, "log %d: %s\n", level, line); }

/* The time on a clock after some hours: hours mod 12, where 12 is a constant. */
static void run_compiled(void) {
  const int64_t sizes[] = {4};
  const int32_t hours[] = {7, 19, -1, 24}, twelve = 12;
  const anydml_tensor inputs[] = {anydml_const_tensor(ANYDML_INT32, 1, sizes, NULL, hours),
                                  anydml_const_tensor(ANYDML_INT32, 0, NULL, NULL, &twelve)};
  const anydml_tensor output = {ANYDML_INT32, 1, sizes, NULL, NULL}; /* each run provides the memory */
  const uint32_t constants[] = {1};
  anydml_options options = ANYDML_OPTIONS_INIT;
  anydml_compiled* compiled;
  options.constants = constants;
  options.constant_count = 1;
  check(anydml_compile_with(&options, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &output, 1, NULL, 0, &compiled));

  int32_t clock[4];
  check(anydml_compiled_run(compiled, (const void*[]){hours, NULL}, 2, (void*[]){clock}, 1));
  printf("clock: %d %d %d %d\n", clock[0], clock[1], clock[2], clock[3]);
  anydml_compiled_release(compiled);
}

/* x[i + 1] - x[i], forwards and backwards: three views of one input, and no copies. */
static void run_graph(void) {
  const int64_t five[] = {5}, four[] = {4}, back[] = {-1};
  const anydml_tensor whole = {ANYDML_FLOAT32, 1, five, NULL, NULL}, part = {ANYDML_FLOAT32, 1, four, NULL, NULL};
  const anydml_tensor reversed = {ANYDML_FLOAT32, 1, four, back, NULL};
  anydml_graph* graph;
  anydml_compiled* compiled;
  anydml_value x, terms[2], steps, backwards;
  check(anydml_graph_create(&graph));
  check(anydml_graph_add_input(graph, &whole, &x));
  check(anydml_graph_add_view_at(graph, x, &part, 1, &terms[0])); /* from x[1] on */
  check(anydml_graph_add_view_at(graph, x, &part, 0, &terms[1]));
  check(anydml_graph_add_operator(graph, "ELEMENT_WISE_SUBTRACT", terms, 2, &part, 1, NULL, 0, &steps));
  check(anydml_graph_add_view_at(graph, steps, &reversed, 3, &backwards)); /* from steps[3] down */
  check(anydml_graph_add_output(graph, steps));
  check(anydml_graph_add_output(graph, backwards));
  check(anydml_graph_compile_with(graph, NULL, &compiled));
  anydml_graph_release(graph);

  const float data[] = {1, 4, 9, 16, 25};
  float forth[4], down[4];
  check(anydml_compiled_run(compiled, (const void*[]){data}, 1, (void*[]){forth, down}, 2));
  printf("steps: %g %g %g %g, backwards: %g %g %g %g\n", forth[0], forth[1], forth[2], forth[3], down[0], down[1],
         down[2], down[3]);
  anydml_compiled_release(compiled);
}

/* The shape of an output, inferred from the input and the attributes, without any memory. */
static void infer(void) {
  const int64_t sizes[] = {2, 3, 4}, axes[] = {1};
  const anydml_tensor input = {ANYDML_FLOAT16, 3, sizes, NULL, NULL};
  const anydml_attribute attributes[] = {{"Function", ANYDML_TEXT, 0, {.text = "SUM"}},
                                         {"Axes", ANYDML_INT64 | ANYDML_ARRAY, 1, {.i64s = axes}}};
  anydml_shape sums = ANYDML_UNKNOWN_SHAPE;
  check(anydml_infer_outputs("REDUCE", &input, 1, &sums, 1, attributes, 2));
  printf("sums: %s %d x %d x %d\n", anydml_type_name(sums.type), (int)sums.sizes[0], (int)sums.sizes[1],
         (int)sums.sizes[2]);
}

static void describe(const char* name) {
  const anydml_operator_info* op = anydml_find_operator(name);
  if (op == NULL) {
    return;
  }
  printf("%s%s:", op->name, op->is_built ? "" : " (not built)");
  for (size_t i = 0; i < op->tensor_count; ++i) {
    printf(" %s%s", op->tensors[i]->name, op->tensors[i]->is_output ? " (output)" : "");
  }
  for (size_t i = 0; i < op->attribute_count; ++i) {
    printf(" %s%s", op->attributes[i]->name, op->attributes[i]->is_optional ? " (optional)" : "");
  }
  printf("\n");
}

int main(void) {
  check(anydml_set_log(log_line, stdout, ANYDML_LOG_ERROR));
  check(anydml_set_threads(2)); /* before the first use of a device */
  run_compiled();
  run_graph();
  infer();
  describe("REDUCE");
  describe("REDUSE"); /* an error, which the log shows */
}
