/*
 * Counts the calls of the C library's allocator by a process that is started with this library before all others (LD_PRELOAD). V8
 * takes memory for its objects from the system, in pages, so that they are not among these calls; all else of Node.js is: libuv, the
 * bytes of Buffers, addons, SQLite.
 *
 * The counters are in a file that every process of the server maps. Each thread counts in a slot of its own, as long as there are
 * enough, so that threads do not wait for one another's cache line. For glibc, whose own functions have a second name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);

enum { SLOTS = 64, SLOT_BYTES = 64 };

struct slot {
  _Alignas(SLOT_BYTES) _Atomic uint64_t allocations;
  _Atomic uint64_t frees;
};

static struct slot* slots;
static atomic_uint threads;
static __thread struct slot* mine __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void map(void) {
  const char* path = getenv("MILLRACE_LAB_ALLOCATIONS");
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* memory = mmap(NULL, SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) slots = memory;
}

static struct slot* own(void) {
  if (mine == NULL && slots != NULL) {
    unsigned number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    mine = &slots[number % SLOTS];
  }
  return mine;
}

static void* allocated(void* memory) {
  struct slot* slot = own();
  if (slot != NULL) atomic_fetch_add_explicit(&slot->allocations, 1, memory_order_relaxed);
  return memory;
}

void* malloc(size_t size) { return allocated(__libc_malloc(size)); }

void* calloc(size_t count, size_t size) { return allocated(__libc_calloc(count, size)); }

void* realloc(void* memory, size_t size) { return allocated(__libc_realloc(memory, size)); }

void* memalign(size_t alignment, size_t size) { return allocated(__libc_memalign(alignment, size)); }

void* aligned_alloc(size_t alignment, size_t size) { return allocated(__libc_memalign(alignment, size)); }

int posix_memalign(void** result, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* memory = allocated(__libc_memalign(alignment, size));
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

void free(void* memory) {
  struct slot* slot = memory == NULL ? NULL : own();
  if (slot != NULL) atomic_fetch_add_explicit(&slot->frees, 1, memory_order_relaxed);
  __libc_free(memory);
}
