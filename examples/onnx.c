/* SPDX-License-Identifier: MIT */
/* Loads an ONNX model, prints its inputs and outputs, and runs it with zeros: onnx MODEL.onnx */
#include <anydml/onnx.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
  if (code != ANYDML_OK) exit((puts(anydml_last_error()), code));
}

static void show_unsupported(void* context, const char* text) { printf("%s: %s\n", (const char*)context, text); }

static void show_value(const char* what, const anydml_onnx_value_info* value) {
  printf("%s %s: %s", what, value->name, anydml_onnx_type_name(value->type));
  for (int32_t i = 0; i < value->rank; ++i) {
    if (value->sizes[i] >= 0) {
      printf(" %lld", (long long)value->sizes[i]);
    } else {
      printf(" %s", *value->dimension_names[i] ? value->dimension_names[i] : "?");
    }
  }
  puts(value->rank < 0 ? " of any shape" : value->has_initializer ? " (has a default)" : "");
}

/* A tensor of zeros. Dimensions without a size get the size 1. */
static anydml_tensor zeros(const anydml_onnx_value_info* value) {
  const int32_t rank = value->rank < 0 ? 0 : value->rank;
  const anydml_type type = anydml_onnx_tensor_type(value->type);
  int64_t* sizes = malloc(sizeof(int64_t) * ((size_t)rank + 1));
  size_t count = 1;
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = value->sizes[i] < 0 ? 1 : value->sizes[i];
    count *= (size_t)sizes[i];
  }
  const size_t size = anydml_type_size(type);
  const anydml_tensor tensor = {type, rank, sizes, NULL, calloc(count + 1, size != 0 ? size : 1)};
  return tensor;
}

int main(int count, char** arguments) {
  if (count != 2) exit((puts("usage: onnx MODEL.onnx"), 2));
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.on_unsupported = show_unsupported;
  options.on_unsupported_context = "unsupported";
  anydml_onnx_model* model;
  check(anydml_onnx_load(arguments[1], &options, &model));

  const size_t input_count = anydml_onnx_input_count(model);
  anydml_tensor* inputs = calloc(input_count + 1, sizeof(anydml_tensor)); /* ANYDML_NONE: the model's default */
  for (size_t i = 0; i < input_count; ++i) {
    const anydml_onnx_value_info* input = anydml_onnx_input_at(model, i);
    show_value("input", input);
    if (!input->has_initializer) inputs[i] = zeros(input);
  }
  anydml_onnx_results* results;
  check(anydml_onnx_run_to_results(model, inputs, input_count, &results));
  for (size_t i = 0; i < anydml_onnx_result_count(results); ++i) {
    const anydml_tensor* result = anydml_onnx_result_at(results, i);
    show_value("output", anydml_onnx_output_at(model, i));
    printf("  %s", anydml_type_name(result->type));
    for (int32_t axis = 0; axis < result->rank; ++axis) printf(" %lld", (long long)result->sizes[axis]);
    puts("");
  }
  anydml_onnx_results_release(results);
  anydml_onnx_release(model);
  for (size_t i = 0; i < input_count; ++i) {
    free((void*)(uintptr_t)inputs[i].sizes);
    free(inputs[i].data);
  }
  free(inputs);
}
