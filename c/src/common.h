/* Every file may use this: memory, the mark of a struct that is in use, what is known about an address, and handles
 * that others may close. */
#ifndef UVB_COMMON_H
#define UVB_COMMON_H

/* C11 atomics, by the compiler's own header. MSVC has them with /std:c11 /experimental:c11atomics, which CMakeLists.txt
 * asks for. No stand-alone fence is used anywhere: thread sanitizers do not model it. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "uv_batch.h"

/* The struct that has this member. */
#define uvb__of(pointer, type, member) ((type*)((char*)(pointer) - offsetof(type, member)))

/* ---- memory: all of it comes from here, so that uv_batch_replace_allocator() and tests see every allocation */

extern uv_malloc_func uvb__malloc;
extern uv_calloc_func uvb__calloc;
extern uv_realloc_func uvb__realloc;
void uvb__free(void* memory); /* may be NULL */

/* ---- structs of the user: in use while the first private slot points to itself, which leftovers in memory never do.
 * The second slot is the library's state. */

static inline void uvb__claim(void* slots[], void* state) {
  slots[0] = slots;
  slots[1] = state;
}

static inline void uvb__give_up(void* slots[]) {
  slots[0] = NULL;
  slots[1] = NULL;
}

static inline bool uvb__in_use(void* const slots[]) {
  return slots[0] == (const void*)slots;
}

/* The state of a struct that is in use, or NULL. */
static inline void* uvb__claimed(void* const slots[]) {
  return uvb__in_use(slots) ? slots[1] : NULL;
}

/* ---- addresses whose memory is not the library's: a table from a handle, and a kind, to a state. It leaves the
 * handle's `data` to its user. Any thread; a look-up costs one uncontended lock and a hash. */

typedef enum {
  UVB__ATTACH_BATCH = 1, /* to a uvb__core_t: the memory of a queue that is over may be gone */
  UVB__ATTACH_LISTENER,
  UVB__ATTACH_READER,
  UVB__ATTACH_LARGESOCKET,
  UVB__ATTACH_OWNER /* for a program that has this library in it, as the addon for Node does */
} uvb__attach_t;

/* 0; UV_EBUSY when the handle has a state of this kind; UV_ENOMEM. */
int uvb__attach(const void* handle, uvb__attach_t kind, void* state);
void* uvb__attached(const void* handle, uvb__attach_t kind); /* the state, or NULL */
void* uvb__detach(const void* handle, uvb__attach_t kind);   /* the same, and forgets it */

/* ---- handles that others may close: a program that ends its loop closes each handle that uv_walk() finds, and libuv
 * calls back only the closer */

/* A handle that does nothing but close, so that nobody else can close it. */
typedef struct uvb__closer_s {
  uv_idle_t handle;
  void (*over)(struct uvb__closer_s* closer);
} uvb__closer_t;

/* `over` runs in the closing phase of this turn, or of the next when that is under way. Until then the loop is alive
 * and does not block. */
void uvb__closer_start(uvb__closer_t* closer, uv_loop_t* loop, void (*over)(uvb__closer_t* closer));
/* The same, inside `over`. */
void uvb__closer_again(uvb__closer_t* closer);

/* The end of a handle that somebody else may have closed. */
typedef struct uvb__ending_s {
  uvb__closer_t closer;
  const uv_handle_t* handle;
  bool found;
  void* data; /* the handle's, meanwhile */
  void (*over)(struct uvb__ending_s* ending);
} uvb__ending_t;

/* Closes the handle, unless that was done. `over` runs once libuv has finished with it; if somebody else has closed it,
 * in a later turn. */
void uvb__end_handle(uvb__ending_t* ending, uv_handle_t* handle, void (*over)(uvb__ending_t* ending));

#endif
