/* The state behind a uv_batch_t, and what the files of this folder do for each other. */
#ifndef UVB_CORE_H
#define UVB_CORE_H

#include <stdbool.h>

#include "admit/options.h"
#include "batch/advisor.h"
#include "batch/queue_map.h"
#include "dispatch/engine.h"
#include "dispatch/room.h"

typedef struct uvb__core_s uvb__core_t;

/* A walk over a type's handlers or retained events, which may be removed while it is under way: whoever removes one
 * moves the walks that stand before it on. One for each level of nesting, on the stack. */
typedef struct uvb__walk_s {
  void* next;
  struct uvb__walk_s* outer;
} uvb__walk_t;

typedef enum {
  uvb__open,
  uvb__closing_deliver,
  uvb__closing_delivering,
  uvb__closing_discard,
  uvb__closed
} uvb__closing_t;

/* Batches that were cut by flush, close or a switch and have not left yet, as a list through their first events: link_
 * is the next one's first event, count_ how many dispatch preparations come before it, received_ the trigger, number_
 * its events. */
typedef struct {
  uv_batch_event_t* first;
  uv_batch_event_t* last;
  int preparations; /* after the last one */
} uvb__cut_t;

struct uvb__core_s {
  uv_batch_t* batch;
  uvb__host_t* host;
  /* The handle that has the dispatch points. When somebody closes it, nothing is taken any more. NULL: none. */
  const uv_handle_t* gate;
  /* Runs once everything is over and no call into the queue is on the stack; NULL once it has run. */
  void (*end)(uvb__core_t* core);
  int depth; /* calls that are inside the queue */
  uv_batch_close_cb close_cb;

  uv_batch_options_t given;   /* as set */
  uv_batch_options_t options; /* complete */
  uv_batch_options_t pending; /* switched by a handler: applied when the current batch is over */
  uvb__changes_t pending_changes;

  uvb__types_t types;
  uvb__queue_t queue;
  uvb__advisor_t advisor;
  uint64_t seq;

  bool scheduled;   /* a dispatch point at the end of this turn has been asked for */
  bool busy;        /* a batch is with its handlers, or what is due before it */
  int nested;       /* direct pushes that are running their handlers, one inside the other */
  uvb__cut_t cut;
  int budget;       /* batches that may still leave at the dispatch point that is running; 0 when none is */
  bool ask;         /* whether the running dispatch point may ask the policy about the open batch */
  double hold;      /* that the policy gave the open batch, in ms; negative: it was not held */
  uint32_t held_from; /* events queued when the hold of the open batch began; 0: none began */
  bool armed;
  bool closed;      /* nothing is taken any more; `closing` says what is left to do */
  uvb__closing_t closing;
  bool direct;
  uvb__waiter_t* waiters; /* for room */
  uvb__waiter_t** waiters_end;
  size_t waiting;

  /* Handlers. */
  uint64_t handler_number;
  uvb__walk_t* handler_walks;
  /* Retention. */
  uint64_t number;
  uvb__walk_t* kept_walks;
  uvb__type_t* first_keeping;
  uvb__type_t* first_due;
  uvb__type_t* last_due;
  double deadline; /* negative: none */

  const uvb__observer_t* observer;
  uv_batch_stats_t counters;
};

static inline uvb__core_t* uvb__core(const uv_batch_t* batch) {
  return batch->core_;
}

static inline double uvb__now(const uvb__core_t* core) {
  return core->host->now(core->host);
}

static inline bool uvb__in_handler(const uvb__core_t* core) {
  return core->busy || core->nested > 0;
}

/* Every way in is between these two: the last one out ends a queue that is closed. */
void uvb__enter(uvb__core_t* core);
void uvb__leave(uvb__core_t* core);

/* ---- core.c */

