/*
 * The life of a batch: an event comes in, waits in the queue, and leaves with others at a dispatch point. The engine
 * owns no clock, timer or loop (those are the host's), so that the same code runs on a virtual clock and at the end of
 * a loop turn.
 *
 * Control runs one way: push → queue → dispatch point → handlers. A dispatch point never nests, and lets at most
 * batches_per_turn batches leave. Handlers may call anything. What they push waits for a later batch; flush, a switch
 * of options and close cut batches that leave, in order, when the batch at hand is over. Only under `direct` do
 * handlers run inside a push.
 *
 * `closing` goes from open over deliver and delivering, or over discard, to closed, and never back; only this file
 * changes it. Each event that was taken gets exactly one callback. The queue is over, and its close callback runs, once
 * nothing is queued or retained and no call is inside: uvb__enter() and uvb__leave() count those.
 */
#include "engine.h"

#include <limits.h>
#include <string.h>

#include "inbox.h"

/* Batches that may leave at one dispatch point, so that handlers that keep pushing cannot keep the loop. */
enum { batches_per_turn = 8 };

static void deliver_cut(uvb__core_t* core);
static void after_batch(uvb__core_t* core);

static bool in_handler(const uvb__core_t* core) {
  return core->busy || core->nested > 0;
}

/* ---- beginning and end */

int uvb__init(uv_batch_t* batch, uv_loop_t* loop, uvb__host_t* host, const uv_batch_options_t* options) {
  uv_batch_options_t defaults;
  uv_batch_options_init(&defaults);
  if (options == NULL) options = &defaults;
  if (uv_batch_options_check(options, NULL, 0) != 0) return UV_EINVAL;
  uvb__core_t* before = uvb__attached(batch, UVB__ATTACH_BATCH);
  if (before != NULL && !uvb__loop_forget(before)) return UV_EBUSY;
  uvb__core_t* core = uvb__calloc(1, sizeof(*core));
  if (core == NULL) return UV_ENOMEM;
  core->batch = batch;
  core->host = host;
  core->end = uvb__end;
  core->hold = -1;
  core->deadline = -1;
  core->given = *options;
  core->options = uvb__options_complete(*options);
  core->direct = core->options.policy == UV_BATCH_POLICY_DIRECT;
  uvb__queue_init(&core->queue, core->options.order == UV_BATCH_ORDER_TYPE);
  uvb__advisor_init(&core->advisor);
  uvb__advisor_configure(&core->advisor, &core->options);
  void* data = batch->data;
  memset((void*)batch, 0, sizeof(*batch));
  batch->data = data;
  batch->loop = loop;
  int status = uvb__types_init(&core->types);
  if (status == 0) status = uvb__attach(batch, UVB__ATTACH_BATCH, core);
  if (status == 0 && loop != NULL) {
    status = uvb__loop_start(core, loop);
    if (status != 0) uvb__detach(batch, UVB__ATTACH_BATCH);
  }
  if (status != 0) {
    uvb__forget(core);
    return status;
  }
  batch->core_ = core;
  uvb__publish_limits(core);
  return 0;
}

int uv_batch_init(uv_loop_t* loop, uv_batch_t* batch, const uv_batch_options_t* options) {
  if (loop == NULL || batch == NULL) return UV_EINVAL;
  return uvb__init(batch, loop, NULL, options);
}

void uvb__forget(uvb__core_t* core) {
  uvb__queue_free(&core->queue);
  uvb__types_free(&core->types);
  uvb__free(core);
}

void uvb__end(uvb__core_t* core) {
  uv_batch_t* batch = core->batch;
  uv_batch_close_cb close_cb = core->close_cb;
  uv_batch_stats_t stats;
  uvb__stats(core, &stats);
  for (int i = 1; i < core->types.count; i++) {
    uv_batch_handler_t* handler = core->types.all[i]->first_handler;
    for (; handler != NULL; handler = handler->next_) uvb__handler_release(handler);
  }
  batch->core_ = NULL;
  uvb__forget(core);
  uvb__detach(batch, UVB__ATTACH_BATCH);
  if (close_cb != NULL) close_cb(batch, &stats);
}

