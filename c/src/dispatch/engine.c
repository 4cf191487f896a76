#include "dispatch/engine.h"

#include "dispatch/core.h"
#include "dispatch/cut.h"
#include "intake/inbox.h"

/* Batches that may leave at one dispatch point, so that handlers that keep pushing cannot keep the loop. */
enum { batches_per_turn = 8 };

static void deliver_cut(uvb__core_t* core);
static void after_batch(uvb__core_t* core);

void uvb__engine_wake(uvb__core_t* core) {
  if (!core->scheduled && core->closing != uvb__closed) uvb__schedule(core);
}

static void disarm(uvb__core_t* core) {
  if (!core->armed) return;
  core->armed = false;
  core->host->arm(core->host, -1);
}

static void end_hold(uvb__core_t* core) {
  core->hold = -1;
  core->held_from = 0;
  disarm(core);
}

int uvb__engine_cancel(uvb__core_t* core, uv_batch_event_t* event) {
  uvb__type_t* type = uvb__types_get(&core->types, event->type);
  bool held = event->status == UV_BATCH_STATUS_QUEUED || event->status == UV_BATCH_STATUS_RETAINED;
  if (held && event->owner_ != core) return UV_EINVAL;
  if (core->closed || type == NULL) return UV_EALREADY;
  if (uvb__queue_has(&core->queue, event)) {
    uvb__queue_remove(&core->queue, type, event);
    if (core->queue.count == 0) end_hold(core);
  } else if (event->status == UV_BATCH_STATUS_RETAINED) {
    uvb__retention_take(core, type, event);
  } else {
    return UV_EALREADY;
  }
  core->counters.cancelled++;
  uvb__finish(core, event, UV_BATCH_STATUS_CANCELLED, UV_ECANCELED);
  return 0;
}

/* ---- dispatch points */

static void arm(uvb__core_t* core, double deadline) {
  core->armed = true;
  core->host->arm(core->host, deadline);
}

static uvb__chain_t choose(uvb__core_t* core, uint32_t limit) {
  return uvb__queue_take(&core->queue, &core->types, limit, uvb__now(core), core->options.max_deferral);
}

/* Takes a batch out of the queue and notes how long its events have waited. */
static uvb__chain_t take(uvb__core_t* core, uint32_t limit) {
  double now = uvb__now(core);
  uvb__chain_t batch = choose(core, limit);
  for (int level = 0; level < uvb__levels; level++) {
    double taken = core->queue.taken[level];
    double* worst = &core->counters.worst_wait[level];
    if (taken >= 0 && now - taken > *worst) *worst = now - taken;
  }
  return batch;
}

/* Whether the open batch leaves, and for which reason. */
static bool judge(uvb__core_t* core, uv_batch_trigger_t* trigger) {
  uvb__queue_t* queue = &core->queue;
  const uv_batch_options_t* options = &core->options;
  *trigger = UV_BATCH_TRIGGER_SIZE;
  if (queue->count >= options->max_batch || queue->full_types > 0) return true;
  double now = uvb__now(core);
  bool asked = core->ask || core->hold < 0;
  if (asked) core->hold = uvb__advisor_hold(&core->advisor, queue, options, core->host, now);
  *trigger = UV_BATCH_TRIGGER_TURN;
  if (core->hold == 0) return true;
  *trigger = UV_BATCH_TRIGGER_PRIORITY;
  if (queue->depth[uvb__high] > 0) return true;
  *trigger = UV_BATCH_TRIGGER_THRESHOLD;
  if (options->threshold > 0 && queue->count >= options->threshold) return true;
  *trigger = UV_BATCH_TRIGGER_DELAY;
  double deadline = uvb__queue_oldest(queue)->timestamp + core->hold;
  if (deadline <= now) return true;
  if (core->held_from == 0) core->held_from = queue->count;
  arm(core, deadline);
  if (asked && core->observer != NULL && core->observer->hold != NULL) {
    core->observer->hold(core->observer->data, core->hold);
  }
  return false;
}

