#include "dispatch/core.h"

#include <string.h>

#include "intake/inbox.h"
#include "memory.h"

int uvb__core_new(uvb__core_t** made, uv_batch_t* batch, uvb__host_t* host, const uv_batch_options_t* options) {
  uvb__core_t* core = uvb__calloc(1, sizeof(*core));
  if (core == NULL) return UV_ENOMEM;
  if (uvb__types_init(&core->types) != 0) {
    uvb__free(core);
    return UV_ENOMEM;
  }
  core->batch = batch;
  core->host = host;
  core->hold = -1;
  core->deadline = -1;
  core->waiters_end = &core->waiters;
  core->given = *options;
  core->options = uvb__options_complete(*options);
  core->direct = core->options.policy == UV_BATCH_POLICY_DIRECT;
  uvb__queue_init(&core->queue, core->options.order == UV_BATCH_ORDER_TYPE);
  uvb__advisor_init(&core->advisor);
  uvb__advisor_configure(&core->advisor, &core->options);
  *made = core;
  return 0;
}

void uvb__core_free(uvb__core_t* core) {
  for (int i = 1; i < core->types.count; i++) {
    uv_batch_handler_t* handler = core->types.all[i]->first_handler;
    for (; handler != NULL; handler = handler->next_) handler->batch = NULL;
  }
  uvb__core_forget(core);
}

void uvb__core_forget(uvb__core_t* core) {
  uvb__types_free(&core->types);
  uvb__free(core);
}

void uvb__core_stats(const uvb__core_t* core, uv_batch_stats_t* stats) {
  const uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  *stats = core->counters;
  stats->queued = core->queue.count;
  stats->bytes = core->queue.bytes;
  for (int level = 0; level < uvb__levels; level++) stats->depth[level] = core->queue.depth[level];
  stats->refused_overloaded += atomic_load_explicit(&inbox->refused_overloaded, memory_order_relaxed);
  stats->refused_closed += atomic_load_explicit(&inbox->refused_closed, memory_order_relaxed);
  stats->wakes = atomic_load_explicit(&inbox->wakes, memory_order_relaxed);
}

void uvb__core_estimate(const uvb__core_t* core, const uvb__type_t* type, uv_batch_estimate_t* estimate) {
  uvb__signals_t signals = uvb__advisor_estimate(&core->advisor, type, core->host, uvb__now(core));
  *estimate = (uv_batch_estimate_t){
      .utilization = signals.utilization,
      .rate = signals.rate,
      .gain = signals.gain,
      .holds = (uint32_t)signals.holds,
  };
}

void uvb__core_remember(uvb__core_t* core) {
  uvb__core_stats(core, &core->batch->last_);
  uvb__core_estimate(core, NULL, &core->batch->last_estimate_);
}

void uvb__enter(uvb__core_t* core) {
  core->depth++;
}

/* Each waiter gets one try, in order: afterwards what it kept back is in the queue, or it waits again, behind the
 * others. */
static void run_waiters(uvb__core_t* core, bool all) {
  for (size_t tries = core->waiting; tries > 0 && core->waiters != NULL; tries--) {
    if (!all && core->queue.count >= core->options.max_queue) return;
    uvb__waiter_t* waiter = core->waiters;
    uvb__stop_waiting(waiter);
    waiter->retry(waiter);
  }
}

void uvb__leave(uvb__core_t* core) {
  if (core->depth == 1) uvb__inbox_publish(uvb__inbox_of(core->batch), core->queue.count, core->queue.bytes);
  if (core->depth == 1 && core->waiters != NULL && !core->closed && !core->busy) run_waiters(core, false);
  /* Calls that come between the end and the close callback find it ended. */
  if (core->depth == 1 && core->closing == uvb__closed && core->end != NULL) {
    while (core->waiters != NULL) run_waiters(core, true);
    void (*end)(uvb__core_t*) = core->end;
    core->end = NULL;
    core->depth = 0;
    end(core);
    return;
  }
  core->depth--;
}

void uvb__wait_for_room(uv_batch_t* batch, uvb__waiter_t* waiter) {
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing == uvb__closed || waiter->at != NULL) return;
  waiter->core = core;
  waiter->next = NULL;
  waiter->at = core->waiters_end;
  *core->waiters_end = waiter;
  core->waiters_end = &waiter->next;
  core->waiting++;
}

void uvb__stop_waiting(uvb__waiter_t* waiter) {
  if (waiter->at == NULL) return;
  *waiter->at = waiter->next;
  if (waiter->next != NULL) waiter->next->at = waiter->at;
  else waiter->core->waiters_end = waiter->at;
  waiter->core->waiting--;
  waiter->at = NULL;
  waiter->next = NULL;
}