void uvb__leave(uvb__core_t* core) {
  if (core->depth == 1) {
    uvb__inbox_publish(uvb__inbox_of(core->batch), core->queue.count, core->queue.bytes);
    if (!core->closed && !core->busy) uvb__run_waiters(core, false);
  }
  /* Calls that come between the end and the close callback find it ended. */
  if (core->depth == 1 && core->closing == uvb__closed && core->end != NULL) {
    while (core->first_waiter != NULL) uvb__run_waiters(core, true);
    void (*end)(uvb__core_t*) = core->end;
    core->end = NULL;
    core->depth = 0;
    end(core);
    return;
  }
  core->depth--;
}

/* ---- intake */

void uv_batch_event_init(uv_batch_event_t* event, int type, void* data) {
  if (event == NULL) return;
  /* In two parts: gcc zeroes a struct of this size by `rep stos`, which takes longer to start than all the rest. */
  const size_t line = offsetof(uv_batch_event_t, number_);
  memset(event, 0, line);
  memset((char*)event + line, 0, sizeof(*event) - line);
  event->data = data;
  event->type = type;
  event->priority = UV_BATCH_PRIORITY_OF_TYPE;
}

/* Checks that the event is the caller's, and has a valid type and priority. */
static inline int check_event(const uv_batch_event_t* event, int types) {
  if (event->status > UV_BATCH_STATUS_SUPERSEDED) return UV_EINVAL;
  if (event->status >= UV_BATCH_STATUS_POSTED && event->status <= UV_BATCH_STATUS_RETAINED) return UV_EBUSY;
  if (event->type <= 0 || event->type >= types) return UV_EINVAL;
  if (event->priority < UV_BATCH_PRIORITY_OF_TYPE || event->priority > UV_BATCH_PRIORITY_LOW) return UV_EINVAL;
  return 0;
}

/* The inbox admits what other threads post, and counts the queue as well. `older`: the event that is superseded, or
 * NULL. */
static inline bool has_room(const uvb__core_t* core, uint64_t bytes, const uv_batch_event_t* older) {
  const uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  uint64_t queued = core->queue.count + uvb__inbox_at_most(inbox) - (older != NULL);
  uint64_t taken = core->queue.bytes + uvb__inbox_bytes_at_most(inbox) - (older != NULL ? older->size : 0);
  return queued < core->options.max_queue && bytes <= core->options.max_queue_bytes &&
         taken <= core->options.max_queue_bytes - bytes;
}

/* Reports whether as many events are queued as a batch can hold. */
static bool is_full(const uvb__core_t* core) {
  const uvb__queue_t* queue = &core->queue;
  return queue->full_types > 0 || queue->count >= core->options.max_batch;
}

/* The events that a batch takes at most, if it is not held. */
static uint32_t limit_of(const uvb__core_t* core) {
  uint32_t most = core->options.max_batch;
  uint32_t by_time = uvb__advisor_limit(&core->advisor);
  return by_time > 0 && by_time < most ? by_time : most;
}

static bool reached_threshold(const uvb__core_t* core) {
  uint32_t threshold = core->options.threshold;
  return threshold > 0 && core->queue.count >= threshold;
}

/* Each turn of the loop and each timer that a held batch does not need would cost what holding it saves. */
void uvb__pushed(uvb__core_t* core) {
  if (core->budget > 0) return;
  bool ends = !core->armed || core->queue.depth[uvb__high] > 0 || is_full(core) || reached_threshold(core);
  if (ends) uvb__schedule(core);
}

static void queue_event(uvb__core_t* core, uv_batch_event_t* event, uvb__type_t* type) {
  /* First where that is known, for the host may keep the time that is read from then on. */
  if (!core->armed && core->budget == 0) uvb__schedule(core);
  uvb__stamp(core, event, type, uvb__now(core), ++core->seq);
  core->counters.pushed++;
  uvb__queue_push(&core->queue, type, event);
  uvb__note_push(core, type);
  if (core->armed) uvb__pushed(core);
}

