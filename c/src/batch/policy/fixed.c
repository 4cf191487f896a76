#include "batch/policy/policy.h"

/* A batch is held until it is full or max_delay has passed since its oldest event: a predictable cadence. */
uvb__decision_t uvb__policy_fixed(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                  uvb__policy_state_t state, double now) {
  (void)signals, (void)now;
  return (uvb__decision_t){options->max_delay, state};
}
