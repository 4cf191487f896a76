/* Policies, estimates, the limit and the comparison, with anything in any order: holds, limits, costs and back-offs stay
 * within their bounds. */
#include "policy.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

typedef struct {
  double now, busy, left, pushed;
  uv_batch_options_t options;
  uvb__signals_t signals;
  uvb__utilization_t window;
  uvb__rate_t rate;
  uvb__costs_t costs;
  uvb__time_limit_t limit;
  uvb__comparison_t comparison;
} world_t;

/* 0 to 1, the ends more often than the rest. */
static double share(fuzz_bytes_t* bytes) {
  static const double often[] = {0, 0.5, 0.9, 1, 0.9999999999999999, 1e-9};
  unsigned byte = fuzz_byte(bytes);
  return byte < sizeof(often) / sizeof(*often) ? often[byte] : byte / 255.0;
}

/* At least 0, of any magnitude. */
static double amount(fuzz_bytes_t* bytes) {
  unsigned byte = fuzz_byte(bytes);
  return byte == 0 ? 0 : ldexp(1 + fuzz_byte(bytes) / 256.0, (int)byte % 64 - 24);
}

static void options(world_t* world, fuzz_bytes_t* bytes) {
  world->options.policy = (uv_batch_policy_t)fuzz_below(bytes, UV_BATCH_POLICY_DIRECT + 1);
  world->options.max_delay = fmin(60000, amount(bytes));
  world->options.min_saving = share(bytes);
  world->options.max_batch_time = fmin(60000, amount(bytes));
  world->options.max_batch = 1 + fuzz_byte(bytes);
}

static void given_signals(world_t* world, fuzz_bytes_t* bytes) {
  world->signals.utilization = share(bytes);
  world->signals.rate = amount(bytes);
  world->signals.total = amount(bytes);
  world->signals.batch_cost = amount(bytes);
  world->signals.hold_cost = amount(bytes);
}

/* A batch takes so long: either one that was cut, or one of any size. */
static void take_time(world_t* world, uint32_t events, double ms) {
  uvb__time_limit_t* limit = &world->limit;
  uvb__time_limit_t before = *limit;
  if (before.events > 0 && events % 4 > 0) events = before.events;
  if (!uvb__time_limit_wants(limit, events)) return;
  uvb__time_limit_sample(limit, events, ms, world->now, &world->options);
  HOLDS(limit->off.ms >= 1000 && limit->off.ms <= 60000, "a back-off is within its bounds");
  HOLDS(limit->events <= fmax(events, 2.0 * before.events), "a limit grows by doubling only");
  if (limit->events == before.events) return;
  HOLDS(world->now >= before.off.until, "nothing is limited while that is off");
  HOLDS(before.events == 0 || events == before.events, "a batch that the limit did not cut says nothing about it");
  HOLDS(before.events > 0 || ms > world->options.max_batch_time, "a batch in time needs no limit");
  if (limit->events == 2 * before.events) HOLDS(limit->events < world->options.max_batch, "and none of max_batch");
}

static void own_signals(world_t* world, fuzz_bytes_t* bytes) {
  unsigned fresh = fuzz_byte(bytes);
  uvb__rate_fold(&world->rate, fresh == 255 ? UINT32_MAX : fresh, world->now);
  uint32_t events = 1 + fuzz_byte(bytes);
  double ms = amount(bytes);
  uvb__costs_sample(&world->costs, 1 + fuzz_below(bytes, 4), events, ms, world->now);
  take_time(world, events, ms);
  world->left += events;
  world->pushed += fresh;
  world->signals.utilization = uvb__utilization_read(&world->window, world->now);
  world->signals.rate = world->signals.total = uvb__rate_read(&world->rate, world->now);
  world->signals.batch_cost = world->costs.batch_cost;
  HOLDS(world->signals.utilization >= 0 && world->signals.utilization <= 1, "a loop is busy for 0 to 1 of its time");
  HOLDS(world->signals.rate >= 0 && isfinite(world->signals.rate), "a rate is a number of at least 0");
  HOLDS(world->costs.batch_cost >= 0 && isfinite(world->costs.batch_cost), "a batch costs a number of at least 0");
  HOLDS(world->costs.event_cost >= 0 && isfinite(world->costs.event_cost), "and so does an event");
  HOLDS(world->costs.share >= 0 && world->costs.share <= 1, "the share of the batches is within 0 and 1");
}

/* Forwards, and now and then backwards. */
static void pass(world_t* world, fuzz_bytes_t* bytes) {
  double ms = amount(bytes);
  double busy = ms * share(bytes);
  if (fuzz_below(bytes, 8) == 0) {
    world->now -= fmin(world->now, ms);
    uvb__utilization_init(&world->window, world->now);
    return;
  }
  uvb__utilization_observe(&world->window, world->now, world->now + ms, busy);
  world->now += ms;
  world->busy += busy;
}

static void ask(world_t* world) {
  const uv_batch_options_t* set = &world->options;
  uvb__decision_t decision = uvb__policy_hold(&world->signals, set);
  HOLDS(decision.hold >= 0 && decision.hold <= set->max_delay, "a hold is within 0 and max_delay");
  HOLDS((decision.hold > 0) == (decision.why == uvb__holding), "without a hold there is a reason");
  if (set->policy == UV_BATCH_POLICY_DIRECT) HOLDS(decision.hold == 0, "direct holds nothing");
  if (set->policy == UV_BATCH_POLICY_FIXED) HOLDS(decision.hold == set->max_delay, "fixed holds for max_delay");
}

static void compare(world_t* world, fuzz_bytes_t* bytes) {
  uvb__comparison_t* comparison = &world->comparison;
  uvb__comparison_t before = *comparison;
  uvb__observed_t now = {world->now, world->busy, world->left, world->pushed, 0};
  uvb__why_t why;
  switch (fuzz_below(bytes, 4)) {
    case 0:
      uvb__comparison_drop(comparison);
      return;
    case 1:
      why = uvb__comparison_judge(comparison, share(bytes) - share(bytes), share(bytes), world->now);
      break;
    default:
      why = uvb__comparison_ask(comparison, &now, world->options.max_delay);
  }
  HOLDS(comparison->off.ms >= 1000 && comparison->off.ms <= 60000, "a back-off is within its bounds");
  HOLDS(comparison->number <= comparison->plain_at, "the next window without holding is still to come");
  bool off = why == uvb__no_saving || why == uvb__slows_senders;
  HOLDS(off == (world->now < comparison->off.until), "off is what was switched off until later");
  bool same = memcmp(&before, comparison, sizeof(before)) == 0;
  if (world->now < before.off.until) HOLDS(same, "nothing is learned while off");
  else if (off) HOLDS(comparison->off.until == world->now + before.off.ms, "it is off as long as the back-off says");
  HOLDS(!(comparison->saving > 1), "no more than everything is saved");
  HOLDS(comparison->slowdown >= 0 && comparison->slowdown <= 1, "a slowdown is within 0 and 1");
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_bytes_t bytes = {data, size};
  world_t world;
  memset(&world, 0, sizeof(world));
  uv_batch_options_init(&world.options);
  world.options.max_delay = 0;
  uvb__utilization_init(&world.window, 0);
  uvb__costs_init(&world.costs);
  uvb__time_limit_init(&world.limit);
  uvb__comparison_init(&world.comparison);
  while (bytes.left > 0) {
    switch (fuzz_below(&bytes, 6)) {
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
      case 4:
        ask(&world);
        break;
      default:
        compare(&world, &bytes);
    }
  }
  return 0;
}
