#include <signal.h>

#include "adapt_fixture.h"
#include "failing_allocator.h"

enum { most = 8 };

static uv_batch_process_t children[most];
static uv_batch_handler_t handler;
static uv_batch_event_t other;
static int exits, ended;

static int on_exit_event(uv_batch_handler_t* self, uv_batch_event_t* event) {
  uv_batch_process_t* child = event->data;
  (void)self;
  CHECK(child == (uv_batch_process_t*)event);
  CHECK(child->handle != NULL && child->pid > 0);
  exits++;
  return 0;
}

static void on_ended(uv_batch_process_t* child) {
  CHECK(child->handle == NULL);
  ended++;
}

static int spawn(uv_batch_process_t* child, const char* script) {
  char shell[] = "/bin/sh", c[] = "-c";
  char* args[] = {shell, c, (char*)(uintptr_t)script, NULL};
  uv_process_options_t options = {0};
  options.file = shell;
  options.args = args;
  return uv_batch_spawn(&batch, child, &options, on_ended);
}

static void open_children(uint32_t max_queue, uv_batch_policy_t policy) {
  exits = ended = 0;
  memset(children, 0, sizeof(children));
  memset(&handler, 0, sizeof(handler));
  open_queue(max_queue, policy);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_PROCESS, on_exit_event), 0);
}

TEST(an_exit_is_an_event_with_its_status) {
  char program[] = "/bin/true";
  char* args[] = {program, NULL};
  uv_process_options_t options = {0};
  options.file = program;
  options.args = args;
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_batch_spawn(&batch, &children[0], &options, on_ended), 0);
  CHECK_EQ(spawn(&children[1], "exit 3"), 0);
  CHECK_EQ(spawn(&children[2], "kill -9 $$"), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(exits, 3);
  CHECK_EQ(ended, 3);
  CHECK_EQ(children[0].exit_status, 0);
  CHECK_EQ(children[1].exit_status, 3);
  CHECK_EQ(children[2].term_signal, SIGKILL);
  close_queue();
}

TEST(direct_handlers_get_an_exit_as_well) {
  open_children(65536, UV_BATCH_POLICY_DIRECT);
  CHECK_EQ(spawn(&children[0], "exit 3"), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(exits, 1);
  CHECK_EQ(ended, 1);
  close_queue();
}

TEST(a_child_can_be_killed_by_its_handle) {
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(spawn(&children[0], "exec sleep 100"), 0);
  CHECK_EQ(uv_process_kill(children[0].handle, SIGTERM), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(children[0].term_signal, SIGTERM);
  CHECK_EQ(ended, 1);
  close_queue();
}

TEST(no_exit_is_lost_when_the_queue_has_room_for_one) {
  open_children(1, UV_BATCH_POLICY_ADAPTIVE);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  for (int i = 0; i < most; i++) CHECK_EQ(spawn(&children[i], "exit 3"), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(exits, most);
  CHECK_EQ(ended, most);
  close_queue();
}

TEST(an_exit_that_the_full_queue_refuses_is_kept) {
  open_children(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  CHECK_EQ(spawn(&children[0], "exit 3"), 0);
  while (children[0].event.status != UV_BATCH_STATUS_REFUSED) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(exits, 0);
  CHECK_EQ(uv_batch_flush(&batch), 0);
  run_until(&ended, 1);
  CHECK_EQ(exits, 1);
  close_queue();
}

TEST(a_program_that_is_not_there_fails_the_call_and_the_struct_is_free_at_once) {
  char program[] = "/there/is/no/such/program";
  char* args[] = {program, NULL};
  uv_process_options_t options = {0};
  options.file = program;
  options.args = args;
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  uv_batch_process_t* child = calloc(1, sizeof(*child));
  CHECK_EQ(uv_batch_spawn(&batch, child, &options, on_ended), UV_ENOENT);
  CHECK_EQ(uv_batch_spawn(&batch, child, &options, on_ended), UV_ENOENT);
  free(child);
  close_queue();
  CHECK_EQ(ended, 0);
}

TEST(the_struct_can_be_used_again) {
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  for (int i = 1; i <= 3; i++) {
    CHECK_EQ(spawn(&children[0], "exit 3"), 0);
    CHECK_EQ(spawn(&children[0], "exit 3"), UV_EBUSY);
    run_until(&ended, i);
  }
  CHECK_EQ(exits, 3);
  close_queue();
}

TEST(a_child_that_outlives_the_queue_still_ends_with_its_callback) {
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(spawn(&children[0], "exec sleep 100"), 0);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  run_turns(3);
  CHECK_EQ(spawn(&children[1], "exit 3"), UV_ESHUTDOWN);
  CHECK_EQ(uv_process_kill(children[0].handle, SIGKILL), 0);
  close_loop();
  CHECK_EQ(ended, 1);
  CHECK_EQ(exits, 0);
  CHECK_EQ(children[0].term_signal, SIGKILL);
}

static void free_queue(uv_batch_t* queue, const uv_batch_stats_t* stats) {
  (void)stats;
  free(queue);
}

TEST(a_child_can_outlive_the_memory_of_its_queue) {
  char program[] = "/bin/sleep", seconds[] = "100";
  char* args[] = {program, seconds, NULL};
  uv_process_options_t options = {0};
  uv_batch_t* queue = malloc(sizeof(*queue));
  options.file = program;
  options.args = args;
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_batch_init(&loop, queue, NULL), 0);
  CHECK_EQ(uv_batch_spawn(queue, &children[0], &options, on_ended), 0);
  CHECK_EQ(uv_batch_close(queue, 0, free_queue), 0);
  run_turns(3);
  CHECK_EQ(uv_process_kill(children[0].handle, SIGKILL), 0);
  run_until(&ended, 1);
  CHECK_EQ(exits, 0);
  close_queue();
}

TEST(a_kept_exit_ends_with_the_queue) {
  open_children(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  CHECK_EQ(spawn(&children[0], "exit 3"), 0);
  while (children[0].event.status != UV_BATCH_STATUS_REFUSED) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  close_loop();
  CHECK_EQ(ended, 1);
  CHECK_EQ(exits, 0);
}

TEST(bad_input_is_refused) {
  uv_process_options_t options = {0};
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_batch_spawn(&batch, &children[0], &options, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_spawn(&batch, &children[0], NULL, NULL), UV_EINVAL);
  options.file = "/bin/true";
  CHECK_EQ(uv_batch_spawn(NULL, &children[0], &options, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_spawn(&batch, NULL, &options, NULL), UV_EINVAL);
  options.stdio_count = 3;
  CHECK_EQ(uv_batch_spawn(&batch, &children[0], &options, NULL), UV_EINVAL);
  close_queue();
}

TEST(an_allocation_that_fails_is_reported_and_starts_no_child) {
  failing_allocator_install();
  open_children(65536, UV_BATCH_POLICY_ADAPTIVE);
  failing_allocator_after(0);
  CHECK_EQ(spawn(&children[0], "exit 3"), UV_ENOMEM);
  CHECK_EQ(spawn(&children[0], "exit 3"), 0);
  failing_allocator_after(0);
  uv_run(&loop, UV_RUN_DEFAULT);
  failing_allocator_after(-1);
  CHECK_EQ(exits, 1);
  CHECK_EQ(ended, 1);
  close_queue();
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST_MAIN
