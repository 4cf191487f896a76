/* Cases that hold for a fan-out with any backend; each is given one that was initialised, and leaves it open. */
#ifndef FANOUT_CASES_H
#define FANOUT_CASES_H

#include "fanout_sockets.h"

enum { large = 1 << 20 };

static pairs_t pairs;
static uv_loop_t loop;
static char pattern[large], seen[large];

static inline void fill_pattern(void) {
  for (size_t i = 0; i < large; i++) pattern[i] = (char) (i * 31 + (i >> 8) * 7);
}

static inline void use_pattern(void) {
  if (pattern[1] == 0) fill_pattern();
}

static inline void streams_all_receive(uv_batch_fanout_t* fanout, size_t count) {
  uv_buf_t buf = buffer("hello, everyone");
  allow_many_files();
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, count);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, count), count);
  for (size_t i = 0; i < count; i++) {
    CHECK_EQ(pairs.targets[i].result, buf.len);
    check_received(pairs.readers[i], "hello, everyone");
  }
  close_streams(&pairs, &loop);
}

static inline void descriptors_all_receive(uv_batch_fanout_t* fanout, size_t count) {
  uv_buf_t bufs[] = {buffer("one,"), buffer(""), buffer("two")};
  allow_many_files();
  open_descriptors(&pairs, count);
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 3, pairs.targets, count), count);
  for (size_t i = 0; i < count; i++) {
    CHECK_EQ(pairs.targets[i].result, 7);
    check_received(pairs.readers[i], "one,two");
  }
  close_descriptors(&pairs);
}

/* The descriptors block: a send that waited would never return here. */
static inline void a_slow_reader_gets_a_part(uv_batch_fanout_t* fanout) {
  uv_buf_t buf;
  use_pattern();
  open_descriptors(&pairs, 3);
  set_buffer(pairs.targets[0].fd, SO_SNDBUF, 4 * large);
  set_buffer(pairs.targets[1].fd, SO_SNDBUF, 32768);
  set_buffer(pairs.targets[2].fd, SO_SNDBUF, 4 * large);
  buf = uv_buf_init(pattern, 150000);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 3), 2);
  ssize_t part = pairs.targets[1].result;
  CHECK_EQ(pairs.targets[0].result, buf.len);
  CHECK_EQ(pairs.targets[2].result, buf.len);
  CHECK(part > 0 && part < (ssize_t)buf.len);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, &pairs.targets[1], 1), 0);
  CHECK_EQ(pairs.targets[1].result, UV_EAGAIN);
  CHECK_EQ(read_available(pairs.readers[1], seen, large), part);
  CHECK(memcmp(seen, pattern, (size_t)part) == 0);
  CHECK_EQ(read_available(pairs.readers[0], seen, large), buf.len);
  CHECK(memcmp(seen, pattern, buf.len) == 0);
  close_descriptors(&pairs);
}

/* SIGPIPE has its default action: one would end this program. */
static inline void a_closed_peer_is_one_targets_error(uv_batch_fanout_t* fanout) {
  uv_buf_t bufs[] = {buffer("still "), buffer("here")};
  signal(SIGPIPE, SIG_DFL);
  open_descriptors(&pairs, 3);
  close(pairs.readers[1]);
  pairs.readers[1] = -1;
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 2, pairs.targets, 3), 2);
  CHECK_EQ(pairs.targets[1].result, UV_EPIPE);
  check_received(pairs.readers[0], "still here");
  check_received(pairs.readers[2], "still here");
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 1, pairs.targets, 3), 2);
  CHECK_EQ(pairs.targets[1].result, UV_EPIPE);
  close_descriptors(&pairs);
}

static inline void a_reset_connection_is_one_targets_error(uv_batch_fanout_t* fanout) {
  struct linger at_once = {1, 0};
  uv_buf_t buf = buffer("hello");
  uv_os_fd_t fd;
  signal(SIGPIPE, SIG_DFL);
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, 3);
  CHECK_EQ(setsockopt(pairs.readers[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
  close(pairs.readers[1]);
  pairs.readers[1] = -1;
  /* Errors are told whatever is asked for. */
  CHECK_EQ(uv_fileno((uv_handle_t*)pairs.targets[1].stream, &fd), 0);
  wait_for(fd, 0);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 3), 2);
  CHECK_EQ(pairs.targets[1].result, UV_ECONNRESET);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 3), 2);
  CHECK_EQ(pairs.targets[1].result, UV_EPIPE);
  check_received(pairs.readers[2], "hellohello");
  close_streams(&pairs, &loop);
}

