/* SPDX-License-Identifier: MIT */
/*
 * Seconds for a prompt and for a token with a language model, and memory, as one line of JSON. Random tokens suffice,
 * so this program also measures models with random weights (bench/random_llama.py), on machines without Python
 * packages.
 *
 *   cc -O2 bench/generate_speed.c $(pkg-config --cflags --libs anydml-onnx) -o generate_speed
 *   ANYDML_THREADS=2 ./generate_speed FOLDER [DEVICE [PROMPT [TOKENS [ROUNDS [SLOTS]]]]]
 *
 * DEVICE is the name of a device, or - for the default one. Each round has another prompt, so that no round can use the
 * cache of an earlier one. "prompt" and "token" are the best rounds: a prompt with its first token, and the median time
 * of the tokens after it.
 */
#include <anydml/generate.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int code) {
  if (code != ANYDML_OK) exit((fprintf(stderr, "%s\n", anydml_last_error()), code));
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* A number in MiB from /proc/self/status; 0 if it is not there. */
static double memory_of(const char* field) {
  FILE* const file = fopen("/proc/self/status", "r");
  char line[256];
  double found = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, field, strlen(field)) == 0) found = strtod(line + strlen(field), NULL) / 1024;
  }
  if (file != NULL) fclose(file);
  return found;
}

static int64_t option(int count, char** arguments, int position, int64_t otherwise) {
  return count > position ? strtoll(arguments[position], NULL, 10) : otherwise;
}

int main(int count, char** arguments) {
  if (count < 2) exit((puts("usage: generate_speed FOLDER [DEVICE [PROMPT [TOKENS [ROUNDS [SLOTS]]]]]"), 2));
  const char* const device = count > 2 ? arguments[2] : "-";
  const int64_t length = option(count, arguments, 3, 128), tokens = option(count, arguments, 4, 32);
  const int64_t rounds = option(count, arguments, 5, 3), slots = option(count, arguments, 6, 2048);
  if (length < 1 || tokens < 1 || rounds < 1) exit((puts("expected numbers of 1 or more"), 2));

  anydml_onnx_options model = ANYDML_ONNX_OPTIONS_INIT;
  if (strcmp(device, "-") != 0 && (model.device = anydml_find_device(device)) == NULL) check(ANYDML_INVALID_ARGUMENT);
  anydml_generator_options options = ANYDML_GENERATOR_OPTIONS_INIT;
  options.model = &model;
  options.slots = slots;
  anydml_generator* generator;
  const double begin = now();
  check(anydml_generator_create(arguments[1], &options, &generator));
  const int64_t words = anydml_generator_get_info(generator)->vocabulary;

  int64_t* const prompt = malloc(sizeof(int64_t) * (size_t)length);
  double* const times = malloc(sizeof(double) * (size_t)tokens);
  double load = 0, best_prompt = 0, best_token = 0;
  int64_t last = 0;
  uint64_t random = 7;
  for (int64_t round = 0; round <= rounds; ++round) { /* the first one compiles graphs */
    for (int64_t i = 0; i < length; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      prompt[i] = words > 5 ? 5 + (int64_t)((random >> 33) % (uint64_t)(words - 5)) : 1;
    }
    const anydml_generator_prompt given = {prompt, (size_t)length};
    anydml_generator_search search = ANYDML_GENERATOR_SEARCH_INIT;
    search.temperature = 0;
    search.max_new_tokens = tokens + 1;
    search.flags = ANYDML_GENERATOR_IGNORE_END;
    anydml_generator_token next;
    const double start = now();
    check(anydml_generator_start(generator, &given, 1, &search));
    check(anydml_generator_step(generator, &next, 1));
    const double of_prompt = now() - start;
    for (int64_t i = 0; i < tokens; ++i) {
      const double before = now();
      check(anydml_generator_step(generator, &next, 1));
      times[i] = now() - before;
    }
    last = next.token;
    qsort(times, (size_t)tokens, sizeof(double), compare);
    const double of_token = times[tokens / 2];
    if (round == 0) {
      load = now() - begin;
    } else {
      best_prompt = round == 1 || of_prompt < best_prompt ? of_prompt : best_prompt;
      best_token = round == 1 || of_token < best_token ? of_token : best_token;
    }
  }
  printf(
      "{\"library\": \"anydml\", \"device\": \"%s\", \"load_and_first\": %.2f, \"prompt\": %.4f, \"token\": %.6f, "
      "\"tokens_per_second\": %.2f, \"peak_mib\": %.0f, \"file_mib_at_peak\": %.0f, \"last_token\": %" PRId64 "}\n",
      device, load, best_prompt, best_token, 1 / best_token, memory_of("VmHWM:"), memory_of("RssFile:"), last);
  anydml_generator_release(generator);
  free(prompt);
  free(times);
}
