#include "fs_read_fixture.h"

TEST(few_files_are_shared_evenly) {
  static const struct {
    uint32_t max_jobs, max_files;
    size_t count, calls, most;
  } cases[] = {{2, 256, 10, 2, 5}, {2, 256, 7, 2, 4}, {64, 256, 3, 3, 1}, {1, 256, 10, 1, 10}, {2, 1, 5, 5, 1},
               {2, 4, 10, 3, 4}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    setup();
    options.max_jobs = cases[i].max_jobs;
    options.max_files = cases[i].max_files;
    make_files(cases[i].count);
    read_all(cases[i].count);
    CHECK_EQ(tally.calls, cases[i].calls);
    for (size_t share = 0; share < tally.calls; share++) {
      CHECK(tally.shares[share] == cases[i].most || tally.shares[share] + 1 == cases[i].most);
    }
    teardown(cases[i].count);
  }
}

static atomic_int inside, most_inside, opened;
static uv_sem_t second;

/* The first one waits for another: two jobs do run at a time. */
static int open_in_pairs(const char* path) {
  int now = atomic_fetch_add(&inside, 1) + 1;
  int most = atomic_load(&most_inside);
  while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) continue;
  switch (atomic_fetch_add(&opened, 1)) {
    case 0: uv_sem_wait(&second); break;
    case 1: uv_sem_post(&second); break;
    default: break;
  }
  return fs_real.open_read(path);
}

static int close_in_pairs(uv_file fd) {
  int status = fs_real.close(fd);
  atomic_fetch_sub(&inside, 1);
  return status;
}

TEST(no_more_than_max_jobs_run_at_a_time) {
  setup();
  CHECK_EQ(uv_sem_init(&second, 0), 0);
  uvb__fs_calls.open_read = open_in_pairs;
  uvb__fs_calls.close = close_in_pairs;
  atomic_store(&opened, 0);
  atomic_store(&most_inside, 0);
  options.max_files = 1;
  make_files(50);
  read_all(50);
  CHECK_EQ(atomic_load(&most_inside), 2);
  CHECK_EQ(atomic_load(&inside), 0);
  uv_sem_destroy(&second);
  teardown(50);
}

static atomic_int opens;
static int open_counting(const char* path) {
  atomic_fetch_add(&opens, 1);
  return fs_real.open_read(path);
}

TEST(cancelled_before_it_begins_nothing_is_opened) {
  setup();
  atomic_store(&opens, 0);
  uvb__fs_calls.open_read = open_counting;
  options.max_files = 10;
  make_files(100);
  fs_hold_pool();
  start(100);
  CHECK_EQ(uv_batch_fs_cancel(&req), 0);
  CHECK_EQ(uv_batch_fs_cancel(&req), UV_EALREADY);
  CHECK_EQ(tally.calls, 0);
  /* It comes back although no thread is free. */
  while (tally.files < 100) uv_run(&fs_loop, UV_RUN_ONCE);
  fs_release_pool();
  fs_run();
  CHECK_EQ(tally.files, 100);
  CHECK_EQ(atomic_load(&opens), 0);
  for (size_t i = 0; i < 100; i++) CHECK_EQ(files[i].result, UV_ECANCELED);
  CHECK_EQ(uv_batch_fs_cancel(&req), UV_EALREADY);
  teardown(0);
}

TEST(cancelled_at_once_each_file_is_read_or_cancelled) {
  size_t cancelled = 0;
  setup();
  atomic_store(&opens, 0);
  uvb__fs_calls.open_read = open_counting;
  make_files(1000);
  start(1000);
  int status = uv_batch_fs_cancel(&req);
  fs_run();
  CHECK_EQ(tally.files, 1000);
  for (size_t i = 0; i < 1000; i++) {
    if (files[i].result == UV_ECANCELED) {
      cancelled++;
    } else {
      check_file(i);
    }
  }
  CHECK_EQ(status, cancelled > 0 ? 0 : UV_EALREADY);
  CHECK_EQ(cancelled + (size_t)atomic_load(&opens), 1000);
  teardown(1000);
}

/* The open of one file waits until the loop has called cancel. */
static int stop_at;
static int cancel_status;
static uv_async_t reached;
static uv_sem_t cancelled_now;

static int open_stopping(const char* path) {
  if (atomic_fetch_add(&opens, 1) == stop_at) {
    uv_async_send(&reached);
    uv_sem_wait(&cancelled_now);
  }
  return fs_real.open_read(path);
}

static void cancel_here(uv_async_t* async) {
  cancel_status = uv_batch_fs_cancel(&req);
  uv_sem_post(&cancelled_now);
  uv_close((uv_handle_t*)async, NULL);
}

static void cancel_at(int at) {
  setup();
  stop_at = at;
  cancel_status = 1;
  atomic_store(&opens, 0);
  CHECK_EQ(uv_sem_init(&cancelled_now, 0), 0);
  CHECK_EQ(uv_async_init(&fs_loop, &reached, cancel_here), 0);
  uvb__fs_calls.open_read = open_stopping;
  options.max_jobs = 1;
  options.max_files = 4;
  make_files(10);
  read_all(10);
  uv_sem_destroy(&cancelled_now);
}

TEST(cancelled_in_a_job_what_has_begun_is_finished) {
  cancel_at(2);
  CHECK_EQ(cancel_status, 0);
  for (size_t i = 0; i < 3; i++) check_file(i);
  for (size_t i = 3; i < 10; i++) CHECK_EQ(files[i].result, UV_ECANCELED);
  teardown(10);
}

