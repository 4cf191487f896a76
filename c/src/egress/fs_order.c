#include <string.h>

#include "egress/fs.h"

static int compare(const uv_batch_file_t* a, const uv_batch_file_t* b) {
  if (a->path == NULL || b->path == NULL) {
    if (a->path != b->path) return a->path == NULL ? -1 : 1;
    return (a->fd > b->fd) - (a->fd < b->fd);
  }
  return a->path == b->path ? 0 : strcmp(a->path, b->path);
}

size_t uvb__fs_same(const uv_batch_file_t* files, size_t count) {
  size_t same = 1;
  while (same < count && compare(&files[0], &files[same]) == 0) same++;
  return same;
}

static int is_sorted(const uv_batch_file_t* files, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (compare(&files[i - 1], &files[i]) > 0) return 0;
  }
  return 1;
}

/* Entries are linked by their first private word while they are sorted. */
static uv_batch_file_t* next_of(const uv_batch_file_t* file) {
  return file->private_[0];
}

/* Of equals the one from `a` comes first. */
static uv_batch_file_t* merge(uv_batch_file_t* a, uv_batch_file_t* b) {
  void* first = NULL;
  void** link = &first;
  while (a != NULL && b != NULL) {
    uv_batch_file_t** from = compare(a, b) <= 0 ? &a : &b;
    uv_batch_file_t* file = *from;
    *link = file;
    link = &file->private_[0];
    *from = next_of(file);
  }
  *link = a != NULL ? a : b;
  return first;
}

/* runs[i] is sorted, holds 2^i entries or none, and came before all that is in runs below it. */
static uv_batch_file_t* sort_links(uv_batch_file_t* files, size_t count) {
  uv_batch_file_t* runs[sizeof(size_t) * 8] = {NULL};
  uv_batch_file_t* sorted = NULL;
  size_t i;
  for (size_t at = 0; at < count; at++) {
    uv_batch_file_t* run = &files[at];
    run->private_[0] = NULL;
    for (i = 0; runs[i] != NULL; i++) {
      run = merge(runs[i], run);
      runs[i] = NULL;
    }
    runs[i] = run;
  }
  for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) sorted = merge(runs[i], sorted);
  return sorted;
}

void uvb__fs_sort(uv_batch_file_t* files, size_t count) {
  size_t place = 0;
  if (is_sorted(files, count)) return;
  for (uv_batch_file_t* file = sort_links(files, count); file != NULL; file = next_of(file)) {
    file->private_[1] = &files[place++];
  }
  for (size_t i = 0; i < count; i++) {
    /* Each swap brings one entry home, so there are at most `count` of them. */
    while (files[i].private_[1] != &files[i]) {
      uv_batch_file_t* home = files[i].private_[1];
      uv_batch_file_t entry = *home;
      *home = files[i];
      files[i] = entry;
    }
  }
}
