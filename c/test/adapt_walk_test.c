/* A program that closes each handle that uv_walk() finds closes those of the adapters, too. Their events end, whatever
 * is due is given back, and a stop still works: before the walk, after it, and when the loop has ended. */
#include <signal.h>
#include <unistd.h>

#include "adapt_fixture.h"
#include "failing_allocator.h"

enum { before, after, at_the_end, never };

static int stopped, dropped, released, over;
static uv_stream_t* clients[4];
static int client_count;

static void close_one(uv_handle_t* handle, void* data) {
  (void)data;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_all(void) {
  uv_walk(&loop, close_one, NULL);
}

static int walks;

static int walk_in_handler(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self, (void)event;
  if (walks) close_all();
  return 0;
}

static void open_all(void) {
  failing_allocator_install();
  failing_allocator_after(-1);
  CHECK_EQ(failing_allocator_live(), 0);
  stopped = dropped = released = over = client_count = walks = 0;
  memset(&batch, 0, sizeof(batch));
  open_queue(65536, UV_BATCH_POLICY_FIXED);
}

/* Everything has ended by itself, and nothing is left. */
static void check_all_gone(void) {
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(&loop), 0);
  int status = uv_batch_close(&batch, 0, NULL);
  CHECK(status == 0 || status == UV_EALREADY);
  CHECK_EQ(failing_allocator_live(), 0);
}

/* ---- signals and timers */

static uv_batch_signal_t usr1;
static uv_batch_timer_t ticks;

static void on_signal_stopped(uv_batch_signal_t* which) {
  CHECK(which == &usr1);
  stopped++;
}

static void on_timer_stopped(uv_batch_timer_t* which) {
  CHECK(which == &ticks);
  stopped++;
}

static void stop_both(void) {
  CHECK_EQ(uv_batch_signal_stop(&usr1, on_signal_stopped), 0);
  CHECK_EQ(uv_batch_timer_stop(&ticks, on_timer_stopped), 0);
  CHECK_EQ(stopped, 0);
}

TEST(a_signal_and_a_timer_can_be_stopped_whenever_they_were_closed) {
  for (int when = before; when <= at_the_end; when++) {
    for (int with_events = 0; with_events < 2; with_events++) {
      open_all();
      memset(&usr1, 0, sizeof(usr1));
      memset(&ticks, 0, sizeof(ticks));
      CHECK_EQ(uv_batch_signal_start(&batch, &usr1, SIGUSR1), 0);
      CHECK_EQ(uv_batch_timer_start(&batch, &ticks, 1, 0), 0);
      usr1.event.type = UV_BATCH_NETWORK;
      if (with_events) {
        kill(getpid(), SIGUSR1);
        while (usr1.count == 0 || ticks.count == 0) uv_run(&loop, UV_RUN_ONCE);
      }
      if (when == before) stop_both();
      close_all();
      if (when == after) stop_both();
      CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
      if (when == at_the_end) stop_both();
      CHECK_EQ(uv_batch_timer_start(&batch, &ticks, 1, 0), UV_ESHUTDOWN);
      check_all_gone();
      CHECK_EQ(stopped, 2);
    }
  }
}

/* ---- listeners and readers */

static uv_tcp_t server, outgoing, accepted;
static uv_batch_listener_t listener;
static uv_batch_reader_t reader;
static uv_connect_t connect_request;
static char space[64];

static uv_stream_t* give_client(uv_batch_listener_t* self) {
  (void)self;
  CHECK_EQ(uv_tcp_init(&loop, &accepted), 0);
  clients[client_count++] = (uv_stream_t*)&accepted;
  return (uv_stream_t*)&accepted;
}

static void drop_client(uv_batch_listener_t* self, uv_stream_t* client, int status) {
  (void)self;
  CHECK(status < 0);
  dropped++;
  if (!uv_is_closing((uv_handle_t*)client)) uv_close((uv_handle_t*)client, NULL);
}

static void on_listener_stopped(uv_batch_listener_t* self) {
  CHECK(self == &listener);
  stopped++;
}

static void on_connected(uv_connect_t* request, int status) {
  (void)request;
  CHECK(status == 0 || status == UV_ECANCELED);
}

static void listen_and_connect(void) {
  struct sockaddr_in address;
  int size = sizeof(address);
  CHECK_EQ(uv_ip4_addr("127.0.0.1", 0, &address), 0);
  CHECK_EQ(uv_tcp_init(&loop, &server), 0);
  CHECK_EQ(uv_tcp_bind(&server, (const struct sockaddr*)&address, 0), 0);
  memset(&listener, 0, sizeof(listener));
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 16, give_client, drop_client), 0);
  CHECK_EQ(uv_tcp_getsockname(&server, (struct sockaddr*)&address, &size), 0);
  CHECK_EQ(uv_tcp_init(&loop, &outgoing), 0);
  CHECK_EQ(uv_tcp_connect(&connect_request, &outgoing, (const struct sockaddr*)&address, on_connected), 0);
}

