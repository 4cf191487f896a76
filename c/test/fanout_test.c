/* Fan-out by plain sends, and what does not depend on how it sends. */
#include "fanout.h"
#include "failing_allocator.h"
#include "fanout_cases.h"

static uv_batch_fanout_t fanout;

static uv_batch_fanout_t* plain(void) {
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_SEND), 0);
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), "send") == 0);
  return &fanout;
}

static void done(void) {
  uv_batch_fanout_close(&fanout);
}

TEST(one_stream_receives) { streams_all_receive(plain(), 1); done(); }
TEST(fifty_streams_receive) { streams_all_receive(plain(), 50); done(); }
TEST(five_hundred_streams_receive) { streams_all_receive(plain(), 500); done(); }
TEST(one_descriptor_receives) { descriptors_all_receive(plain(), 1); done(); }
TEST(fifty_descriptors_receive) { descriptors_all_receive(plain(), 50); done(); }
TEST(five_hundred_descriptors_receive) { descriptors_all_receive(plain(), 500); done(); }
TEST(slow_reader_gets_a_part) { a_slow_reader_gets_a_part(plain()); done(); }
TEST(closed_peer_is_one_targets_error) { a_closed_peer_is_one_targets_error(plain()); done(); }
TEST(reset_connection_is_one_targets_error) { a_reset_connection_is_one_targets_error(plain()); done(); }
TEST(bad_descriptor_is_one_targets_error) { a_bad_descriptor_is_one_targets_error(plain()); done(); }
TEST(stream_with_queued_writes_keeps_its_order) { a_stream_with_queued_writes_keeps_its_order(plain()); done(); }
TEST(stream_that_cannot_be_written_says_why) { a_stream_that_cannot_be_written_says_why(plain()); done(); }
TEST(stream_that_connects_is_not_ready) { a_stream_that_connects_is_not_ready(plain()); done(); }
TEST(too_many_buffers_are_sent_in_part) { more_buffers_than_a_call_takes_are_sent_in_part(plain()); done(); }
TEST(nothing_to_send_is_complete) { nothing_to_send_is_complete_at_once(plain()); done(); }
TEST(missing_memory_is_an_error) { memory_that_is_not_there_is_an_error(plain()); done(); }
TEST(pipes_receive) { pipes_are_streams_too(plain()); done(); }
TEST(waiting_sigpipe_is_left_alone) { a_sigpipe_that_waits_is_left_alone(plain()); done(); }
TEST(rest_can_be_written_in_order) { what_is_left_can_be_written_in_order(plain()); done(); }

TEST(bad_arguments_send_nothing) {
  uv_batch_fanout_t closed;
  uv_buf_t buf = buffer("x");
  memset(&closed, 0, sizeof(closed));
  CHECK_EQ(uv_batch_fanout_init(NULL, UV_BATCH_FANOUT_SEND), UV_EINVAL);
  CHECK_EQ(uv_batch_fanout_init(&closed, 3), UV_EINVAL);
  CHECK(uv_batch_fanout_backend(NULL) == NULL);
  CHECK(uv_batch_fanout_backend(&closed) == NULL);
  plain();
  open_descriptors(&pairs, 1);
  CHECK_EQ(uv_batch_fanout_send(NULL, &buf, 1, pairs.targets, 1), UV_EINVAL);
  CHECK_EQ(uv_batch_fanout_send(&closed, &buf, 1, pairs.targets, 1), UV_EINVAL);
  CHECK_EQ(uv_batch_fanout_send(&fanout, NULL, 1, pairs.targets, 1), UV_EINVAL);
  CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, NULL, 1), UV_EINVAL);
  CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, (size_t) INT32_MAX + 1), UV_EINVAL);
  done();
  done();
  uv_batch_fanout_close(NULL);
  CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, 1), UV_EINVAL);
  check_received(pairs.readers[0], "");
  close_descriptors(&pairs);
}

