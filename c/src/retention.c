/*
 * Late handlers: events that found no handler are kept, in order, for one that registers later. What is kept is bounded
 * in events, bytes and age per type. It has left the queue, so that it does not count there, and the timer for its age
 * keeps no loop alive.
 *
 * A retained event has one of three ends: its type's handlers get it (`first`: those that come first; `each`: every
 * handler that registers before its age), its age is reached, or retention ends, by a close or by its option. An event
 * that a handler has had is completed or failed, the others expire.
 *
 * A handler that registers makes its type due. The events are replayed at the next dispatch point, before any batch
 * leaves, and again before an event of a type that became due meanwhile, so that a handler sees kept events before
 * later ones. Walks over kept events are registered in the core, as those over handlers are. Only this file changes
 * these lists.
 */
#include "engine.h"

/* ---- what a type keeps: a list by link_ and prev_, in the order in which the events left */

static void take_out(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event) {
  for (uvb__walk_t* walk = core->kept_walks; walk != NULL; walk = walk->outer) {
    if (walk->next == event) walk->next = event->link_;
  }
  UVB__REMOVE(type->first_kept, type->last_kept, event, link_, prev_);
  if (--type->kept == 0) UVB__REMOVE(core->first_keeping, core->last_keeping, type, next_keeping, prev_keeping);
  type->kept_bytes -= event->size;
  core->counters.retained--;
  core->counters.retained_bytes -= event->size;
  event->link_ = NULL;
  event->prev_ = NULL;
}

/* ---- deadlines: a type has one age for all its events, so its first one expires first */

static double deadline_of(const uvb__type_t* type) {
  return type->first_kept->since_ + type->options.retain_max_age;
}

/* The type whose event expires next, or NULL. */
static uvb__type_t* next_to_expire(const uvb__core_t* core) {
  uvb__type_t* next = NULL;
  for (uvb__type_t* type = core->first_keeping; type != NULL; type = type->next_keeping) {
    double by = next == NULL ? -1 : deadline_of(type) - deadline_of(next);
    if (by < 0 || (by == 0 && type->first_kept->number_ < next->first_kept->number_)) next = type;
  }
  return next;
}

static void ask(uvb__core_t* core, double deadline) {
  core->deadline = deadline;
  core->host->arm_expiry(core->host, deadline);
}

static void schedule(uvb__core_t* core) {
  const uvb__type_t* next = next_to_expire(core);
  double deadline = next == NULL ? -1 : deadline_of(next);
  if (deadline != core->deadline) ask(core, deadline);
}

/* ---- keeping */

bool uvb__retain(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event) {
  const uv_batch_type_options_t* options = &type->options;
  bool fits = type->kept < options->retain_max && event->size <= options->retain_max_bytes &&
              type->kept_bytes <= options->retain_max_bytes - event->size;
  if (!fits) return false;
  /* Counted from when the batch left, a long batch would already have used up part of the age. */
  double now = uvb__now(core);
  event->status = UV_BATCH_STATUS_RETAINED;
  event->since_ = now;
  event->number_ = ++core->number;
  event->received_ = 0;
  UVB__APPEND(type->first_kept, type->last_kept, event, link_, prev_);
  if (type->kept++ == 0) UVB__APPEND(core->first_keeping, core->last_keeping, type, next_keeping, prev_keeping);
  type->kept_bytes += event->size;
  core->counters.retained++;
  core->counters.retained_bytes += event->size;
  core->counters.held++;
  double deadline = now + options->retain_max_age;
  if (core->deadline < 0 || deadline < core->deadline) ask(core, deadline);
  if (core->observer != NULL) core->observer->held(core->observer->data, event);
  return true;
}

void uvb__retention_take(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event) {
  take_out(core, type, event);
  schedule(core);
}

/* ---- replays */

static void not_due(uvb__core_t* core, uvb__type_t* type) {
  if (!type->due) return;
  type->due = false;
  for (uv_batch_handler_t* handler = type->first_handler; handler != NULL; handler = handler->next_) handler->due_ = 0;
  UVB__REMOVE(core->first_due, core->last_due, type, next_due, prev_due);
}

static bool is_due_to_any(const uvb__type_t* type) {
  for (const uv_batch_handler_t* handler = type->first_handler; handler != NULL; handler = handler->next_) {
    if (handler->due_ != 0) return true;
  }
  return false;
}

void uvb__retention_registered(uvb__core_t* core, uvb__type_t* type, uv_batch_handler_t* handler) {
  if (type->kept == 0) return;
  /* A type does not keep its place in the list for handlers that are gone. */
  if (!is_due_to_any(type)) not_due(core, type);
  handler->due_ = ++core->number;
  if (!type->due) UVB__APPEND(core->first_due, core->last_due, type, next_due, prev_due);
  type->due = true;
  uvb__wake(core);
}

/* It became due no later than `last`, and registered after the event was kept. */
static bool is_late(const uv_batch_handler_t* handler, const uv_batch_event_t* event, uint64_t last) {
  return handler->due_ != 0 && handler->due_ <= last && handler->due_ > event->number_;
}

static bool has_late(const uvb__type_t* type, const uv_batch_event_t* event, uint64_t last) {
  for (const uv_batch_handler_t* handler = type->first_handler; handler != NULL; handler = handler->next_) {
    if (is_late(handler, event, last) && handler->due_ > event->received_) return true;
  }
  return false;
}

