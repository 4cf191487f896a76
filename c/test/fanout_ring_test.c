/* Fan-out by io_uring, and what becomes of it when its system call fails. Exit code 77: not to be had here. */
#include "fanout.h"
#include "failing_allocator.h"
#include "fanout_cases.h"

#if UVB_FANOUT_HAS_RING

static uv_batch_fanout_t fanout;

static uv_batch_fanout_t* ring(void) {
  int status = uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING);
  if (status == UV_ENOSYS || status == UV_EPERM) {
    printf("skipped: io_uring: %s\n", uv_strerror(status));
    exit(77);
  }
  CHECK_EQ(status, 0);
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), "io_uring") == 0);
  return &fanout;
}

/* It has not given up on the ring. */
static void done(void) {
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), "io_uring") == 0);
  uv_batch_fanout_close(&fanout);
}

TEST(one_stream_receives) { streams_all_receive(ring(), 1); done(); }
TEST(fifty_streams_receive) { streams_all_receive(ring(), 50); done(); }
TEST(five_hundred_streams_receive) { streams_all_receive(ring(), 500); done(); }
TEST(one_descriptor_receives) { descriptors_all_receive(ring(), 1); done(); }
TEST(fifty_descriptors_receive) { descriptors_all_receive(ring(), 50); done(); }
TEST(five_hundred_descriptors_receive) { descriptors_all_receive(ring(), 500); done(); }
TEST(slow_reader_gets_a_part) { a_slow_reader_gets_a_part(ring()); done(); }
TEST(closed_peer_is_one_targets_error) { a_closed_peer_is_one_targets_error(ring()); done(); }
TEST(reset_connection_is_one_targets_error) { a_reset_connection_is_one_targets_error(ring()); done(); }
TEST(bad_descriptor_is_one_targets_error) { a_bad_descriptor_is_one_targets_error(ring()); done(); }
TEST(stream_with_queued_writes_keeps_its_order) { a_stream_with_queued_writes_keeps_its_order(ring()); done(); }
TEST(stream_that_cannot_be_written_says_why) { a_stream_that_cannot_be_written_says_why(ring()); done(); }
TEST(stream_that_connects_is_not_ready) { a_stream_that_connects_is_not_ready(ring()); done(); }
TEST(too_many_buffers_are_sent_in_part) { more_buffers_than_a_call_takes_are_sent_in_part(ring()); done(); }
TEST(nothing_to_send_is_complete) { nothing_to_send_is_complete_at_once(ring()); done(); }
TEST(missing_memory_is_an_error) { memory_that_is_not_there_is_an_error(ring()); done(); }
TEST(pipes_receive) { pipes_are_streams_too(ring()); done(); }
TEST(waiting_sigpipe_is_left_alone) { a_sigpipe_that_waits_is_left_alone(ring()); done(); }
TEST(rest_can_be_written_in_order) { what_is_left_can_be_written_in_order(ring()); done(); }

TEST(opening_and_closing_leaves_nothing_behind) {
  failing_allocator_install();
  uv_batch_fanout_close(ring());
  int files = open_files();
  failing_allocator_after(0);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING), UV_ENOMEM);
  failing_allocator_after(-1);
  for (int i = 0; i < 100; i++) uv_batch_fanout_close(ring());
  CHECK_EQ(failing_allocator_live(), 0);
  CHECK_EQ(open_files(), files);
}

TEST(no_descriptor_left_is_an_error) {
  struct rlimit limit, few;
  uv_batch_fanout_close(ring());
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  few = limit;
  few.rlim_cur = 0;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING), UV_EMFILE);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), "send") == 0);
  uv_batch_fanout_close(&fanout);
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* 500 targets are two chunks of the ring. Each fault is at the system call; `calls` counts them. */
enum { many = 500 };
static int (*real_enter)(uvb__ring_t* ring, uint32_t submit, uint32_t wait);
static int calls, fault_at;

static void inject(int (*enter)(uvb__ring_t* ring, uint32_t submit, uint32_t wait), int call) {
  ring();
  uvb__ring_t* its_ring = fanout.private_[1];
  real_enter = its_ring->enter;
  its_ring->enter = enter;
  fault_at = call;
  calls = 0;
  allow_many_files();
  open_descriptors(&pairs, many);
}

static void send_once_to_all(void) {
  uv_buf_t buf = buffer("hello");
  CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, many), many);
  for (int i = 0; i < many; i++) {
    CHECK_EQ(pairs.targets[i].result, 5);
    check_received(pairs.readers[i], "hello");
  }
}

static void end(const char* backend) {
  send_once_to_all();
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), backend) == 0);
  close_descriptors(&pairs);
  uv_batch_fanout_close(&fanout);
}