static inline void a_bad_descriptor_is_one_targets_error(uv_batch_fanout_t* fanout) {
  uv_buf_t buf = buffer("hello");
  int pipe_ends[2];
  open_descriptors(&pairs, 7);
  CHECK_EQ(pipe(pipe_ends), 0);
  int closed = pairs.targets[1].fd, none = pairs.targets[2].fd, pipe_in = pairs.targets[3].fd;
  pairs.targets[2].fd = -1;
  pairs.targets[3].fd = pipe_ends[1];
  int unix_socket = socket(AF_UNIX, SOCK_STREAM, 0), tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
  int unconnected = pairs.targets[4].fd, unconnected_tcp = pairs.targets[5].fd;
  pairs.targets[4].fd = unix_socket;
  pairs.targets[5].fd = tcp_socket;
  close(closed);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 7), 2);
  check_received(pairs.readers[0], "hello");
  CHECK_EQ(pairs.targets[1].result, UV_EBADF);
  CHECK_EQ(pairs.targets[2].result, UV_EBADF);
  CHECK_EQ(pairs.targets[3].result, UV_ENOTSOCK);
  CHECK_EQ(pairs.targets[4].result, UV_ENOTCONN);
  CHECK_EQ(pairs.targets[5].result, UV_EPIPE);
  check_received(pairs.readers[6], "hello");
  pairs.targets[1].fd = -1;
  close(none);
  close(pipe_in);
  close(unconnected);
  close(unconnected_tcp);
  close(pipe_ends[0]);
  close_descriptors(&pairs);
}

static inline void count_write(uv_write_t* req, int status) {
  CHECK_EQ(status, 0);
  ++*(int*) req->data;
}

static inline void limit_send_buffer(uv_stream_t* stream) {
  uv_os_fd_t fd;
  CHECK_EQ(uv_fileno((uv_handle_t*)stream, &fd), 0);
  set_buffer(fd, SO_SNDBUF, 16384);
}

/* Fills the stream's socket, so that what uv_write() is given next stays queued. */
static inline size_t fill(uv_stream_t* stream) {
  uv_buf_t buf = uv_buf_init(pattern, 4096);
  size_t total = 0;
  limit_send_buffer(stream);
  for (int n; (n = uv_try_write(stream, &buf, 1)) != UV_EAGAIN; total += (size_t)n) CHECK(n > 0);
  return total;
}

static inline void a_stream_with_queued_writes_keeps_its_order(uv_batch_fanout_t* fanout) {
  uv_buf_t queued = buffer("first"), buf = buffer("second");
  int written = 0;
  uv_write_t req = {.data = &written};
  use_pattern();
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, 2);
  set_buffer(pairs.readers[0], SO_RCVBUF, 4096);
  size_t before = fill(pairs.targets[0].stream);
  CHECK(before <= large);
  CHECK_EQ(uv_write(&req, pairs.targets[0].stream, &queued, 1, count_write), 0);
  /* Room in the socket does not matter while libuv has something queued. */
  read_all(pairs.readers[0], seen, before);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 2), 1);
  CHECK_EQ(pairs.targets[0].result, UV_EAGAIN);
  CHECK_EQ(pairs.targets[1].result, 6);
  while (written == 0) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 1), 1);
  read_all(pairs.readers[0], seen, 11);
  CHECK(memcmp(seen, "firstsecond", 11) == 0);
  close_streams(&pairs, &loop);
}

static inline void count_shutdown(uv_shutdown_t* req, int status) {
  CHECK_EQ(status, 0);
  ++*(int*) req->data;
}

static inline void a_stream_that_cannot_be_written_says_why(uv_batch_fanout_t* fanout) {
  int ended = 0;
  uv_shutdown_t req = {.data = &ended};
  uv_tcp_t bound, fresh;
  uv_buf_t buf = buffer("hello");
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, 5);
  uv_close((uv_handle_t*)&pairs.streams[0], NULL);
  CHECK_EQ(uv_shutdown(&req, (uv_stream_t*)&pairs.streams[1], count_shutdown), 0);
  CHECK_EQ(uv_tcp_init_ex(&loop, &bound, AF_INET), 0);
  CHECK_EQ(uv_tcp_init(&loop, &fresh), 0);
  pairs.targets[2].stream = (uv_stream_t*)&bound;
  pairs.targets[3].stream = (uv_stream_t*)&fresh;
  for (int turn = 0; turn < 2; turn++) {
    CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 5), 1);
    CHECK_EQ(pairs.targets[0].result, UV_EBADF);
    CHECK_EQ(pairs.targets[1].result, UV_EPIPE);
    CHECK_EQ(pairs.targets[2].result, UV_EPIPE);
    CHECK_EQ(pairs.targets[3].result, UV_EBADF);
    CHECK_EQ(pairs.targets[4].result, 5);
    if (turn == 0) while (ended == 0) uv_run(&loop, UV_RUN_ONCE);
  }
  uv_close((uv_handle_t*)&bound, NULL);
  uv_close((uv_handle_t*)&fresh, NULL);
  close_streams(&pairs, &loop);
}

