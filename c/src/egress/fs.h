/* File jobs: fs.c cuts a request into jobs and brings them back; the other files do a step each. */
#ifndef UVB_FS_H
#define UVB_FS_H

#include "uv_batch.h"

/* Brings the entries of each file together, in their order. O(n log n), in place, allocates nothing. */
void uvb__fs_sort(uv_batch_file_t* files, size_t count);
/* How many entries from the first on are of the same file; `count` is at least 1. */
size_t uvb__fs_same(const uv_batch_file_t* files, size_t count);

int uvb__fs_is_fifo(uv_file fd);
int uvb__fs_options_are_valid(const uv_batch_fs_options_t* options);

/* These run on the threadpool and give each entry its result. */
void uvb__fs_read(const uv_batch_fs_options_t* options, uv_batch_file_t* file);
void uvb__fs_prefetch(uv_batch_file_t* file);
/* All entries are of one file. */
void uvb__fs_append(const uv_batch_fs_options_t* options, uv_batch_file_t* files, size_t count);

/* Forgets what was learnt about reads from the page cache. For tests. */
void uvb__fs_cached_reset(void);

#endif
