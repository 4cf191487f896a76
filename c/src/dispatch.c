/*
 * A batch meets its handlers: one event after the other, and each handler of its type in the order of registration. The
 * handlers of an event are looked up when its turn comes, so one that was registered or removed meanwhile counts at
 * once.
 *
 * A failure concerns its event alone: the handlers behind the one that failed do not get it, and the next event goes
 * on. An event is PROCESSING from the moment that it is handed over; then it is retained, or over, and its callback
 * gives it back. Nothing is read from an event after its callback. The events of a type with group handlers are
 * delivered together, at the place of the first one.
 *
 * Handlers may remove themselves or others: whoever walks a list of handlers has registered the walk in the core, and a
 * removal moves on the walks that stand at the handler.
 */
#include "engine.h"

/* Of an event; `marked`: by uv_batch_event_fail(), and not reported yet. */
enum { failed_flag = 1, marked_flag = 2 };

/* ---- the end of an event */

void uvb__failed(uvb__core_t* core, uv_batch_event_t* event, int status) {
  event->flags_ = failed_flag;
  event->code_ = status;
  core->counters.errors++;
  if (core->options.error_cb != NULL) core->options.error_cb(core->batch, event, status);
}

/* No handler: retained if its type retains, otherwise it ends here. */
static void finish_orphan(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event) {
  if (type->options.retain == UV_BATCH_RETAIN_OFF) {
    core->counters.unhandled++;
    uvb__finish(core, event, UV_BATCH_STATUS_UNHANDLED, UV_ENOENT);
  } else if (!uvb__retain(core, type, event)) {
    core->counters.refused_retention++;
    uvb__finish(core, event, UV_BATCH_STATUS_UNHANDLED, UV_ENOBUFS);
  }
}

/* ---- running handlers */

int uvb__run_handler(uv_batch_handler_t* handler, uv_batch_event_t* event, const uvb__walk_t* here) {
  if (handler->cb_ != NULL) {
    int status = handler->cb_(handler, event);
    return status < 0 ? status : 0;
  }
  /* An event that stays retained may have failed with an earlier handler. */
  uint8_t flags = event->flags_;
  int code = event->code_;
  event->flags_ = 0;
  event->next = NULL;
  handler->group_cb_(handler, event, 1);
  if (here->next != event) return 0;
  int status = event->flags_ == marked_flag ? event->code_ : 0;
  event->flags_ = flags;
  event->code_ = code;
  return status;
}

int uv_batch_event_fail(uv_batch_event_t* event, int status) {
  if (event == NULL || status >= 0) return UV_EINVAL;
  if (event->status != UV_BATCH_STATUS_PROCESSING && event->status != UV_BATCH_STATUS_RETAINED) return UV_EINVAL;
  event->code_ = status;
  event->flags_ = marked_flag;
  return 0;
}

/* Records the event's failure: the handler's result, or that of uv_batch_event_fail(). */
static bool settle(uvb__core_t* core, uv_batch_event_t* event, int status) {
  if (status >= 0 && event->flags_ != marked_flag) return false;
  uvb__failed(core, event, status < 0 ? status : event->code_);
  return true;
}

/* Runs the type's handlers of one kind that were there when its turn came: true when there are any. */
static bool run_several(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event, size_t count, bool groups) {
  uint64_t last = core->handler_number;
  bool any = false;
  uvb__walk_t walk = {type->first_handler, core->handler_walks};
  core->handler_walks = &walk;
  while (walk.next != NULL) {
    uv_batch_handler_t* handler = walk.next;
    if (handler->number_ > last) break;
    walk.next = handler->next_;
    if ((handler->group_cb_ != NULL) != groups) continue;
    any = true;
    if (groups) handler->group_cb_(handler, event, count);
    else if (settle(core, event, handler->cb_(handler, event))) break;
  }
  core->handler_walks = walk.outer;
  return any;
}

/* The same for single events. Most types have one handler: nothing is read from it after its call, so that no walk
 * is needed. */
static inline bool run_single(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event) {
  uv_batch_handler_t* handler = type->first_handler;
  if (handler == NULL) return false;
  if (handler != type->last_handler || handler->group_cb_ != NULL) return run_several(core, type, event, 1, false);
  settle(core, event, handler->cb_(handler, event));
  return true;
}

/* ---- a batch */

static inline void deliver_one(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* event, bool handled) {
  event->status = UV_BATCH_STATUS_PROCESSING;
  /* A failure that a batch or group callback noted by uv_batch_event_fail() is reported when the event's turn comes. */
  if (event->flags_ == marked_flag) uvb__failed(core, event, event->code_);
  if (event->flags_ != 0 || run_single(core, type, event) || handled) {
    core->counters.delivered++;
    uvb__finish_handled(core, event);
  } else {
    finish_orphan(core, type, event);
  }
}

/* Puts the events of each type that has group handlers behind the first of them, which stays in the batch and holds the
 * place of them all: one pass, however many types there are. A type that gets its group handlers later causes another
 * pass. */
