#include <math.h>
#include <stdbool.h>

#include "batch/estimate/gain.h"
#include "batch/policy/policy.h"

/* Below this busy share the loop has time to spare, and a hold only adds latency. */
static const double busy_from = 0.6;
/* At this busy share and above the whole of max_delay is used. */
static const double busy_full = 0.9;
/* Fewer expected or gained events a batch than this, and a hold costs more than it saves. */
static const double worthwhile = 0.5;
static const double first_backoff_ms = 1000;
static const double longest_backoff_ms = 60000;

static uvb__policy_state_t tune(const uvb__signals_t* signals, uvb__policy_state_t state, double now) {
  if (now < state.off_until || signals->holds < uvb__holds_on_record) return state;
  if (signals->gain >= worthwhile) {
    state.backoff = first_backoff_ms;
    return state;
  }
  state.off_until = now + state.backoff;
  state.backoff = fmin(state.backoff * 2, longest_backoff_ms);
  return state;
}

/* Holds a batch only when the loop is busy, more is expected for a destination of the batch, and the user allowed a
 * delay. Watches what holding brings and switches it off, with exponential back-off, when it brings nothing. */
uvb__decision_t uvb__policy_adaptive(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                     uvb__policy_state_t state, double now) {
  double max_delay = options->max_delay;
  if (max_delay == 0) return (uvb__decision_t){0, state};
  bool tuned = options->hold != UV_BATCH_HOLD_ALWAYS;
  if (tuned) state = tune(signals, state, now);
  bool off = tuned && now < state.off_until;
  if (off || signals->utilization < busy_from || signals->rate * max_delay < worthwhile) {
    return (uvb__decision_t){0, state};
  }
  double share = fmin(1, (signals->utilization - busy_from) / (busy_full - busy_from));
  return (uvb__decision_t){max_delay * share, state};
}