TEST(a_listener_gives_its_connections_back_and_can_be_stopped_whenever) {
  for (int when = before; when <= at_the_end; when++) {
    open_all();
    listen_and_connect();
    run_until(&client_count, 1);
    if (when == before) CHECK_EQ(uv_batch_listen_stop(&listener, on_listener_stopped), 0);
    close_all();
    if (when == after) CHECK_EQ(uv_batch_listen_stop(&listener, on_listener_stopped), 0);
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    CHECK_EQ(dropped, 1);
    if (when == at_the_end) CHECK_EQ(uv_batch_listen_stop(&listener, on_listener_stopped), 0);
    check_all_gone();
    CHECK_EQ(stopped, 1);
  }
}

static void give_space(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void)handle, (void)size;
  *buf = uv_buf_init(space, sizeof(space));
  over++;
}

static void take_space(uv_batch_reader_t* self, const uv_buf_t* buf) {
  (void)self, (void)buf;
  released++;
}

static void on_reader_stopped(uv_batch_reader_t* self) {
  CHECK(self == &reader);
  stopped++;
}

TEST(a_reader_gives_its_buffers_back_and_can_be_stopped_whenever) {
  uv_file ends[2];
  uv_pipe_t pipe;
  for (int when = before; when <= at_the_end; when++) {
    open_all();
    CHECK_EQ(uv_pipe(ends, UV_NONBLOCK_PIPE, 0), 0);
    CHECK_EQ(uv_pipe_init(&loop, &pipe, 0), 0);
    CHECK_EQ(uv_pipe_open(&pipe, ends[0]), 0);
    memset(&reader, 0, sizeof(reader));
    CHECK_EQ(uv_batch_read_start(&batch, &reader, (uv_stream_t*)&pipe, give_space, take_space), 0);
    CHECK_EQ(write(ends[1], "hello", 5), 5);
    uv_batch_stats_t stats;
    do {
      uv_run(&loop, UV_RUN_ONCE);
      CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
    } while (stats.queued == 0);
    if (when == before) CHECK_EQ(uv_batch_read_stop(&reader, on_reader_stopped), 0);
    close_all();
    if (when == after) CHECK_EQ(uv_batch_read_stop(&reader, on_reader_stopped), 0);
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    CHECK_EQ(released, over);
    if (when == at_the_end) CHECK_EQ(uv_batch_read_stop(&reader, on_reader_stopped), 0);
    check_all_gone();
    CHECK_EQ(stopped, 1);
    close(ends[1]);
  }
}

/* ---- work and processes */

static uv_batch_work_t work;
static uv_batch_process_t child;
static uv_batch_handler_t handler;

static void do_work(uv_batch_work_t* self) {
  (void)self;
}

static void on_work_over(uv_batch_work_t* self) {
  CHECK(self == &work);
  stopped++;
}

static void on_child_over(uv_batch_process_t* self) {
  CHECK(self == &child);
  CHECK(self->handle == NULL);
  stopped++;
}

TEST(work_is_over_when_it_has_run) {
  for (int queued = 0; queued < 2; queued++) {
    open_all();
    memset(&work, 0, sizeof(work));
    CHECK_EQ(uv_batch_queue_work(&batch, &work, do_work, on_work_over), 0);
    uv_batch_stats_t stats = {0};
    while (queued && stats.queued == 0) {
      uv_run(&loop, UV_RUN_ONCE);
      CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
    }
    close_all();
    check_all_gone();
    CHECK_EQ(stopped, 1);
  }
}

static void spawn(const char* what) {
  char* args[] = {"/bin/sh", "-c", (char*)(uintptr_t)what, NULL};
  uv_process_options_t how = {.file = args[0], .args = args};
  memset(&child, 0, sizeof(child));
  CHECK_EQ(uv_batch_spawn(&batch, &child, &how, on_child_over), 0);
}

TEST(a_child_whose_exit_is_queued_is_over) {
  open_all();
  spawn("exit 0");
  /* Not of an urgent type, so that it is held. */
  child.event.type = UV_BATCH_NETWORK;
  uv_batch_stats_t stats = {0};
  while (stats.queued == 0) {
    uv_run(&loop, UV_RUN_ONCE);
    CHECK_EQ(uv_batch_stats(&batch, &stats), 0);
  }
  close_all();
  check_all_gone();
  CHECK_EQ(stopped, 1);
}

TEST(a_handler_that_walks_ends_its_own_adapter) {
  open_all();
  memset(&handler, 0, sizeof(handler));
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_PROCESS, walk_in_handler), 0);
  walks = 1;
  spawn("exit 0");
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  check_all_gone();
  CHECK_EQ(stopped, 1);
}

/* ---- large sockets */

static void ignore_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void)stream, (void)nread, (void)buf;
}

TEST(a_large_socket_can_be_disabled_after_it_was_closed) {
  for (int when = after; when <= at_the_end; when++) {
    open_all();
    listen_and_connect();
    run_until(&client_count, 1);
    CHECK_EQ(uv_tcp_enable_largesocket(&outgoing, NULL), 0);
    CHECK_EQ(uv_tcp_largesocket_read_start(&outgoing, give_space, ignore_read), 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    close_all();
    if (when == after) CHECK_EQ(uv_tcp_disable_largesocket(&outgoing), 0);
    CHECK_EQ(uv_batch_listen_stop(&listener, on_listener_stopped), 0);
    CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    if (when == at_the_end) CHECK_EQ(uv_tcp_disable_largesocket(&outgoing), 0);
    check_all_gone();
  }
}

TEST_MAIN
