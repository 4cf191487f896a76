#include "schedule.h"

#include <math.h>

#include "marker.h"

/* Spikes: five times the base rate in the third second of every five; the mean is 1. */
static const double SPIKE_PERIOD = 5;
static const double SPIKE_FROM = 2;
static const double SPIKE_TO = 3;
static const double SPIKE_BASE = 5.0 / 9;
static const double SPIKE_FACTOR = 5;

static const double RAMP_FROM = 0.1;

static const double ACTIVE_SENDERS = 0.2;
static const double ACTIVE_MESSAGES = 0.8;

static const double HIGH_SHARE = 0.05;
static const double LOW_SHARE = 0.15;

/* A stretch of time over which the shape is a straight line. */
struct segment {
  double end;
  double rate;  /* at the time asked for */
  double slope; /* per s */
};

static struct segment segment_at(const struct schedule_shape *shape, double t) {
  const double since = t - shape->start;
  if (shape->pattern == PATTERN_SPIKES) {
    if (since < 0) return (struct segment){shape->start, SPIKE_BASE, 0};
    const double period = floor(since / SPIKE_PERIOD) * SPIKE_PERIOD;
    const double phase = since - period;
    const double origin = shape->start + period;
    if (phase < SPIKE_FROM) return (struct segment){origin + SPIKE_FROM, SPIKE_BASE, 0};
    if (phase < SPIKE_TO) return (struct segment){origin + SPIKE_TO, SPIKE_BASE * SPIKE_FACTOR, 0};
    return (struct segment){origin + SPIKE_PERIOD, SPIKE_BASE, 0};
  }
  if (shape->pattern == PATTERN_RAMP) {
    const double slope = (1 - RAMP_FROM) / shape->seconds;
    if (since < 0) return (struct segment){shape->start, RAMP_FROM, 0};
    if (since < shape->seconds) {
      return (struct segment){shape->start + shape->seconds, RAMP_FROM + slope * since, slope};
    }
  }
  return (struct segment){INFINITY, 1, 0};
}

double schedule_shape_at(const struct schedule_shape *shape, double t) {
  return segment_at(shape, t).rate;
}

double schedule_shape_advance(const struct schedule_shape *shape, double t, double work) {
  for (;;) {
    const struct segment segment = segment_at(shape, t);
    const double length = segment.end - t;
    if (isfinite(length)) {
      const double whole = segment.rate * length + segment.slope * length * length / 2;
      if (whole < work) {
        work -= whole;
        t = segment.end > t ? segment.end : nextafter(t, INFINITY);
        continue;
      }
    }
    if (segment.slope == 0) return t + work / segment.rate;
    /* slope/2 x² + rate x = work, in the form that keeps its digits when the slope is small */
    return t + 2 * work /
                   (segment.rate + sqrt(segment.rate * segment.rate + 2 * segment.slope * work));
  }
}

static uint32_t active_senders(const struct options *options) {
  const uint32_t count = (uint32_t)lround(options->senders * ACTIVE_SENDERS);
  return count == 0 ? 1 : count;
}

double schedule_share(const struct options *options, uint32_t sender) {
  if (sender >= options->senders) return 0;
  const uint32_t active = active_senders(options);
  if (options->users != USERS_BLEND || active == options->senders) return 1.0 / options->senders;
  if (sender < active) return ACTIVE_MESSAGES / active;
  return (1 - ACTIVE_MESSAGES) / (options->senders - active);
}

static void advance(struct schedule *schedule, struct schedule_group *group, double gaps) {
  group->due = schedule_shape_advance(&schedule->shape, group->due, gaps / group->rate);
}

static double next_gap(struct schedule *schedule, const struct schedule_group *group) {
  return group->poisson ? random_exponential(&schedule->random) : 1;
}

static void add_group(struct schedule *schedule, uint32_t first, uint32_t count, double rate,
                      bool poisson) {
  struct schedule_group *group = &schedule->group[schedule->groups++];
  *group = (struct schedule_group){.first = first, .count = count, .rate = rate, .poisson = poisson};
  /* Even gaps begin with half a one, so that a window of whole gaps holds whole messages. */
  advance(schedule, group, poisson ? next_gap(schedule, group) : 0.5);
}

void schedule_start(struct schedule *schedule, const struct options *options, double rate) {
  *schedule = (struct schedule){
      .shape = {(enum pattern)options->pattern, options->warmup, options->seconds},
      .end = options->warmup + options->seconds,
  };
  random_seed(&schedule->random, options->seed);
  const uint32_t active = active_senders(options);
  switch ((enum users)options->users) {
    case USERS_UNIFORM:
      add_group(schedule, 0, options->senders, rate, options->spacing == SPACING_POISSON);
      break;
    case USERS_CASUAL: add_group(schedule, 0, options->senders, rate, true); break;
    case USERS_ACTIVE: add_group(schedule, 0, options->senders, rate, false); break;
    case USERS_BLEND:
      if (active == options->senders) {
        add_group(schedule, 0, active, rate, false);
      } else {
        add_group(schedule, 0, active, rate * ACTIVE_MESSAGES, false);
        add_group(schedule, active, options->senders - active, rate * (1 - ACTIVE_MESSAGES), true);
      }
      break;
  }
}

static uint32_t next_group(const struct schedule *schedule) {
  return schedule->groups == 2 && schedule->group[1].due < schedule->group[0].due ? 1 : 0;
}

double schedule_due(const struct schedule *schedule) {
  const double due = schedule->group[next_group(schedule)].due;
  return due < schedule->end ? due : INFINITY;
}

uint32_t schedule_take(struct schedule *schedule) {
  struct schedule_group *group = &schedule->group[next_group(schedule)];
  uint32_t sender;
  if (group->poisson) {
    sender = group->first + random_below(&schedule->random, group->count);
  } else {
    sender = group->first + group->turn;
    group->turn = group->turn + 1 == group->count ? 0 : group->turn + 1;
  }
  advance(schedule, group, next_gap(schedule, group));
  return sender;
}

uint32_t schedule_priority(const struct options *options, struct random *random) {
  if (options->pattern != PATTERN_MIXED) return PRIORITY_NORMAL;
  const double draw = random_unit(random);
  if (draw < HIGH_SHARE) return PRIORITY_HIGH;
  return draw < HIGH_SHARE + LOW_SHARE ? PRIORITY_LOW : PRIORITY_NORMAL;
}
