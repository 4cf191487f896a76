#include "batch/advisor.h"

#include <math.h>

void uvb__advisor_init(uvb__advisor_t* advisor) {
  *advisor = (uvb__advisor_t){
      .policy = uvb__policy_adaptive,
      .state = uvb__policy_initial,
      .given = {NAN, NAN, NAN, NAN},
  };
}

void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options) {
  advisor->policy = uvb__policy_of(options->policy);
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
  uvb__decision_t decision = advisor->policy(&signals, options, advisor->state, now);
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
