#include <signal.h>
#include <sys/ioctl.h>

#include "fs_read_fixture.h"

TEST(whole_files_of_any_size) {
  static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 100000, 1048577};
  static char content[1048577];
  setup();
  for (size_t i = 0; i < sizeof(content); i++) content[i] = (char)(i * 31 >> 3);
  for (size_t i = 0; i < 7; i++) {
    files[i].path = fs_path("f", i);
    fs_put(files[i].path, content, sizes[i]);
  }
  read_all(7);
  for (size_t i = 0; i < 7; i++) {
    CHECK_EQ(files[i].result, sizes[i]);
    CHECK_EQ(files[i].buf.len, sizes[i]);
    if (i > 0) CHECK(memcmp(files[i].buf.base, content, sizes[i]) == 0);
  }
  CHECK(files[0].buf.base == NULL);
  teardown(7);
}

TEST(a_thousand_small_files) {
  setup();
  make_files(1000);
  read_all(1000);
  for (size_t i = 0; i < 1000; i++) check_file(i);
  CHECK_EQ(tally.calls, 4);
  for (size_t i = 0; i < 4; i++) CHECK_EQ(tally.shares[i], 250);
  teardown(1000);
}

TEST(a_buffer_of_the_caller_bounds_the_read) {
  static const size_t lens[] = {3, 6, 100, 0};
  static const ssize_t results[] = {3, 6, 6, 0};
  char buffers[4][100] = {{0}};
  setup();
  options.max_file_size = 1;
  make_files(4);
  for (size_t i = 0; i < 4; i++) files[i].buf = uv_buf_init(buffers[i], (unsigned int)lens[i]);
  read_all(4);
  for (size_t i = 0; i < 4; i++) {
    CHECK_EQ(files[i].result, results[i]);
    CHECK(files[i].buf.base == buffers[i]);
    CHECK_EQ(files[i].buf.len, lens[i]);
  }
  CHECK(memcmp(buffers[0], "fil", 4) == 0);
  CHECK(memcmp(buffers[2], "file 2", 7) == 0);
  teardown(0);
}

TEST(a_descriptor_that_can_seek_is_read_whole_and_not_moved) {
  char buffer[3] = {0};
  setup();
  make_files(1);
  int fd = open(files[0].path, O_RDONLY);
  CHECK(lseek(fd, 3, SEEK_SET) == 3);
  for (size_t i = 0; i < 2; i++) {
    files[i].path = NULL;
    files[i].fd = fd;
  }
  files[1].buf = uv_buf_init(buffer, 3);
  read_all(2);
  check_file(0);
  CHECK(memcmp(buffer, "fil", 3) == 0);
  CHECK(lseek(fd, 0, SEEK_CUR) == 3);
  close(fd);
  teardown(1);
}

TEST(a_pipe_is_read_to_its_end) {
  int ends[2];
  setup();
  CHECK(pipe(ends) == 0);
  CHECK(write(ends[1], "to the end", 10) == 10);
  close(ends[1]);
  files[0].fd = ends[0];
  read_all(1);
  CHECK_EQ(files[0].result, 10);
  CHECK(memcmp(files[0].buf.base, "to the end", 10) == 0);
  close(ends[0]);
  teardown(1);
}

TEST(a_pipe_that_does_not_block_gives_what_it_has) {
  char buffer[100];
  int ends[2];
  setup();
  CHECK(pipe(ends) == 0);
  CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  CHECK(write(ends[1], "so far", 6) == 6);
  files[0].fd = ends[0];
  read_all(1);
  CHECK_EQ(files[0].result, 6);
  files[1].fd = ends[0];
  uv_batch_free(files[0].buf.base);
  files[0].buf.base = NULL;
  read_all(1);
  CHECK_EQ(files[0].result, UV_EAGAIN);
  CHECK(files[0].buf.base == NULL);
  CHECK(write(ends[1], "more", 4) == 4);
  files[0].buf = uv_buf_init(buffer, sizeof(buffer));
  read_all(1);
  CHECK_EQ(files[0].result, 4);
  close(ends[0]);
  close(ends[1]);
  teardown(0);
}

