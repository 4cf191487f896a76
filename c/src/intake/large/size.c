#include "intake/large/size.h"

void uvb__read_size_init(uvb__read_size_t* read_size, const uv_largesocket_options_t* options) {
  *read_size = (uvb__read_size_t){.size = options->min_read};
}

void uvb__read_size_limit(uvb__read_size_t* read_size, const uv_largesocket_options_t* options) {
  size_t size = read_size->size;
  if (size < options->min_read) size = options->min_read;
  if (size > options->max_read) size = options->max_read;
  *read_size = (uvb__read_size_t){.size = size};
}

static uvb__read_size_change_t change(uvb__read_size_t* read_size, size_t size) {
  uvb__read_size_change_t grew = size > read_size->size ? UVB__READ_SIZE_GREW : UVB__READ_SIZE_SHRANK;
  *read_size = (uvb__read_size_t){.size = size};
  return grew;
}

uvb__read_size_change_t uvb__read_size_observe(uvb__read_size_t* read_size, const uv_largesocket_options_t* options,
                                               size_t count, size_t room) {
  size_t size = read_size->size;
  int full = count >= room;
  int sparse = !full && count < room / 4;
  read_size->full = full ? read_size->full + 1 : 0;
  read_size->sparse = sparse ? read_size->sparse + 1 : 0;
  if (size < options->max_read) {
    if (read_size->full >= options->grow_after) {
      return change(read_size, size > options->max_read / 2 ? options->max_read : size * 2);
    }
  } else {
    /* Counted no further than it has to be, so that it never wraps around. */
    if (full && read_size->at_most < options->raise_after) read_size->at_most++;
    read_size->full = 0;
  }
  if (read_size->sparse >= options->shrink_after) {
    if (size > options->min_read) return change(read_size, size / 2 < options->min_read ? options->min_read : size / 2);
    read_size->sparse = 0;
  }
  return UVB__READ_SIZE_KEPT;
}

int uvb__read_size_sustained(const uvb__read_size_t* read_size, const uv_largesocket_options_t* options) {
  return read_size->at_most >= options->raise_after;
}
