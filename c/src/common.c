/*
 * Every file may use this.
 *
 * The allocator is set before the first use of the library and never changes afterwards.
 *
 * The table from addresses to states is the only global state that changes at run time. One mutex guards it, and only
 * the functions here touch it. An entry belongs to whoever attached it, and lives until detached: libuv knows nothing
 * of it. A table without entries holds no memory, so that allocators can be replaced and leak checkers find nothing.
 *
 * libuv tells nobody but the caller of uv_close() about the end of a handle. So a handle that a program may close
 * behind our back, as uv_walk() lets it, is awaited by asking in each turn whether libuv still has it.
 */
#include "common.h"

#include <stdlib.h>

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

unsigned int uv_batch_version(void) {
  return UV_BATCH_VERSION_HEX;
}

const char* uv_batch_version_string(void) {
  return STRING(UV_BATCH_VERSION_MAJOR) "." STRING(UV_BATCH_VERSION_MINOR) "." STRING(UV_BATCH_VERSION_PATCH);
}

/* ---- memory */

uv_malloc_func uvb__malloc = malloc;
uv_calloc_func uvb__calloc = calloc;
uv_realloc_func uvb__realloc = realloc;
static uv_free_func release = free;

int uv_batch_replace_allocator(uv_malloc_func malloc_func, uv_realloc_func realloc_func, uv_calloc_func calloc_func,
                               uv_free_func free_func) {
  if (malloc_func == NULL || realloc_func == NULL || calloc_func == NULL || free_func == NULL) return UV_EINVAL;
  uvb__malloc = malloc_func;
  uvb__realloc = realloc_func;
  uvb__calloc = calloc_func;
  release = free_func;
  return 0;
}

void uvb__free(void* memory) {
  if (memory != NULL) release(memory);
}

void uv_batch_free(void* memory) {
  uvb__free(memory);
}

/* ---- the table of addresses */

/* Chained, so that forgetting an entry moves no other. */
typedef struct entry_s entry_t;
struct entry_s {
  const void* handle;
  void* state;
  entry_t* next;
  uvb__attach_t kind;
};

enum { few = 64 };

static uv_once_t once = UV_ONCE_INIT;
static uv_mutex_t mutex;
static bool ready;
static entry_t* first_buckets[few];
static entry_t** buckets = first_buckets;
static size_t bucket_count = few;
static size_t entry_count;

static void make_mutex(void) {
  ready = uv_mutex_init(&mutex) == 0;
}

static bool lock(void) {
  uv_once(&once, make_mutex);
  if (ready) uv_mutex_lock(&mutex);
  return ready;
}

static entry_t** find(const void* handle, uvb__attach_t kind) {
  uint64_t key = (uint64_t)(uintptr_t)handle + (uint64_t)kind;
  key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15u;
  entry_t** at = &buckets[(size_t)(key >> 32) & (bucket_count - 1)];
  while (*at != NULL && ((*at)->handle != handle || (*at)->kind != kind)) at = &(*at)->next;
  return at;
}

/* When memory runs out, the table stays as it is: slower, but still correct. */
static void grow(void) {
  entry_t** old = buckets;
  size_t old_count = bucket_count;
  entry_t** bigger = uvb__calloc(old_count * 4, sizeof(*bigger));
  if (bigger == NULL) return;
  buckets = bigger;
  bucket_count = old_count * 4;
  for (size_t i = 0; i < old_count; i++) {
    for (entry_t *entry = old[i], *next; entry != NULL; entry = next) {
      next = entry->next;
      entry->next = NULL;
      *find(entry->handle, entry->kind) = entry;
    }
  }
  if (old != first_buckets) uvb__free(old);
}

int uvb__attach(const void* handle, uvb__attach_t kind, void* state) {
  int status = UV_ENOMEM;
  entry_t* entry = uvb__malloc(sizeof(*entry));
  if (entry != NULL && lock()) {
    status = *find(handle, kind) == NULL ? 0 : UV_EBUSY;
    if (status == 0) {
      if (entry_count++ >= bucket_count) grow();
      *entry = (entry_t){.handle = handle, .state = state, .kind = kind};
      *find(handle, kind) = entry;
    }
    uv_mutex_unlock(&mutex);
  }
  if (status != 0) uvb__free(entry);
  return status;
}

void* uvb__attached(const void* handle, uvb__attach_t kind) {
  if (!lock()) return NULL;
  entry_t* entry = *find(handle, kind);
  void* state = entry == NULL ? NULL : entry->state;
  uv_mutex_unlock(&mutex);
  return state;
}

void* uvb__detach(const void* handle, uvb__attach_t kind) {
  if (!lock()) return NULL;
  entry_t** at = find(handle, kind);
  entry_t* entry = *at;
  void* state = entry == NULL ? NULL : entry->state;
  if (entry != NULL) {
    *at = entry->next;
    if (--entry_count == 0 && buckets != first_buckets) {
      uvb__free(buckets);
      for (size_t i = 0; i < few; i++) first_buckets[i] = NULL;
      buckets = first_buckets;
      bucket_count = few;
    }
  }
  uv_mutex_unlock(&mutex);
  uvb__free(entry);
  return state;
}

/* ---- handles that others may close */

static void on_closed(uv_handle_t* handle) {
  uvb__closer_t* closer = uvb__of(handle, uvb__closer_t, handle);
  closer->over(closer);
}

void uvb__closer_start(uvb__closer_t* closer, uv_loop_t* loop, void (*over)(uvb__closer_t* closer)) {
  uv_idle_init(loop, &closer->handle);
  closer->over = over;
  uv_close((uv_handle_t*)&closer->handle, on_closed);
}

#if defined(_WIN32)
/* A handle that is closed in a close callback has its turn at once there, before those that were closed earlier. */
static void on_idle(uv_idle_t* handle) {
  uv_close((uv_handle_t*)handle, on_closed);
}

void uvb__closer_again(uvb__closer_t* closer) {
  uv_idle_init(closer->handle.loop, &closer->handle);
  uv_idle_start(&closer->handle, on_idle);
}
#else
void uvb__closer_again(uvb__closer_t* closer) {
  uvb__closer_start(closer, closer->handle.loop, closer->over);
}
#endif

static void find_awaited(uv_handle_t* handle, void* data) {
  uvb__ending_t* ending = data;
  ending->found |= handle == ending->handle;
}

static void look_again(uvb__closer_t* closer) {
  uvb__ending_t* ending = uvb__of(closer, uvb__ending_t, closer);
  ending->found = false;
  uv_walk(closer->handle.loop, find_awaited, ending);
  if (ending->found) uvb__closer_again(closer);
  else ending->over(ending);
}

static void on_ended(uv_handle_t* handle) {
  uvb__ending_t* ending = handle->data;
  handle->data = ending->data;
  ending->over(ending);
}

void uvb__end_handle(uvb__ending_t* ending, uv_handle_t* handle, void (*over)(uvb__ending_t* ending)) {
  ending->handle = handle;
  ending->over = over;
  if (uv_is_closing(handle)) {
    uvb__closer_start(&ending->closer, handle->loop, look_again);
    return;
  }
  ending->data = handle->data;
  handle->data = ending;
  uv_close(handle, on_ended);
}
