/* Reads from the page cache. The system's answers are put in its place where a test needs a certain one: what a
 * kernel or a file system can differs, and what is in memory is not ours to say. */
#include "fs.h"
#include "fs_read_fixture.h"

static int opens, reads;
static int open_answer;
static ssize_t read_answer;

static int open_plain(const char* path) {
  opens++;
  return open_answer < 0 ? open_answer : fs_real.open_read(path);
}

static ssize_t read_plain(uv_file fd, char* base, size_t len) {
  reads++;
  if (read_answer < 0) return read_answer;
  ssize_t n = fs_real.read(fd, base, len, 0);
  return read_answer > 0 && n > read_answer ? read_answer : n;
}

/* As if everything were in memory. */
static void begin(size_t count) {
  setup();
  uvb__fs_cached_reset();
  uvb__fs_calls.open_cached = open_plain;
  uvb__fs_calls.read_cached = read_plain;
  opens = reads = 0;
  open_answer = 0;
  read_answer = 0;
  make_files(count);
}

static void end(size_t count) {
  uvb__fs_cached_reset();
  teardown(count);
}

TEST(what_is_in_memory_is_read_at_once) {
  begin(16);
  CHECK_EQ(uv_batch_fs_read_cached(files, 16, NULL), 16);
  for (size_t i = 0; i < 16; i++) check_file(i);
  end(16);
}

TEST(the_system_answers_or_says_not_now) {
  setup();
  uvb__fs_cached_reset();
  make_files(8);
  int results = uv_batch_fs_read_cached(files, 8, NULL);
  CHECK(results >= 0 && results <= 8);
  for (size_t i = 0; i < 8; i++) {
    if (files[i].result == UV_EAGAIN) {
      CHECK(files[i].buf.base == NULL);
    } else {
      check_file(i);
    }
  }
  end(8);
}

TEST(a_missing_file_is_certain_and_has_its_system_call) {
  begin(1);
  files[1].path = fs_path("none", 0);
  CHECK_EQ(uv_batch_fs_read_cached(files, 2, &options), 2);
  CHECK_EQ(files[1].result, UV_ENOENT);
  CHECK(strcmp(files[1].syscall, "open") == 0);
  CHECK(files[0].syscall == NULL);
  end(1);
}

TEST(other_errors_are_left_to_a_job) {
  static const int errors[] = {UV_EACCES, UV_EPERM, UV_EMFILE, UV_EXDEV, UV_EINVAL, UV_ENOTSUP, UV_EAGAIN};
  for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
    begin(1);
    open_answer = errors[i];
    CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 0);
    CHECK_EQ(files[0].result, UV_EAGAIN);
    /* Only then it is not in memory; else the system cannot tell. */
    CHECK_EQ(files[0].syscall != NULL, errors[i] == UV_EAGAIN);
    end(0);
    begin(1);
    read_answer = errors[i];
    CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 0);
    CHECK_EQ(files[0].result, UV_EAGAIN);
    CHECK_EQ(files[0].syscall != NULL, errors[i] == UV_EAGAIN);
    CHECK(files[0].buf.base == NULL);
    end(0);
  }
}

TEST(a_file_that_is_partly_in_memory_is_left_to_a_job) {
  begin(1);
  read_answer = 3;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 0);
  CHECK_EQ(files[0].result, UV_EAGAIN);
  CHECK(strcmp(files[0].syscall, "read") == 0);
  CHECK(files[0].buf.base == NULL);
  end(0);
}

static ssize_t read_grown(uv_file fd, char* base, size_t len) {
  (void)fd;
  memset(base, 'x', len);
  return (ssize_t)len;
}

TEST(a_file_that_has_grown_is_left_to_a_job) {
  begin(1);
  uvb__fs_calls.read_cached = read_grown;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 0);
  CHECK_EQ(files[0].result, UV_EAGAIN);
  end(0);
}

TEST(what_is_no_regular_file_or_empty_is_left_to_a_job) {
  begin(0);
  files[0].path = "/dev/null";
  files[1].path = fs_dir;
  files[2].path = fs_path("empty", 0);
  fs_put(files[2].path, "", 0);
  CHECK_EQ(uv_batch_fs_read_cached(files, 3, NULL), 0);
  for (size_t i = 0; i < 3; i++) CHECK_EQ(files[i].result, UV_EAGAIN);
  CHECK_EQ(reads, 0);
  end(0);
}

TEST(a_fifo_is_kept_open_only_when_asked_for) {
  begin(0);
  files[0].path = fs_path("fifo", 0);
  CHECK(mkfifo(files[0].path, 0600) == 0);
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, &options), 1);
  CHECK_EQ(files[0].result, UV_ESPIPE);
  CHECK_EQ(fs_count_descriptors(), fs_descriptors);
  options.flags = UV_BATCH_FS_KEEP_FIFO;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, &options), 1);
  CHECK_EQ(files[0].result, UV_ESPIPE);
  CHECK_EQ(close(files[0].fd), 0);
  /* The same in a job. */
  read_all(1);
  CHECK_EQ(files[0].result, UV_ESPIPE);
  CHECK_EQ(close(files[0].fd), 0);
  end(0);
}

