/* SPDX-License-Identifier: MIT
 * A program that loads the library with dlopen, as plugins and Python do, and calls it on a thread whose allocations
 * fail: the calls fail, and the process continues. usage: without_memory LIBRARY
 */
#define _GNU_SOURCE
#include <anydml/anydml.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

#define EXPORTED __attribute__((visibility("default")))

static atomic_int g_fails; /* applies to all allocations, including the dynamic linker's */

EXPORTED void* malloc(size_t bytes) { return g_fails ? NULL : __libc_malloc(bytes); }
EXPORTED void* calloc(size_t count, size_t bytes) { return g_fails ? NULL : __libc_calloc(count, bytes); }
EXPORTED void* realloc(void* old, size_t bytes) { return g_fails ? NULL : __libc_realloc(old, bytes); }
EXPORTED void* memalign(size_t alignment, size_t bytes) { return g_fails ? NULL : __libc_memalign(alignment, bytes); }
EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
  return g_fails ? NULL : __libc_memalign(alignment, bytes);
}
EXPORTED int posix_memalign(void** to, size_t alignment, size_t bytes) {
  *to = g_fails ? NULL : __libc_memalign(alignment, bytes);
  return *to == NULL ? 12 : 0;
}

static int (*g_floor)(const anydml_tensor*, const anydml_tensor*, const anydml_tensor*);
static const char* (*g_last_error)(void);

static const anydml_operator_info* (*g_find)(const char*);

static int g_code;
static int g_list_is_whole = 1;
static char g_message[256];

/* This is the thread's first call to the library, so its per-thread data does not exist yet. */
static void* call(void* wrong) {
  const int64_t sizes[] = {3};
  const float a[3] = {5, 6, 7}, b[3] = {3, 3, 3};
  float out[3];
  const anydml_tensor ta = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, NULL, a);
  const anydml_tensor tb = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, NULL, b);
  const anydml_tensor to = {ANYDML_FLOAT32, 1, sizes, NULL, out};
  g_fails = 1;
  g_code = g_floor(&ta, wrong ? NULL : &tb, &to);
  strncpy(g_message, g_last_error(), sizeof(g_message) - 1);
  /* The list of operators is created at its first use, which fails without memory, unless it exists already. */
  const anydml_operator_info* info = g_find("REDUCE");
  g_list_is_whole = g_list_is_whole && (info == NULL || info->attribute_count == 2);
  g_fails = 0;
  return NULL;
}

int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: without_memory LIBRARY");
    return 2;
  }
  *(void**)&g_floor = dlsym(library, "anydml_modulus_floor");
  *(void**)&g_last_error = dlsym(library, "anydml_last_error");
  *(void**)&g_find = dlsym(library, "anydml_find_operator");
  /* Allocations fail before any setup, in a valid and an invalid call, and then after a first call set all up. */
  for (int round = 0; round < 4; ++round) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call, round % 2 == 0 ? NULL : library) != 0 || pthread_join(thread, NULL) != 0) {
      return 2;
    }
    printf("round %d: code %d, %s\n", round, g_code, g_message);
    if (g_code != ANYDML_OUT_OF_MEMORY || strncmp(g_message, "out of memory", 13) != 0) {
      /* An invalid call needs memory only for its message. */
      if (!(round % 2 == 1 && g_code == ANYDML_INVALID_ARGUMENT && g_message[0] != '\0')) {
        return 1;
      }
    }
    if (round == 1) {
      const int64_t sizes[] = {1};
      float one = 1;
      const anydml_tensor tensor = {ANYDML_FLOAT32, 1, sizes, NULL, &one};
      if (g_floor(&tensor, &tensor, &tensor) != ANYDML_OK) {
        return 1;
      }
    }
  }
  return g_list_is_whole && g_find("REDUCE") != NULL ? 0 : 1;
}