/* The event leaves at once, as a batch of its own; a handler that pushes is interrupted by that event's handlers. */
static void push_direct(uvb__core_t* core, uv_batch_event_t* event, uvb__type_t* type) {
  uvb__stamp(core, event, type, uvb__now(core), ++core->seq);
  core->counters.pushed++;
  event->status = UV_BATCH_STATUS_PROCESSING;
  event->next = NULL;
  core->nested++;
  uvb__deliver(core, UV_BATCH_TRIGGER_SIZE, &(uvb__chain_t){event, event, 1});
  uvb__leave_direct(core);
}

/* ---- keys: an event supersedes the queued one of its type and key */

static void finish_superseded(uvb__core_t* core, uv_batch_event_t* older) {
  core->counters.superseded++;
  uvb__finish(core, older, UV_BATCH_STATUS_SUPERSEDED, UV_ECANCELED);
}

/* The older one's place, if both have the same class, and its own otherwise. There are no more events than before, so
 * only a HIGH one can end a hold. */
static void supersede(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* older, uv_batch_event_t* event) {
  uvb__stamp(core, event, type, older->timestamp, older->seq_);
  core->counters.pushed++;
  if (event->level_ == older->level_) {
    uvb__queue_replace(&core->queue, type, older, event);
  } else {
    uvb__queue_remove(&core->queue, type, older);
    if (event->level_ == uvb__high && core->budget == 0) uvb__schedule(core);
    event->timestamp = uvb__now(core);
    event->seq_ = ++core->seq;
    uvb__queue_push(&core->queue, type, event);
    uvb__queue_enter_key(&core->queue, event);
  }
  uvb__note_push(core, type);
  finish_superseded(core, older);
}

/* A push with a key, once the type's merge has run. */
typedef struct {
  uv_batch_event_t* older; /* that is superseded, or NULL */
  int failure;             /* of the merge, or 0 */
  void* data;              /* of the event before it */
  uint64_t size;
} keyed_t;

/* The merge may call anything here, so what it leaves is looked at again. */
static keyed_t find_and_merge(uvb__core_t* core, const uvb__type_t* type, uv_batch_event_t* event) {
  keyed_t keyed = {uvb__queue_find(&core->queue, event), 0, event->data, event->size};
  uv_batch_event_t* older = keyed.older;
  if (older == NULL || type->options.merge == NULL) return keyed;
  uint64_t seq = older->seq_;
  event->status = UV_BATCH_STATUS_POSTED;
  int status = type->options.merge(core->batch, older, event);
  if (status < 0) keyed.failure = status;
  if (status >= 0 && uvb__queue_find(&core->queue, event) == older && older->seq_ == seq) return keyed;
  keyed.older = NULL;
  event->data = keyed.data;
  event->size = keyed.size;
  return keyed;
}

static void queue_keyed(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event, const keyed_t* keyed) {
  if (keyed->older != NULL) {
    supersede(core, type, keyed->older, event);
    return;
  }
  /* There is one when the merge failed, or has pushed one: both stay, and the newest of a key is the one that is
   * superseded. */
  uv_batch_event_t* other = uvb__queue_find(&core->queue, event);
  if (other != NULL) uvb__queue_free_key(&core->queue, other);
  queue_event(core, event, type);
  uvb__queue_enter_key(&core->queue, event);
  if (keyed->failure == 0) return;
  core->counters.errors++;
  if (core->options.error_cb != NULL) core->options.error_cb(core->batch, event, keyed->failure);
}

static int refuse(uint64_t* counter, uv_batch_event_t* event, int status) {
  ++*counter;
  event->status = UV_BATCH_STATUS_REFUSED;
  return status;
}

static int push_keyed(uvb__core_t* core, uv_batch_event_t* event) {
  uvb__type_t* type = core->types.all[event->type];
  int status = 0;
  uvb__enter(core);
  keyed_t keyed = find_and_merge(core, type, event);
  if (core->closed) status = refuse(&core->counters.refused_closed, event, UV_ESHUTDOWN);
  else if (core->direct) uvb__take_event(core, event);
  else if (has_room(core, event->size, keyed.older)) queue_keyed(core, type, event, &keyed);
  else status = refuse(&core->counters.refused_overloaded, event, UV_ENOBUFS);
  if (status != 0) {
    event->data = keyed.data;
    event->size = keyed.size;
  }
  uvb__leave(core);
  return status;
}