static inline void ignore_connect(uv_connect_t* req, int status) {
  (void)req;
  (void)status;
}

/* A listener whose backlog is full leaves the next connection unanswered. */
static inline void a_stream_that_connects_is_not_ready(uv_batch_fanout_t* fanout) {
  struct sockaddr_in address;
  int listener = listen_on_loopback(&address, 0), fillers[16], count = 0, full = 0;
  uv_buf_t buf = buffer("hello");
  uv_connect_t req;
  uv_tcp_t tcp;
  while (!full && count < 16) {
    struct pollfd state = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), .events = POLLOUT};
    CHECK(state.fd >= 0);
    CHECK(connect(state.fd, (struct sockaddr*)&address, sizeof(address)) == 0 || errno == EINPROGRESS);
    full = poll(&state, 1, 300) == 0;
    fillers[count++] = state.fd;
  }
  CHECK(full);
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_tcp_init(&loop, &tcp), 0);
  CHECK_EQ(uv_tcp_connect(&req, &tcp, (struct sockaddr*)&address, ignore_connect), 0);
  uv_batch_target_t target = {.stream = (uv_stream_t*)&tcp};
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, &target, 1), 0);
  CHECK_EQ(target.result, UV_EAGAIN);
  uv_close((uv_handle_t*)&tcp, NULL);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(&loop), 0);
  while (count-- > 0) close(fillers[count]);
  close(listener);
}

static inline void more_buffers_than_a_call_takes_are_sent_in_part(uv_batch_fanout_t* fanout) {
  enum { many = 3000 };
  static uv_buf_t bufs[many];
  unsigned int at = 0;
  int calls = 0;
  use_pattern();
  for (unsigned int i = 0; i < many; i++) bufs[i] = uv_buf_init(pattern + i, 1);
  open_descriptors(&pairs, 2);
  while (at < many) {
    int complete = uv_batch_fanout_send(fanout, bufs + at, many - at, pairs.targets, 2);
    CHECK(pairs.targets[0].result > 0);
    CHECK_EQ(pairs.targets[0].result, pairs.targets[1].result);
    at += (unsigned int)pairs.targets[0].result;
    CHECK_EQ(complete, at == many ? 2 : 0);
    calls++;
  }
  CHECK(calls > 1);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(read_available(pairs.readers[i], seen, large), many);
    CHECK(memcmp(seen, pattern, many) == 0);
  }
  close_descriptors(&pairs);
}

static inline void nothing_to_send_is_complete_at_once(uv_batch_fanout_t* fanout) {
  uv_buf_t empty[] = {buffer(""), uv_buf_init(NULL, 0)};
  open_descriptors(&pairs, 2);
  CHECK_EQ(uv_batch_fanout_send(fanout, empty, 2, NULL, 0), 0);
  CHECK_EQ(uv_batch_fanout_send(fanout, NULL, 0, pairs.targets, 2), 2);
  CHECK_EQ(uv_batch_fanout_send(fanout, empty, 1, pairs.targets, 2), 2);
  CHECK_EQ(uv_batch_fanout_send(fanout, empty, 2, pairs.targets, 2), 2);
  CHECK_EQ(pairs.targets[0].result, 0);
  check_received(pairs.readers[0], "");
  close(pairs.targets[0].fd);
  CHECK_EQ(uv_batch_fanout_send(fanout, NULL, 0, pairs.targets, 2), 1);
  CHECK_EQ(pairs.targets[0].result, UV_EBADF);
  pairs.targets[0].fd = -1;
  close_descriptors(&pairs);
}

static inline void memory_that_is_not_there_is_an_error(uv_batch_fanout_t* fanout) {
  uv_buf_t bufs[] = {uv_buf_init(NULL, 10), buffer("x")};
  open_descriptors(&pairs, 1);
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 1, pairs.targets, 1), 0);
  CHECK_EQ(pairs.targets[0].result, UV_EFAULT);
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 2, pairs.targets, 1), 0);
  CHECK_EQ(pairs.targets[0].result, UV_EFAULT);
  check_received(pairs.readers[0], "");
  close_descriptors(&pairs);
}

