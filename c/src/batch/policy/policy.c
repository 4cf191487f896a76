#include "batch/policy/policy.h"

const uvb__policy_state_t uvb__policy_initial = {0, 1000};

uvb__policy_t uvb__policy_of(uv_batch_policy_t policy) {
  if (policy == UV_BATCH_POLICY_DIRECT) return uvb__policy_direct;
  return policy == UV_BATCH_POLICY_FIXED ? uvb__policy_fixed : uvb__policy_adaptive;
}
