#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapt_fixture.h"
#include "failing_allocator.h"

static union {
  uv_pipe_t pipe;
  uv_tcp_t tcp;
} stream;
static uv_batch_reader_t reader;
static uv_batch_handler_t handler;
static int peer;
static int given_buffers, released, reads, ends, stopped, withhold;
static ssize_t end_status;
static uint64_t received, checksum;

static uint64_t sum(uint64_t state, const char* data, size_t size) {
  for (size_t i = 0; i < size; i++) state = (state ^ (unsigned char)data[i]) * 0x100000001b3u;
  return state;
}

static size_t largest_buffer;

static void allocate(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  CHECK(handle == (uv_handle_t*)&stream);
  if (withhold > 0) {
    withhold--;
    return;
  }
  if (largest_buffer > 0) size = largest_buffer;
  buf->base = malloc(size);
  buf->len = size;
  given_buffers++;
}

static void release(uv_batch_reader_t* from, const uv_buf_t* buf) {
  CHECK(from == &reader);
  released++;
  free(buf->base);
}

static int on_read(uv_batch_handler_t* self, uv_batch_event_t* event) {
  uv_batch_read_t* read = (uv_batch_read_t*)event;
  (void)self;
  CHECK(event->data == &reader && read->reader == &reader);
  CHECK_EQ(ends, 0);
  if (read->nread < 0) {
    CHECK(read->buf.base == NULL && read->buf.len == 0);
    if (read->nread != UV_ENOBUFS) ends++;
    end_status = read->nread;
    return 0;
  }
  CHECK_EQ(event->size, read->nread);
  reads++;
  received += (uint64_t)read->nread;
  checksum = sum(checksum, read->buf.base, (size_t)read->nread);
  return 0;
}

static void on_stopped(uv_batch_reader_t* which) {
  CHECK(which == &reader);
  stopped++;
}

static int start(void) {
  return uv_batch_read_start(&batch, &reader, (uv_stream_t*)&stream, allocate, release);
}

static void open_stream(void) {
  int fds[2];
  given_buffers = released = reads = ends = stopped = withhold = 0;
  end_status = 0;
  largest_buffer = 0;
  received = checksum = 0;
  memset(&reader, 0, sizeof(reader));
  memset(&handler, 0, sizeof(handler));
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  peer = fds[1];
  CHECK_EQ(uv_pipe_init(&loop, &stream.pipe, 0), 0);
  CHECK_EQ(uv_pipe_open(&stream.pipe, fds[0]), 0);
}

static void open_reader(uint32_t max_queue, uv_batch_policy_t policy) {
  open_queue(max_queue, policy);
  open_stream();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, on_read), 0);
  CHECK_EQ(start(), 0);
}

static void stop_reader(void) {
  CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), 0);
  CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), UV_EALREADY);
  CHECK_EQ(stopped, 0);
  run_until(&stopped, 1);
}

static void close_stream(void) {
  uv_close((uv_handle_t*)&stream, NULL);
  if (peer >= 0) close(peer);
  close_queue();
  CHECK_EQ(given_buffers, released);
}

static void send_text(const char* text) {
  CHECK_EQ(write(peer, text, strlen(text)), strlen(text));
}

/* A thread that writes what a seed says, and closes. */
typedef struct {
  uint64_t size, checksum;
} sent_t;

static void send_all(void* arg) {
  sent_t* sent = arg;
  char data[10007];
  uint64_t random = 42;
  for (uint64_t left = sent->size; left > 0;) {
    size_t size = left < sizeof(data) ? (size_t)left : sizeof(data);
    for (size_t i = 0; i < size; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      data[i] = (char)(random >> 56);
    }
    sent->checksum = sum(sent->checksum, data, size);
    for (size_t done = 0; done < size;) {
      ssize_t wrote = write(peer, data + done, size - done);
      CHECK(wrote > 0);
      done += (size_t)wrote;
    }
    left -= size;
  }
  close(peer);
  peer = -1;
}

static void receive_all(uint32_t max_queue, uv_batch_policy_t policy) {
  sent_t sent = {5000000, 0};
  uv_thread_t thread;
  open_reader(max_queue, policy);
  CHECK_EQ(uv_thread_create(&thread, send_all, &sent), 0);
  run_until(&ends, 1);
  CHECK_EQ(uv_thread_join(&thread), 0);
  CHECK_EQ(end_status, UV_EOF);
  CHECK_EQ(received, sent.size);
  CHECK_EQ(checksum, sent.checksum);
  stop_reader();
  close_stream();
}

