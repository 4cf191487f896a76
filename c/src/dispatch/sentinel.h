/* Learns that somebody closes the handles of a loop. libuv tells nobody but the caller of uv_close(); but it cancels
 * the requests of a stream that is closed, whoever closes it, and calls them back. So a sentinel is a stream with a
 * write that cannot complete.
 *
 * Like every request it keeps the loop alive, and it lets the poll wait. It costs a descriptor and a few system
 * calls. */
#ifndef UVB_SENTINEL_H
#define UVB_SENTINEL_H

#include <uv.h>

typedef struct uvb__sentinel_s uvb__sentinel_t;

/* `lost` runs once if somebody else closes its handle: in the closing phase of that turn. NULL: there is no memory or
 * no descriptor, or the system has none of the kind. */
uvb__sentinel_t* uvb__sentinel_start(uv_loop_t* loop, void (*lost)(void* data), void* data);

/* Takes it back; it frees itself when its handle is closed, and keeps the loop alive until then. Returns 0 and does
 * nothing when somebody else has closed it. */
int uvb__sentinel_end(uvb__sentinel_t* sentinel);

/* Its handle, to see whether it is closing. */
const uv_handle_t* uvb__sentinel_handle(const uvb__sentinel_t* sentinel);

/* Frees one that somebody else has closed, once libuv has finished with its handle. */
void uvb__sentinel_free(uvb__sentinel_t* sentinel);

/* ---- what a system has */

/* A descriptor that never becomes writable, or an error; `other`: one that has to stay open as long as it, or -1. */
uv_file uvb__sentinel_open(uv_file* other);
void uvb__sentinel_close(uv_file fd);

#endif