static void hand_on(uvb__core_t* core, uv_batch_trigger_t trigger, const uvb__chain_t* events) {
  core->busy = true;
  uvb__deliver(core, trigger, events);
  core->busy = false;
  after_batch(core);
}

/* Under `direct`: a switch cut batches, and their handlers pushed. What they pushed leaves as if pushed just now. */
static void cut_one_by_one(uvb__core_t* core) {
  uvb__chain_t all = take(core, core->queue.count);
  for (uv_batch_event_t* event = all.first; event != NULL;) {
    uv_batch_event_t* next = event->next;
    event->next = NULL;
    uvb__chain_t alone = {event, event, 1};
    uvb__cut_append(&core->cut, &alone, UV_BATCH_TRIGGER_SIZE);
    event = next;
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
      if (!core->scheduled) uvb__schedule(core);
      return;
    }
    uv_batch_trigger_t trigger;
    if (!judge(core, &trigger)) break;
    core->budget--;
    uvb__chain_t batch = take(core, core->options.max_batch);
    if (core->held_from > 0) uvb__advisor_held(&core->advisor, (double)batch.count - core->held_from);
    end_hold(core);
    core->ask = true;
    hand_on(core, trigger, &batch);
  }
  core->budget = 0;
}

/* Does what is due before anything leaves; its handlers may flush, switch or close, as those of a batch may. */
static void prepare(uvb__core_t* core, double now) {
  /* Under `direct`, what its handlers push runs inside the push, as always; otherwise it has to wait. */
  if (core->direct) core->nested++;
  else core->busy = true;
  bool direct = core->direct;
  uvb__prepare(core, now);
  if (direct) core->nested--;
  else core->busy = false;
  after_batch(core);
}

static void begin(uvb__core_t* core, bool ask) {
  double now = uvb__now(core);
  uvb__advisor_fold(&core->advisor, now);
  core->budget = batches_per_turn;
  core->ask = ask;
  prepare(core, now);
  run(core);
}

void uvb__turn(uv_batch_t* batch) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || !core->scheduled) return;
  uvb__enter(core);
  core->scheduled = false;
  begin(core, true);
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
  else begin(core, false);
  uvb__leave(core);
}

void uvb__expire(uv_batch_t* batch) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return;
  uvb__enter(core);
  uvb__retention_timer_fired(core, uvb__now(core));
  uvb__leave(core);
}

void uvb__engine_process(uvb__core_t* core) {
  if (core->closing != uvb__open) return;
  if (uvb__in_handler(core) || core->budget > 0) {
    uvb__engine_wake(core);
    return;
  }
  core->scheduled = false;
  begin(core, true);
}

/* ---- what handlers ask for while their batch is running */

static void cut_all(uvb__core_t* core, uv_batch_trigger_t trigger) {
  uvb__cut_prepare(&core->cut);
  while (core->queue.count > 0) {
    uvb__chain_t events = take(core, core->options.max_batch);
    uvb__cut_append(&core->cut, &events, trigger);
  }
  end_hold(core);
}

static void apply(uvb__core_t* core, const uv_batch_options_t* changed, uvb__changes_t changes) {
  uvb__options_apply(&core->given, changed, changes);
  core->options = uvb__options_complete(core->given);
  core->direct = core->options.policy == UV_BATCH_POLICY_DIRECT;
  uvb__advisor_configure(&core->advisor, &core->options);
  uvb__inbox_limit(uvb__inbox_of(core->batch), core->options.max_queue, core->options.max_queue_bytes);
}

/* Cuts what is queued under the old options and applies the new ones. */
static void switch_options(uvb__core_t* core, const uv_batch_options_t* changed, uvb__changes_t changes) {
  cut_all(core, UV_BATCH_TRIGGER_FLUSH);
  bool by_type = core->queue.by_type;
  apply(core, changed, changes);
  if (by_type != (core->options.order == UV_BATCH_ORDER_TYPE)) uvb__queue_reorder(&core->queue, !by_type);
}