TEST(a_fifo_by_its_path_is_refused_and_not_waited_for) {
  char buffer[10];
  setup();
  files[0].path = files[1].path = fs_path("fifo", 0);
  files[1].buf = uv_buf_init(buffer, sizeof(buffer));
  CHECK(mkfifo(files[0].path, 0600) == 0);
  read_all(2);
  CHECK_EQ(files[0].result, UV_ESPIPE);
  CHECK_EQ(files[1].result, UV_ESPIPE);
  teardown(0);
}

#if defined(__linux__)
TEST(files_that_tell_no_size_are_read_whole) {
  setup();
  files[0].path = "/proc/self/status";
  files[1].path = "/proc/kallsyms";
  files[2].path = "/dev/null";
  files[3].path = "/dev/zero";
  options.max_file_size = 100 << 20;
  read_all(3);
  CHECK(files[0].result > 100);
  CHECK(memcmp(files[0].buf.base, "Name:", 5) == 0);
  CHECK(files[0].buf.base[files[0].result - 1] == '\n');
  CHECK(files[1].result > 4096 || files[1].result <= 0);
  CHECK_EQ(files[2].result, 0);
  for (size_t i = 0; i < 3; i++) {
    uv_batch_free(files[i].buf.base);
    files[i].buf.base = NULL;
  }
  options.max_file_size = 100000;
  read_all(4);
  CHECK_EQ(files[3].result, UV_EFBIG);
  teardown(4);
}

/* A process that holds a lease on a file is asked to give it back, by this signal. */
static int leased;
static void give_back(int number) {
  (void)number;
  fcntl(leased, F_SETLEASE, F_UNLCK);
}

TEST(a_leased_file_is_read_when_the_lease_is_given_back) {
  struct sigaction action, before;
  setup();
  make_files(1);
  memset(&action, 0, sizeof(action));
  action.sa_handler = give_back;
  sigaction(SIGIO, &action, &before);
  leased = open(files[0].path, O_RDWR);
  if (fcntl(leased, F_SETLEASE, F_WRLCK) == 0) {
    read_all(1);
    check_file(0);
  } else {
    fprintf(stderr, "no leases here: not tested\n");
  }
  close(leased);
  sigaction(SIGIO, &before, NULL);
  teardown(1);
}
#endif

TEST(an_error_is_of_its_file_alone) {
  char buffer[10];
  int closed = 1000;
  char through[fs_path_size * 2];
  static const ssize_t results[] = {UV_ENOENT, UV_ENOTDIR, UV_EISDIR, UV_EISDIR, UV_EBADF, UV_EBADF};
  setup();
  make_files(8);
  snprintf(through, sizeof(through), "%s/x", files[0].path);
  files[1].path = fs_path("missing", 0);
  files[2].path = through;
  files[3].path = fs_dir;
  files[4].path = fs_dir;
  files[4].buf = uv_buf_init(buffer, sizeof(buffer));
  files[5].path = NULL;
  files[5].fd = -1;
  files[6].path = NULL;
  files[6].fd = closed;
  options.max_jobs = 1;
  read_all(8);
  check_file(0);
  check_file(7);
  for (size_t i = 0; i < 6; i++) CHECK_EQ(files[i + 1].result, results[i]);
  files[4].buf.base = NULL;
  for (size_t i = 1; i < 7; i++) CHECK(files[i].buf.base == NULL);
  teardown(8);
}

TEST(a_file_that_may_not_be_read) {
  setup();
  make_files(2);
  CHECK(chmod(files[0].path, 0) == 0);
  uid_t user = geteuid();
  if (user == 0) CHECK(seteuid(65534) == 0);
  read_all(2);
  if (user == 0) CHECK(seteuid(0) == 0);
  CHECK_EQ(files[0].result, UV_EACCES);
  check_file(1);
  teardown(2);
}

static atomic_int reads;
static ssize_t read_counting(uv_file fd, char* base, size_t len, int64_t offset) {
  atomic_fetch_add(&reads, 1);
  return fs_real.read(fd, base, len, offset);
}

