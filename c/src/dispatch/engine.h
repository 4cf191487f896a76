/* One queue with its policy: the path of an event from intake to dispatch. It owns no clock, timer or loop (those are
 * the host's), so that the same code runs on a virtual clock and at the end of a loop turn.
 *
 * Control runs one way: push → queue → dispatch point → handlers. A dispatch point never nests. */
#ifndef UVB_ENGINE_H
#define UVB_ENGINE_H

#include "dispatch/host.h"
#include "uv_batch.h"

/* uv_batch_init() on another host than the loop's; `loop` stays NULL. A close completes when no call is inside the
 * queue. */
int uvb__init_on_host(uv_batch_t* batch, uvb__host_t* host, const uv_batch_options_t* options);

/* The end of the turn that schedule() asked for; nothing when it did not. */
void uvb__turn(uv_batch_t* batch);
/* The time that arm() asked for has come; being early does no harm. */
void uvb__hold_ended(uv_batch_t* batch);
/* The time that arm_expiry() asked for has come; being early does no harm. */
void uvb__expire(uv_batch_t* batch);

/* Told of each step, in order; for tests. Any member may be NULL. */
typedef struct {
  void* data;
  void (*batch)(void* data, const uv_batch_info_t* info);
  void (*hold)(void* data, double hold_ms);
  void (*held)(void* data, uv_batch_event_t* event);
  void (*replayed)(void* data, uv_batch_event_t* event); /* before each handler that gets it */
} uvb__observer_t;

/* The observer remains its owner's; NULL removes it. */
void uvb__observe(uv_batch_t* batch, const uvb__observer_t* observer);

/* Signals in place of the engine's own estimates; NAN: its own. */
void uvb__give_signals(uv_batch_t* batch, double utilization, double gain, double holds, double rate);
void uvb__give_rate(uv_batch_t* batch, int type, double rate);

#endif