TEST(all_bytes_come_in_order_through_a_queue_of_two) {
  receive_all(2, UV_BATCH_POLICY_ADAPTIVE);
}

TEST(all_bytes_come_in_order_through_a_queue_of_one) {
  receive_all(1, UV_BATCH_POLICY_ADAPTIVE);
}

TEST(all_bytes_come_in_order_through_a_large_queue) {
  receive_all(65536, UV_BATCH_POLICY_ADAPTIVE);
}

TEST(direct_handlers_get_all_bytes_in_order) {
  receive_all(65536, UV_BATCH_POLICY_DIRECT);
}

static int on_large_read(uv_batch_handler_t* self, uv_batch_event_t* event) {
  if (event->size > 100) return UV_E2BIG;
  event->size = (uint64_t)((uv_batch_read_t*)event)->nread;
  return on_read(self, event);
}

TEST(a_read_larger_than_the_queue_may_be_comes_alone) {
  uv_batch_options_t options;
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.max_queue_bytes = 100;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  open_stream();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, on_large_read), 0);
  CHECK_EQ(start(), 0);
  char data[10000] = {0};
  CHECK_EQ(write(peer, data, sizeof(data)), sizeof(data));
  run_until(&reads, 1);
  CHECK_EQ(write(peer, data, sizeof(data)), sizeof(data));
  run_until(&reads, 2);
  CHECK_EQ(received, 2 * sizeof(data));
  stop_reader();
  close_stream();
}

/* In place of the pipe, which has sent nothing. */
static void open_tcp(void) {
  struct sockaddr_in name;
  socklen_t size = sizeof(name);
  int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  uv_ip4_addr("127.0.0.1", 0, &name);
  CHECK_EQ(bind(listening, (struct sockaddr*)&name, sizeof(name)), 0);
  CHECK_EQ(listen(listening, 1), 0);
  CHECK_EQ(getsockname(listening, (struct sockaddr*)&name, &size), 0);
  uv_close((uv_handle_t*)&stream, NULL);
  run_turns(1);
  close(peer);
  peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK_EQ(connect(peer, (struct sockaddr*)&name, sizeof(name)), 0);
  CHECK_EQ(uv_tcp_init(&loop, &stream.tcp), 0);
  CHECK_EQ(uv_tcp_open(&stream.tcp, accept(listening, NULL, NULL)), 0);
  close(listening);
}

TEST(a_stream_with_large_reads_keeps_them_when_it_is_resumed) {
  sent_t sent = {5000000, 0};
  uv_thread_t thread;
  uv_largesocket_stats_t stats;
  open_queue(1, UV_BATCH_POLICY_ADAPTIVE);
  open_stream();
  open_tcp();
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, NULL), 0);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, on_read), 0);
  CHECK_EQ(start(), 0);
  CHECK_EQ(uv_thread_create(&thread, send_all, &sent), 0);
  while (received < sent.size) {
    CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
    if (uv_tcp_largesocket_stats(&stream.tcp, &stats) == 0) CHECK(stats.bytes >= received);
  }
  run_until(&ends, 1);
  CHECK_EQ(uv_thread_join(&thread), 0);
  CHECK_EQ(checksum, sent.checksum);
  stop_reader();
  uv_tcp_disable_largesocket(&stream.tcp);
  close_stream();
}

