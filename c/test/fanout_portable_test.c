/* The back-end of platforms that cannot send without blocking, in place of the library's own. */
#define UVB_FANOUT_PORTABLE
#include "fanout.c"
#include "fanout-uring.c"
#include "fanout_sockets.h"

static pairs_t pairs;
static uv_loop_t loop;

static ssize_t portable_send_text(const uv_batch_target_t* target, const char* text) {
  uvb__content_t content;
  uv_buf_t buf = buffer(text);
  uvb__content_init(&content, &buf, 1);
  return uvb__fanout_plain(target, &content);
}

TEST(streams_receive) {
  CHECK(strcmp(uvb__fanout_plain_name, "try_write") == 0);
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, 50);
  for (size_t i = 0; i < 50; i++) {
    CHECK_EQ(portable_send_text(&pairs.targets[i], "hello"), 5);
    check_received(pairs.readers[i], "hello");
    CHECK_EQ(portable_send_text(&pairs.targets[i], ""), 0);
  }
  close_streams(&pairs, &loop);
}

static void count_write(uv_write_t* req, int status) {
  CHECK_EQ(status, 0);
  ++*(int*) req->data;
}

TEST(stream_with_queued_writes_is_not_ready_and_a_closing_one_is_bad) {
  static char bytes[1 << 20];
  int written = 0;
  size_t total = 0;
  uv_write_t req = {.data = &written};
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, 2);
  while (uv_stream_get_write_queue_size(pairs.targets[0].stream) == 0) {
    CHECK_EQ(written, 0);
    for (int n; (n = uv_try_write(pairs.targets[0].stream, &buf, 1)) != UV_EAGAIN; total += (size_t)n) CHECK(n > 0);
    CHECK_EQ(uv_write(&req, pairs.targets[0].stream, &buf, 1, count_write), 0);
    total += sizeof(bytes);
  }
  CHECK_EQ(portable_send_text(&pairs.targets[0], "hello"), UV_EAGAIN);
  for (char got[65536]; total > 0; uv_run(&loop, UV_RUN_NOWAIT)) {
    total -= read_available(pairs.readers[0], got, sizeof(got));
  }
  while (written == 0) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(portable_send_text(&pairs.targets[0], "hello"), 5);
  uv_close((uv_handle_t*)pairs.targets[1].stream, NULL);
  CHECK_EQ(portable_send_text(&pairs.targets[1], "hello"), UV_EBADF);
  close_streams(&pairs, &loop);
}

TEST(descriptors_are_not_supported) {
  open_descriptors(&pairs, 1);
  CHECK_EQ(portable_send_text(&pairs.targets[0], "hello"), UV_ENOTSUP);
  check_received(pairs.readers[0], "");
  close_descriptors(&pairs);
}

TEST_MAIN