TEST(an_append_to_a_fifo_is_refused_and_keeps_it_open) {
  begin(0);
  files[0].path = files[1].path = fs_path("fifo", 0);
  CHECK(mkfifo(files[0].path, 0600) == 0);
  int reader = open(files[0].path, O_RDONLY | O_NONBLOCK);
  for (size_t i = 0; i < 2; i++) files[i].buf = uv_buf_init((char*)"x", 1);
  options.flags = UV_BATCH_FS_KEEP_FIFO;
  CHECK_EQ(uv_batch_fs_append(&fs_loop, &req, files, 2, &options, fs_note), 0);
  fs_run();
  for (size_t i = 0; i < 2; i++) {
    CHECK_EQ(files[i].result, UV_ESPIPE);
    CHECK(strcmp(files[i].syscall, "open") == 0);
  }
  char byte;
  /* Nothing was written, and a writer is there. */
  CHECK_EQ(read(reader, &byte, 1), -1);
  CHECK_EQ(errno, EAGAIN);
  CHECK_EQ(close(files[0].fd), 0);
  close(reader);
  end(0);
}

#if defined(__linux__)
/* Such as sysfs, whose folder can be opened until one of its files has been read. */
TEST(a_file_system_that_cannot_tell_is_left_alone) {
  setup();
  uvb__fs_cached_reset();
  make_files(1);
  int before = uvb__fs_open_cached("/sys");
  int fd = open("/sys/kernel/uevent_seqnum", O_RDONLY);
  if (before >= 0 && fd >= 0) {
    char byte;
    close(before);
    CHECK_EQ(uvb__fs_read_cached(fd, &byte, 1), UV_ENOTSUP);
    close(fd);
    CHECK_EQ(uvb__fs_open_cached("/sys"), UV_ENOTSUP);
    fd = uvb__fs_open_cached(files[0].path);
    CHECK(fd >= 0);
    close(fd);
  }
  end(0);
}
#endif

TEST(bytes_beyond_the_budget_are_left) {
  begin(5);
  options.max_cached = 12;
  CHECK_EQ(uv_batch_fs_read_cached(files, 5, &options), 2);
  for (size_t i = 0; i < 2; i++) check_file(i);
  for (size_t i = 2; i < 5; i++) CHECK_EQ(files[i].result, UV_EAGAIN);
  CHECK_EQ(reads, 2);
  end(2);
}

TEST(a_buffer_of_the_caller_bounds_the_read_of_what_is_in_memory) {
  char buffers[2][100] = {{0}};
  begin(2);
  files[0].buf = uv_buf_init(buffers[0], 3);
  files[1].buf = uv_buf_init(buffers[1], 100);
  CHECK_EQ(uv_batch_fs_read_cached(files, 2, &options), 2);
  CHECK_EQ(files[0].result, 3);
  CHECK(memcmp(buffers[0], "fil", 4) == 0);
  CHECK_EQ(files[1].result, 6);
  CHECK(memcmp(buffers[1], "file 1", 6) == 0);
  end(0);
}

TEST(a_descriptor_is_read_from_its_beginning_and_stays_open) {
  begin(1);
  int fd = open(files[0].path, O_RDONLY);
  files[0].path = NULL;
  files[0].fd = fd;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 1);
  check_file(0);
  CHECK_EQ(close(fd), 0);
  CHECK_EQ(opens, 0);
  end(1);
}

TEST(what_is_too_large_is_refused) {
  begin(1);
  options.max_file_size = 5;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, &options), 1);
  CHECK_EQ(files[0].result, UV_EFBIG);
  end(0);
}

TEST(a_system_without_the_call_is_asked_once) {
  begin(100);
  open_answer = UV_ENOSYS;
  for (size_t i = 0; i < 100; i++) CHECK_EQ(uv_batch_fs_read_cached(&files[i], 1, NULL), 0);
  CHECK_EQ(opens, 1);
  end(0);
}

TEST(attempts_in_vain_become_rare_and_a_hit_ends_that) {
  begin(1);
  read_answer = UV_EAGAIN;
  for (size_t i = 0; i < 10000; i++) CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 0);
  CHECK(opens > 20 && opens < 100);
  read_answer = 0;
  size_t tries = 0;
  while (uv_batch_fs_read_cached(files, 1, NULL) == 0) tries++;
  CHECK(tries <= 256);
  for (size_t i = 0; i < 100; i++) {
    uv_batch_free(files[0].buf.base);
    files[0].buf.base = NULL;
    CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 1);
  }
  uv_batch_free(files[0].buf.base);
  files[0].buf.base = NULL;
  read_answer = UV_EAGAIN;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 0);
  read_answer = 0;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 1);
  end(1);
}

