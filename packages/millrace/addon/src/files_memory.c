/* Where the bytes of reads go: to a slab that JavaScript shares. Its first part is for what the loop reads, the rest is
 * divided into regions for jobs. What does not fit is allocated by itself. */
#include "files.h"

/* Memory of the slab for what the loop reads: JavaScript takes it before the loop reads again. */
char* files_allocate_on_loop(uv_batch_file_t* file, size_t size, void* data) {
  files_t* files = data;
  if (size > (size_t)files->settings[on_loop_bytes] - files->on_loop_filled) return NULL;
  char* memory = files->slab + files->on_loop_filled;
  files->on_loop_filled += size;
  return memory;
}

/* A region with so much room; the mutex is held. */
static int32_t find_region(files_t* files, size_t size) {
  const size_t most = (size_t)files->settings[region_bytes];
  if (size > most) return no_region;
  if (size <= most - files->regions[files->current].filled) return files->current;
  for (int32_t i = 0; i < files->region_count; i++) {
    if (files->regions[i].used == 0) return files->current = i;
  }
  return no_region;
}

static char* start_of(const files_t* files, int32_t region) {
  return files->slab + files->settings[on_loop_bytes] + (size_t)region * (size_t)files->settings[region_bytes];
}

/* The same for jobs, on their threads. */
char* files_allocate_in_job(uv_batch_file_t* file, size_t size, void* data) {
  files_t* files = data;
  item_t* item = file->data;
  char* memory = NULL;
  uv_mutex_lock(&files->mutex);
  int32_t found = find_region(files, size);
  if (found != no_region) {
    region_t* region = &files->regions[found];
    memory = start_of(files, found) + region->filled;
    region->filled += size;
    region->used++;
    item->region = found;
  }
  uv_mutex_unlock(&files->mutex);
  return memory;
}

/* JavaScript has taken the files' bytes. */
void files_release_memory(files_t* files, const uv_batch_file_t from[], size_t count) {
  uv_mutex_lock(&files->mutex);
  for (size_t i = 0; i < count; i++) {
    const item_t* item = from[i].data;
    if (item->region == no_region) continue;
    region_t* region = &files->regions[item->region];
    if (--region->used == 0) region->filled = 0;
  }
  uv_mutex_unlock(&files->mutex);
}

int files_is_in_slab(const files_t* files, const char* memory) {
  return memory >= files->slab && memory < files->slab + files->slab_size;
}

void files_free_memory(const files_t* files, uv_batch_file_t* file) {
  if (file->buf.base != NULL && !files_is_in_slab(files, file->buf.base)) uv_batch_free(file->buf.base);
  file->buf.base = NULL;
}