/* ---- the ways in */

void uvb__take_event(uvb__core_t* core, uv_batch_event_t* event) {
  uvb__type_t* type = core->types.all[event->type];
  if (core->direct && !core->busy && core->queue.count == 0 && !core->closed) {
    push_direct(core, event, type);
  } else if (event->key != NULL && !core->direct) {
    keyed_t keyed = find_and_merge(core, type, event);
    queue_keyed(core, type, event, &keyed);
  } else {
    queue_event(core, event, type);
  }
}

int uv_batch_push(uv_batch_t* batch, uv_batch_event_t* event) {
  if (batch == NULL || event == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  int status = check_event(event, core == NULL ? INT_MAX : core->types.count);
  if (status != 0) return status;
  if (core != NULL && uvb__is_gone(core)) core = uvb__core(batch);
  if (core == NULL || core->closed) {
    if (core != NULL) core->counters.refused_closed++;
    event->status = UV_BATCH_STATUS_REFUSED;
    return UV_ESHUTDOWN;
  }
  /* Only under `direct`, or with a key, does a push run anything. */
  if (core->direct) {
    uvb__enter(core);
    uvb__take_event(core, event);
    uvb__leave(core);
    return 0;
  }
  if (event->key != NULL) return push_keyed(core, event);
  if (!has_room(core, event->size, NULL)) return refuse(&core->counters.refused_overloaded, event, UV_ENOBUFS);
  queue_event(core, event, core->types.all[event->type]);
  return 0;
}

int uv_batch_post(uv_batch_t* batch, uv_batch_event_t* event) {
  if (batch == NULL || event == NULL) return UV_EINVAL;
  uvb__inbox_t* inbox = uvb__inbox_of(batch);
  int status = check_event(event, (int)atomic_load_explicit(&inbox->types, memory_order_relaxed));
  return status == 0 ? uvb__inbox_post(inbox, event) : status;
}

static void end_hold(uvb__core_t* core) {
  core->hold = -1;
  core->changed = false;
  if (!core->armed) return;
  core->armed = false;
  core->host->arm(core->host, -1);
}

int uv_batch_cancel(uv_batch_t* batch, uv_batch_event_t* event) {
  if (batch == NULL || event == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_EALREADY;
  bool retained = event->status == UV_BATCH_STATUS_RETAINED;
  if ((retained || event->status == UV_BATCH_STATUS_QUEUED) && event->owner_ != core) return UV_EINVAL;
  uvb__type_t* type = uvb__types_get(&core->types, event->type);
  if (core->closed || type == NULL || (!retained && !uvb__queue_has(&core->queue, event))) return UV_EALREADY;
  uvb__enter(core);
  if (retained) uvb__retention_take(core, type, event);
  else uvb__queue_remove(&core->queue, type, event);
  if (core->queue.count == 0) end_hold(core);
  core->counters.cancelled++;
  uvb__finish(core, event, UV_BATCH_STATUS_CANCELLED, UV_ECANCELED);
  uvb__leave(core);
  return 0;
}

/* ---- dispatch points */

static void arm(uvb__core_t* core, double deadline) {
  core->armed = true;
  core->host->arm(core->host, deadline);
}

/* Takes a batch out of the queue and notes how long its events have waited. */
static uvb__chain_t take(uvb__core_t* core, uint32_t limit) {
  double now = uvb__now(core);
  uvb__chain_t batch = uvb__queue_take(&core->queue, &core->types, limit, now, core->options.max_deferral);
  for (int level = 0; level < uvb__levels; level++) {
    double taken = core->queue.taken[level];
    double* worst = &core->counters.worst_wait[level];
    if (taken >= 0 && now - taken > *worst) *worst = now - taken;
  }
  return batch;
}

/* Reports whether the open batch leaves, and for which reason. */
static bool judge(uvb__core_t* core, uv_batch_trigger_t* trigger) {
  *trigger = UV_BATCH_TRIGGER_SIZE;
  if (is_full(core)) return true;
  double now = uvb__now(core);
  bool asked = core->hold < 0 || core->changed;
  if (asked) core->hold = uvb__advisor_hold(&core->advisor, &core->options, core->host, now, core->counters.pushed);
  core->changed = false;
  *trigger = core->queue.count > limit_of(core) ? UV_BATCH_TRIGGER_SIZE : UV_BATCH_TRIGGER_TURN;
  if (core->hold == 0) return true;
  *trigger = UV_BATCH_TRIGGER_PRIORITY;
  if (core->queue.depth[uvb__high] > 0) return true;
  *trigger = UV_BATCH_TRIGGER_THRESHOLD;
  if (reached_threshold(core)) return true;
  *trigger = UV_BATCH_TRIGGER_DELAY;
  double deadline = uvb__queue_oldest(&core->queue)->timestamp + core->hold;
  if (deadline <= now) return true;
  arm(core, deadline);
  if (asked && core->observer != NULL) core->observer->hold(core->observer->data, core->hold);
  return false;
}

static void hand_on(uvb__core_t* core, uv_batch_trigger_t trigger, const uvb__chain_t* events,
                    uvb__leaving_t leaving) {
  unsigned int timed_for = uvb__advisor_leaves(&core->advisor, events->count, leaving);
  double start = timed_for != 0 ? core->host->clock(core->host) : 0;
  core->busy = true;
  uvb__deliver(core, trigger, events);
  core->busy = false;
  if (timed_for != 0) {
    double end = core->host->clock(core->host);
    uvb__advisor_took(&core->advisor, timed_for, &core->options, events->count, start, end);
  }
  after_batch(core);
}

static void cut_append(uvb__cut_t* cut, const uvb__chain_t* events, uv_batch_trigger_t trigger) {
  uv_batch_event_t* first = events->first;
  first->link_ = NULL;
  first->code_ = cut->preparations;
  first->received_ = (uint64_t)trigger;
  first->number_ = events->count;
  cut->preparations = 0;
  if (cut->last == NULL) cut->first = first;
  else cut->last->link_ = first;
  cut->last = first;
}

/* Under `direct`: a switch cut batches, and their handlers pushed. What they pushed leaves as if pushed just now. */
static void cut_one_by_one(uvb__core_t* core) {
  uvb__chain_t all = take(core, core->queue.count);
  for (uv_batch_event_t *event = all.first, *next; event != NULL; event = next) {
    next = event->next;
    event->next = NULL;
    cut_append(&core->cut, &(uvb__chain_t){event, event, 1}, UV_BATCH_TRIGGER_SIZE);
  }
}

/* Lets batches leave until nothing is due or the budget is used up. */
static void run(uvb__core_t* core) {
  for (;;) {
    deliver_cut(core);
    if (core->queue.count == 0) break;
    if (core->direct) {
      cut_one_by_one(core);
      continue;
    }
    if (core->budget == 0) {
      uvb__schedule(core);
      return;
    }
    uv_batch_trigger_t trigger;
    if (!judge(core, &trigger)) break;
    bool held = core->hold > 0;
    /* A window that does not hold shows what not holding costs; trials of the limit would make it look dearer. */
    bool compared = core->hold == 0 && uvb__advisor_compares(&core->advisor);
    uint32_t limit = held ? core->options.max_batch : limit_of(core);
    uvb__chain_t batch = take(core, limit);
    end_hold(core);
    /* After a batch that max_batch_time has cut the loop gets its turn. */
    bool cut = limit < core->options.max_batch && batch.count >= limit && core->queue.count > 0;
    core->budget = cut ? 0 : core->budget - 1;
    hand_on(core, trigger, &batch, held || compared ? uvb__was_not_limited : uvb__was_limited);
  }
  core->budget = 0;
}

/* Does what is due before anything leaves: expiry, and replays. Their handlers may flush, switch or close, as those of
 * a batch may. */
static void prepare(uvb__core_t* core, double now) {
  /* Under `direct`, what its handlers push runs inside the push, as always; otherwise it has to wait. */
  bool direct = core->direct;
  if (direct) core->nested++;
  else core->busy = true;
  uvb__retention_expire(core, now);
  uvb__replay_all(core);
  if (direct) core->nested--;
  else core->busy = false;
  after_batch(core);
}

static void begin(uvb__core_t* core) {
  double now = uvb__now(core);
  uvb__advisor_fold(&core->advisor, now);
  core->budget = batches_per_turn;
  prepare(core, now);
  run(core);
}

void uvb__turn(uv_batch_t* batch) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || !core->scheduled) return;
  uvb__enter(core);
  core->scheduled = false;
  begin(core);
  uvb__leave(core);
}

