/* Fan-out where a filter of system calls forbids io_uring. Each test has a process of its own. */
#include "fanout.h"
#include "fanout_sockets.h"

#if UVB_FANOUT_HAS_RING
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static uv_batch_fanout_t fanout;
static pairs_t pairs;

static void forbid(unsigned int call, unsigned int error) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) return;
  printf("skipped: seccomp: %s\n", strerror(errno));
  fflush(stdout);
  _exit(77);
}

static void run_apart(void (*run)(void)) {
  int status;
  fflush(stdout);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run();
    exit(0);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  if (WEXITSTATUS(status) != 0) exit(WEXITSTATUS(status));
}

static void send_to_all(void) {
  uv_buf_t buf = buffer("hello");
  open_descriptors(&pairs, 50);
  CHECK_EQ(uv_batch_fanout_send(&fanout, &buf, 1, pairs.targets, 50), 50);
  for (int i = 0; i < 50; i++) check_received(pairs.readers[i], "hello");
  close_descriptors(&pairs);
  CHECK(strcmp(uv_batch_fanout_backend(&fanout), "send") == 0);
  uv_batch_fanout_close(&fanout);
}

static void without_permission(void) {
  int files = open_files();
  forbid(SYS_io_uring_setup, EPERM);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING), UV_EPERM);
  CHECK(uv_batch_fanout_backend(&fanout) == NULL);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
  send_to_all();
  CHECK_EQ(open_files(), files);
}

TEST(automatic_choice_sends_where_io_uring_is_not_permitted) {
  run_apart(without_permission);
}

static void without_the_call(void) {
  forbid(SYS_io_uring_setup, ENOSYS);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING), UV_ENOSYS);
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
  send_to_all();
}

TEST(automatic_choice_sends_where_there_is_no_io_uring) {
  run_apart(without_the_call);
}

static void without_the_opcodes(void) {
  int files = open_files();
  forbid(SYS_io_uring_register, EINVAL);
  int status = uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING);
  CHECK(status == UV_ENOSYS || status == UV_EPERM);
  CHECK_EQ(open_files(), files);
}

TEST(a_kernel_too_old_to_tell_what_it_can_is_refused) {
  run_apart(without_the_opcodes);
}

static void without_entering(void) {
  int files = open_files();
  forbid(SYS_io_uring_enter, EPERM);
  if (uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_IO_URING) != 0) return;
  send_to_all();
  CHECK_EQ(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO), 0);
  send_to_all();
  CHECK_EQ(open_files(), files);
}

TEST(a_ring_that_may_not_be_entered_falls_back_to_sends) {
  run_apart(without_entering);
}

TEST_MAIN
#else
int main(void) {
  printf("skipped: no io_uring in this build\n");
  return 77;
}
#endif
