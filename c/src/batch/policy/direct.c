#include "batch/policy/policy.h"

/* No batching: each event is a batch of its own. The control arm of a measurement, and a kill switch. */
uvb__decision_t uvb__policy_direct(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                   uvb__policy_state_t state, double now) {
  (void)signals, (void)options, (void)now;
  return (uvb__decision_t){0, state};
}