static int interrupted(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  return ++calls % 2 == 1 ? -EINTR : real_enter(at, submit, wait);
}

TEST(interrupted_calls_are_repeated) {
  inject(interrupted, 0);
  send_once_to_all();
  CHECK_EQ(calls, 4);
  end("io_uring");
}

static int interrupted_while_waiting(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  if (++calls % 2 == 0) return real_enter(at, submit, wait);
  real_enter(at, submit / 2, 0);
  return -EINTR;
}

TEST(calls_interrupted_half_way_go_on) {
  inject(interrupted_while_waiting, 0);
  send_once_to_all();
  CHECK_EQ(calls, 4);
  end("io_uring");
}

static int takes_a_few(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  calls++;
  return submit > 7 ? real_enter(at, 7, 0) : real_enter(at, submit, wait);
}

TEST(calls_that_take_a_few_go_on) {
  inject(takes_a_few, 0);
  send_once_to_all();
  CHECK(calls > many / 7);
  end("io_uring");
}

static int forbidden(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  return ++calls == fault_at ? -EPERM : real_enter(at, submit, wait);
}

TEST(a_first_call_that_is_forbidden_loses_nothing) {
  inject(forbidden, 1);
  send_once_to_all();
  CHECK_EQ(calls, 1);
  end("send");
}

TEST(a_second_call_that_is_forbidden_loses_nothing) {
  inject(forbidden, 2);
  send_once_to_all();
  CHECK_EQ(calls, 2);
  end("send");
}

/* Half of the chunk is taken, then there is no memory. */
static int short_of_memory(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  if (++calls == fault_at) return real_enter(at, submit / 2, 0);
  return calls == fault_at + 1 ? -ENOMEM : real_enter(at, submit, wait);
}

TEST(a_call_that_fails_half_way_loses_nothing_and_sends_nothing_twice) {
  for (int call = 1; call <= 2; call++) {
    inject(short_of_memory, call);
    send_once_to_all();
    end("io_uring");
  }
}

static int works_and_says_it_failed(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  (void)wait;
  real_enter(at, ++calls == fault_at ? submit / 3 : submit, 0);
  return -EIO;
}

TEST(a_failed_call_that_sent_everything_sends_nothing_twice) {
  inject(works_and_says_it_failed, 0);
  send_once_to_all();
  end("io_uring");
}

TEST(a_failed_call_that_sent_a_part_sends_nothing_twice) {
  inject(works_and_says_it_failed, 1);
  send_once_to_all();
  end("send");
}

static int does_nothing(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  (void)at;
  (void)submit;
  (void)wait;
  calls++;
  return 0;
}

TEST(a_call_that_does_nothing_is_not_repeated_for_ever) {
  inject(does_nothing, 0);
  send_once_to_all();
  CHECK_EQ(calls, 1);
  end("send");
}

/* Ten completions are lost: the kernel sent, and it is never known. */
enum { lost = 10 };
static int loses_completions(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  if (++calls < fault_at) return real_enter(at, submit, wait);
  if (calls > fault_at) return -EBADR;
  int taken = real_enter(at, submit, wait);
  atomic_store(at->cq_tail, atomic_load(at->cq_tail) - lost);
  return taken;
}

TEST(lost_completions_are_an_error_and_are_not_sent_twice) {
  uv_buf_t buf = buffer("hello");
  int unknown = 0;
  inject(loses_completions, 1);
  CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, many), many - lost);
  for (int i = 0; i < many; i++) {
    CHECK(pairs.targets[i].result == 5 || pairs.targets[i].result == UV_EIO);
    unknown += pairs.targets[i].result == UV_EIO;
    check_received(pairs.readers[i], "hello");
  }
  CHECK_EQ(unknown, lost);
  end("send");
}

/* The kernel's answer for one target is made to be that the send was interrupted before it began. */
static int interrupts_one_send(uvb__ring_t* at, uint32_t submit, uint32_t wait) {
  char sent[8];
  int taken = real_enter(at, submit, wait);
  if (++calls > 1) return taken;
  struct io_uring_cqe* cqe = &at->cqes[(atomic_load(at->cq_tail) - 1) & at->cq_mask];
  CHECK_EQ(recv(pairs.readers[cqe->user_data], sent, sizeof(sent), MSG_DONTWAIT), 5);
  cqe->res = -EINTR;
  return taken;
}

TEST(an_interrupted_send_is_repeated) {
  inject(interrupts_one_send, 0);
  send_once_to_all();
  end("io_uring");
}

TEST_MAIN
#else
int main(void) {
  printf("skipped: no io_uring in this build\n");
  return 77;
}
#endif
