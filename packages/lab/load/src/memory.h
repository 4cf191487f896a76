#ifndef MILLRACE_MEMORY_H
#define MILLRACE_MEMORY_H

#include <stddef.h>

/*
 * Allocation that ends the program with a sentence when memory runs out: a load generator that
 * goes on without its records would report nonsense.
 */

/* `count` zeroed items of `size` bytes. */
void *memory_new(size_t count, size_t size);

/* Reallocates `count` items of `size` bytes; added memory is not zeroed. */
void *memory_resize(void *block, size_t count, size_t size);

#endif
