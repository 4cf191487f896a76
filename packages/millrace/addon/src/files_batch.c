/* What was given to jobs at a time: it is in the list of what is under way until its last callback. */
#include <stdlib.h>
#include <string.h>

#include "files.h"

batch_t* files_new_batch(kind_t kind, size_t count, size_t bytes) {
  const size_t each = sizeof(uv_batch_file_t) + sizeof(item_t);
  if (count > (SIZE_MAX - sizeof(batch_t) - bytes) / each) return NULL;
  batch_t* batch = malloc(sizeof(batch_t) + count * each + bytes);
  if (batch == NULL) return NULL;
  memset(batch, 0, sizeof(batch_t) + count * each);
  batch->kind = kind;
  return batch;
}

item_t* files_items_of(batch_t* batch, size_t count) {
  return (item_t*)&batch->files[count];
}

char* files_paths_of(batch_t* batch, size_t count) {
  return (char*)&files_items_of(batch, count)[count];
}

static void relieve(uv_timer_t* timer);

void files_add(files_t* files, batch_t* batch) {
  if (files->first == NULL) {
    uint64_t every = (uint64_t)files->settings[relieve_ms];
    uv_timer_start(&files->slow, relieve, every, every);
  } else {
    files->first->link = &batch->next;
  }
  batch->owner = files;
  batch->next = files->first;
  batch->link = &files->first;
  files->first = batch;
}

void files_drop(batch_t* batch) {
  files_t* files = batch->owner;
  *batch->link = batch->next;
  if (batch->next != NULL) batch->next->link = batch->link;
  free(batch);
  if (files->first != NULL) return;
  uv_timer_stop(&files->slow);
  if (files->is_closing) files_close_handles(files);
}

void files_enter(batch_t* batch) {
  batch->entered++;
}

void files_leave(batch_t* batch) {
  if (--batch->entered == 0 && batch->req.pending == 0) files_drop(batch);
}

static void relieve(uv_timer_t* timer) {
  files_t* files = timer->data;
  batch_t* next;
  for (batch_t* batch = files->first; batch != NULL; batch = next) {
    files_enter(batch);
    /* Of those that it could not move it tries again. */
    if (batch->kind == reading) (void)uv_batch_fs_relieve(&batch->req);
    next = batch->next;
    files_leave(batch);
  }
}
