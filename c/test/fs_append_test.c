#include <signal.h>
#include <sys/wait.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif

#include "fs_fixture.h"

static uv_batch_fs_t req;
static fs_tally_t tally;
static uv_batch_file_t files[fs_most];
static uv_batch_fs_options_t options;

/* Counts of the calls below, and their effects. */
static atomic_int opens, writes, syncs, closes;
static atomic_int fail_write_at; /* this write of a test and later ones fail; the one before it is cut short */
static atomic_int fail_status;
static const char* fail_path;
static atomic_int fail_fd;

static int open_counting(const char* path, int create, int mode) {
  int fd = fs_real.open_append(path, create, mode);
  atomic_fetch_add(&opens, 1);
  if (fail_path != NULL && strcmp(path, fail_path) == 0) atomic_store(&fail_fd, fd);
  return fd;
}

static ssize_t write_counting(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  atomic_fetch_add(&writes, 1);
  return fs_real.write(fd, bufs, count);
}

static int sync_counting(uv_file fd) {
  atomic_fetch_add(&syncs, 1);
  return fs_real.sync(fd);
}

static int close_counting(uv_file fd) {
  atomic_fetch_add(&closes, 1);
  return fs_real.close(fd);
}

static void setup(void) {
  fs_setup();
  memset(&req, 0, sizeof(req));
  memset(&tally, 0, sizeof(tally));
  memset(files, 0, sizeof(files));
  uv_batch_fs_options_init(&options);
  req.data = &tally;
  atomic_store(&opens, 0);
  atomic_store(&writes, 0);
  atomic_store(&syncs, 0);
  atomic_store(&closes, 0);
  atomic_store(&fail_fd, -1);
  fail_path = NULL;
  uvb__fs_calls.open_append = open_counting;
  uvb__fs_calls.write = write_counting;
  uvb__fs_calls.sync = sync_counting;
  uvb__fs_calls.close = close_counting;
}

static void start(size_t count) {
  CHECK_EQ(uv_batch_fs_append(&fs_loop, &req, files, count, &options, fs_note), 0);
}

static void append_all(size_t count) {
  memset(&tally, 0, sizeof(tally));
  start(count);
  fs_run();
  CHECK_EQ(tally.files, count);
}

static void set(size_t i, const char* path, const char* text) {
  files[i].path = path;
  files[i].buf = uv_buf_init((char*)(uintptr_t)text, (unsigned int)strlen(text));
}

/* Entries of 16 bytes that say their number, in static memory. */
enum { record_size = 16 };
static char records[fs_most][record_size + 1];

static const char* record(size_t i) {
  snprintf(records[i], sizeof(records[i]), "record %08u\n", (unsigned int)(i % 100000000));
  return records[i];
}

/* Of a process that is killed, each append that it was told of is in the file. The first test, for it forks, which
 * needs a process that has no threads yet. */
static size_t child_next;
static int child_pipe;

static void tell_and_go_on(uv_batch_fs_t* request, uv_batch_file_t* first, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (first[i].result != record_size || write(child_pipe, &first[i].data, sizeof(void*)) != sizeof(void*)) _exit(1);
  }
  if (request->pending > 0) return;
  for (size_t i = 0; i < 10; i++, child_next++) {
    set(i, request->data, record(child_next % fs_most));
    files[i].data = (void*)(uintptr_t)child_next;
  }
  uv_batch_fs_append(&fs_loop, request, files, 10, &options, tell_and_go_on);
}

TEST(appends_that_were_acknowledged_survive_a_kill) {
  int ends[2];
  size_t told = 0, number, len;
  int status;
  setup();
  char* path = fs_path("log", 0);
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    child_pipe = ends[1];
    req.data = path;
    options.flags = UV_BATCH_FS_DATASYNC;
    if (uv_loop_init(&fs_loop) != 0) _exit(1);
    tell_and_go_on(&req, NULL, 0);
    uv_run(&fs_loop, UV_RUN_DEFAULT);
    _exit(1);
  }
  close(ends[1]);
  while (told < 95 && read(ends[0], &number, sizeof(number)) == sizeof(number)) CHECK_EQ(number, told++);
  CHECK(kill(child, SIGKILL) == 0);
  while (read(ends[0], &number, sizeof(number)) == sizeof(number)) CHECK_EQ(number, told++);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && told >= 95);
  close(ends[0]);
  char* content = fs_get(path, &len);
  CHECK(len >= told * record_size);
  for (size_t i = 0; i < told; i++) CHECK(memcmp(content + i * record_size, record(i), record_size) == 0);
  free(content);
  fs_teardown();
}

