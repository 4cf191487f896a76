#include "attach.h"

#include <stdint.h>

#include "memory.h"
#include "uv_batch.h"

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
static int ready;
static entry_t* first_buckets[few];
static entry_t** buckets = first_buckets;
static size_t bucket_count = few;
static size_t entry_count;

static void make_mutex(void) {
  ready = uv_mutex_init(&mutex) == 0;
}

static size_t bucket_of(const void* handle, uvb__attach_t kind, size_t count) {
  uint64_t key = (uint64_t)(uintptr_t)handle + (uint64_t)kind;
  key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15u;
  return (size_t)(key >> 32) & (count - 1);
}

static entry_t** find(const void* handle, uvb__attach_t kind) {
  entry_t** at = &buckets[bucket_of(handle, kind, bucket_count)];
  while (*at != NULL && ((*at)->handle != handle || (*at)->kind != kind)) at = &(*at)->next;
  return at;
}

/* When memory runs out, the table stays as it is: slower, but still correct. */
static void grow(void) {
  size_t count = bucket_count * 4;
  entry_t** bigger = uvb__calloc(count, sizeof(*bigger));
  if (bigger == NULL) return;
  for (size_t i = 0; i < bucket_count; i++) {
    entry_t* entry = buckets[i];
    while (entry != NULL) {
      entry_t* next = entry->next;
      entry_t** to = &bigger[bucket_of(entry->handle, entry->kind, count)];
      entry->next = *to;
      *to = entry;
      entry = next;
    }
  }
  if (buckets != first_buckets) uvb__free(buckets);
  buckets = bigger;
  bucket_count = count;
}

/* An empty table holds no memory: allocators can be replaced, and a leak checker finds nothing. */
static void shrink(void) {
  if (entry_count > 0 || buckets == first_buckets) return;
  uvb__free(buckets);
  for (size_t i = 0; i < few; i++) first_buckets[i] = NULL;
  buckets = first_buckets;
  bucket_count = few;
}

int uvb__attach(const void* handle, uvb__attach_t kind, void* state) {
  entry_t* entry;
  int status = UV_EBUSY;
  uv_once(&once, make_mutex);
  if (!ready) return UV_ENOMEM;
  entry = uvb__malloc(sizeof(*entry));
  if (entry == NULL) return UV_ENOMEM;
  uv_mutex_lock(&mutex);
  if (*find(handle, kind) == NULL) {
    if (entry_count >= bucket_count) grow();
    entry_t** at = find(handle, kind);
    entry->handle = handle;
    entry->kind = kind;
    entry->state = state;
    entry->next = NULL;
    *at = entry;
    entry_count++;
    status = 0;
  }
  uv_mutex_unlock(&mutex);
  if (status != 0) uvb__free(entry);
  return status;
}

void uvb__attach_other(const void* handle, uvb__attach_t kind, void* state) {
  uv_mutex_lock(&mutex);
  entry_t* entry = *find(handle, kind);
  if (entry != NULL) entry->state = state;
  uv_mutex_unlock(&mutex);
}

void* uvb__attached(const void* handle, uvb__attach_t kind) {
  uv_once(&once, make_mutex);
  if (!ready) return NULL;
  uv_mutex_lock(&mutex);
  entry_t* entry = *find(handle, kind);
  void* state = entry == NULL ? NULL : entry->state;
  uv_mutex_unlock(&mutex);
  return state;
}

void* uvb__detach(const void* handle, uvb__attach_t kind) {
  void* state = NULL;
  uv_once(&once, make_mutex);
  if (!ready) return NULL;
  uv_mutex_lock(&mutex);
  entry_t** at = find(handle, kind);
  entry_t* entry = *at;
  if (entry != NULL) {
    *at = entry->next;
    entry_count--;
    state = entry->state;
    shrink();
  }
  uv_mutex_unlock(&mutex);
  uvb__free(entry);
  return state;
}