TEST(automatic_choice_sends_and_leaves_nothing_behind) {
  uv_buf_t buf = buffer("hello");
  failing_allocator_install();
  int files = open_files();
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
    CHECK(uv_batch_fanout_backend(&fanout) != NULL);
    open_descriptors(&pairs, 50);
    CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, 50), 50);
    check_received(pairs.readers[49], "hello");
    close_descriptors(&pairs);
    done();
  }
  CHECK_EQ(failing_allocator_live(), 0);
  CHECK_EQ(open_files(), files);
}

TEST(automatic_choice_does_without_memory) {
  uv_buf_t buf = buffer("hello");
  failing_allocator_install();
  open_descriptors(&pairs, 1);
  for (long n = 0; n < 4; n++) {
    failing_allocator_after(n);
    CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
    CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, 1), 1);
    check_received(pairs.readers[0], "hello");
    done();
    CHECK_EQ(failing_allocator_live(), 0);
  }
  close_descriptors(&pairs);
}

TEST(ring_is_chosen_when_its_median_is_a_tenth_quicker) {
  static const struct {
    size_t rounds;
    uint64_t plain[6], ring[6];
    int wins;
  } table[] = {
      {5, {100, 100, 100, 100, 100}, {90, 90, 90, 90, 90}, 1},
      {5, {100, 100, 100, 100, 100}, {91, 91, 91, 91, 91}, 0},
      {5, {100, 100, 100, 100, 100}, {200, 200, 200, 200, 200}, 0},
      {5, {105, 105, 105, 105, 105}, {95, 95, 95, 95, 95}, 0},
      {5, {105, 105, 105, 105, 105}, {94, 94, 94, 94, 94}, 1},
      {5, {100, 900, 100, 900, 100}, {80, 80, 700, 700, 80}, 1},
      {5, {900, 100, 900, 100, 900}, {800, 100, 800, 100, 800}, 1},
      {5, {100, 100, 100, 100, 9000}, {95, 95, 95, 95, 1}, 0},
      {6, {100, 100, 100, 100, 100, 100}, {90, 90, 90, 10, 10, 10}, 1},
      {4, {100, 100, 100, 100}, {10, 10, 10, 10}, 0},
      {0, {0}, {0}, 0},
      {5, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, 0},
      {5, {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, {1, 1, 1, 1, 1}, 1},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
    uint64_t plain_times[6], ring_times[6];
    memcpy(plain_times, table[i].plain, sizeof(plain_times));
    memcpy(ring_times, table[i].ring, sizeof(ring_times));
    if (uvb__fanout_ring_wins(plain_times, ring_times, table[i].rounds) != table[i].wins) {
      fprintf(stderr, "row %zu\n", i);
      exit(1);
    }
  }
}

TEST(content_is_cut_to_what_one_call_takes) {
#if SIZE_MAX > UINT32_MAX
  const size_t most = 0x7ffff000;
  char byte = 0;
  uvb__content_t content;
  uv_buf_t bufs[] = {{.base = &byte, .len = most}, {.base = &byte, .len = 1}, {.base = &byte, .len = 2 * most}};
  uvb__content_init(&content, bufs, 1);
  CHECK(content.whole && content.count == 1 && content.bytes == most && content.bufs == bufs);
  uvb__content_init(&content, bufs, 2);
  CHECK(!content.whole && content.count == 1 && content.bytes == most);
  uvb__content_init(&content, bufs + 1, 2);
  CHECK(!content.whole && content.count == 1 && content.bytes == 1);
  uvb__content_init(&content, bufs + 2, 1);
  CHECK(!content.whole && content.count == 1 && content.bytes == most && content.bufs->len == most);
  bufs[1].len = SIZE_MAX;
  uvb__content_init(&content, bufs, 3);
  CHECK(!content.whole && content.count == 1 && content.bytes == most);
#endif
}

TEST_MAIN
