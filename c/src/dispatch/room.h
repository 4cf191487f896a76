/* An adapter that keeps something back because the queue was full. */
#ifndef UVB_ROOM_H
#define UVB_ROOM_H

#include "uv_batch.h"

typedef struct uvb__waiter_s uvb__waiter_t;

struct uvb__waiter_s {
  /* Runs after a dispatch point that made room: tries again, and waits again if need be. It also runs once more when
   * the queue is closed; then what it pushes is refused with UV_ESHUTDOWN. */
  void (*retry)(uvb__waiter_t* waiter);
  uvb__waiter_t* next;
  uvb__waiter_t** at; /* the pointer to it; NULL: it does not wait */
  struct uvb__core_s* core;
};

/* Does nothing if it is waiting already. */
void uvb__wait_for_room(uv_batch_t* batch, uvb__waiter_t* waiter);
void uvb__stop_waiting(uvb__waiter_t* waiter);

#endif
