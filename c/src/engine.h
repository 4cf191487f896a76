/* The state behind a uv_batch_t, and what the files of the engine do for each other. See engine.c. */
#ifndef UVB_ENGINE_H
#define UVB_ENGINE_H

#include "queue.h"

typedef struct uvb__core_s uvb__core_t;

/* The load of a loop: its busy share over about 250 ms, 0 to 1, and the ms that it has worked, from any point on. */
typedef struct {
  double utilization;
  double busy;
} uvb__load_t;

/* An engine needs two things from the world: time, and calls at the right moments. The loop is one host; tests have
 * another, whose clock stands still unless told. A request for a call replaces the last one; a negative deadline takes
 * it back. */
typedef struct uvb__host_s uvb__host_t;
struct uvb__host_s {
  double (*now)(uvb__host_t* host);                       /* ms; may be read once and kept for the rest of a turn */
  double (*clock)(uvb__host_t* host);                     /* the same, read anew */
  void (*schedule)(uvb__host_t* host);                    /* one call of uvb__turn() at the end of this turn */
  void (*arm)(uvb__host_t* host, double deadline);        /* one call of uvb__hold_ended() at this time */
  void (*arm_expiry)(uvb__host_t* host, double deadline); /* of uvb__expire(); it keeps no loop alive */
  uvb__load_t (*load)(uvb__host_t* host, double now);     /* only for `adaptive` with a delay */
  double hold_cost;                                       /* ms that a hold costs: its timer and its turn */
};

/* Told of each step, in order; for tests, which set it in the core. */
typedef struct {
  void* data;
  void (*batch)(void* data, const uv_batch_info_t* info);
  void (*hold)(void* data, double hold_ms);
  void (*held)(void* data, uv_batch_event_t* event);
  void (*replayed)(void* data, uv_batch_event_t* event); /* before each handler that gets it */
} uvb__observer_t;

/* A walk over a type's handlers or retained events, one for each level of nesting, on the stack: whoever removes one of
 * them moves on the walks that stand before it. */
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
 * is the next one's first event, code_ how many dispatch preparations come before it, received_ the trigger, number_
 * its events. Nothing is allocated. */
typedef struct {
  uv_batch_event_t* first;
  uv_batch_event_t* last;
  int preparations; /* after the last one */
} uvb__cut_t;

/* An adapter that keeps something back because the queue was full. */
typedef struct uvb__waiter_s uvb__waiter_t;
struct uvb__waiter_s {
  void (*retry)(uvb__waiter_t* waiter); /* there is room, or the queue is closed and refuses with UV_ESHUTDOWN */
  uvb__waiter_t* next;
  uvb__waiter_t* prev;
  uvb__core_t* core; /* NULL: it does not wait */
};

struct uvb__core_s {
  uv_batch_t* batch;
  uvb__host_t* host;
  const uv_handle_t* gate; /* of the loop: once somebody closes it, nothing is taken any more; NULL: another host */
  void (*end)(uvb__core_t* core); /* runs once all is over and no call is inside; then NULL */
  int depth;                      /* calls that are inside the queue */
  uv_batch_close_cb close_cb;

  uv_batch_options_t given;   /* as set */
  uv_batch_options_t options; /* complete */
  uv_batch_options_t pending; /* switched by a handler: applied when the current batch is over */
  uint32_t pending_changes;   /* which of its members; see options.c */

  uvb__types_t types;
  uvb__queue_t queue;
  uvb__advisor_t advisor;
  uint64_t seq;

  bool scheduled;     /* a dispatch point at the end of this turn has been asked for */
  bool busy;          /* a batch is with its handlers, or what is due before it */
  int nested;         /* runs of handlers or callbacks outside a batch, one inside the other */
  uvb__cut_t cut;
  int budget;         /* batches that may still leave at the dispatch point that is running; 0 when none is */
  double hold;        /* that the policy gave the open batch, in ms; negative: it was not asked yet */
  bool changed;       /* options were set since: it is asked again at the next dispatch point */
  bool armed;         /* the open batch is held */
  bool closed;        /* nothing is taken any more; `closing` says what is left to do */
  uvb__closing_t closing;
  bool direct;
  uvb__waiter_t* first_waiter; /* for room */
  uvb__waiter_t* last_waiter;
  size_t waiting;