TEST(entries_of_one_file_are_written_together_in_their_order) {
  setup();
  char* a = fs_path("a", 0);
  char* b = fs_path("b", 0);
  char* same_a = fs_path("a", 0);
  char* c = fs_path("c", 0);
  set(0, c, "c1 ");
  set(1, a, "a1 ");
  set(2, b, "b1 ");
  set(3, same_a, "a2 ");
  set(4, c, "c2 ");
  set(5, a, "a3 ");
  append_all(6);
  fs_check_content(a, "a1 a2 a3 ");
  fs_check_content(b, "b1 ");
  fs_check_content(c, "c1 c2 ");
  CHECK_EQ(atomic_load(&opens), 3);
  CHECK_EQ(atomic_load(&writes), 3);
  CHECK_EQ(atomic_load(&closes), 3);
  CHECK_EQ(atomic_load(&syncs), 0);
  for (size_t i = 0; i < 6; i++) CHECK_EQ(files[i].result, 3);
  CHECK(files[3].path == b && files[4].path == c);
  CHECK(files[0].path == a && files[1].path == same_a && files[2].path == a);
  fs_teardown();
}

TEST(many_entries_of_many_files_come_out_in_order) {
  enum { count = 3000, paths = 37 };
  char* path[paths];
  size_t last[paths];
  size_t len;
  unsigned int random = 1;
  setup();
  for (size_t i = 0; i < paths; i++) path[i] = fs_path("f", i);
  for (size_t i = 0; i < count; i++) {
    random = random * 1664525u + 1013904223u;
    set(i, path[(random >> 16) % paths], record(i));
    files[i].data = (void*)i;
  }
  append_all(count);
  for (size_t i = 1; i < count; i++) {
    CHECK(strcmp(files[i - 1].path, files[i].path) <= 0);
    if (files[i - 1].path == files[i].path) CHECK(files[i - 1].data < files[i].data);
  }
  size_t total = 0;
  for (size_t i = 0; i < paths; i++) {
    char* content = fs_get(path[i], &len);
    total += len;
    last[i] = 0;
    for (size_t at = 0; at < len; at += record_size) {
      size_t number = strtoul(content + at + 7, NULL, 10);
      CHECK(memcmp(content + at, record(number), record_size) == 0);
      CHECK(at == 0 || number > last[i]);
      last[i] = number;
    }
    free(content);
  }
  CHECK_EQ(total, (size_t)count * record_size);
  CHECK_EQ(atomic_load(&opens), paths);
  fs_teardown();
}

TEST(a_hundred_durable_appends_are_one_sync) {
  size_t len;
  setup();
  char* path = fs_path("log", 0);
  options.flags = UV_BATCH_FS_DATASYNC;
  for (size_t i = 0; i < 100; i++) set(i, path, record(i));
  append_all(100);
  CHECK_EQ(atomic_load(&syncs), 1);
  CHECK_EQ(atomic_load(&writes), 1);
  CHECK_EQ(atomic_load(&opens), 1);
  char* content = fs_get(path, &len);
  CHECK_EQ(len, 100 * record_size);
  free(content);
  fs_teardown();
}

TEST(a_file_is_never_split_between_jobs) {
  size_t len;
  setup();
  char* path = fs_path("log", 0);
  for (size_t i = 0; i < 5000; i++) set(i, path, record(i));
  append_all(5000);
  CHECK_EQ(tally.calls, 1);
  CHECK_EQ(atomic_load(&writes), 5);
  char* content = fs_get(path, &len);
  CHECK_EQ(len, 5000 * record_size);
  for (size_t i = 0; i < 5000; i++) CHECK(memcmp(content + i * record_size, record(i), record_size) == 0);
  free(content);
  fs_teardown();
}