/* Makes a core, or returns UV_ENOMEM. The options have been checked. */
int uvb__core_new(uvb__core_t** made, uv_batch_t* batch, uvb__host_t* host, const uv_batch_options_t* options);
void uvb__core_free(uvb__core_t* core);
/* The same, but touches nothing that is not its own. */
void uvb__core_forget(uvb__core_t* core);
void uvb__core_stats(const uvb__core_t* core, uv_batch_stats_t* stats);
/* `type` may be NULL. */
void uvb__core_estimate(const uvb__core_t* core, const uvb__type_t* type, uv_batch_estimate_t* estimate);
/* Copies what can be read into the batch, for calls that come after its close. */
void uvb__core_remember(uvb__core_t* core);

/* ---- engine.c; the caller has checked its arguments */

int uvb__engine_cancel(uvb__core_t* core, uv_batch_event_t* event);
void uvb__engine_flush(uvb__core_t* core);
void uvb__engine_process(uvb__core_t* core);
int uvb__engine_set(uvb__core_t* core, const uv_batch_options_t* options);
void uvb__engine_close(uvb__core_t* core, bool discard);
/* Asks for a dispatch point at the end of this turn. */
void uvb__engine_wake(uvb__core_t* core);
/* The same from a push, when it is known that none has been asked for. */
static inline void uvb__schedule(uvb__core_t* core) {
  core->scheduled = true;
  core->host->schedule(core->host);
}
/* One of those who run handlers under `direct`, and have counted themselves in `nested`, is over. When it is the
 * outermost one, what the handlers asked for comes now. */
void uvb__leave_direct(uvb__core_t* core);

/* ---- handlers.c */

/* Hands the events of a batch to their handlers, one after the other. */
void uvb__deliver(uvb__core_t* core, uv_batch_trigger_t trigger, const uvb__chain_t* events);
/* What comes before anything leaves: expiry, and replays that are due. */
void uvb__prepare(uvb__core_t* core, double now);
/* The event is over: its callback runs, and from then on it belongs to its owner, and may be gone. */
static inline void uvb__finish(uvb__core_t* core, uv_batch_event_t* event, uv_batch_status_t state, int status) {
  event->status = (uint8_t)state;
  if (event->callback != NULL) event->callback(core->batch, event, status);
}
/* The same when it had a handler. `code_` means something only when there are flags, so that the usual event is not
 * touched beyond its first cache line. */
static inline void uvb__finish_handled(uvb__core_t* core, uv_batch_event_t* event) {
  if (event->flags_ == 0) uvb__finish(core, event, UV_BATCH_STATUS_COMPLETED, 0);
  else uvb__finish(core, event, UV_BATCH_STATUS_FAILED, event->code_);
}
/* A handler failed for the event. */
void uvb__failed(uvb__core_t* core, uv_batch_event_t* event, int status);
/* Runs one handler for one event: 0, or the failure. The event may be gone when this returns; then `here`, the walk
 * that stands at it, has moved on. */
int uvb__run_handler(uv_batch_handler_t* handler, uv_batch_event_t* event, const uvb__walk_t* here);
void uvb__handler_add(uvb__core_t* core, uv_batch_handler_t* handler);
void uvb__handler_remove(uvb__core_t* core, uv_batch_handler_t* handler);

/* ---- retention.c */

/* Keeps an event of a type that retains; false when it would exceed a bound. */
bool uvb__retain(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event);
/* Gives a type's due events to its handlers, oldest first. */
void uvb__replay(uvb__core_t* core, uvb__type_t* type);
void uvb__replay_all(uvb__core_t* core);
/* Ends the events whose age is reached, oldest deadline first. */
void uvb__retention_expire(uvb__core_t* core, double now);
/* The timer of the next deadline has fired, perhaps early. */
void uvb__retention_timer_fired(uvb__core_t* core, double now);
/* Takes a retained event out; it does not end it. */
void uvb__retention_take(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event);
/* The type's options have changed. */
void uvb__retention_configured(uvb__core_t* core, uvb__type_t* type);
/* A handler has registered: what the type has kept is due to it. */
void uvb__retention_registered(uvb__core_t* core, uvb__type_t* type, uv_batch_handler_t* handler);
/* Ends everything: the queue is closed. */
void uvb__retention_close(uvb__core_t* core);

#endif
