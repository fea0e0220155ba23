/* SPDX-License-Identifier: MIT */
/*
 * Gigabytes of weights that products of one row read in a second, as one line of JSON for each type of weights.
 *
 *   cc -O2 bench/row_product.c $(pkg-config --cflags --libs anydml) -o row_product
 *   ANYDML_THREADS=2 ./row_product [DEVICE [K [N [MATRICES [ROUNDS]]]]]
 *
 * A graph multiplies one row by several {N, K} matrices, which together are larger than the caches. Weights in four
 * bits have FLOAT16 scales for blocks of 32; their bytes include the scales. The best round counts.
 */
#include <anydml/anydml.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBlock = 32 };
static const char* const kNames[] = {"FLOAT32", "FLOAT16", "INT4", "INT4, integer activations"};

static void check(int code) {
  if (code != ANYDML_OK) exit((fprintf(stderr, "%s\n", anydml_last_error()), code));
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Weights between about 2^-6 and 2^-4, of either sign. */
static void fill(int kind, void* to, size_t elements) {
  uint32_t random = 1;
  for (size_t i = 0; i < elements; ++i) {
    random = random * 1664525u + 1013904223u;
    if (kind == 0) ((uint32_t*)to)[i] = 0x3c800000u | (random & 0x80ffffffu);
    if (kind == 1) ((uint16_t*)to)[i] = (uint16_t)(0x2400u | (random >> 16 & 0x87ffu));
    if (kind >= 2) ((uint8_t*)to)[i] = (uint8_t)(random >> 24);
  }
}

static void measure(int kind, const anydml_device* device, const char* name, int64_t k, int64_t n, int matrices,
                    int rounds) {
  const anydml_type type = kind == 1 ? ANYDML_FLOAT16 : ANYDML_FLOAT32;
  const size_t of_element = kind == 1 ? 2 : 4;
  const int64_t row[] = {1, 1, 1, k}, result[] = {1, 1, 1, n}, whole[] = {1, 1, n, k}, blocks[] = {1, 1, n, k / kBlock};
  const size_t of_weights = kind < 2 ? (size_t)(n * k) * of_element : (size_t)(n * k) / 2;
  const size_t of_scales = kind < 2 ? 0 : (size_t)(n * k / kBlock) * 2;
  const anydml_attribute turned[] = {{"TransA", ANYDML_TEXT, 0, {.text = "NONE"}},
                                     {"TransB", ANYDML_TEXT, 0, {.text = "TRANSPOSE"}},
                                     {"Alpha", ANYDML_FLOAT64, 0, {.f64 = 1}},
                                     {"Beta", ANYDML_FLOAT64, 0, {.f64 = 1}}};
  const anydml_attribute scaled[] = {{"QuantizationType", ANYDML_TEXT, 0, {.text = "SCALE"}}};
  const anydml_tensor to = {type, 4, result, NULL, NULL}, floats = {type, 4, whole, NULL, NULL};
  const anydml_tensor from = {type, 4, row, NULL, NULL};
  anydml_graph* graph;
  anydml_value x;
  check(anydml_graph_create(&graph));
  check(anydml_graph_add_input(graph, &from, &x));
  void** const kept = calloc((size_t)matrices * 2, sizeof(void*));
  for (int i = 0; i < matrices; ++i) {
    anydml_value factors[2] = {x, 0}, y;
    kept[2 * i] = malloc(of_weights);
    fill(kind, kept[2 * i], kind < 2 ? (size_t)(n * k) : of_weights);
    const anydml_tensor weights = anydml_const_tensor(kind < 2 ? type : ANYDML_INT4, 4, whole, NULL, kept[2 * i]);
    check(anydml_graph_add_constant(graph, &weights, &factors[1]));
    if (kind >= 2) {
      anydml_value coded[2] = {factors[1], 0};
      kept[2 * i + 1] = malloc(of_scales);
      fill(1, kept[2 * i + 1], of_scales / 2);
      const anydml_tensor scales = anydml_const_tensor(ANYDML_FLOAT16, 4, blocks, NULL, kept[2 * i + 1]);
      check(anydml_graph_add_constant(graph, &scales, &coded[1]));
      check(anydml_graph_add_operator(graph, "DEQUANTIZE", coded, 2, &floats, 1, scaled, 1, &factors[1]));
    }
    check(anydml_graph_set_operator_flags(graph, kind == 3 ? ANYDML_INTEGER_ACTIVATIONS : 0));
    check(anydml_graph_add_operator(graph, "GEMM", factors, 2, &to, 1, turned, 4, &y));
    check(anydml_graph_set_operator_flags(graph, 0));
    check(anydml_graph_add_output(graph, y));
  }
  anydml_compiled* compiled;
  check(anydml_graph_compile(graph, device, &compiled));
  anydml_graph_release(graph);
  for (int i = 0; i < 2 * matrices; ++i) free(kept[i]);
  free(kept);

  anydml_memory *in, *out;
  check(anydml_memory_create(device, (size_t)k * of_element, 0, &in));
  check(anydml_memory_create(device, (size_t)matrices * (size_t)n * of_element, 0, &out));
  void* const a = malloc((size_t)k * of_element);
  fill(kind == 1, a, (size_t)k);
  check(anydml_memory_write(in, 0, a, (size_t)k * of_element));
  free(a);
  const void* const given = anydml_memory_pointer(in);
  void** const results = calloc((size_t)matrices, sizeof(void*));
  for (int i = 0; i < matrices; ++i) {
    results[i] = (char*)anydml_memory_pointer(out) + (size_t)i * (size_t)n * of_element;
  }
  double best = 0;
  for (int i = 0; i <= rounds; ++i) {
    const double begin = now();
    check(anydml_compiled_run(compiled, &given, 1, results, (size_t)matrices));
    const double spent = now() - begin;
    if (i == 1 || (i > 1 && spent < best)) best = spent;
  }
  printf(
      "{\"row_product\": \"%s\", \"library\": \"anydml\", \"device\": \"%s\", \"k\": %lld, \"n\": %lld, \"matrices\": "
      "%d, \"microseconds\": %.2f, \"gb_per_second\": %.1f}\n",
      kNames[kind], name, (long long)k, (long long)n, matrices, 1e6 * best / matrices,
      1e-9 * (double)(of_weights + of_scales) * matrices / best);
  fflush(stdout);
  free(results);
  anydml_memory_release(in);
  anydml_memory_release(out);
  anydml_compiled_release(compiled);
}

int main(int count, char** arguments) {
  const char* const name = count > 1 ? arguments[1] : "-";
  const anydml_device* const device = anydml_find_device(strcmp(name, "-") == 0 ? NULL : name);
  const int64_t k = count > 2 ? strtoll(arguments[2], NULL, 10) : 3072,
                n = count > 3 ? strtoll(arguments[3], NULL, 10) : 8192;
  const int matrices = count > 4 ? atoi(arguments[4]) : 16, rounds = count > 5 ? atoi(arguments[5]) : 20;
  if (device == NULL) check(ANYDML_INVALID_ARGUMENT);
  if (k < kBlock || k % kBlock != 0 || n < 1 || matrices < 1 || rounds < 1) {
    exit((puts("expected a multiple of 32 for K, and numbers of 1 or more"), 2));
  }
  for (int kind = 0; kind < 4; ++kind) {
    if (kind < 3 || anydml_device_get_info(device)->own_memory == 0)
      measure(kind, device, name, k, n, matrices, rounds);
  }
}