TEST(a_file_that_tells_its_size_takes_one_read) {
  setup();
  atomic_store(&reads, 0);
  uvb__fs_calls.read = read_counting;
  make_files(10);
  read_all(10);
  CHECK_EQ(atomic_load(&reads), 10);
  teardown(10);
}

TEST(a_file_that_tells_that_it_is_too_large_is_not_read) {
  setup();
  atomic_store(&reads, 0);
  uvb__fs_calls.read = read_counting;
  make_files(1);
  options.max_file_size = 5;
  read_all(1);
  CHECK_EQ(files[0].result, UV_EFBIG);
  CHECK_EQ(atomic_load(&reads), 0);
  teardown(1);
}

TEST(a_file_that_is_too_large) {
  char buffer[10] = "123456789";
  setup();
  make_files(3);
  CHECK(truncate(files[0].path, 100 << 20) == 0);
  CHECK(truncate(files[1].path, 100 << 20) == 0);
  files[1].buf = uv_buf_init(buffer, sizeof(buffer));
  options.max_file_size = 6;
  read_all(3);
  CHECK_EQ(files[0].result, UV_EFBIG);
  CHECK(files[0].buf.base == NULL);
  CHECK_EQ(files[1].result, 10);
  CHECK(memcmp(buffer, "file 1\0\0\0", 10) == 0);
  check_file(2);
  files[1].buf.base = NULL;
  teardown(3);
}

/* Changes the file between the look at its size and the first read. */
static const char* changing;
static off_t changed_to;
static ssize_t read_changed(uv_file fd, char* base, size_t len, int64_t offset) {
  if (offset == 0) CHECK(truncate(changing, changed_to) == 0);
  return fs_real.read(fd, base, len, offset);
}

TEST(a_file_that_grows_or_shrinks_while_it_is_read) {
  static const off_t lengths[] = {6, 7, 8, 10000, 3, 0, 20000, 20001};
  static const ssize_t results[] = {6, 7, 8, 10000, 3, 0, 20000, UV_EFBIG};
  for (size_t i = 0; i < 8; i++) {
    setup();
    make_files(1);
    changing = files[0].path;
    changed_to = lengths[i];
    uvb__fs_calls.read = read_changed;
    options.max_file_size = 20000;
    read_all(1);
    CHECK_EQ(files[0].result, results[i]);
    if (results[i] > 0) {
      CHECK_EQ(files[0].buf.len, results[i]);
      CHECK(memcmp(files[0].buf.base, "file 0", results[i] < 6 ? (size_t)results[i] : 6) == 0);
      CHECK(results[i] <= 6 || files[0].buf.base[results[i] - 1] == 0);
    }
    teardown(1);
  }
}

static ssize_t read_little(uv_file fd, char* base, size_t len, int64_t offset) {
  return fs_real.read(fd, base, len < 4 ? len : 4, offset);
}

TEST(short_reads_are_continued) {
  char buffer[100];
  setup();
  make_files(20);
  files[19].buf = uv_buf_init(buffer, sizeof(buffer));
  uvb__fs_calls.read = read_little;
  read_all(20);
  for (size_t i = 0; i < 19; i++) check_file(i);
  CHECK_EQ(files[19].result, 7);
  CHECK(memcmp(buffer, "file 19", 7) == 0);
  teardown(19);
}

static size_t largest;
static ssize_t read_nothing_into_all(uv_file fd, char* base, size_t len, int64_t offset) {
  (void)fd, (void)base, (void)offset;
  if (len > largest) largest = len;
  return (ssize_t)len;
}

TEST(a_buffer_of_gigabytes_is_read_in_pieces) {
  char byte;
  if (sizeof(size_t) < 8) return;
  setup();
  largest = 0;
  uvb__fs_calls.read = read_nothing_into_all;
  make_files(1);
  files[0].buf.base = &byte;
  files[0].buf.len = (size_t)5 << 29;
  read_all(1);
  CHECK_EQ(files[0].result, (size_t)5 << 29);
  CHECK_EQ(largest, (size_t)1 << 30);
  teardown(0);
}

static ssize_t read_fails_late(uv_file fd, char* base, size_t len, int64_t offset) {
  (void)len;
  return offset == 0 ? fs_real.read(fd, base, 2, offset) : UV_EIO;
}

