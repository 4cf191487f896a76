/* One read request, and files that hold their number. */
#ifndef UVB_FS_READ_FIXTURE_H
#define UVB_FS_READ_FIXTURE_H

#include "fs_fixture.h"

static uv_batch_fs_t req;
static fs_tally_t tally;
static uv_batch_file_t files[fs_most];
static uv_batch_fs_options_t options;

static inline void setup(void) {
  fs_setup();
  memset(&req, 0, sizeof(req));
  memset(&tally, 0, sizeof(tally));
  memset(files, 0, sizeof(files));
  uv_batch_fs_options_init(&options);
  req.data = &tally;
}

static inline void teardown(size_t count) {
  for (size_t i = 0; i < count; i++) uv_batch_free(files[i].buf.base);
  fs_teardown();
}

static inline void start(size_t count) {
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, count, &options, fs_note), 0);
}

static inline void read_all(size_t count) {
  memset(&tally, 0, sizeof(tally));
  start(count);
  fs_run();
  CHECK_EQ(tally.files, count);
}

/* Makes `count` files that hold their number. */
static inline void make_files(size_t count) {
  char text[32];
  for (size_t i = 0; i < count; i++) {
    files[i].path = fs_path("f", i);
    fs_put(files[i].path, text, (size_t)snprintf(text, sizeof(text), "file %zu", i));
  }
}

static inline void check_file(size_t i) {
  char text[32];
  int len = snprintf(text, sizeof(text), "file %zu", i);
  CHECK_EQ(files[i].result, len);
  CHECK_EQ(files[i].buf.len, len);
  CHECK(memcmp(files[i].buf.base, text, (size_t)len) == 0);
}

#endif
