/* An event comes in: it is stamped, admitted, and queued. */
#include "intake/push.h"

#include "admit/bounds.h"
#include "intake/inbox.h"

static inline void stamp(uvb__core_t* core, uv_batch_event_t* event, const uvb__type_t* type, double now,
                         uint64_t seq) {
  int8_t priority = event->priority;
  event->level_ = (uint8_t)(priority == UV_BATCH_PRIORITY_OF_TYPE ? type->options.priority : priority);
  event->timestamp = now;
  event->seq_ = seq;
  event->flags_ = 0;
  event->owner_ = core;
}

static void take_event(uvb__core_t* core, uv_batch_event_t* event, uvb__type_t* type) {
  stamp(core, event, type, uvb__now(core), ++core->seq);
  core->counters.pushed++;
}

static void queue_event(uvb__core_t* core, uv_batch_event_t* event, uvb__type_t* type) {
  /* At a dispatch point that is running, what handlers push is judged there. First, for the host may keep the time that
   * is read from then on. */
  if (!core->scheduled && core->budget == 0) uvb__schedule(core);
  take_event(core, event, type);
  uvb__queue_push(&core->queue, type, event);
  if (core->advisor.estimating) uvb__advisor_pushed(&core->advisor, type);
}

/* The event leaves at once, as a batch of its own; a handler that pushes is interrupted by that event's handlers. */
static void push_direct(uvb__core_t* core, uv_batch_event_t* event, uvb__type_t* type) {
  take_event(core, event, type);
  event->status = UV_BATCH_STATUS_PROCESSING;
  event->next = NULL;
  uvb__chain_t alone = {event, event, 1};
  core->nested++;
  uvb__deliver(core, UV_BATCH_TRIGGER_SIZE, &alone);
  uvb__leave_direct(core);
}

int uvb__push(uvb__core_t* core, uv_batch_event_t* event) {
  uvb__type_t* type = core->types.all[event->type];
  if (core->closed) {
    core->counters.refused_closed++;
    event->status = UV_BATCH_STATUS_REFUSED;
    return UV_ESHUTDOWN;
  }
  if (core->direct) {
    if (!core->busy && core->queue.count == 0) push_direct(core, event, type);
    else queue_event(core, event, type);
    return 0;
  }
  if (!uvb__has_room(core, event->size)) {
    core->counters.refused_overloaded++;
    event->status = UV_BATCH_STATUS_REFUSED;
    return UV_ENOBUFS;
  }
  queue_event(core, event, type);
  return 0;
}

static uv_batch_event_t* oldest_first(uv_batch_event_t* newest) {
  uv_batch_event_t* first = NULL;
  while (newest != NULL) {
    uv_batch_event_t* next = newest->next;
    newest->next = first;
    first = newest;
    newest = next;
  }
  return first;
}

static uvb__taken_t take_in_one_by_one(uvb__core_t* core, uv_batch_event_t* newest) {
  uvb__taken_t taken = {0, 0};
  /* Under `direct` handlers run here. What they ask for, a close above all, waits until everything is in. */
  bool direct = core->direct;
  if (direct) core->nested++;
  for (uv_batch_event_t* event = oldest_first(newest); event != NULL; taken.count++) {
    uv_batch_event_t* next = event->next;
    uvb__type_t* type = core->types.all[event->type];
    taken.bytes += event->size;
    if (core->direct && !core->busy && core->queue.count == 0 && !core->closed) push_direct(core, event, type);
    else queue_event(core, event, type);
    event = next;
  }
  if (direct) uvb__leave_direct(core);
  return taken;
}

/* From the newest to the oldest in one pass: each event is in the cache of another core, and is fetched once. */
static uvb__taken_t take_in_by_arrival(uvb__core_t* core, uv_batch_event_t* newest, uint64_t at_most) {
  uvb__taken_t taken = {0, 0};
  uvb__chain_t front[uvb__levels] = {{NULL, NULL, 0}, {NULL, NULL, 0}, {NULL, NULL, 0}};
  double now = uvb__now(core);
  core->seq += at_most;
  uint64_t seq = core->seq;
  for (uv_batch_event_t* event = newest; event != NULL; taken.count++) {
    uv_batch_event_t* next = event->next;
    uvb__type_t* type = core->types.all[event->type];
    taken.bytes += event->size;
    stamp(core, event, type, now, seq--);
    uvb__queue_prepend(&core->queue, type, front, event);
    if (core->advisor.estimating) uvb__advisor_pushed(&core->advisor, type);
    event = next;
  }
  uvb__queue_join(&core->queue, front, taken.bytes);
  core->counters.pushed += taken.count;
  if (!core->scheduled && core->budget == 0) uvb__schedule(core);
  return taken;
}

uvb__taken_t uvb__take_in(uvb__core_t* core, uv_batch_event_t* newest, uint64_t at_most) {
  if (newest == NULL) return (uvb__taken_t){0, 0};
  bool by_arrival = !core->direct && !core->queue.by_type;
  uvb__taken_t taken = by_arrival ? take_in_by_arrival(core, newest, at_most) : take_in_one_by_one(core, newest);
  core->counters.posted += taken.count;
  return taken;
}