/* Gives the event to the late handlers, or, `all`, to each that was there when the replay began: until one fails. */
static void give(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event, uint64_t last, uint64_t latest,
                 bool all) {
  uint64_t from = 0, to = 0;
  uint64_t received = event->received_;
  /* The late ones are next to each other. From here on all of them count as having received it, also in a replay that
   * one of them causes, after which none of them is late any more. */
  for (const uv_batch_handler_t* one = type->first_handler; one != NULL; one = one->next_) {
    if (!is_late(one, event, last) || one->due_ <= received) continue;
    if (from == 0) from = one->number_;
    to = one->number_;
    event->received_ = one->due_;
  }
  uvb__walk_t walk = {type->first_handler, core->handler_walks};
  /* Shows whether a handler has ended an event that was to stay. */
  uvb__walk_t here = {event, core->kept_walks};
  core->handler_walks = &walk;
  core->kept_walks = &here;
  while (walk.next != NULL && here.next == event) {
    uv_batch_handler_t* handler = walk.next;
    if (handler->number_ > latest) break;
    walk.next = handler->next_;
    if (!all && (handler->number_ < from || handler->number_ > to)) continue;
    core->counters.replayed++;
    if (core->observer != NULL) core->observer->replayed(core->observer->data, event);
    int status = uvb__run_handler(handler, event, &here);
    if (status == 0 || here.next != event) continue;
    /* After a failure the handlers behind this one do not get the event. */
    uvb__failed(core, event, status);
    break;
  }
  core->handler_walks = walk.outer;
  core->kept_walks = here.outer;
}

void uvb__replay(uvb__core_t* core, uvb__type_t* type) {
  /* Handlers that register from here on have to wait for the next replay. */
  uint64_t last = core->number;
  uint64_t latest = core->handler_number;
  uvb__walk_t walk = {type->first_kept, core->kept_walks};
  core->kept_walks = &walk;
  while (walk.next != NULL && type->first_handler != NULL) {
    uv_batch_event_t* event = walk.next;
    walk.next = event->link_;
    if (!has_late(type, event, last)) continue;
    bool first = type->options.retain != UV_BATCH_RETAIN_EACH;
    if (first) {
      take_out(core, type, event);
      event->status = UV_BATCH_STATUS_PROCESSING;
    }
    give(core, type, event, last, latest, first);
    if (first) uvb__finish_handled(core, event);
  }
  core->kept_walks = walk.outer;
  for (uv_batch_handler_t* handler = type->first_handler; handler != NULL; handler = handler->next_) {
    if (handler->due_ <= last) handler->due_ = 0;
  }
  if (!is_due_to_any(type)) not_due(core, type);
  schedule(core);
}

void uvb__replay_all(uvb__core_t* core) {
  /* Types that become due meanwhile, or again, wait for the next dispatch point. So do those whose handlers are gone
   * to whom something was due. */
  uvb__type_t* next;
  for (uvb__type_t* type = core->first_due; type != NULL; type = next) {
    next = type->next_due;
    type->to_replay = false;
    for (const uv_batch_event_t* event = type->first_kept; event != NULL && !type->to_replay; event = event->link_) {
      type->to_replay = has_late(type, event, core->number);
    }
    if (!type->to_replay) not_due(core, type);
  }
  for (uvb__type_t* type = core->first_due; type != NULL; type = next) {
    next = type->next_due;
    if (!type->to_replay) continue;
    type->to_replay = false;
    uvb__replay(core, type);
    next = core->first_due;
  }
}

/* ---- ending: by age, by an option, by a close */

/* Ends the type's first event: expired, unless a handler has had it. */
static void end_first(uvb__core_t* core, uvb__type_t* type, int status) {
  uv_batch_event_t* event = type->first_kept;
  take_out(core, type, event);
  if (event->received_ == 0) {
    core->counters.expired++;
    uvb__finish(core, event, UV_BATCH_STATUS_EXPIRED, status);
  } else {
    uvb__finish_handled(core, event);
  }
}

void uvb__retention_expire(uvb__core_t* core, double now) {
  if (core->deadline < 0 || now < core->deadline) return;
  uvb__type_t* type;
  while ((type = next_to_expire(core)) != NULL && deadline_of(type) <= now) end_first(core, type, UV_ETIMEDOUT);
  schedule(core);
}

void uvb__expire(uv_batch_t* batch) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return;
  uvb__enter(core);
  double now = uvb__now(core);
  if (core->deadline >= 0 && now < core->deadline) ask(core, core->deadline);
  else uvb__retention_expire(core, now);
  uvb__leave(core);
}

void uvb__retention_configured(uvb__core_t* core, uvb__type_t* type) {
  if (type->options.retain == UV_BATCH_RETAIN_OFF) {
    while (type->first_kept != NULL) end_first(core, type, UV_ECANCELED);
    not_due(core, type);
  }
  schedule(core);
}

static uvb__type_t* oldest_keeping(const uvb__core_t* core) {
  uvb__type_t* oldest = NULL;
  for (uvb__type_t* type = core->first_keeping; type != NULL; type = type->next_keeping) {
    if (oldest == NULL || type->first_kept->number_ < oldest->first_kept->number_) oldest = type;
  }
  return oldest;
}

void uvb__retention_close(uvb__core_t* core) {
  uvb__type_t* type;
  while (core->first_due != NULL) not_due(core, core->first_due);
  while ((type = oldest_keeping(core)) != NULL) end_first(core, type, UV_ECANCELED);
  schedule(core);
}
