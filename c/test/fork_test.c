/* After fork() parent and child go on side by side: with the fan-out that they share, and with a queue whose loop the
 * child has made its own by uv_loop_fork(). */
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "uv_batch.h"

enum { targets = 16, rounds = 2000, size = 64 };

static uv_batch_fanout_t fanout;

/* Every target gets this process's bytes, as many as its result says. */
static void send_rounds(char letter, int count) {
  int ends[targets][2];
  char message[size], received[4 * size];
  uv_batch_target_t list[targets];
  memset(message, letter, size);
  for (int i = 0; i < targets; i++) CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
  for (int round = 0; round < count; round++) {
    uv_buf_t buf = uv_buf_init(message, size);
    memset(list, 0, sizeof(list));
    for (int i = 0; i < targets; i++) list[i].fd = ends[i][0];
    CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, list, targets), targets);
    for (int i = 0; i < targets; i++) {
      CHECK_EQ(list[i].result, size);
      CHECK_EQ(recv(ends[i][1], received, sizeof(received), MSG_DONTWAIT), size);
      CHECK_EQ(memcmp(received, message, size), 0);
    }
  }
  for (int i = 0; i < targets; i++) close(ends[i][0]), close(ends[i][1]);
}

static void join(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

static void fork_with(unsigned int backend) {
  int status = uv_batch_fanout_init(&fanout, backend);
  if (status == UV_ENOSYS || status == UV_EPERM) {
    printf("skipped: io_uring: %s\n", uv_strerror(status));
    exit(77);
  }
  CHECK_EQ(status, 0);
  send_rounds('B', 10);
  const char* before = uv_batch_fanout_backend(&fanout);
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(strcmp(uv_batch_fanout_backend(&fanout), "io_uring") != 0);
    send_rounds('C', rounds);
    uv_batch_fanout_close(&fanout);
    /* It can have one of its own. */
    CHECK_EQ(uv_batch_fanout_init(&fanout, backend), 0);
    send_rounds('D', rounds);
    CHECK(strcmp(uv_batch_fanout_backend(&fanout), before) == 0);
    uv_batch_fanout_close(&fanout);
    _exit(0);
  }
  send_rounds('P', rounds);
  join(child);
  send_rounds('Q', rounds);
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), before) == 0);
  uv_batch_fanout_close(&fanout);
}

TEST(a_fan_out_by_plain_sends_works_in_parent_and_child) { fork_with(UV_BATCH_FANOUT_SEND); }
TEST(a_fan_out_by_io_uring_works_in_the_parent_and_sends_plainly_in_the_child) { fork_with(UV_BATCH_FANOUT_IO_URING); }

TEST(a_child_that_closes_the_fan_out_at_once_leaves_its_parents_alone) {
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    uv_batch_fanout_close(&fanout);
    _exit(0);
  }
  join(child);
  send_rounds('P', rounds);
  uv_batch_fanout_close(&fanout);
}

/* ---- a queue */

static uv_loop_t loop;
static uv_batch_t batch;
static uv_batch_handler_t network, async;
static uv_batch_event_t pushed[3], posted[3];
static int handled, closed;

static int count_event(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self, (void)event;
  handled++;
  return 0;
}

static int unref_at_the_last(uv_batch_handler_t* self, uv_batch_event_t* event) {
  if (event == &posted[2]) CHECK_EQ(uv_batch_unref(self->batch), 0);
  return count_event(self, event);
}

static void count_closed(uv_batch_t* from, const uv_batch_stats_t* last) {
  (void)from, (void)last;
  closed++;
}

static void post_one_by_one(void* data) {
  (void)data;
  for (int i = 0; i < 3; i++) {
    uv_batch_event_init(&posted[i], UV_BATCH_ASYNC, NULL);
    CHECK_EQ(uv_batch_post(&batch, &posted[i]), 0);
    uv_sleep(2);
  }
}

/* Events that were queued before the fork, and events that are pushed and posted after it. */
static void use_queue(void) {
  uv_thread_t thread;
  handled = closed = 0;
  for (int i = 1; i < 3; i++) {
    uv_batch_event_init(&pushed[i], UV_BATCH_NETWORK, NULL);
    CHECK_EQ(uv_batch_push(&batch, &pushed[i]), 0);
  }
  CHECK_EQ(uv_batch_ref(&batch), 0);
  CHECK_EQ(uv_thread_create(&thread, post_one_by_one, NULL), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_thread_join(&thread), 0);
  CHECK_EQ(handled, 6);
  CHECK_EQ(uv_batch_close(&batch, 0, count_closed), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(closed, 1);
  CHECK_EQ(uv_loop_close(&loop), 0);
}

TEST(a_queue_goes_on_in_parent_and_child) {
  for (int held = 0; held < 2; held++) {
    uv_batch_options_t options;
    uv_batch_options_init(&options);
    options.policy = held ? UV_BATCH_POLICY_FIXED : UV_BATCH_POLICY_ADAPTIVE;
    options.max_delay = held ? 20 : 0;
    CHECK_EQ(uv_loop_init(&loop), 0);
    CHECK_EQ(uv_batch_init(&loop, &batch, &options), 0);
    CHECK_EQ(uv_batch_on(&batch, &network, UV_BATCH_NETWORK, count_event), 0);
    CHECK_EQ(uv_batch_on(&batch, &async, UV_BATCH_ASYNC, unref_at_the_last), 0);
    uv_batch_event_init(&pushed[0], UV_BATCH_NETWORK, NULL);
    /* libuv starts a loop's signal pipe and epoll once it runs. */
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_EQ(uv_batch_push(&batch, &pushed[0]), 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      CHECK_EQ(uv_loop_fork(&loop), 0);
      use_queue();
      _exit(0);
    }
    use_queue();
    join(child);
  }
}

TEST_MAIN
