/* Policies and estimates, with any signals in any order: holds and back-offs stay within their bounds. */
#include "policy.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

typedef struct {
  double now;
  uv_batch_options_t options;
  uvb__signals_t signals;
  uvb__policy_state_t state;
  uvb__utilization_t window;
  uvb__rate_t rate;
  uvb__gain_t gain;
} world_t;

/* 0 to 1, the ends and the thresholds of the policy more often than the rest. */
static double share(fuzz_bytes_t* bytes) {
  static const double often[] = {0, 0.6, 0.9, 1, 0.5999999999999999, 0.5};
  unsigned byte = fuzz_byte(bytes);
  return byte < sizeof(often) / sizeof(*often) ? often[byte] : byte / 255.0;
}

/* At least 0, of any magnitude. */
static double amount(fuzz_bytes_t* bytes) {
  unsigned byte = fuzz_byte(bytes);
  return byte == 0 ? 0 : ldexp(1 + fuzz_byte(bytes) / 256.0, (int)byte % 64 - 24);
}

static void options(world_t* world, fuzz_bytes_t* bytes) {
  /* Under `direct` nothing waits, and no policy is asked. */
  world->options.policy = (uv_batch_policy_t)fuzz_below(bytes, UV_BATCH_POLICY_DIRECT);
  world->options.hold = (uv_batch_hold_t)fuzz_below(bytes, 2);
  world->options.max_delay = fmin(60000, amount(bytes));
}

static void given_signals(world_t* world, fuzz_bytes_t* bytes) {
  world->signals.utilization = share(bytes);
  world->signals.rate = amount(bytes);
  world->signals.gain = amount(bytes) * (fuzz_below(bytes, 2) == 0 ? 1 : -1);
  world->signals.holds = fuzz_below(bytes, 17);
}

static void own_signals(world_t* world, fuzz_bytes_t* bytes) {
  unsigned fresh = fuzz_byte(bytes);
  uvb__rate_fold(&world->rate, fresh == 255 ? UINT32_MAX : fresh, world->now);
  if (fuzz_below(bytes, 4) == 0) uvb__gain_clear(&world->gain);
  else uvb__gain_record(&world->gain, amount(bytes) - amount(bytes));
  world->signals.utilization = uvb__utilization_read(&world->window, world->now);
  world->signals.rate = uvb__rate_read(&world->rate, world->now);
  world->signals.gain = uvb__gain_read(&world->gain);
  world->signals.holds = world->gain.holds;
  HOLDS(world->signals.utilization >= 0 && world->signals.utilization <= 1, "a loop is busy for 0 to 1 of its time");
  HOLDS(world->signals.rate >= 0 && isfinite(world->signals.rate), "a rate is a number of at least 0");
  HOLDS(isfinite(world->signals.gain), "a gain is a number");
  HOLDS(world->signals.holds <= uvb__holds_on_record, "no more holds are on record than there is room for");
}

static void pass(world_t* world, fuzz_bytes_t* bytes) {
  double ms = amount(bytes);
  uvb__utilization_observe(&world->window, world->now, world->now + ms, ms * share(bytes));
  world->now += ms;
}

static void ask(world_t* world) {
  const uv_batch_options_t* set = &world->options;
  uvb__policy_state_t before = world->state;
  uvb__decision_t decision = uvb__policy_of(set->policy)(&world->signals, set, before, world->now);
  uvb__policy_state_t after = world->state = decision.state;
  HOLDS(decision.hold >= 0 && decision.hold <= set->max_delay, "a hold is within 0 and max_delay");
  HOLDS(after.backoff >= 1000 && after.backoff <= 60000, "a back-off is within its bounds");
  HOLDS(after.off_until == before.off_until || after.off_until == world->now + before.backoff,
        "holding is switched off for as long as the back-off says");
  bool asked = set->policy == UV_BATCH_POLICY_ADAPTIVE && set->hold == UV_BATCH_HOLD_TUNED;
  bool same = memcmp(&after, &before, sizeof(after)) == 0;
  HOLDS(asked || same, "only a policy that tunes itself remembers anything");
  HOLDS(same || world->now >= before.off_until, "nothing is learned while holding is switched off");
  if (set->policy == UV_BATCH_POLICY_FIXED) HOLDS(decision.hold == set->max_delay, "fixed holds for max_delay");
  if (asked && world->now < after.off_until) HOLDS(decision.hold == 0, "nothing is held while holding is switched off");
  if (set->policy == UV_BATCH_POLICY_ADAPTIVE && world->signals.utilization < 0.6) {
    HOLDS(decision.hold == 0, "an idle loop does not hold");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_bytes_t bytes = {data, size};
  world_t world;
  memset(&world, 0, sizeof(world));
  world.state = uvb__policy_initial;
  uv_batch_options_init(&world.options);
  world.options.max_delay = 0;
  uvb__utilization_init(&world.window, 0);
  while (bytes.left > 0) {
    switch (fuzz_below(&bytes, 5)) {
      case 0:
        options(&world, &bytes);
        break;
      case 1:
        given_signals(&world, &bytes);
        break;
      case 2:
        own_signals(&world, &bytes);
        break;
      case 3:
        pass(&world, &bytes);
        break;
      default:
        ask(&world);
    }
  }
  return 0;
}
