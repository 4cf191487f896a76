/* What this library knows about a handle that is not its own: a table from the address of a handle, and a kind, to a
 * state. It leaves the handle's `data` to its user. Any thread; a look-up costs one uncontended lock and a hash. */
#ifndef UVB_ATTACH_H
#define UVB_ATTACH_H

typedef enum {
  UVB__ATTACH_BATCH = 1,
  UVB__ATTACH_LISTENER,
  UVB__ATTACH_READER,
  UVB__ATTACH_LARGESOCKET,
  UVB__ATTACH_OWNER /* for a program that has this library in it, as the addon for Node does */
} uvb__attach_t;

/* 0; UV_EBUSY when the handle has a state of this kind; UV_ENOMEM. */
int uvb__attach(const void* handle, uvb__attach_t kind, void* state);
/* Replaces the state that it has. */
void uvb__attach_other(const void* handle, uvb__attach_t kind, void* state);
/* The state, or NULL. */
void* uvb__attached(const void* handle, uvb__attach_t kind);
/* Forgets and returns the state, or NULL. */
void* uvb__detach(const void* handle, uvb__attach_t kind);

#endif
