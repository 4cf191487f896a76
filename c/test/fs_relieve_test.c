/* A file that hangs, and those in the same job. What is injected: the opening of one file waits until the test lets
 * it go. */
#include "fs_read_fixture.h"

static const char* stuck_path;
static uv_async_t stuck;
static uv_sem_t go_on;
static int handed_over, relieved;
static uv_batch_fs_cb callback = fs_note;
static long failed_allocation;

static int open_hanging(const char* path) {
  if (path == stuck_path) {
    uv_async_send(&stuck);
    uv_sem_wait(&go_on);
  }
  return fs_real.open_read(path);
}

static void relieve_here(uv_async_t* async) {
  /* It hangs when it has not moved from one call to the next. */
  handed_over = uv_batch_fs_relieve(&req);
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
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, count, &options, callback), 0);
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
    CHECK_EQ(handed_over, at);
    CHECK_EQ(relieved, 5 - at);
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
  CHECK_EQ(handed_over, 0);
  CHECK_EQ(relieved, 1);
  let_go(20);
}

/* Each file waits until it has been relieved once: all are slow, none hangs. */
static int open_slowly(const char* path) {
  uv_async_send(&stuck);
  uv_sem_wait(&go_on);
  return fs_real.open_read(path);
}

static void relieve_slow(uv_async_t* async) {
  /* A job for the rest would need memory. */
  failing_allocator_after(0);
  CHECK(uv_batch_fs_relieve(&req) >= 0);
  failing_allocator_after(-1);
  uv_sem_post(&go_on);
  if (++relieved == 20) uv_close((uv_handle_t*)async, NULL);
}

TEST(a_job_that_gets_on_is_not_split) {
  setup();
  make_files(20);
  relieved = 0;
  CHECK_EQ(uv_sem_init(&go_on, 0), 0);
  CHECK_EQ(uv_async_init(&fs_loop, &stuck, relieve_slow), 0);
  uvb__fs_calls.open_read = open_slowly;
  options.max_jobs = 1;
  start(20);
  fs_run();
  CHECK_EQ(relieved, 20);
  CHECK_EQ(tally.files, 20);
  for (size_t i = 0; i < 20; i++) check_file(i);
  uv_sem_destroy(&go_on);
  teardown(20);
}

static int is_inside;
static void run_inside(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count) {
  fs_note(request, first, count);
  if (is_inside++ > 0) return;
  uv_sem_post(&go_on);
  while (tally.files < 6) uv_run(&fs_loop, UV_RUN_ONCE);
}

TEST(a_callback_may_run_the_loop_to_the_end_of_the_request) {
  failed_allocation = -1;
  is_inside = 0;
  callback = run_inside;
  hang(6, 3, 256);
  fs_run();
  CHECK_EQ(is_inside > 1, 1);
  CHECK_EQ(tally.files, 6);
  for (size_t i = 0; i < 6; i++) check_file(i);
  callback = fs_note;
  uv_sem_destroy(&go_on);
  teardown(6);
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
