/* Runs a fuzz target without libFuzzer, for compilers that do not have it; its options have the same names.
 *
 *   TARGET [-max_total_time=SECONDS] [-runs=N] [-max_len=N] [-seed=N] [FILE or FOLDER…]
 *
 * The files run first. Then inputs are made from the seed: random bytes, or changed files; without -max_total_time
 * and -runs only the files run. The same files, options and seed make the same inputs. An input that ends the process
 * is written to the file "crash": run it alone by TARGET crash. */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "fuzz.h"

typedef struct {
  uint8_t* bytes;
  size_t size;
} input_t;

static input_t* corpus;
static size_t corpus_count;
static input_t running;
static uint64_t state;

static void* checked(void* memory) {
  if (memory == NULL) exit(2);
  return memory;
}

/* splitmix64 */
static uint64_t random_number(void) {
  uint64_t mixed = state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

static size_t random_below(size_t limit) {
  return limit == 0 ? 0 : (size_t)(random_number() % limit);
}

static void keep_crash(void) {
  FILE* file = fopen("crash", "wb");
  if (file == NULL) return;
  fwrite(running.bytes, 1, running.size, file);
  fclose(file);
  fputs("the input is in the file 'crash'\n", stderr);
}

static void on_crash(int number) {
  keep_crash();
  signal(number, SIG_DFL);
  raise(number);
}

/* Sanitizers end the process without a signal. */
#if defined(__GNUC__) && !defined(_WIN32)
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static void watch_sanitizer(void) {
  if (__sanitizer_set_death_callback != NULL) __sanitizer_set_death_callback(keep_crash);
}
#else
static void watch_sanitizer(void) {}
#endif

static void run(input_t input) {
  running = input;
  LLVMFuzzerTestOneInput(input.bytes, input.size);
}

static void add_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "%s: cannot be opened\n", path);
    exit(2);
  }
  input_t input = {checked(malloc(1)), 0};
  size_t got;
  do {
    input.bytes = checked(realloc(input.bytes, input.size + 65536));
    got = fread(input.bytes + input.size, 1, 65536, file);
    input.size += got;
  } while (got > 0);
  fclose(file);
  corpus = checked(realloc(corpus, (corpus_count + 1) * sizeof(*corpus)));
  corpus[corpus_count++] = input;
}

static void add_path(const char* path) {
  uv_fs_t req;
  uv_dirent_t entry;
  if (uv_fs_scandir(NULL, &req, path, 0, NULL) < 0) {
    add_file(path);
  } else {
    while (uv_fs_scandir_next(&req, &entry) == 0) {
      size_t size = strlen(path) + strlen(entry.name) + 2;
      char* inner = checked(malloc(size));
      snprintf(inner, size, "%s/%s", path, entry.name);
      add_path(inner);
      free(inner);
    }
  }
  uv_fs_req_cleanup(&req);
}

static void change(input_t* input, size_t max_len) {
  for (size_t times = 1 + random_below(8); times > 0 && input->size > 0; times--) {
    size_t at = random_below(input->size);
    size_t length = random_below(input->size - at < 16 ? input->size - at : 16);
    switch (random_below(4)) {
      case 0:
        input->bytes[at] = (uint8_t)random_number();
        break;
      case 1: /* leave some out */
        memmove(input->bytes + at, input->bytes + at + length, input->size - at - length);
        input->size -= length;
        break;
      case 2: /* some twice */
        if (input->size + length > max_len) break;
        memmove(input->bytes + at + length, input->bytes + at, input->size - at);
        input->size += length;
        break;
      default: { /* some of another */
        const input_t* other = &corpus[random_below(corpus_count)];
        size_t from = random_below(other->size);
        if (length > other->size - from) length = other->size - from;
        memcpy(input->bytes + at, other->bytes + from, length);
      }
    }
  }
}

static void run_random(uint8_t* buffer, size_t max_len) {
  input_t input = {buffer, 0};
  if (corpus_count > 0 && random_below(4) > 0) {
    const input_t* from = &corpus[random_below(corpus_count)];
    input.size = from->size < max_len ? from->size : max_len;
    memcpy(buffer, from->bytes, input.size);
    change(&input, max_len);
  } else {
    input.size = random_below(max_len + 1);
    for (size_t i = 0; i < input.size; i++) buffer[i] = (uint8_t)random_number();
  }
  /* Of exactly its size, so that reading past its end is found. */
  uint8_t* exact = checked(malloc(input.size + (input.size == 0)));
  memcpy(exact, buffer, input.size);
  input.bytes = exact;
  run(input);
  free(exact);
}

static bool option(const char* argument, const char* name, uint64_t* value) {
  size_t size = strlen(name);
  if (strncmp(argument, name, size) != 0) return false;
  *value = strtoull(argument + size, NULL, 10);
  return true;
}

int main(int argc, char** argv) {
  uint64_t seconds = 0, runs = 0, max_len = 1024, seed = uv_hrtime() ^ (uint64_t)time(NULL);
  for (int i = 1; i < argc; i++) {
    const char* argument = argv[i];
    if (option(argument, "-max_total_time=", &seconds) || option(argument, "-runs=", &runs) ||
        option(argument, "-max_len=", &max_len) || option(argument, "-seed=", &seed)) {
      continue;
    }
    if (argument[0] == '-') fprintf(stderr, "%s is not known here and means nothing\n", argument);
    else add_path(argument);
  }
  signal(SIGABRT, on_crash);
  signal(SIGSEGV, on_crash);
  watch_sanitizer();
  for (size_t i = 0; i < corpus_count; i++) run(corpus[i]);
  uint64_t done = 0;
  if (seconds > 0 || runs > 0) {
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    state = seed;
    uint8_t* buffer = checked(malloc((size_t)max_len + 1));
    uint64_t end = uv_hrtime() + seconds * UINT64_C(1000000000);
    while ((runs == 0 || done < runs) && (seconds == 0 || uv_hrtime() < end)) {
      run_random(buffer, (size_t)max_len);
      done++;
    }
    free(buffer);
  }
  printf("%zu files and %llu random inputs passed\n", corpus_count, (unsigned long long)done);
  for (size_t i = 0; i < corpus_count; i++) free(corpus[i].bytes);
  free(corpus);
  return 0;
}
