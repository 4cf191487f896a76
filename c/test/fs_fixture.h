/* A folder of its own for a test of file jobs, a loop, and a tally of callbacks. What is not freed or closed fails the
 * test at its end. */
#ifndef UVB_FS_FIXTURE_H
#define UVB_FS_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs.h"
#include "failing_allocator.h"
#include "test.h"
#include "uv_batch.h"

enum { fs_most = 10000, fs_path_size = 96 };

/* Put into req.data: how often each entry has come back, and in shares of which size. */
typedef struct {
  size_t calls;
  size_t files;
  size_t shares[64];
  unsigned char seen[fs_most];
} fs_tally_t;

static char fs_dir[] = "/tmp/uv_batch_fs_XXXXXX";
static uv_loop_t fs_loop;
static uvb__fs_calls_t fs_real;
static int fs_descriptors;

static inline int fs_count_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 1024; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static inline void fs_setup(void) {
  failing_allocator_install();
  strcpy(fs_dir, "/tmp/uv_batch_fs_XXXXXX");
  CHECK(mkdtemp(fs_dir) != NULL);
  CHECK(chmod(fs_dir, 0755) == 0);
  CHECK_EQ(uv_loop_init(&fs_loop), 0);
  fs_real = uvb__fs_calls;
  fs_descriptors = fs_count_descriptors();
}

static inline void fs_run(void) {
  CHECK_EQ(uv_run(&fs_loop, UV_RUN_DEFAULT), 0);
}

static inline void fs_teardown(void) {
  DIR* dir = opendir(fs_dir);
  char path[512];
  fs_run();
  CHECK(dir != NULL);
  for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    snprintf(path, sizeof(path), "%s/%s", fs_dir, entry->d_name);
    if (entry->d_name[0] != '.') CHECK(remove(path) == 0);
  }
  closedir(dir);
  CHECK(rmdir(fs_dir) == 0);
  uvb__fs_calls = fs_real;
  CHECK_EQ(fs_count_descriptors(), fs_descriptors);
  CHECK_EQ(uv_loop_close(&fs_loop), 0);
  CHECK_EQ(failing_allocator_live(), 0);
}

/* A path in the folder; the memory is one of many in turn. */
static inline char* fs_path(const char* prefix, size_t number) {
  static char paths[fs_most][fs_path_size];
  static size_t next;
  char* path = paths[next++ % fs_most];
  snprintf(path, fs_path_size, "%s/%s%zu", fs_dir, prefix, number);
  return path;
}

static inline void fs_put(const char* path, const void* content, size_t len) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL);
  CHECK_EQ(fwrite(content, 1, len, file), len);
  CHECK_EQ(fclose(file), 0);
}

/* The content of a file, to free(); a NUL follows it. */
static inline char* fs_get(const char* path, size_t* len) {
  FILE* file = fopen(path, "rb");
  char* content = malloc(2000000);
  CHECK(file != NULL && content != NULL);
  *len = fread(content, 1, 1999999, file);
  content[*len] = 0;
  fclose(file);
  return content;
}

static inline void fs_check_content(const char* path, const char* expected) {
  size_t len;
  char* content = fs_get(path, &len);
  if (strcmp(content, expected) != 0) fprintf(stderr, "%s has \"%s\"\n", path, content);
  CHECK(strcmp(content, expected) == 0);
  free(content);
}

/* The callback of most tests. */
static inline void fs_note(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count) {
  fs_tally_t* tally = req->data;
  size_t at = (size_t)(first - req->files);
  CHECK(count > 0 && at + count <= req->count);
  for (size_t i = 0; i < count; i++) CHECK_EQ(tally->seen[at + i]++, 0);
  if (tally->calls < 64) tally->shares[tally->calls] = count;
  tally->calls++;
  tally->files += count;
  CHECK_EQ(req->pending, req->count - tally->files);
}

/* Holds all threads of the pool until fs_release_pool(). */
static uv_sem_t fs_held, fs_release;
static uv_work_t fs_holds[4];

static inline void fs_hold(uv_work_t* work) {
  (void)work;
  uv_sem_post(&fs_held);
  uv_sem_wait(&fs_release);
}

static inline void fs_hold_pool(void) {
  CHECK_EQ(uv_sem_init(&fs_held, 0), 0);
  CHECK_EQ(uv_sem_init(&fs_release, 0), 0);
  for (int i = 0; i < 4; i++) CHECK_EQ(uv_queue_work(&fs_loop, &fs_holds[i], fs_hold, NULL), 0);
  for (int i = 0; i < 4; i++) uv_sem_wait(&fs_held);
}

static inline void fs_release_pool(void) {
  for (int i = 0; i < 4; i++) uv_sem_post(&fs_release);
}

#endif