TEST(jobs_end_where_a_file_ends) {
  static const struct {
    uint32_t max_jobs, max_files;
    size_t entries_each, calls, most;
  } cases[] = {{2, 256, 1, 2, 5}, {2, 4, 3, 10, 3}, {2, 256, 3, 2, 15}, {64, 256, 2, 10, 2}, {1, 7, 3, 5, 6}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    size_t count = 10 * cases[i].entries_each;
    setup();
    options.max_jobs = cases[i].max_jobs;
    options.max_files = cases[i].max_files;
    for (size_t at = 0; at < count; at++) set(at, fs_path("f", at % 10), "x");
    append_all(count);
    CHECK_EQ(tally.calls, cases[i].calls);
    for (size_t share = 0; share < tally.calls; share++) {
      CHECK(tally.shares[share] <= cases[i].most);
      CHECK_EQ(tally.shares[share] % cases[i].entries_each, 0);
    }
    CHECK_EQ(atomic_load(&opens), 10);
    fs_teardown();
  }
}

/* Five bytes, wherever that ends. */
static ssize_t write_little(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  size_t room = 5;
  for (unsigned int i = 0; i < count; i++) {
    if (bufs[i].len > room) bufs[i].len = room;
    room -= bufs[i].len;
  }
  return fs_real.write(fd, bufs, count);
}

TEST(partial_writes_are_continued) {
  setup();
  char* path = fs_path("log", 0);
  set(0, path, "one, ");
  set(1, path, "");
  set(2, path, "two hundred, ");
  set(3, path, "3");
  set(4, path, "");
  uvb__fs_calls.write = write_little;
  append_all(5);
  fs_check_content(path, "one, two hundred, 3");
  CHECK_EQ(files[0].result, 5);
  CHECK_EQ(files[1].result, 0);
  CHECK_EQ(files[2].result, 13);
  CHECK_EQ(files[3].result, 1);
  CHECK_EQ(files[4].result, 0);
  fs_teardown();
}

static atomic_uint most_buffers;
static ssize_t write_counting_buffers(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  if (count > atomic_load(&most_buffers)) atomic_store(&most_buffers, count);
  return atomic_load(&fail_write_at) > 0 ? write_little(fd, bufs, count) : fs_real.write(fd, bufs, count);
}

/* A text in pieces, but for its last letter, which is elsewhere. */
static void append_pieces(const char* path, const char* text, const char* last) {
  static const size_t lengths[] = {3, 0, 9, 1, 4};
  size_t from = 0;
  for (size_t i = 0; i < 5; i++) {
    set(i, path, "");
    files[i].buf = uv_buf_init((char*)(uintptr_t)(text + from), (unsigned int)lengths[i]);
    from += lengths[i];
  }
  set(5, path, last);
  append_all(6);
  for (size_t i = 0; i < 5; i++) CHECK_EQ(files[i].result, lengths[i]);
  CHECK_EQ(files[5].result, 1);
}

TEST(neighbours_in_memory_are_one_buffer) {
  for (int is_cut = 0; is_cut < 2; is_cut++) {
    setup();
    char* path = fs_path("log", 0);
    atomic_store(&most_buffers, 0);
    atomic_store(&fail_write_at, is_cut);
    uvb__fs_calls.write = write_counting_buffers;
    append_pieces(path, "abcdefghijklmnopq", "!");
    fs_check_content(path, "abcdefghijklmnopq!");
    CHECK_EQ(atomic_load(&most_buffers), 2);
    atomic_store(&fail_write_at, 0);
    fs_teardown();
  }
}

/* Takes all, and looks at none of it. */
static size_t largest, total;
static ssize_t write_nowhere(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  size_t size = 0;
  (void)fd;
  for (unsigned int i = 0; i < count; i++) size += bufs[i].len;
  if (size > largest) largest = size;
  total += size;
  return (ssize_t)size;
}