TEST(a_full_queue_stops_the_reading) {
  uv_batch_event_t other;
  open_reader(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  send_text("abc");
  run_turns(2);
  send_text("def");
  run_turns(5);
  CHECK_EQ(given_buffers, 1);
  CHECK(!uv_is_active((uv_handle_t*)&stream));
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK(uv_is_active((uv_handle_t*)&stream));
  while (received < 6) {
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_EQ(uv_batch_flush(&batch), 0);
  }
  CHECK_EQ(checksum, sum(0, "abcdef", 6));
  stop_reader();
  close_stream();
}

TEST(a_broken_connection_is_an_event) {
  open_reader(65536, UV_BATCH_POLICY_ADAPTIVE);
  uv_os_fd_t fd;
  CHECK_EQ(uv_fileno((uv_handle_t*)&stream, &fd), 0);
  CHECK_EQ(write(fd, "unread", 6), 6);
  close(peer);
  peer = -1;
  run_until(&ends, 1);
  CHECK_EQ(end_status, UV_ECONNRESET);
  stop_reader();
  close_stream();
}

TEST(data_that_came_before_the_end_is_handled_before_it) {
  open_reader(65536, UV_BATCH_POLICY_ADAPTIVE);
  send_text("last words");
  close(peer);
  peer = -1;
  run_until(&ends, 1);
  CHECK_EQ(end_status, UV_EOF);
  CHECK_EQ(checksum, sum(0, "last words", 10));
  stop_reader();
  close_stream();
}

TEST(without_a_buffer_nothing_is_read_and_it_is_an_event) {
  open_reader(65536, UV_BATCH_POLICY_ADAPTIVE);
  withhold = 3;
  send_text("abc");
  while (received < 3) CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
  CHECK_EQ(end_status, UV_ENOBUFS);
  CHECK_EQ(withhold, 0);
  CHECK_EQ(checksum, sum(0, "abc", 3));
  stop_reader();
  close_stream();
}

TEST(a_buffer_that_nothing_was_read_into_comes_back_at_once) {
  open_reader(65536, UV_BATCH_POLICY_FIXED);
  largest_buffer = 3;
  send_text("abcdef");
  while (given_buffers < 3) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(released, 1);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(reads, 2);
  CHECK_EQ(end_status, 0);
  stop_reader();
  close_stream();
}

static int stop_on_read(uv_batch_handler_t* self, uv_batch_event_t* event) {
  if (reads == 0) CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), 0);
  CHECK_EQ(stopped, 0);
  CHECK_EQ(released, 0);
  return on_read(self, event);
}

static void stop_in_handler(uv_batch_policy_t policy) {
  open_queue(65536, policy);
  open_stream();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, stop_on_read), 0);
  CHECK_EQ(start(), 0);
  send_text("abc");
  run_until(&stopped, 1);
  CHECK_EQ(reads, 1);
  send_text("def");
  run_turns(3);
  CHECK_EQ(reads, 1);
  CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), UV_EINVAL);
  close_stream();
}

TEST(stopped_by_a_handler_it_reads_no_more) {
  stop_in_handler(UV_BATCH_POLICY_ADAPTIVE);
}

TEST(stopped_by_a_direct_handler_it_reads_no_more) {
  stop_in_handler(UV_BATCH_POLICY_DIRECT);
}

TEST(a_kept_read_is_handled_after_the_stop) {
  uv_batch_event_t other;
  open_reader(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  send_text("abc");
  run_turns(2);
  CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), 0);
  run_turns(2);
  CHECK_EQ(stopped, 0);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(checksum, sum(0, "abc", 3));
  run_until(&stopped, 1);
  close_stream();
}

TEST(a_reader_can_be_started_again) {
  open_reader(65536, UV_BATCH_POLICY_ADAPTIVE);
  stop_reader();
  send_text("abc");
  run_turns(2);
  CHECK_EQ(reads, 0);
  CHECK_EQ(start(), 0);
  run_until(&reads, 1);
  stopped = 0;
  stop_reader();
  close_stream();
}

TEST(when_the_queue_closes_buffers_come_back_and_reading_stops) {
  uv_batch_event_t other;
  open_reader(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  send_text("abc");
  run_turns(2);
  CHECK_EQ(given_buffers - released, 1);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  CHECK_EQ(given_buffers, released);
  CHECK(!uv_is_active((uv_handle_t*)&stream));
  run_turns(3);
  CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), 0);
  uv_close((uv_handle_t*)&stream, NULL);
  close(peer);
  close_loop();
  CHECK_EQ(stopped, 1);
  CHECK_EQ(reads, 0);
}

