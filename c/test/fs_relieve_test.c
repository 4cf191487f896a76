/* A file that hangs, and those in the same job. What is injected: the opening of one file waits until the test lets
 * it go. */
#include "fs_read_fixture.h"

static const char* stuck_path;
static uv_async_t stuck;
static uv_sem_t go_on;
static int relieved;
static long failed_allocation;

static int open_hanging(const char* path) {
  if (path == stuck_path) {
    uv_async_send(&stuck);
    uv_sem_wait(&go_on);
  }
  return fs_real.open_read(path);
}

static void relieve_here(uv_async_t* async) {
  failing_allocator_after(failed_allocation);
  relieved = uv_batch_fs_relieve(&req);
  failing_allocator_after(-1);
  uv_close((uv_handle_t*)async, NULL);
}

/* Reads `count` files in one job of which one hangs, and relieves it once it does. */
static void hang(size_t count, size_t at, uint32_t max_files) {
  setup();
  make_files(count);
  stuck_path = files[at].path;
  relieved = 1000;
  CHECK_EQ(uv_sem_init(&go_on, 0), 0);
  CHECK_EQ(uv_async_init(&fs_loop, &stuck, relieve_here), 0);
  uvb__fs_calls.open_read = open_hanging;
  options.max_jobs = 1;
  options.max_files = max_files;
  start(count);
}

static void let_go(size_t count) {
  uv_sem_post(&go_on);
  fs_run();
  CHECK_EQ(tally.files, count);
  for (size_t i = 0; i < count; i++) check_file(i);
  uv_sem_destroy(&go_on);
  teardown(count);
}

TEST(files_before_and_behind_the_one_that_hangs_come) {
  for (size_t at = 0; at < 6; at++) {
    failed_allocation = -1;
    hang(6, at, 256);
    while (tally.files < 5) uv_run(&fs_loop, UV_RUN_ONCE);
    CHECK_EQ(relieved, 5);
    CHECK_EQ(tally.seen[at], 0);
    CHECK_EQ(req.pending, 1);
    CHECK_EQ(uv_batch_fs_relieve(&req), 0);
    let_go(6);
  }
}

TEST(files_that_are_in_no_job_yet_come_too) {
  failed_allocation = -1;
  hang(20, 0, 1);
  while (tally.files < 19) uv_run(&fs_loop, UV_RUN_ONCE);
  CHECK_EQ(relieved, 1);
  let_go(20);
}

TEST(without_memory_what_was_done_is_handed_over_and_the_rest_waits) {
  failed_allocation = 0;
  hang(6, 2, 256);
  while (tally.files < 2) uv_run(&fs_loop, UV_RUN_ONCE);
  CHECK_EQ(relieved, UV_ENOMEM);
  CHECK_EQ(tally.files, 2);
  CHECK_EQ(uv_batch_fs_relieve(&req), 3);
  while (tally.files < 5) uv_run(&fs_loop, UV_RUN_ONCE);
  let_go(6);
}

TEST(cancelled_after_it_was_relieved) {
  failed_allocation = -1;
  hang(6, 2, 256);
  while (relieved == 1000) uv_run(&fs_loop, UV_RUN_ONCE);
  (void)uv_batch_fs_cancel(&req);
  while (tally.files < 5) uv_run(&fs_loop, UV_RUN_ONCE);
  uv_sem_post(&go_on);
  fs_run();
  CHECK_EQ(tally.files, 6);
  for (size_t i = 0; i < 3; i++) check_file(i);
  for (size_t i = 3; i < 6; i++) {
    if (files[i].result != UV_ECANCELED) check_file(i);
  }
  uv_sem_destroy(&go_on);
  teardown(6);
}

TEST(cancelled_when_what_was_moved_is_read) {
  failed_allocation = -1;
  hang(6, 2, 256);
  while (tally.files < 5) uv_run(&fs_loop, UV_RUN_ONCE);
  CHECK_EQ(uv_batch_fs_cancel(&req), UV_EALREADY);
  let_go(6);
}

static void relieve_often(uv_idle_t* idle) {
  if (req.pending == 0) {
    uv_close((uv_handle_t*)idle, NULL);
    return;
  }
  CHECK(uv_batch_fs_relieve(&req) >= 0);
}

TEST(relieved_all_the_time_each_file_comes_once) {
  for (int round = 0; round < 5; round++) {
    uv_idle_t idle;
    setup();
    make_files(100);
    CHECK_EQ(uv_idle_init(&fs_loop, &idle), 0);
    CHECK_EQ(uv_idle_start(&idle, relieve_often), 0);
    read_all(100);
    for (size_t i = 0; i < 100; i++) check_file(i);
    teardown(100);
  }
}

TEST(what_cannot_be_relieved) {
  setup();
  CHECK_EQ(uv_batch_fs_relieve(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_relieve(&req), 0);
  files[0].path = fs_path("log", 0);
  files[0].buf = uv_buf_init((char*)"x", 1);
  CHECK_EQ(uv_batch_fs_append(&fs_loop, &req, files, 1, &options, fs_note), 0);
  CHECK_EQ(uv_batch_fs_relieve(&req), UV_EINVAL);
  fs_run();
  CHECK_EQ(files[0].result, 1);
  fs_teardown();
}

TEST_MAIN
