/* vectors FOLDER or FILE…        runs conformance vectors, and says what is not as they say
 * vectors --trace FILE…          prints what the operations of vectors cause, whatever the vectors expect
 * vectors --trace --stats FILE…  and the state after each operation
 *
 * `-` is the standard input, with vectors that are separated by lines of `---`; so are the traces. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "vectors/play.h"

static bool trace, stats;
static size_t passed, failed;

static void die(const char* name, const char* what) {
  fprintf(stderr, "%s: %s\n", name, what);
  exit(2);
}

static char* read_all(FILE* file, const char* name, size_t* size) {
  size_t room = 1 << 14;
  char* text = malloc(room);
  for (*size = 0; text != NULL;) {
    *size += fread(text + *size, 1, room - *size, file);
    if (*size < room) break;
    room *= 2;
    text = realloc(text, room);
  }
  if (text == NULL || ferror(file)) die(name, "cannot be read");
  return text;
}

static void run(const char* text, size_t size, const char* name) {
  char message[2048];
  vector_t* vector = vector_read(text, size, name, message, sizeof(message));
  if (vector == NULL) {
    failed++;
    printf("%s\n", message);
    return;
  }
  if (trace) {
    vector_trace(vector, stats, stdout);
  } else {
    /* Once more with events that are gone when they are over: what reads them then is found by a memory checker. */
    bool right = vector_play(vector, false, stdout) && vector_play(vector, true, stdout);
    if (right) passed++;
    else failed++;
  }
  vector_free(vector);
}

static void run_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) die(path, "cannot be opened");
  size_t size;
  char* text = read_all(file, path, &size);
  fclose(file);
  run(text, size, path);
  free(text);
}

static void run_input(void) {
  static const char separator[] = "\n---\n";
  size_t size;
  char* text = read_all(stdin, "standard input", &size);
  for (size_t from = 0; from < size;) {
    size_t to = from;
    while (to < size && (size - to < 5 || memcmp(text + to, separator, 5) != 0)) to++;
    run(text + from, to - from, "-");
    puts("---");
    from = to + 5;
  }
  free(text);
}

static int by_name(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static bool is_folder(const char* path) {
  uv_fs_t req;
  int status = uv_fs_stat(NULL, &req, path, NULL);
  bool folder = status == 0 && (req.statbuf.st_mode & S_IFMT) == S_IFDIR;
  uv_fs_req_cleanup(&req);
  return folder;
}

/* Files in order of their paths, those of all folders below. */
static void run_path(const char* path) {
  if (!is_folder(path)) {
    run_file(path);
    return;
  }
  uv_fs_t req;
  int count = uv_fs_scandir(NULL, &req, path, 0, NULL);
  if (count < 0) die(path, uv_strerror(count));
  char** paths = calloc((size_t)count + 1, sizeof(*paths));
  if (paths == NULL) die(path, "out of memory");
  uv_dirent_t entry;
  for (int i = 0; uv_fs_scandir_next(&req, &entry) == 0; i++) {
    size_t size = strlen(path) + strlen(entry.name) + 2;
    paths[i] = malloc(size);
    if (paths[i] == NULL) die(path, "out of memory");
    snprintf(paths[i], size, "%s/%s", path, entry.name);
  }
  uv_fs_req_cleanup(&req);
  qsort(paths, (size_t)count, sizeof(*paths), by_name);
  for (int i = 0; i < count; i++) {
    run_path(paths[i]);
    free(paths[i]);
  }
  free(paths);
}

int main(int argc, char** argv) {
  int first = 1;
  for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
    if (strcmp(argv[first], "--trace") == 0) trace = true;
    else if (strcmp(argv[first], "--stats") == 0) stats = true;
    else die(argv[first], "no such option");
  }
  if (first == argc) die(argv[0], "write `vectors FOLDER`, `vectors FILE…` or `vectors --trace [--stats] FILE…`");
  for (int i = first; i < argc; i++) {
    if (strcmp(argv[i], "-") == 0) run_input();
    else run_path(argv[i]);
  }
  if (!trace) printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0 || (!trace && passed == 0);
}
