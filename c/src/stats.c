/*
 * What can be read of a queue: its counters, and the estimates of its policy. The engine counts in the core's
 * `counters`, which only grow; what is queued now comes from the queue, and what other threads were refused from the
 * inbox, whose counters are theirs. All is copied: nothing that a caller gets changes afterwards. When a queue ends,
 * its close callback gets the last counters, and then there is nothing left to ask.
 */
#include "engine.h"
#include "inbox.h"

void uvb__stats(const uvb__core_t* core, uv_batch_stats_t* stats) {
  const uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  *stats = core->counters;
  stats->queued = core->queue.count;
  stats->bytes = core->queue.bytes;
  for (int level = 0; level < uvb__levels; level++) stats->depth[level] = core->queue.depth[level];
  stats->refused_overloaded += atomic_load_explicit(&inbox->refused_overloaded, memory_order_relaxed);
  stats->refused_closed += atomic_load_explicit(&inbox->refused_closed, memory_order_relaxed);
  stats->wakes = atomic_load_explicit(&inbox->wakes, memory_order_relaxed);
  const uvb__advisor_t* advisor = &core->advisor;
  uvb__signals_t signals = uvb__advisor_estimate(advisor, NULL, core->host, uvb__now(core));
  stats->policy = (uv_batch_policy_stats_t){
      .rate = signals.rate,
      .total = signals.total,
      .batch_cost = signals.batch_cost,
      .event_cost = signals.event_cost,
      .hold_cost = signals.hold_cost,
      .utilization = signals.utilization,
      .hold = advisor->decision.hold,
      .saving = signals.saving,
      .limit = uvb__advisor_limit(advisor),
      .why = uvb__why_words(advisor->decision.why),
  };
}

int uv_batch_stats(const uv_batch_t* batch, uv_batch_stats_t* stats) {
  if (batch == NULL || stats == NULL) return UV_EINVAL;
  if (batch->core_ == NULL) return UV_ESHUTDOWN;
  uvb__stats(uvb__core(batch), stats);
  return 0;
}

int uv_batch_estimate(const uv_batch_t* batch, int type, uv_batch_estimate_t* estimate) {
  if (batch == NULL || estimate == NULL) return UV_EINVAL;
  const uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_ESHUTDOWN;
  const uvb__type_t* known = uvb__types_get(&core->types, type);
  if (known == NULL && type != 0) return UV_EINVAL;
  uvb__signals_t signals = uvb__advisor_estimate(&core->advisor, known, core->host, uvb__now(core));
  *estimate = (uv_batch_estimate_t){
      .utilization = signals.utilization,
      .rate = type == 0 ? 0 : signals.rate,
      .total = signals.total,
      .batch_cost = signals.batch_cost,
      .event_cost = signals.event_cost,
      .hold_cost = signals.hold_cost,
      .limit = uvb__advisor_limit(&core->advisor),
      .saving = signals.saving,
      .slowdown = signals.slowdown,
  };
  return 0;
}

const char* uv_batch_trigger_name(uv_batch_trigger_t trigger) {
  static const char* const names[UV_BATCH_TRIGGERS] = {"size",     "threshold", "delay", "turn",
                                                       "priority", "flush",     "close"};
  return (unsigned int)trigger < UV_BATCH_TRIGGERS ? names[trigger] : NULL;
}