TEST(what_is_not_allowed_is_refused) {
  begin(1);
  CHECK_EQ(uv_batch_fs_read_cached(NULL, 1, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_fs_read_cached(files, 0, NULL), UV_EINVAL);
  options.max_cached = 0;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, &options), UV_EINVAL);
  options.max_cached = (uint64_t)1 << 31;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, &options), UV_EINVAL);
  files[0].path = NULL;
  files[0].fd = -1;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, NULL), 1);
  CHECK_EQ(files[0].result, UV_EBADF);
  end(0);
}

TEST(without_memory_a_file_is_left_to_a_job) {
  begin(3);
  failing_allocator_after(1);
  CHECK_EQ(uv_batch_fs_read_cached(files, 3, NULL), 2);
  failing_allocator_after(-1);
  check_file(0);
  CHECK_EQ(files[1].result, UV_EAGAIN);
  CHECK(files[1].syscall == NULL);
  CHECK(files[1].buf.base == NULL);
  check_file(2);
  end(3);
}

/* Memory of the caller, by his callback. */
static char memory[3][64];
static atomic_int given;
static char* give(uv_batch_file_t* file, size_t size, void* data) {
  CHECK(data == &given);
  CHECK_EQ(size, 7);
  CHECK(file->path != NULL);
  int n = atomic_fetch_add(&given, 1);
  return n < 3 ? memory[n] : NULL;
}

TEST(memory_of_the_caller_is_used_while_there_is_any) {
  for (int in_job = 0; in_job < 2; in_job++) {
    begin(5);
    atomic_store(&given, 0);
    options.alloc = give;
    options.alloc_data = &given;
    options.max_jobs = 1;
    if (in_job) {
      read_all(5);
    } else {
      CHECK_EQ(uv_batch_fs_read_cached(files, 5, &options), 5);
    }
    for (size_t i = 0; i < 5; i++) {
      check_file(i);
      if (i < 3) {
        CHECK(files[i].buf.base == memory[i]);
        files[i].buf.base = NULL;
      }
    }
    end(5);
  }
}

TEST(memory_of_the_caller_is_told_also_when_nothing_was_read) {
  begin(1);
  atomic_store(&given, 0);
  options.alloc = give;
  options.alloc_data = &given;
  read_answer = UV_EAGAIN;
  CHECK_EQ(uv_batch_fs_read_cached(files, 1, &options), 0);
  CHECK(files[0].buf.base == memory[0]);
  files[0].buf.base = NULL;
  end(0);
}

/* Reads more than the size that the file reported. */
static ssize_t read_longer(uv_file fd, char* base, size_t len, int64_t offset) {
  (void)fd;
  size_t left = offset < 1000 ? 1000 - (size_t)offset : 0;
  size_t n = len < left ? len : left;
  memset(base, 'x', n);
  return (ssize_t)n;
}

TEST(a_file_that_outgrows_the_memory_of_the_caller_gets_other) {
  begin(1);
  atomic_store(&given, 0);
  options.alloc = give;
  options.alloc_data = &given;
  uvb__fs_calls.read = read_longer;
  read_all(1);
  CHECK_EQ(files[0].result, 1000);
  CHECK(files[0].buf.base != memory[0]);
  for (size_t i = 0; i < 1000; i++) CHECK(files[0].buf.base[i] == 'x');
  end(1);
}

static atomic_int prefetched;
static int prefetch_noting(const char* path) {
  atomic_fetch_add(&prefetched, 1);
  return fs_real.prefetch(path);
}

TEST(prefetching_changes_nothing_and_tells_what_failed) {
  begin(10);
  atomic_store(&prefetched, 0);
  uvb__fs_calls.prefetch = prefetch_noting;
  files[10].path = fs_path("none", 0);
  files[11].path = fs_path("fifo", 0);
  CHECK(mkfifo(files[11].path, 0600) == 0);
  CHECK_EQ(uv_batch_fs_prefetch(&fs_loop, &req, files, 12, &options, fs_note), 0);
  fs_run();
  CHECK_EQ(tally.files, 12);
  CHECK_EQ(atomic_load(&prefetched), 12);
  for (size_t i = 0; i < 10; i++) {
    CHECK_EQ(files[i].result, 0);
    CHECK(files[i].buf.base == NULL);
  }
#if defined(__linux__)
  CHECK_EQ(files[10].result, UV_ENOENT);
  CHECK_EQ(files[11].result, UV_EINVAL);
#endif
  read_all(10);
  for (size_t i = 0; i < 10; i++) check_file(i);
  end(10);
}

TEST_MAIN
