#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "uv_batch.h"

static uv_malloc_func allocate = malloc;
static uv_realloc_func reallocate = realloc;
static uv_calloc_func allocate_zeroed = calloc;
static uv_free_func release = free;

int uv_batch_replace_allocator(uv_malloc_func malloc_func, uv_realloc_func realloc_func, uv_calloc_func calloc_func,
                               uv_free_func free_func) {
  if (malloc_func == NULL || realloc_func == NULL || calloc_func == NULL || free_func == NULL) return UV_EINVAL;
  allocate = malloc_func;
  reallocate = realloc_func;
  allocate_zeroed = calloc_func;
  release = free_func;
  return 0;
}

void* uvb__malloc(size_t size) {
  return allocate(size);
}

void* uvb__calloc(size_t count, size_t size) {
  return allocate_zeroed(count, size);
}

void* uvb__realloc(void* memory, size_t size) {
  return reallocate(memory, size);
}

char* uvb__strdup(const char* text) {
  size_t size = strlen(text) + 1;
  char* copy = allocate(size);
  return copy == NULL ? NULL : memcpy(copy, text, size);
}

void uvb__free(void* memory) {
  if (memory != NULL) release(memory);
}

void uv_batch_free(void* memory) {
  uvb__free(memory);
}