void uvb__hold_ended(uv_batch_t* batch) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->busy) return;
  core->armed = false;
  uv_batch_event_t* oldest = uvb__queue_oldest(&core->queue);
  if (oldest == NULL || core->hold < 0) return;
  uvb__enter(core);
  /* The event that the hold began with was cancelled, or the timer came early. */
  double deadline = oldest->timestamp + core->hold;
  if (deadline > uvb__now(core)) arm(core, deadline);
  else begin(core);
  uvb__leave(core);
}

int uv_batch_process(uv_batch_t* batch) {
  if (batch == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing != uvb__open || uvb__is_gone(core)) return UV_ESHUTDOWN;
  uvb__enter(core);
  uvb__loop_look_at_clock(core);
  uvb__take_in(core);
  if (core->closing == uvb__open) {
    if (in_handler(core) || core->budget > 0) {
      uvb__wake(core);
    } else {
      core->scheduled = false;
      begin(core);
    }
  }
  uvb__loop_let_sleep(core);
  uvb__leave(core);
  return 0;
}

/* ---- what handlers ask for while their batch is running: it leaves when that is over */

static bool nothing_is_cut(const uvb__core_t* core) {
  return core->cut.first == NULL && core->cut.preparations == 0;
}

/* Cuts what is queued into batches. Before the first of them, what is due comes. */
static void cut_all(uvb__core_t* core, uv_batch_trigger_t trigger) {
  core->cut.preparations++;
  while (core->queue.count > 0) {
    uvb__chain_t events = take(core, core->options.max_batch);
    cut_append(&core->cut, &events, trigger);
  }
  end_hold(core);
}

