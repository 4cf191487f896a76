/* All memory of the library comes from here, so that uv_batch_replace_allocator() and tests see every allocation. */
#ifndef UVB_MEMORY_H
#define UVB_MEMORY_H

#include <stddef.h>

void* uvb__malloc(size_t size);
void* uvb__calloc(size_t count, size_t size);
void* uvb__realloc(void* memory, size_t size);
char* uvb__strdup(const char* text);
void uvb__free(void* memory);

#endif