static void gather_groups(uvb__core_t* core, uv_batch_event_t* event) {
  uvb__chain_t rest = {NULL, NULL, 0};
  for (uv_batch_event_t* next; event != NULL; event = next) {
    uvb__type_t* type = core->types.all[event->type];
    bool grouped = type->group_handlers > 0;
    next = event->next;
    if (grouped) event->status = UV_BATCH_STATUS_PROCESSING;
    if (grouped && type->group_lead == NULL) type->group_lead = event;
    uvb__chain_append(grouped && type->group_lead != event ? &type->group : &rest, event);
  }
}

/* All events of a type at the place of its first one: to its group handlers, then one by one to the others. */
static void deliver_group(uvb__core_t* core, uvb__type_t* type, uv_batch_event_t* lead, bool handled) {
  uvb__chain_t group = {NULL, NULL, 0};
  uvb__chain_append(&group, lead);
  if (type->group_lead == lead) {
    uvb__chain_join(&group, &type->group);
    type->group = (uvb__chain_t){NULL, NULL, 0};
    type->group_lead = NULL;
  }
  lead->status = UV_BATCH_STATUS_PROCESSING;
  if (run_several(core, type, group.first, group.count, true)) handled = true;
  for (uv_batch_event_t *event = group.first, *next; event != NULL; event = next) {
    next = event->next;
    deliver_one(core, type, event, handled);
  }
}

void uvb__deliver(uvb__core_t* core, uv_batch_trigger_t trigger, const uvb__chain_t* events) {
  uv_batch_info_t info = {.trigger = trigger, .first = events->first, .count = events->count};
  info.time = uvb__now(core);
  core->counters.batches++;
  core->counters.trigger[trigger]++;
  if (core->observer != NULL) core->observer->batch(core->observer->data, &info);
  uv_batch_cb batch_cb = core->options.batch_cb;
  if (batch_cb != NULL) {
    for (uv_batch_event_t* event = info.first; event != NULL; event = event->next) {
      event->status = UV_BATCH_STATUS_PROCESSING;
    }
    batch_cb(core->batch, &info);
  }
  for (uv_batch_event_t* event = events->first; event != NULL;) {
    uvb__type_t* type = core->types.all[event->type];
    /* Once more if a replay has registered another handler, which gets what is kept before this event as well. */
    while (type->due) uvb__replay(core, type);
    bool grouped = type->group_handlers > 0;
    /* The last event is a group by itself, and so is one that is pushed under `direct` inside another's batch. */
    if (grouped && type->group_lead != event && event->next != NULL) gather_groups(core, event);
    uv_batch_event_t* next = event->next;
    if (grouped || type->group_lead == event) deliver_group(core, type, event, batch_cb != NULL);
    else deliver_one(core, type, event, batch_cb != NULL);
    event = next;
  }
}

/* ---- registration */

static int add_handler(uv_batch_t* batch, uv_batch_handler_t* handler, int number, uv_batch_handler_cb cb,
                       uv_batch_group_cb group_cb) {
  if (batch == NULL || handler == NULL || (cb == NULL && group_cb == NULL)) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing == uvb__closed || uvb__is_gone(core)) return UV_ESHUTDOWN;
  uvb__type_t* type = uvb__types_get(&core->types, number);
  if (type == NULL) return UV_EINVAL;
  if (uvb__in_use(handler->private_)) return UV_EBUSY;
  uvb__claim(handler->private_, batch);
  handler->batch = batch;
  handler->type = number;
  handler->cb_ = cb;
  handler->group_cb_ = group_cb;
  handler->number_ = ++core->handler_number;
  handler->due_ = 0;
  UVB__APPEND(type->first_handler, type->last_handler, handler, next_, prev_);
  if (group_cb != NULL) type->group_handlers++;
  uvb__retention_registered(core, type, handler);
  return 0;
}

int uv_batch_on(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_handler_cb cb) {
  return add_handler(batch, handler, type, cb, NULL);
}

int uv_batch_on_group(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_group_cb cb) {
  return add_handler(batch, handler, type, NULL, cb);
}

void uvb__handler_release(uv_batch_handler_t* handler) {
  uvb__give_up(handler->private_);
  handler->batch = NULL;
}

int uv_batch_off(uv_batch_handler_t* handler) {
  uv_batch_t* batch = handler == NULL ? NULL : uvb__claimed(handler->private_);
  if (batch == NULL || batch->core_ == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  uvb__type_t* type = core->types.all[handler->type];
  for (uvb__walk_t* walk = core->handler_walks; walk != NULL; walk = walk->outer) {
    if (walk->next == handler) walk->next = handler->next_;
  }
  UVB__REMOVE(type->first_handler, type->last_handler, handler, next_, prev_);
  if (handler->group_cb_ != NULL) type->group_handlers--;
  uvb__handler_release(handler);
  return 0;
}