static void after_batch(uvb__core_t* core) {
  if (core->pending_changes != 0) {
    /* Batches that were cut under the old options leave under them. */
    if (!uvb__cut_empty(&core->cut)) return;
    uvb__changes_t changes = core->pending_changes;
    core->pending_changes = 0;
    switch_options(core, &core->pending, changes);
  }
  if (core->closing != uvb__closing_deliver) return;
  core->closing = uvb__closing_delivering;
  cut_all(core, UV_BATCH_TRIGGER_CLOSE);
}

static void finish(uvb__core_t* core) {
  if (core->closing == uvb__closing_discard) {
    while (core->queue.count > 0) {
      uvb__chain_t events = choose(core, core->options.max_batch);
      for (uv_batch_event_t* event = events.first; event != NULL;) {
        uv_batch_event_t* next = event->next;
        core->counters.refused_cancelled++;
        uvb__finish(core, event, UV_BATCH_STATUS_CANCELLED, UV_ECANCELED);
        event = next;
      }
    }
  }
  core->closing = uvb__closed;
  end_hold(core);
  uvb__retention_close(core);
}

/* Hands on the batches that were cut beforehand. */
static void deliver_cut(uvb__core_t* core) {
  while (!uvb__cut_empty(&core->cut)) {
    uvb__chain_t events;
    uv_batch_trigger_t trigger;
    if (uvb__cut_next(&core->cut, &events, &trigger)) prepare(core, uvb__now(core));
    else hand_on(core, trigger, &events);
  }
  if (core->closing == uvb__closing_delivering || core->closing == uvb__closing_discard) finish(core);
}

static void drain_cut(uvb__core_t* core) {
  if (uvb__in_handler(core)) return;
  deliver_cut(core);
  /* Under `direct` what the handlers pushed must not stay behind. */
  if (core->direct) run(core);
}

void uvb__leave_direct(uvb__core_t* core) {
  core->nested--;
  if (uvb__in_handler(core)) return;
  after_batch(core);
  deliver_cut(core);
}

/* ---- flush, set, close */

void uvb__engine_flush(uvb__core_t* core) {
  if (core->closing != uvb__open) return;
  cut_all(core, UV_BATCH_TRIGGER_FLUSH);
  drain_cut(core);
}

int uvb__engine_set(uvb__core_t* core, const uv_batch_options_t* options) {
  uv_batch_options_t coming = core->given;
  if (core->closing != uvb__open) return UV_ESHUTDOWN;
  uvb__options_apply(&coming, &core->pending, core->pending_changes);
  uvb__changes_t changes = uvb__options_changes(&coming, options);
  if ((changes & uvb__switch_bits) == 0) {
    apply(core, options, changes);
    /* A switch that is still to come must not undo what is set here. */
    uvb__options_apply(&core->pending, options, changes);
    if (core->queue.count > 0 && core->budget == 0) uvb__engine_wake(core);
  } else if (uvb__in_handler(core)) {
    uvb__options_apply(&core->pending, options, changes);
    core->pending_changes |= changes;
  } else {
    switch_options(core, options, changes);
    drain_cut(core);
  }
  return 0;
}

void uvb__engine_close(uvb__core_t* core, bool discard) {
  core->closed = true;
  core->closing = discard ? uvb__closing_discard : uvb__closing_deliver;
  if (uvb__in_handler(core)) return;
  after_batch(core);
  deliver_cut(core);
}

/* ---- for tests */

void uvb__observe(uv_batch_t* batch, const uvb__observer_t* observer) {
  if (batch->core_ != NULL) uvb__core(batch)->observer = observer;
}

void uvb__give_signals(uv_batch_t* batch, double utilization, double gain, double holds, double rate) {
  if (batch->core_ == NULL) return;
  uvb__core(batch)->advisor.given =
      (uvb__signals_t){.utilization = utilization, .rate = rate, .gain = gain, .holds = holds};
}

void uvb__give_rate(uv_batch_t* batch, int type, double rate) {
  uvb__type_t* known = batch->core_ == NULL ? NULL : uvb__types_get(&uvb__core(batch)->types, type);
  if (known != NULL) known->given_rate = rate;
}
