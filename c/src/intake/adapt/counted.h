/* A source that says only that something happened, again and again: a signal, a timer. Its one event is in the
 * user's struct; what happens while that cannot be pushed is counted for the next one. */
#ifndef UVB_COUNTED_H
#define UVB_COUNTED_H

#include "intake/adapt/adapt.h"

typedef struct uvb__counted_s uvb__counted_t;

struct uvb__counted_s {
  uvb__waiter_t waiter;
  uv_batch_t* batch;
  uv_batch_event_t* event;
  unsigned int* count; /* of the event */
  unsigned int since;  /* times that are in no event yet */
  bool out;            /* the event is with the queue */
  bool stopped;
  bool closed;
  uv_handle_t* handle;
  uvb__await_t await; /* when somebody else has closed it */
  /* Runs once it is stopped, its handle is closed and its event is not with the queue. */
  void (*ended)(uvb__counted_t* source);
};

/* `source` is zeroed but for `ended`. */
void uvb__counted_init(uvb__counted_t* source, uv_batch_t* batch, uv_batch_event_t* event, unsigned int* count,
                       uv_handle_t* handle);
/* It has happened. */
void uvb__counted_came(uvb__counted_t* source);
/* The event is over. */
void uvb__counted_over(uvb__counted_t* source);
/* Takes the event back, and what was counted with it. `closed` is the handle's close callback and calls
 * uvb__counted_closed(). */
void uvb__counted_stop(uvb__counted_t* source, uv_close_cb closed);
void uvb__counted_closed(uvb__counted_t* source);

#endif
