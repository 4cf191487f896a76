/* Handles that others may close: a program that ends its loop closes each handle that uv_walk() finds, and libuv calls
 * back only the closer. */
#ifndef UVB_CLOSER_H
#define UVB_CLOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/* The struct that has this member. */
#define uvb__of(pointer, type, member) ((type*)((char*)(pointer) - offsetof(type, member)))

typedef struct uvb__closer_s uvb__closer_t;
typedef struct uvb__await_s uvb__await_t;

/* A handle that does nothing but close, so that nobody else can close it. */
struct uvb__closer_s {
  uv_idle_t handle;
  void (*over)(uvb__closer_t* closer);
};

/* `over` runs in the closing phase of this turn, or of the next when that is under way. Until then the loop is alive
 * and does not block. */
void uvb__closer_start(uvb__closer_t* closer, uv_loop_t* loop, void (*over)(uvb__closer_t* closer));

/* The same, inside `over`. */
void uvb__closer_again(uvb__closer_t* closer);

struct uvb__await_s {
  uvb__closer_t closer;
  const uv_handle_t* handle;
  bool found;
  void (*over)(uvb__await_t* await);
};

/* `over` runs once libuv has finished with a handle that somebody else has closed, in a later turn. */
void uvb__await(uvb__await_t* await, const uv_handle_t* handle, void (*over)(uvb__await_t* await));

#endif