  uint64_t handler_number;
  uvb__walk_t* handler_walks;

  /* Retention. */
  uint64_t number;
  uvb__walk_t* kept_walks;
  uvb__type_t* first_keeping;
  uvb__type_t* last_keeping;
  uvb__type_t* first_due;
  uvb__type_t* last_due;
  double deadline; /* negative: none */

  const uvb__observer_t* observer; /* or NULL */
  uv_batch_stats_t counters;
};

static inline uvb__core_t* uvb__core(const uv_batch_t* batch) {
  return batch->core_;
}

static inline double uvb__now(const uvb__core_t* core) {
  return core->host->now(core->host);
}

/* ---- engine.c */

/* uv_batch_init() on a loop, or on another host: then a close completes when no call is inside the queue. */
int uvb__init(uv_batch_t* batch, uv_loop_t* loop, uvb__host_t* host, const uv_batch_options_t* options);
/* The queue is over: frees the core, and gives the struct back with its close callback. */
void uvb__end(uvb__core_t* core);
void uvb__forget(uvb__core_t* core); /* frees the core, and touches nothing that is not its own */

/* Every way in is between these two: the last one out ends a queue that is closed. */
static inline void uvb__enter(uvb__core_t* core) {
  core->depth++;
}
void uvb__leave(uvb__core_t* core);

static inline void uvb__stamp(uvb__core_t* core, uv_batch_event_t* event, const uvb__type_t* type, double now,
                              uint64_t seq) {
  int8_t priority = event->priority;
  event->level_ = (uint8_t)(priority == UV_BATCH_PRIORITY_OF_TYPE ? type->options.priority : priority);
  event->timestamp = now;
  event->seq_ = seq;
  event->flags_ = 0;
  event->owner_ = core;
}

/* Notes for the type's rate that an event was pushed: no arithmetic yet. */
static inline void uvb__note_push(uvb__core_t* core, uvb__type_t* type) {
  if (!core->advisor.estimating || type->fresh++ > 0) return;
  type->next_fresh = core->advisor.first_fresh;
  core->advisor.first_fresh = type;
}

/* Asks for a dispatch point at the end of this turn, unless that was done. */
static inline void uvb__schedule(uvb__core_t* core) {
  if (core->scheduled) return;
  core->scheduled = true;
  core->host->schedule(core->host);
}

/* The same after pushes that have queued something: not while a batch is held that they do not end. At a dispatch
 * point that is running, what handlers push is judged there. */
void uvb__pushed(uvb__core_t* core);

/* The same, when something became due without a push. */
static inline void uvb__wake(uvb__core_t* core) {
  if (core->closing != uvb__closed) uvb__schedule(core);
}

/* Takes an event that has been admitted: queues it, or, under `direct`, hands it to its handlers. */
void uvb__take_event(uvb__core_t* core, uv_batch_event_t* event);
/* A run of handlers or callbacks outside a batch, counted in `nested`, is over: after the outermost, what they asked for
 * comes. */
void uvb__leave_direct(uvb__core_t* core);

/* The host's call-backs: the end of a turn, the end of a hold. An early call, or one that was not asked for, does no harm. */
void uvb__turn(uv_batch_t* batch);
void uvb__hold_ended(uv_batch_t* batch);

/* ---- inbox.c */

void uvb__publish_limits(uvb__core_t* core); /* tells other threads the bounds and the number of types */
void uvb__take_in(uvb__core_t* core);        /* takes in what other threads have posted so far */
void uvb__take_last(uvb__core_t* core);      /* the same, and refuses what they post from here on */

