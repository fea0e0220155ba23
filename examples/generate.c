/* SPDX-License-Identifier: MIT */
/* Continues a text with a language model. The text is a list of tokens: generate FOLDER TOKEN... */
#include <anydml/generate.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
  if (code != ANYDML_OK) exit((puts(anydml_last_error()), code));
}

int main(int count, char** arguments) {
  if (count < 3) exit((puts("usage: generate FOLDER TOKEN..."), 2));
  anydml_generator* generator;
  check(anydml_generator_create(arguments[1], NULL, &generator));

  int64_t* tokens = malloc(sizeof(int64_t) * (size_t)count);
  for (int i = 2; i < count; ++i) tokens[i - 2] = strtoll(arguments[i], NULL, 10);
  const anydml_generator_prompt prompt = {tokens, (size_t)count - 2};
  anydml_generator_search search = ANYDML_GENERATOR_SEARCH_INIT;
  search.max_new_tokens = 32;
  check(anydml_generator_start(generator, &prompt, 1, &search));

  anydml_generator_token next = {-1, ANYDML_GENERATOR_CONTINUES};
  while (next.end == ANYDML_GENERATOR_CONTINUES) {
    check(anydml_generator_step(generator, &next, 1));
    printf("%lld ", (long long)next.token);
    fflush(stdout);
  }
  puts("");
  free(tokens);
  anydml_generator_release(generator);
}