static void apply(uvb__core_t* core, const uv_batch_options_t* changed, uint32_t changes) {
  uvb__options_apply(&core->given, changed, changes);
  core->options = uvb__options_complete(core->given);
  core->direct = core->options.policy == UV_BATCH_POLICY_DIRECT;
  uvb__advisor_configure(&core->advisor, &core->options);
  uvb__publish_limits(core);
}

/* Cuts what is queued under the old options and applies the new ones. */
static void switch_options(uvb__core_t* core, const uv_batch_options_t* changed, uint32_t changes) {
  cut_all(core, UV_BATCH_TRIGGER_FLUSH);
  bool by_type = core->queue.by_type;
  apply(core, changed, changes);
  if (by_type != (core->options.order == UV_BATCH_ORDER_TYPE)) uvb__queue_reorder(&core->queue, !by_type);
}

static void after_batch(uvb__core_t* core) {
  if (core->pending_changes != 0) {
    /* Batches that were cut under the old options leave under them. */
    if (!nothing_is_cut(core)) return;
    uint32_t changes = core->pending_changes;
    core->pending_changes = 0;
    switch_options(core, &core->pending, changes);
  }
  if (core->closing != uvb__closing_deliver) return;
  core->closing = uvb__closing_delivering;
  cut_all(core, UV_BATCH_TRIGGER_CLOSE);
}

/* Everything has been delivered, or is discarded here. */
static void finish(uvb__core_t* core) {
  while (core->closing == uvb__closing_discard && core->queue.count > 0) {
    uvb__chain_t events = uvb__queue_take(&core->queue, &core->types, core->options.max_batch, uvb__now(core),
                                          core->options.max_deferral);
    for (uv_batch_event_t *event = events.first, *next; event != NULL; event = next) {
      next = event->next;
      core->counters.refused_cancelled++;
      uvb__finish(core, event, UV_BATCH_STATUS_CANCELLED, UV_ECANCELED);
    }
  }
  core->closing = uvb__closed;
  end_hold(core);
  uvb__retention_close(core);
}