TEST(what_comes_after_the_queue_is_over_is_not_read_on) {
  open_reader(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  run_turns(3);
  send_text("abc");
  run_turns(3);
  CHECK(!uv_is_active((uv_handle_t*)&stream));
  CHECK_EQ(given_buffers, released);
  CHECK_EQ(start(), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_read_stop(&reader, on_stopped), 0);
  uv_close((uv_handle_t*)&stream, NULL);
  close(peer);
  close_loop();
  CHECK_EQ(stopped, 1);
}

TEST(a_stream_closed_while_a_read_is_kept_is_left_alone) {
  uv_batch_event_t other;
  open_reader(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  send_text("abc");
  run_turns(2);
  uv_close((uv_handle_t*)&stream, NULL);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  CHECK_EQ(reads, 1);
  stop_reader();
  close(peer);
  close_queue();
  CHECK_EQ(given_buffers, released);
}

static char* taken;

static int take_buffer(uv_batch_handler_t* self, uv_batch_event_t* event) {
  uv_batch_read_t* read = (uv_batch_read_t*)event;
  on_read(self, event);
  taken = read->buf.base;
  read->buf.base = NULL;
  return 0;
}

TEST(a_handler_can_keep_the_buffer) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_stream();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, take_buffer), 0);
  CHECK_EQ(start(), 0);
  send_text("abc");
  run_until(&reads, 1);
  stop_reader();
  CHECK_EQ(memcmp(taken, "abc", 3), 0);
  CHECK_EQ(given_buffers - released, 1);
  free(taken);
  released++;
  close_stream();
}

TEST(bad_input_is_refused) {
  uv_batch_reader_t second = {0};
  uv_pipe_t unopened;
  uv_timer_t no_stream;
  uv_stream_t* good = (uv_stream_t*)&stream;
  open_reader(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_pipe_init(&loop, &unopened, 0), 0);
  CHECK_EQ(uv_timer_init(&loop, &no_stream), 0);
  CHECK_EQ(uv_batch_read_start(NULL, &second, good, allocate, release), UV_EINVAL);
  CHECK_EQ(uv_batch_read_start(&batch, NULL, good, allocate, release), UV_EINVAL);
  CHECK_EQ(uv_batch_read_start(&batch, &second, NULL, allocate, release), UV_EINVAL);
  CHECK_EQ(uv_batch_read_start(&batch, &second, good, NULL, release), UV_EINVAL);
  CHECK_EQ(uv_batch_read_start(&batch, &second, good, allocate, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_read_start(&batch, &second, good, allocate, release), UV_EBUSY);
  CHECK_EQ(start(), UV_EBUSY);
  CHECK_EQ(uv_batch_read_start(&batch, &second, (uv_stream_t*)&unopened, allocate, release), UV_ENOTCONN);
  CHECK_EQ(uv_batch_read_start(&batch, &second, (uv_stream_t*)&no_stream, allocate, release), UV_EINVAL);
  uv_close((uv_handle_t*)&unopened, NULL);
  uv_close((uv_handle_t*)&no_stream, NULL);
  CHECK_EQ(uv_batch_read_start(&batch, &second, (uv_stream_t*)&unopened, allocate, release), UV_EINVAL);
  CHECK_EQ(uv_batch_read_stop(NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_read_stop(&second, NULL), UV_EINVAL);
  stop_reader();
  close_stream();
}

static int refuse_memory;

static void* scarce_malloc(size_t size) {
  return refuse_memory ? NULL : malloc(size);
}

static void* scarce_calloc(size_t count, size_t size) {
  return refuse_memory ? NULL : calloc(count, size);
}

TEST(without_memory_it_reads_on_with_what_it_has) {
  CHECK_EQ(uv_batch_replace_allocator(scarce_malloc, realloc, scarce_calloc, free), 0);
  open_queue(65536, UV_BATCH_POLICY_FIXED);
  open_stream();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, on_read), 0);
  CHECK_EQ(start(), 0);
  largest_buffer = 3;
  refuse_memory = 1;
  send_text("abcdefghi");
  for (int i = 1; i <= 3; i++) {
    run_turns(3);
    CHECK_EQ(uv_batch_flush(&batch), 0);
    CHECK_EQ(reads, i);
  }
  refuse_memory = 0;
  CHECK_EQ(checksum, sum(0, "abcdefghi", 9));
  stop_reader();
  close_stream();
}

TEST(no_byte_is_lost_whichever_allocation_fails) {
  failing_allocator_install();
  for (long n = 0; n < 20; n++) {
    int status;
    open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
    open_stream();
    CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_STREAM, on_read), 0);
    failing_allocator_after(n);
    status = start();
    if (status != 0) {
      CHECK_EQ(status, UV_ENOMEM);
      CHECK_EQ(uv_batch_read_stop(&reader, NULL), UV_EINVAL);
      CHECK_EQ(start(), 0);
    }
    for (int i = 0; i < 10; i++) {
      send_text("abc");
      run_turns(1);
    }
    while (received < 30) CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
    failing_allocator_after(-1);
    stop_reader();
    close_stream();
    CHECK_EQ(failing_allocator_live(), 0);
  }
}

TEST_MAIN