TEST(cancelled_in_the_last_file_of_a_job_the_other_jobs_are_left) {
  cancel_at(3);
  CHECK_EQ(cancel_status, 0);
  for (size_t i = 0; i < 4; i++) check_file(i);
  for (size_t i = 4; i < 10; i++) CHECK_EQ(files[i].result, UV_ECANCELED);
  teardown(10);
}

TEST(cancelled_in_its_last_file_nothing_was_left) {
  cancel_at(9);
  CHECK_EQ(cancel_status, UV_EALREADY);
  for (size_t i = 0; i < 10; i++) check_file(i);
  teardown(10);
}

static void cancel_in_callback(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count) {
  fs_note(request, first, count);
  int status = uv_batch_fs_cancel(request);
  CHECK(status == 0 || status == UV_EALREADY);
  CHECK(tally.calls == 1 || status == UV_EALREADY);
}

TEST(a_callback_may_cancel) {
  setup();
  options.max_files = 1;
  make_files(50);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, 50, &options, cancel_in_callback), 0);
  fs_run();
  CHECK_EQ(tally.files, 50);
  /* The first callback was for one of the two jobs that were under way. */
  check_file(files[0].result == UV_ECANCELED ? 1 : 0);
  CHECK_EQ(files[49].result, UV_ECANCELED);
  teardown(50);
}

static void free_at_the_end(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count) {
  (void)first;
  tally.files += count;
  if (request->pending == 0) free(request);
}

TEST(the_last_callback_may_free_the_request) {
  setup();
  uv_batch_fs_t* request = calloc(1, sizeof(*request));
  options.max_files = 2;
  make_files(9);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, request, files, 9, &options, free_at_the_end), 0);
  fs_run();
  CHECK_EQ(tally.files, 9);
  teardown(9);
}

static size_t rounds;
static void start_again(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count) {
  fs_note(request, first, count);
  int status = 0;
  if (request->pending > 0) {
    status = uv_batch_fs_read(&fs_loop, request, files, 10, &options, start_again);
    CHECK_EQ(status, UV_EBUSY);
  } else if (++rounds < 3) {
    for (size_t i = 0; i < 10; i++) {
      check_file(i);
      uv_batch_free(files[i].buf.base);
      files[i].buf.base = NULL;
    }
    memset(&tally, 0, sizeof(tally));
    CHECK_EQ(uv_batch_fs_read(&fs_loop, request, files, 10, NULL, start_again), 0);
  }
}

TEST(the_last_callback_may_use_the_request_again) {
  setup();
  rounds = 0;
  make_files(10);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, 10, &options, start_again), 0);
  fs_run();
  CHECK_EQ(rounds, 3);
  CHECK_EQ(tally.files, 10);
  teardown(10);
}

TEST(a_request_that_is_active_is_busy) {
  uv_batch_file_t other[1];
  setup();
  memset(other, 0, sizeof(other));
  other[0].path = "/dev/null";
  make_files(10);
  start(10);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, other, 1, &options, fs_note), UV_EBUSY);
  CHECK_EQ(uv_batch_fs_append(&fs_loop, &req, other, 1, &options, fs_note), UV_EBUSY);
  fs_run();
  CHECK_EQ(tally.files, 10);
  for (size_t i = 0; i < 10; i++) check_file(i);
  teardown(10);
}

TEST(two_requests_do_not_know_each_other) {
  uv_batch_fs_t second_req;
  fs_tally_t second_tally;
  setup();
  memset(&second_req, 0, sizeof(second_req));
  memset(&second_tally, 0, sizeof(second_tally));
  second_req.data = &second_tally;
  options.max_files = 5;
  make_files(200);
  fs_hold_pool();
  start(100);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &second_req, files + 100, 100, &options, fs_note), 0);
  CHECK_EQ(uv_batch_fs_cancel(&req), 0);
  fs_release_pool();
  fs_run();
  CHECK_EQ(tally.files, 100);
  CHECK_EQ(second_tally.files, 100);
  for (size_t i = 0; i < 100; i++) CHECK_EQ(files[i].result, UV_ECANCELED);
  for (size_t i = 100; i < 200; i++) check_file(i);
  teardown(200);
}

TEST(what_is_not_allowed_is_refused) {
  setup();
  make_files(1);
  CHECK_EQ(uv_batch_fs_read(NULL, &req, files, 1, &options, fs_note), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, NULL, files, 1, &options, fs_note), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, NULL, 1, &options, fs_note), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, 0, &options, fs_note), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, 1, &options, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_cancel(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_cancel(&req), UV_EALREADY);
  uv_batch_fs_options_init(NULL);
  for (int i = 0; i < 9; i++) {
    uv_batch_fs_options_init(&options);
    switch (i) {
      case 0: options.flags = 8; break;
      case 1: options.max_jobs = 0; break;
      case 2: options.max_jobs = 65; break;
      case 3: options.max_files = 0; break;
      case 4: options.max_files = 65537; break;
      case 5: options.max_file_size = 0; break;
      case 6: options.max_file_size = (uint64_t)1 << 31; break;
      case 7: options.mode = -1; break;
      default: options.mode = 010000; break;
    }
    CHECK_EQ(uv_batch_fs_read(&fs_loop, &req, files, 1, &options, fs_note), UV_EINVAL);
    CHECK_EQ(uv_batch_fs_append(&fs_loop, &req, files, 1, &options, fs_note), UV_EINVAL);
  }
  fs_run();
  CHECK_EQ(tally.calls, 0);
  /* The ends of what is allowed. */
  uv_batch_fs_options_init(&options);
  options.max_jobs = 64;
  options.max_files = 65536;
  options.max_file_size = INT32_MAX;
  read_all(1);
  check_file(0);
  teardown(1);
}

TEST_MAIN