TEST(a_read_that_fails_in_the_middle) {
  char buffer[100];
  setup();
  make_files(2);
  files[1].buf = uv_buf_init(buffer, sizeof(buffer));
  uvb__fs_calls.read = read_fails_late;
  read_all(2);
  CHECK_EQ(files[0].result, UV_EIO);
  CHECK_EQ(files[1].result, UV_EIO);
  CHECK(files[0].buf.base == NULL);
  teardown(0);
}

/* Interrupts: the thread that reads from a pipe gets signals until it has taken enough of them. */
static atomic_int interrupts;
static uv_thread_t reading_thread;
static atomic_int is_reading;
static int write_end;

static void count_interrupt(int number) {
  (void)number;
  atomic_fetch_add(&interrupts, 1);
}

static ssize_t read_noting_thread(uv_file fd, char* base, size_t len, int64_t offset) {
  if (atomic_load(&is_reading) == 0) {
    reading_thread = uv_thread_self();
    atomic_store(&is_reading, 1);
  }
  return fs_real.read(fd, base, len, offset);
}

static void interrupt(uv_idle_t* idle) {
  int waiting = 0;
  if (!atomic_load(&is_reading)) return;
  /* The byte is gone: the thread is at its next read, or nearly. */
  CHECK(ioctl(write_end, FIONREAD, &waiting) == 0);
  if (waiting == 0) pthread_kill(reading_thread, SIGUSR1);
  if (atomic_load(&interrupts) < 200) return;
  close(write_end);
  uv_close((uv_handle_t*)idle, NULL);
}

TEST(an_interrupted_read_goes_on) {
  struct sigaction action, before;
  uv_idle_t idle;
  int ends[2];
  setup();
  CHECK(pipe(ends) == 0);
  CHECK(write(ends[1], "x", 1) == 1);
  write_end = ends[1];
  atomic_store(&interrupts, 0);
  atomic_store(&is_reading, 0);
  memset(&action, 0, sizeof(action));
  action.sa_handler = count_interrupt;
  sigaction(SIGUSR1, &action, &before);
  uv_idle_init(&fs_loop, &idle);
  uv_idle_start(&idle, interrupt);
  uvb__fs_calls.read = read_noting_thread;
  files[0].fd = ends[0];
  read_all(1);
  CHECK_EQ(files[0].result, 1);
  CHECK(atomic_load(&interrupts) >= 200);
  sigaction(SIGUSR1, &before, NULL);
  close(ends[0]);
  teardown(1);
}

static atomic_int not_closed_on_exec;
static int open_checking(const char* path) {
  int fd = fs_real.open_read(path);
  if (fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) atomic_fetch_add(&not_closed_on_exec, 1);
  return fd;
}

TEST(opened_files_are_closed_on_exec) {
  setup();
  atomic_store(&not_closed_on_exec, 0);
  uvb__fs_calls.open_read = open_checking;
  make_files(3);
  read_all(3);
  CHECK_EQ(atomic_load(&not_closed_on_exec), 0);
  teardown(3);
}

TEST(every_allocation_may_fail) {
  long n = 0;
  for (int failed = 1; failed; n++) {
    setup();
    make_files(3);
    /* A file that grows takes one more. */
    changing = files[0].path;
    changed_to = 10000;
    uvb__fs_calls.read = read_changed;
    options.max_jobs = 1;
    failing_allocator_after(n);
    int status = uv_batch_fs_read(&fs_loop, &req, files, 3, &options, fs_note);
    fs_run();
    failing_allocator_after(-1);
    failed = status != 0;
    if (status != 0) CHECK_EQ(status, UV_ENOMEM);
    CHECK_EQ(tally.files, status == 0 ? 3 : 0);
    for (size_t i = 0; status == 0 && i < 3; i++) {
      if (files[i].result == UV_ENOMEM) {
        CHECK(files[i].buf.base == NULL);
        CHECK(failed == 0);
        failed = 1;
      } else if (i == 0) {
        CHECK_EQ(files[i].result, 10000);
      } else {
        check_file(i);
      }
    }
    teardown(3);
  }
  CHECK(n > 5);
}

TEST_MAIN
