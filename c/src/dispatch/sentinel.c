#include "dispatch/sentinel.h"

#include "memory.h"

struct uvb__sentinel_s {
  uv_pipe_t pipe;
  uv_write_t write;
  uv_file other;
  void (*lost)(void* data); /* NULL once it was taken back */
  void* data;
};

static void on_closed(uv_handle_t* handle) {
  uvb__sentinel_free(handle->data);
}

static void on_write(uv_write_t* write, int status) {
  uvb__sentinel_t* sentinel = write->data;
  void (*lost)(void*) = sentinel->lost;
  (void)status;
  sentinel->lost = NULL;
  if (lost != NULL) lost(sentinel->data);
}

const uv_handle_t* uvb__sentinel_handle(const uvb__sentinel_t* sentinel) {
  return (const uv_handle_t*)&sentinel->pipe;
}

void uvb__sentinel_free(uvb__sentinel_t* sentinel) {
  if (sentinel->other >= 0) uvb__sentinel_close(sentinel->other);
  uvb__free(sentinel);
}

int uvb__sentinel_end(uvb__sentinel_t* sentinel) {
  if (uv_is_closing((uv_handle_t*)&sentinel->pipe)) return 0;
  sentinel->lost = NULL;
  uv_close((uv_handle_t*)&sentinel->pipe, on_closed);
  return 1;
}

uvb__sentinel_t* uvb__sentinel_start(uv_loop_t* loop, void (*lost)(void* data), void* data) {
  /* As much as an eventfd takes at once; it is never read. */
  static char counter[8] = {1};
  uv_buf_t buf = uv_buf_init(counter, sizeof(counter));
  uvb__sentinel_t* sentinel = uvb__calloc(1, sizeof(*sentinel));
  if (sentinel == NULL) return NULL;
  uv_file fd = uvb__sentinel_open(&sentinel->other);
  if (fd < 0) {
    uvb__free(sentinel);
    return NULL;
  }
  uv_pipe_init(loop, &sentinel->pipe, 0);
  sentinel->pipe.data = sentinel;
  sentinel->write.data = sentinel;
  sentinel->data = data;
  int status = uv_pipe_open(&sentinel->pipe, fd);
  if (status != 0) uvb__sentinel_close(fd);
  else status = uv_write(&sentinel->write, (uv_stream_t*)&sentinel->pipe, &buf, 1, on_write);
  if (status != 0) {
    uv_close((uv_handle_t*)&sentinel->pipe, on_closed);
    return NULL;
  }
  sentinel->lost = lost;
  return sentinel;
}
