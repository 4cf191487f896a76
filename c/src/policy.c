/*
 * How long a batch may wait, and what is known to decide that.
 *
 * A policy is a pure function: signals, options and its own state in, a hold and the next state out. It sees no clock,
 * no queue and no loop, and the estimates (rate, gain, utilization) are told the time as well. So all of them run on a
 * virtual clock. `fixed` holds each batch for max_delay. `adaptive` holds only when the loop is busy, more events are
 * expected for a type of the batch, and the user allowed a delay. It watches the gain of its holds, and switches
 * holding off, with exponential back-off, when it is too small.
 *
 * Each queue has one advisor. It owns the gain and the policy's state; a type's rate is in the type. The engine tells
 * it what was pushed and held, and asks it once per dispatch point. It estimates only while that matters, under
 * `adaptive` with a max_delay.
 */
#include "policy.h"

#include <math.h>
#include <string.h>

#include "engine.h"

/* ---- rate */

static const double half_life_ms = 100;
static const double ln_2 = 0.693147180559945309;

double uvb__rate_read(const uvb__rate_t* rate, double now) {
  return rate->value == 0 ? 0 : rate->value * exp2(-(now - rate->at) / half_life_ms);
}

void uvb__rate_fold(uvb__rate_t* rate, uint32_t events, double now) {
  rate->value = uvb__rate_read(rate, now) + events * ln_2 / half_life_ms;
  rate->at = now;
}

/* ---- gain */

void uvb__gain_record(uvb__gain_t* gain, double extra) {
  gain->extra[gain->next] = extra;
  gain->next = (gain->next + 1) % uvb__holds_on_record;
  if (gain->holds < uvb__holds_on_record) gain->holds++;
}

void uvb__gain_clear(uvb__gain_t* gain) {
  gain->holds = 0;
  gain->next = 0;
}

double uvb__gain_read(const uvb__gain_t* gain) {
  double sum = 0;
  if (gain->holds == 0) return 0;
  for (uint32_t i = 0; i < gain->holds; i++) sum += gain->extra[i];
  return sum / gain->holds;
}

/* ---- utilization */

static const double slice_ms = 25;

static int64_t slice_at(double time) {
  return (int64_t)floor(time / slice_ms);
}

static double* busy_of(uvb__utilization_t* window, int64_t slice) {
  return &window->busy[(slice % uvb__slices + uvb__slices) % uvb__slices];
}

static void advance(uvb__utilization_t* window, int64_t slice) {
  if (slice - window->newest >= uvb__slices) {
    memset(window->busy, 0, sizeof(window->busy));
  } else {
    for (int64_t i = window->newest + 1; i <= slice; i++) *busy_of(window, i) = 0;
  }
  if (slice > window->newest) window->newest = slice;
}

void uvb__utilization_init(uvb__utilization_t* window, double start) {
  *window = (uvb__utilization_t){.start = start, .newest = slice_at(start)};
}

void uvb__utilization_observe(uvb__utilization_t* window, double from, double to, double busy) {
  if (to <= from) return;
  double share = fmin(1, busy / (to - from));
  int64_t last = slice_at(to);
  int64_t slice = slice_at(from);
  /* Of a span longer than the window only the end can still be seen. */
  if (slice < last - uvb__slices + 1) slice = last - uvb__slices + 1;
  advance(window, last);
  for (; slice <= last; slice++) {
    double begin = fmax(from, (double)slice * slice_ms);
    double end = fmin(to, (double)(slice + 1) * slice_ms);
    if (end > begin) *busy_of(window, slice) += (end - begin) * share;
  }
}

double uvb__utilization_read(uvb__utilization_t* window, double now) {
  int64_t current = slice_at(now);
  advance(window, current);
  double begin = fmax(window->start, (double)(current - uvb__slices + 1) * slice_ms);
  if (now <= begin) return 0;
  double busy = 0;
  for (int i = 0; i < uvb__slices; i++) busy += window->busy[i];
  return fmin(1, busy / (now - begin));
}

/* ---- policies */

const uvb__policy_state_t uvb__policy_initial = {0, 1000};

/* Below this busy share the loop has time to spare, and a hold only adds latency. */
static const double busy_from = 0.6;
/* From this busy share on the whole of max_delay is used. */
static const double busy_full = 0.9;
/* With fewer expected or gained events per batch than this, a hold costs more than it saves. */
static const double worthwhile = 0.5;
static const double first_backoff_ms = 1000;
static const double longest_backoff_ms = 60000;

uvb__decision_t uvb__policy_fixed(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                  uvb__policy_state_t state, double now) {
  (void)signals, (void)now;
  return (uvb__decision_t){options->max_delay, state};
}

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

uvb__policy_t uvb__policy_of(uv_batch_policy_t policy) {
  return policy == UV_BATCH_POLICY_FIXED ? uvb__policy_fixed : uvb__policy_adaptive;
}

/* ---- the advisor */

void uvb__advisor_init(uvb__advisor_t* advisor) {
  *advisor = (uvb__advisor_t){.state = uvb__policy_initial, .given = {NAN, NAN, NAN, NAN}};
}

void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options) {
  advisor->estimating = options->policy == UV_BATCH_POLICY_ADAPTIVE && options->max_delay > 0;
}

void uvb__advisor_fold(uvb__advisor_t* advisor, double now) {
  for (uvb__type_t* type = advisor->first_fresh; type != NULL; type = type->next_fresh) {
    uvb__rate_fold(&type->rate, type->fresh, now);
    type->fresh = 0;
  }
  advisor->first_fresh = NULL;
}

void uvb__advisor_held(uvb__advisor_t* advisor, double extra) {
  if (advisor->estimating) uvb__gain_record(&advisor->gain, extra);
}

static double either(double given, double own) {
  return isnan(given) ? own : given;
}

static double highest_rate(const uvb__advisor_t* advisor, const uvb__queue_t* queue, double now) {
  double highest = 0;
  for (const uvb__type_t* type = queue->first_queued; type != NULL; type = type->next_queued) {
    double own = uvb__rate_read(&type->rate, now);
    highest = fmax(highest, either(type->given_rate, either(advisor->given.rate, own)));
  }
  return highest;
}

double uvb__advisor_hold(uvb__advisor_t* advisor, const uvb__queue_t* queue, const uv_batch_options_t* options,
                         uvb__host_t* host, double now) {
  /* Without a delay there is nothing to ask: the common case costs no estimate. */
  if (options->max_delay == 0) return 0;
  const uvb__signals_t* given = &advisor->given;
  uvb__signals_t own = uvb__advisor_estimate(advisor, NULL, host, now);
  uvb__signals_t signals = {
      .utilization = either(given->utilization, own.utilization),
      .rate = advisor->estimating ? highest_rate(advisor, queue, now) : 0,
      .gain = either(given->gain, own.gain),
      .holds = either(given->holds, own.holds),
  };
  uvb__decision_t decision = uvb__policy_of(options->policy)(&signals, options, advisor->state, now);
  if (decision.state.off_until != advisor->state.off_until) uvb__gain_clear(&advisor->gain);
  advisor->state = decision.state;
  return decision.hold;
}

uvb__signals_t uvb__advisor_estimate(const uvb__advisor_t* advisor, const uvb__type_t* type, uvb__host_t* host,
                                     double now) {
  return (uvb__signals_t){
      .utilization = advisor->estimating ? host->utilization(host, now) : 0,
      .rate = type == NULL ? 0 : uvb__rate_read(&type->rate, now),
      .gain = uvb__gain_read(&advisor->gain),
      .holds = advisor->gain.holds,
  };
}
