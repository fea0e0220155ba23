/* SPDX-License-Identifier: MIT
 * A program as users write it, in C and, through api_program.cpp, in C++. It uses the API's current forms and the forms
 * in older programs, and is compiled with warnings as errors.
 */
#include <anydml/anydml.h>
#include <stdio.h>

#if ANYDML_VERSION < 2000
#error "ANYDML_VERSION must be usable in the preprocessor"
#endif

static int g_lines = 0;

static void say(void* context, int level, const char* line) {
  g_lines += context == &g_lines && level == ANYDML_LOG_ERROR && line != NULL;
}

static int failed(const char* what) {
  printf("%s: %s\n", what, anydml_last_error());
  return 1;
}

int main(void) {
  const int64_t sizes[] = {4};
  const float a[] = {7, -7, 7, -7}, b[] = {3, 3, -3, -3};
  float c[] = {3, 3, -3, -3}, out[4];

  /* Const data is passed without a cast, alone and in an array. */
  const anydml_tensor inputs[] = {anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, NULL, a),
                                  anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, NULL, b)};
  anydml_tensor single = anydml_const_tensor(ANYDML_FLOAT32, 0, NULL, NULL, b);
  /* These are the original five members. */
  anydml_tensor output = {ANYDML_FLOAT32, 1, sizes, NULL, out};
  const anydml_tensor older[] = {{ANYDML_FLOAT32, 1, sizes, NULL, out},
                                 {ANYDML_FLOAT32 | ANYDML_CONSTANT, 1, sizes, NULL, c}};
  const uint32_t constants[] = {1};
  anydml_options options = ANYDML_OPTIONS_INIT;
  anydml_compiled* compiled;
  const void* given[2];
  void* results[1];

  if (anydml_version_number() < ANYDML_VERSION) {
    return failed("the library is older than the header");
  }
  if (anydml_set_log(say, &g_lines, ANYDML_LOG_ERROR) != ANYDML_OK || anydml_find_operator(NULL) != NULL ||
      g_lines != 1) {
    return failed("anydml_set_log");
  }
  if (anydml_modulus_floor(&inputs[0], &inputs[1], &output) != ANYDML_OK || out[3] != -1 ||
      anydml_modulus_floor(&inputs[0], &single, &output) != ANYDML_OK || out[3] != 2) {
    return failed("anydml_modulus_floor");
  }
  options.constants = constants;
  options.constant_count = 1;
  if (anydml_compile_with(&options, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &output, 1, NULL, 0, &compiled) !=
      ANYDML_OK) {
    return failed("anydml_compile_with");
  }
  given[0] = a;
  given[1] = NULL;
  results[0] = out;
  if (anydml_compiled_run(compiled, given, 2, results, 1) != ANYDML_OK || out[1] != 2) {
    return failed("anydml_compiled_run");
  }
  anydml_compiled_release(compiled);
  if (anydml_compile(NULL, "ELEMENT_WISE_MODULUS_FLOOR", older, 2, &output, 1, NULL, 0, &compiled) != ANYDML_OK) {
    return failed("anydml_compile");
  }
  anydml_compiled_release(compiled);
  output.data = c;
  printf("%s %s\n", anydml_version(), anydml_status_name(ANYDML_OK));
  return 0;
}