static inline void pipes_are_streams_too(uv_batch_fanout_t* fanout) {
  int socket_ends[2], pipe_ends[2];
  uv_pipe_t over_socket, over_pipe;
  uv_buf_t bufs[] = {buffer("hel"), buffer("lo")};
  char received[16];
  signal(SIGPIPE, SIG_DFL);
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends), 0);
  CHECK_EQ(pipe(pipe_ends), 0);
  CHECK_EQ(uv_pipe_init(&loop, &over_socket, 0), 0);
  CHECK_EQ(uv_pipe_open(&over_socket, socket_ends[0]), 0);
  CHECK_EQ(uv_pipe_init(&loop, &over_pipe, 0), 0);
  CHECK_EQ(uv_pipe_open(&over_pipe, pipe_ends[1]), 0);
  uv_batch_target_t targets[] = {{.stream = (uv_stream_t*)&over_socket}, {.stream = (uv_stream_t*)&over_pipe}};
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 2, targets, 2), 2);
  check_received(socket_ends[1], "hello");
  CHECK_EQ(read(pipe_ends[0], received, sizeof(received)), 5);
  CHECK(memcmp(received, "hello", 5) == 0);
  /* A broken pipe, with SIGPIPE's default action. */
  close(pipe_ends[0]);
  CHECK_EQ(uv_batch_fanout_send(fanout, bufs, 1, targets, 2), 1);
  CHECK_EQ(targets[1].result, UV_EPIPE);
  uv_close((uv_handle_t*)&over_socket, NULL);
  uv_close((uv_handle_t*)&over_pipe, NULL);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(&loop), 0);
  close(socket_ends[1]);
}

/* A caller that blocks SIGPIPE and has one waiting finds it, and its mask, as they were. */
static inline void a_sigpipe_that_waits_is_left_alone(uv_batch_fanout_t* fanout) {
  int pipe_ends[2], signum = 0;
  uv_pipe_t broken;
  sigset_t signals, mask;
  uv_buf_t buf = buffer("x");
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(pipe(pipe_ends), 0);
  CHECK_EQ(uv_pipe_init(&loop, &broken, 0), 0);
  CHECK_EQ(uv_pipe_open(&broken, pipe_ends[1]), 0);
  close(pipe_ends[0]);
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &signals, NULL), 0);
  raise(SIGPIPE);
  uv_batch_target_t target = {.stream = (uv_stream_t*)&broken};
  CHECK_EQ(uv_batch_fanout_send(fanout, &buf, 1, &target, 1), 0);
  CHECK_EQ(target.result, UV_EPIPE);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
  CHECK_EQ(sigismember(&mask, SIGPIPE), 1);
  CHECK_EQ(sigpending(&mask), 0);
  CHECK_EQ(sigismember(&mask, SIGPIPE), 1);
  CHECK_EQ(sigwait(&signals, &signum), 0);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &signals, NULL), 0);
  uv_close((uv_handle_t*)&broken, NULL);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(&loop), 0);
}

/* Acts as a caller with a slow reader: the rest of each message by uv_write(), and nothing else in between. */
static inline void what_is_left_can_be_written_in_order(uv_batch_fanout_t* fanout) {
  enum { messages = 40, size = large / messages };
  size_t received[2] = {0, 0};
  int partial = 0, none = 0, whole = 0, queued = 0, written = 0;
  static uv_write_t reqs[2 * messages];
  use_pattern();
  CHECK_EQ(uv_loop_init(&loop), 0);
  open_streams(&pairs, &loop, 2);
  set_buffer(pairs.readers[0], SO_RCVBUF, 8192);
  limit_send_buffer(pairs.targets[0].stream);
  static char got[2][large];
  for (int i = 0; i < messages; i++) {
    uv_buf_t buf = uv_buf_init(pattern + i * size, size);
    uv_batch_fanout_send(fanout, &buf, 1, pairs.targets, 2);
    for (int t = 0; t < 2; t++) {
      ssize_t result = pairs.targets[t].result;
      CHECK(result >= 0 || result == UV_EAGAIN);
      size_t sent = result < 0 ? 0 : (size_t)result;
      *(sent == size ? &whole : sent == 0 ? &none : &partial) += 1;
      if (sent == size) continue;
      uv_buf_t rest = uv_buf_init(buf.base + sent, (unsigned int)(size - sent));
      reqs[queued].data = &written;
      CHECK_EQ(uv_write(&reqs[queued++], pairs.targets[t].stream, &rest, 1, count_write), 0);
    }
    received[1] += read_available(pairs.readers[1], got[1] + received[1], large - received[1]);
    /* The slow one reads a little, now and then. */
    if (i % 8 == 7) received[0] += read_available(pairs.readers[0], got[0] + received[0], 3000);
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  CHECK(partial > 0 && none > 0 && whole > 0);
  while (received[0] < messages * size || received[1] < messages * size || written < queued) {
    for (int t = 0; t < 2; t++) {
      received[t] += read_available(pairs.readers[t], got[t] + received[t], large - received[t]);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  for (int t = 0; t < 2; t++) CHECK(memcmp(got[t], pattern, messages * size) == 0);
  close_streams(&pairs, &loop);
}

#endif