TEST(entries_of_gigabytes_are_written_in_pieces) {
  size_t gigabyte = (size_t)1 << 30;
  if (sizeof(size_t) < 8) return;
  setup();
  largest = total = 0;
  uvb__fs_calls.write = write_nowhere;
  for (size_t i = 0; i < 3; i++) {
    set(i, fs_path("log", 0), "");
    files[i].buf.len = 3 * gigabyte / 2;
  }
  append_all(3);
  for (size_t i = 0; i < 3; i++) CHECK_EQ(files[i].result, 3 * gigabyte / 2);
  CHECK_EQ(largest, gigabyte);
  CHECK_EQ(total, 9 * gigabyte / 2);
  fs_teardown();
}

/* As a disk that fills up: one write is cut short in an entry, the next one fails. */
static ssize_t write_failing(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  int number = atomic_fetch_add(&writes, 1) + 1;
  if (fail_path != NULL && fd != atomic_load(&fail_fd)) return fs_real.write(fd, bufs, count);
  if (number < atomic_load(&fail_write_at)) {
    uv_buf_t cut[2] = {bufs[0], uv_buf_init(bufs[1].base, 2)};
    return fs_real.write(fd, cut, 2);
  }
  return atomic_load(&fail_status);
}

TEST(a_write_that_fails_leaves_what_was_written) {
  static const int statuses[] = {UV_ENOSPC, UV_EIO, 0};
  for (size_t i = 0; i < 3; i++) {
    int expected = statuses[i] == 0 ? UV_EIO : statuses[i];
    setup();
    char* path = fs_path("log", 0);
    options.flags = UV_BATCH_FS_DATASYNC;
    set(0, path, "one, ");
    set(1, path, "two, ");
    set(2, path, "three, ");
    atomic_store(&fail_write_at, 2);
    atomic_store(&fail_status, statuses[i]);
    uvb__fs_calls.write = write_failing;
    append_all(3);
    fs_check_content(path, "one, tw");
    CHECK_EQ(files[0].result, 5);
    CHECK_EQ(files[1].result, expected);
    CHECK_EQ(files[2].result, expected);
    CHECK_EQ(atomic_load(&syncs), 1);
    fs_teardown();
  }
}

TEST(when_nothing_was_written_nothing_is_synced) {
  setup();
  options.flags = UV_BATCH_FS_DATASYNC;
  set(0, fs_path("log", 0), "one");
  atomic_store(&fail_write_at, 0);
  atomic_store(&fail_status, UV_ENOSPC);
  uvb__fs_calls.write = write_failing;
  append_all(1);
  CHECK_EQ(files[0].result, UV_ENOSPC);
  CHECK_EQ(atomic_load(&syncs), 0);
  CHECK_EQ(atomic_load(&closes), 1);
  fs_teardown();
}

static int sync_failing(uv_file fd) {
  atomic_fetch_add(&syncs, 1);
  return fd == atomic_load(&fail_fd) ? UV_EIO : fs_real.sync(fd);
}

static int close_failing(uv_file fd) {
  int status = fs_real.close(fd);
  return fd == atomic_load(&fail_fd) ? UV_ENOSPC : status;
}

/* The good file is first: the bad one's descriptor is not used again. */
static void append_to_good_and_bad(int status) {
  fail_path = fs_path("bad", 0);
  options.max_jobs = 1;
  set(0, fail_path, "one");
  set(1, fs_path("a good one", 0), "two");
  set(2, fail_path, "three");
  append_all(3);
  CHECK_EQ(files[0].result, 3);
  CHECK_EQ(files[1].result, status);
  CHECK_EQ(files[2].result, status);
}

TEST(a_failed_sync_acknowledges_nothing_of_its_file) {
  setup();
  options.flags = UV_BATCH_FS_DATASYNC;
  uvb__fs_calls.sync = sync_failing;
  append_to_good_and_bad(UV_EIO);
  CHECK_EQ(atomic_load(&syncs), 2);
  fs_teardown();
}

TEST(a_failed_sync_leaves_an_earlier_error_as_it_is) {
  setup();
  const char* path = fail_path = fs_path("log", 0);
  options.flags = UV_BATCH_FS_DATASYNC;
  set(0, path, "one, ");
  set(1, path, "two, ");
  atomic_store(&fail_write_at, 2);
  atomic_store(&fail_status, UV_ENOSPC);
  uvb__fs_calls.write = write_failing;
  uvb__fs_calls.sync = sync_failing;
  append_all(2);
  CHECK_EQ(files[0].result, UV_EIO);
  CHECK_EQ(files[1].result, UV_ENOSPC);
  fs_teardown();
}