/* Hands on the batches that were cut beforehand. */
static void deliver_cut(uvb__core_t* core) {
  uvb__cut_t* cut = &core->cut;
  while (!nothing_is_cut(core)) {
    uv_batch_event_t* first = cut->first;
    int* preparations = first == NULL ? &cut->preparations : &first->code_;
    if (*preparations > 0) {
      --*preparations;
      prepare(core, uvb__now(core));
      continue;
    }
    cut->first = first->link_;
    if (cut->first == NULL) cut->last = NULL;
    first->link_ = NULL;
    uvb__chain_t batch = {first, NULL, (size_t)first->number_};
    hand_on(core, (uv_batch_trigger_t)first->received_, &batch, uvb__not_judged);
  }
  if (core->closing == uvb__closing_delivering || core->closing == uvb__closing_discard) finish(core);
}

static void drain_cut(uvb__core_t* core) {
  if (in_handler(core)) return;
  deliver_cut(core);
  /* Under `direct` what the handlers pushed must not stay behind. */
  if (core->direct) run(core);
}

void uvb__leave_direct(uvb__core_t* core) {
  core->nested--;
  if (in_handler(core)) return;
  after_batch(core);
  deliver_cut(core);
}

int uv_batch_flush(uv_batch_t* batch) {
  if (batch == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing != uvb__open || uvb__is_gone(core)) return UV_ESHUTDOWN;
  uvb__enter(core);
  uvb__take_in(core);
  if (core->closing == uvb__open) {
    cut_all(core, UV_BATCH_TRIGGER_FLUSH);
    drain_cut(core);
  }
  uvb__loop_let_sleep(core);
  uvb__leave(core);
  return 0;
}

int uv_batch_set(uv_batch_t* batch, const uv_batch_options_t* options) {
  if (batch == NULL || uv_batch_options_check(options, NULL, 0) != 0) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || uvb__is_gone(core) || core->closing != uvb__open) return UV_ESHUTDOWN;
  uvb__enter(core);
  uv_batch_options_t coming = core->given;
  uvb__options_apply(&coming, &core->pending, core->pending_changes);
  uint32_t changes = uvb__options_changes(&coming, options);
  if ((changes & (uvb__policy_bit | uvb__order_bit)) == 0) {
    apply(core, options, changes);
    /* A switch that is still to come must not undo what is set here. */
    uvb__options_apply(&core->pending, options, changes);
    core->changed = core->queue.count > 0;
    if (core->changed && core->budget == 0) uvb__wake(core);
  } else if (in_handler(core)) {
    uvb__options_apply(&core->pending, options, changes);
    core->pending_changes |= changes;
  } else {
    switch_options(core, options, changes);
    drain_cut(core);
  }
  uvb__leave(core);
  return 0;
}

/* ---- close */

int uv_batch_close(uv_batch_t* batch, unsigned int flags, uv_batch_close_cb cb) {
  if (batch == NULL || (flags & ~UV_BATCH_DISCARD) != 0) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing != uvb__open) return UV_EALREADY;
  uvb__enter(core);
  core->close_cb = cb;
  core->closed = true;
  /* What other threads have posted belongs to what is queued, also under `direct`; what they post from here on is
   * refused. */
  uvb__take_last(core);
  core->closing = (flags & UV_BATCH_DISCARD) != 0 ? uvb__closing_discard : uvb__closing_deliver;
  if (!in_handler(core)) {
    after_batch(core);
    deliver_cut(core);
  }
  uvb__leave(core);
  return 0;
}

int uv_batch_is_closing(const uv_batch_t* batch) {
  if (batch == NULL || batch->core_ == NULL) return 1;
  const uvb__core_t* core = uvb__core(batch);
  return core->closed || (core->gate != NULL && uv_is_closing(core->gate));
}
