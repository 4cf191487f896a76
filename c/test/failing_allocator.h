/* An allocator that fails one allocation: the n-th after failing_allocator_after(n), 0 being the next. */
#ifndef FAILING_ALLOCATOR_H
#define FAILING_ALLOCATOR_H

#include <stdlib.h>

#include "common.h"
#include "uv_batch.h"

static atomic_long failing_allocator_left = -1;
static atomic_long failing_allocator_count;

static inline int failing_allocator_fails(void) {
  return atomic_load(&failing_allocator_left) >= 0 && atomic_fetch_sub(&failing_allocator_left, 1) == 0;
}

static inline void* failing_allocator_counted(void* memory) {
  if (memory != NULL) atomic_fetch_add(&failing_allocator_count, 1);
  return memory;
}

static inline void* failing_allocator_malloc(size_t size) {
  return failing_allocator_fails() ? NULL : failing_allocator_counted(malloc(size));
}

static inline void* failing_allocator_calloc(size_t count, size_t size) {
  return failing_allocator_fails() ? NULL : failing_allocator_counted(calloc(count, size));
}

static inline void* failing_allocator_realloc(void* memory, size_t size) {
  if (failing_allocator_fails()) return NULL;
  return memory == NULL ? failing_allocator_counted(malloc(size)) : realloc(memory, size);
}

static inline void failing_allocator_free(void* memory) {
  if (memory != NULL) atomic_fetch_sub(&failing_allocator_count, 1);
  free(memory);
}

/* Allocations that are not freed. */
static inline long failing_allocator_live(void) {
  return atomic_load(&failing_allocator_count);
}

/* -1: none fails. */
static inline void failing_allocator_after(long n) {
  atomic_store(&failing_allocator_left, n);
}

/* Before anything is allocated. */
static inline void failing_allocator_install(void) {
  uv_batch_replace_allocator(failing_allocator_malloc, failing_allocator_realloc, failing_allocator_calloc,
                             failing_allocator_free);
}

#endif