/* ---- options.c and stats.c */

/* One bit for each member that `to` has and `from` has otherwise. */
enum { uvb__policy_bit = 1, uvb__order_bit = 2 };
uint32_t uvb__options_changes(const uv_batch_options_t* from, const uv_batch_options_t* to);
/* Copies the members of these bits. */
void uvb__options_apply(uv_batch_options_t* options, const uv_batch_options_t* changed, uint32_t changes);
/* The set with max_delay filled in where it follows from the policy. */
uv_batch_options_t uvb__options_complete(uv_batch_options_t options);

void uvb__stats(const uvb__core_t* core, uv_batch_stats_t* stats);

/* ---- dispatch.c */

/* Hands the events of a batch to their handlers, one after the other. */
void uvb__deliver(uvb__core_t* core, uv_batch_trigger_t trigger, const uvb__chain_t* events);
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
void uvb__failed(uvb__core_t* core, uv_batch_event_t* event, int status); /* a handler failed for it */
void uvb__handler_release(uv_batch_handler_t* handler);                   /* gives it back to its owner */
/* Runs one handler for one event: 0, or the failure. The event may be gone when this returns; then `here`, the walk
 * that stands at it, has moved on. */
int uvb__run_handler(uv_batch_handler_t* handler, uv_batch_event_t* event, const uvb__walk_t* here);

/* ---- retention.c */

/* Keeps an event of a type that retains; false when it would exceed a bound. */
bool uvb__retain(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event);
/* Takes a retained event out; it does not end it. */
void uvb__retention_take(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event);
/* A handler has registered: what the type has kept is due to it. */
void uvb__retention_registered(uvb__core_t* core, uvb__type_t* type, uv_batch_handler_t* handler);
void uvb__retention_configured(uvb__core_t* core, uvb__type_t* type); /* the type's options have changed */
/* Gives the due events to their handlers, oldest first: of one type, or, before a batch leaves, of all. */
void uvb__replay(uvb__core_t* core, uvb__type_t* type);
void uvb__replay_all(uvb__core_t* core);
/* Ends the events whose age is reached, oldest deadline first; uvb__expire() when the host says that one is. */
void uvb__retention_expire(uvb__core_t* core, double now);
void uvb__expire(uv_batch_t* batch);
void uvb__retention_close(uvb__core_t* core); /* ends everything: the queue is closed */

/* ---- loop.c */

/* Puts a queue on a loop: UV_ENOMEM, or what libuv says; then the core is as before. */
int uvb__loop_start(uvb__core_t* core, uv_loop_t* loop);
/* Forgets the time that was kept for this turn: somebody asks for a dispatch point in the middle of it. */
void uvb__loop_look_at_clock(uvb__core_t* core);
/* From here on the loop may sleep, and posts wake it. Whoever takes something in calls this afterwards. */
void uvb__loop_let_sleep(uvb__core_t* core);
/* Reports whether others have closed handles of the queue, so that it takes nothing any more. If so the queue ends:
 * inside this call when libuv has finished with the handles, and then the core is gone, else in this turn. */
bool uvb__loop_gone(uvb__core_t* core);
static inline bool uvb__is_gone(uvb__core_t* core) {
  return core->gate != NULL && uv_is_closing(core->gate) && uvb__loop_gone(core);
}
/* For a struct that is initialized again: ends its old queue if others have closed that for good. False: in use. */
bool uvb__loop_forget(uvb__core_t* core);

/* ---- adapter.c */

/* Does nothing if it is waiting already. */
void uvb__wait_for_room(uv_batch_t* batch, uvb__waiter_t* waiter);
void uvb__stop_waiting(uvb__waiter_t* waiter);
/* Each waiter gets one try, in order; one that waits again is behind the others. `all`: also when the queue is full. */
void uvb__run_waiters(uvb__core_t* core, bool all);

#endif