TEST(a_failed_close_acknowledges_nothing_of_its_file) {
  setup();
  uvb__fs_calls.close = close_failing;
  append_to_good_and_bad(UV_ENOSPC);
  fs_teardown();
}

#if defined(__linux__)
TEST(a_device_that_is_full_takes_nothing) {
  setup();
  set(0, "/dev/full", "one");
  set(1, "/dev/full", "two");
  set(2, fs_path("log", 0), "three");
  append_all(3);
  CHECK_EQ(files[0].result, UV_ENOSPC);
  CHECK_EQ(files[1].result, UV_ENOSPC);
  CHECK_EQ(files[2].result, 5);
  fs_teardown();
}

#if !defined(UVB_FS_PORTABLE)
static int terminal_flags;
static ssize_t write_noting_flags(uv_file fd, uv_buf_t bufs[], unsigned int count) {
  terminal_flags = fcntl(fd, F_GETFL);
  return fs_real.write(fd, bufs, count);
}

TEST(a_terminal_that_is_full_is_waited_for) {
  setup();
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(terminal >= 0);
  CHECK(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  set(0, ptsname(terminal), "x");
  uvb__fs_calls.write = write_noting_flags;
  append_all(1);
  CHECK_EQ(files[0].result, 1);
  CHECK_EQ(terminal_flags & O_NONBLOCK, 0);
  CHECK_EQ(terminal_flags & O_APPEND, O_APPEND);
  close(terminal);
  fs_teardown();
}
#endif

/* 64 KiB of disk, and 100 KiB for it in two requests. What is acknowledged is in the file, whole and in order. */
TEST(a_disk_that_is_full_loses_nothing_that_it_acknowledged) {
  static char texts[100][1025];
  char path[64];
  size_t acknowledged = 0, len;
  setup();
  if (mount("none", fs_dir, "tmpfs", 0, "size=64k") != 0) {
    fprintf(stderr, "no file systems may be mounted here: not tested\n");
    fs_teardown();
    return;
  }
  /* Out of the tree at once, it ends with its last descriptor, whatever becomes of this test. */
  int disk = open(fs_dir, O_RDONLY | O_DIRECTORY);
  CHECK(umount2(fs_dir, MNT_DETACH) == 0);
  snprintf(path, sizeof(path), "/proc/self/fd/%d/log", disk);
  options.flags = UV_BATCH_FS_DATASYNC;
  for (size_t i = 0; i < 100; i++) {
    snprintf(texts[i], sizeof(texts[i]), "%01024zu", i);
    set(i, path, texts[i]);
    files[i].buf.len = i < 50 ? 1024 : 1000;
  }
  append_all(50);
  for (size_t i = 0; i < 50; i++) CHECK_EQ(files[i].result, 1024);
  memmove(files, files + 50, 50 * sizeof(files[0]));
  append_all(50);
  while (acknowledged < 50 && files[acknowledged].result == 1000) acknowledged++;
  CHECK(acknowledged > 0 && acknowledged < 50);
  for (size_t i = acknowledged; i < 50; i++) CHECK_EQ(files[i].result, UV_ENOSPC);
  char* content = fs_get(path, &len);
  for (size_t i = 0; i < 50; i++) CHECK(memcmp(content + i * 1024, texts[i], 1024) == 0);
  for (size_t i = 0; i < acknowledged; i++) {
    CHECK(memcmp(content + 50 * 1024 + i * 1000, texts[50 + i], 1000) == 0);
  }
  /* Then, at most, the beginning of the entry that was cut short. */
  size_t rest = len - 50 * 1024 - acknowledged * 1000;
  CHECK(len == 64 * 1024 && rest < 1000);
  CHECK(memcmp(content + len - rest, texts[50 + acknowledged], rest) == 0);
  free(content);
  close(disk);
  fs_teardown();
}
#endif

TEST(a_file_is_made_only_when_it_may_be) {
  struct stat found;
  setup();
  options.flags = UV_BATCH_FS_NO_CREATE;
  set(0, fs_path("new", 0), "one");
  append_all(1);
  CHECK_EQ(files[0].result, UV_ENOENT);
  options.flags = 0;
  options.mode = 0660;
  mode_t mask = umask(027);
  append_all(1);
  umask(mask);
  CHECK_EQ(files[0].result, 3);
  CHECK(stat(files[0].path, &found) == 0);
  CHECK_EQ(found.st_mode & 0777, 0640);
  options.flags = UV_BATCH_FS_NO_CREATE;
  append_all(1);
  fs_check_content(files[0].path, "oneone");
  fs_teardown();
}

TEST(descriptors_are_written_as_they_are_and_stay_open) {
  setup();
  char* paths[2] = {fs_path("a", 0), fs_path("b", 0)};
  int a = open(paths[0], O_WRONLY | O_CREAT | O_APPEND, 0600);
  int b = open(paths[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  options.flags = UV_BATCH_FS_DATASYNC;
  for (size_t i = 0; i < 6; i++) {
    set(i, NULL, i % 2 == 0 ? "a" : "b");
    files[i].fd = i % 2 == 0 ? a : b;
  }
  append_all(6);
  CHECK_EQ(atomic_load(&opens), 0);
  CHECK_EQ(atomic_load(&closes), 0);
  CHECK_EQ(atomic_load(&syncs), 2);
  CHECK_EQ(close(a), 0);
  CHECK_EQ(close(b), 0);
  fs_check_content(paths[0], "aaa");
  fs_check_content(paths[1], "bbb");
  fs_teardown();
}

TEST(an_error_is_of_its_file_alone) {
  char through[fs_path_size * 2];
  setup();
  char* good = fs_path("good", 0);
  char* fifo = fs_path("fifo", 0);
  CHECK(mkfifo(fifo, 0600) == 0);
  fs_put(good, "", 0);
  snprintf(through, sizeof(through), "%s/x", good);
  struct {
    const char* path;
    int status;
  } cases[] = {{good, 1}, {"/missing/x", UV_ENOENT}, {through, UV_ENOTDIR}, {fs_dir, UV_EISDIR}, {fifo, UV_ENXIO},
               {NULL, UV_EBADF}};
  for (size_t i = 0; i < 6; i++) {
    set(i, cases[i].path, "x");
    files[i].fd = -1;
    files[i].data = &cases[i].status;
  }
  append_all(6);
  for (size_t i = 0; i < 6; i++) CHECK_EQ(files[i].result, *(int*)files[i].data);
  fs_teardown();
}

TEST(an_entry_without_its_content_is_left_out) {
  setup();
  char* path = fs_path("log", 0);
  set(0, path, "one");
  set(1, path, "two");
  files[1].buf.base = NULL;
  set(2, path, "three");
  append_all(3);
  CHECK_EQ(files[0].result, 3);
  CHECK_EQ(files[1].result, UV_EINVAL);
  CHECK_EQ(files[2].result, 5);
  fs_check_content(path, "onethree");
  fs_teardown();
}

TEST(a_failed_sync_leaves_an_entry_that_was_left_out_as_it_is) {
  setup();
  fail_path = fs_path("log", 0);
  options.flags = UV_BATCH_FS_DATASYNC;
  uvb__fs_calls.sync = sync_failing;
  set(0, fail_path, "one");
  files[0].buf.base = NULL;
  set(1, fail_path, "two");
  append_all(2);
  CHECK_EQ(files[0].result, UV_EINVAL);
  CHECK_EQ(files[1].result, UV_EIO);
  fs_teardown();
}

TEST(empty_entries_make_their_file) {
  setup();
  set(0, fs_path("log", 0), "");
  set(1, files[0].path, "");
  append_all(2);
  CHECK_EQ(files[0].result, 0);
  CHECK_EQ(files[1].result, 0);
  CHECK_EQ(atomic_load(&writes), 0);
  fs_check_content(files[0].path, "");
  fs_teardown();
}

TEST(requests_to_one_file_keep_each_entry_whole) {
  uv_batch_fs_t other;
  fs_tally_t other_tally;
  size_t len;
  unsigned char found[2000] = {0};
  setup();
  char* path = fs_path("log", 0);
  memset(&other, 0, sizeof(other));
  memset(&other_tally, 0, sizeof(other_tally));
  other.data = &other_tally;
  for (size_t i = 0; i < 2000; i++) set(i, path, record(i));
  start(1000);
  CHECK_EQ(uv_batch_fs_append(&fs_loop, &other, files + 1000, 1000, NULL, fs_note), 0);
  fs_run();
  CHECK_EQ(tally.files + other_tally.files, 2000);
  char* content = fs_get(path, &len);
  CHECK_EQ(len, 2000 * record_size);
  for (size_t at = 0; at < len; at += record_size) {
    size_t number = strtoul(content + at + 7, NULL, 10);
    CHECK(number < 2000 && found[number]++ == 0);
    CHECK(memcmp(content + at, record(number), record_size) == 0);
  }
  free(content);
  fs_teardown();
}

TEST(cancelled_before_it_begins_nothing_is_written) {
  setup();
  for (size_t i = 0; i < 100; i++) set(i, fs_path("f", i % 10), "x");
  fs_hold_pool();
  start(100);
  CHECK_EQ(uv_batch_fs_cancel(&req), 0);
  fs_release_pool();
  fs_run();
  CHECK_EQ(tally.files, 100);
  CHECK_EQ(atomic_load(&opens), 0);
  for (size_t i = 0; i < 100; i++) {
    CHECK_EQ(files[i].result, UV_ECANCELED);
    CHECK(access(files[i].path, F_OK) != 0);
  }
  fs_teardown();
}

/* The open of the third file waits until the loop has called cancel. */
static uv_async_t reached;
static uv_sem_t cancelled_now;

static int open_stopping(const char* path, int create, int mode) {
  if (atomic_fetch_add(&opens, 1) == 2) {
    uv_async_send(&reached);
    uv_sem_wait(&cancelled_now);
  }
  return fs_real.open_append(path, create, mode);
}

static void cancel_here(uv_async_t* async) {
  CHECK_EQ(uv_batch_fs_cancel(&req), 0);
  uv_sem_post(&cancelled_now);
  uv_close((uv_handle_t*)async, NULL);
}

TEST(cancelled_in_a_job_a_file_is_written_whole_or_not_at_all) {
  setup();
  CHECK_EQ(uv_sem_init(&cancelled_now, 0), 0);
  CHECK_EQ(uv_async_init(&fs_loop, &reached, cancel_here), 0);
  uvb__fs_calls.open_append = open_stopping;
  options.max_jobs = 1;
  options.max_files = 20;
  for (size_t i = 0; i < 50; i++) set(i, fs_path("f", i % 10), "x");
  append_all(50);
  for (size_t i = 0; i < 15; i++) {
    CHECK_EQ(files[i].result, 1);
    fs_check_content(files[i].path, "xxxxx");
  }
  for (size_t i = 15; i < 50; i++) {
    CHECK_EQ(files[i].result, UV_ECANCELED);
    CHECK(access(files[i].path, F_OK) != 0);
  }
  uv_sem_destroy(&cancelled_now);
  fs_teardown();
}

TEST(every_allocation_may_fail) {
  int status = UV_ENOMEM;
  long n = 0;
  for (; status != 0; n++) {
    setup();
    char* path = fs_path("log", 0);
    set(0, path, "one ");
    set(1, fs_path("b", 0), "x");
    set(2, path, "two");
    failing_allocator_after(n);
    status = uv_batch_fs_append(&fs_loop, &req, files, 3, &options, fs_note);
    fs_run();
    failing_allocator_after(-1);
    CHECK(status == 0 || status == UV_ENOMEM);
    CHECK_EQ(tally.files, status == 0 ? 3 : 0);
    if (status == 0) {
      fs_check_content(path, "one two");
    } else {
      CHECK(files[1].path != path);
      CHECK(access(path, F_OK) != 0);
    }
    fs_teardown();
  }
  CHECK(n > 1);
}

TEST_MAIN
