/*
 * The time that a batch may wait, the events that it takes, and the measurements that decide both.
 *
 * A policy is a pure function: signals and options in, a hold out. It sees no clock, no queue and no loop, and the
 * estimates are told the time as well. So all of them run on a virtual clock. `fixed` holds each batch for max_delay.
 * `adaptive` holds it as long as that pays:
 *
 *   model     A batch costs batch_cost beside its events. A hold of h ms spreads that over the 1 + rate * h events that
 *             a destination gets meanwhile, and its own cost over all events of the batch. It delays each of them.
 *             min_saving is the price of that delay: the share of a core that each ms has to save. Near saturation the
 *             price is 0, because there a ms of holding is nothing against the queueing that it saves. Cost and price
 *             together have one minimum, the square-root law of lot sizes. Where even that is no cheaper than not
 *             holding, nothing is held.
 *   evidence  The model proposes, measurement disposes. Some windows of time run without holding, and the busy time of
 *             the loop per event of both kinds is compared. Where nothing is saved, or where holding slows down the
 *             senders because they wait for the answers, holding is switched off, with exponential back-off.
 *   limit     A batch that is not held takes at most as many events as fit into max_batch_time, so that it does not
 *             keep the loop longer. This is measured as well: where the cut makes events dearer, there is no limit. A
 *             held batch is as large as it is because that pays.
 *
 * Each queue has one advisor. It owns all estimates but two: a type's rate is in the type, the utilization is the
 * loop's. The engine tells it what was pushed, what left and how long that took, and asks it once per batch. Rates,
 * costs and the comparison are kept only while they matter, under `adaptive` with a max_delay; the limit under
 * `adaptive` with a max_batch_time.
 */
#include "policy.h"

#include <math.h>
#include <string.h>

#include "engine.h"

/* Time that has passed; a clock that goes back has stood still. */
static double passed(double from, double to) {
  return fmax(0, to - from);
}

/* ---- rate */

static const double half_life_ms = 100;
static const double ln_2 = 0.693147180559945309;

double uvb__rate_read(const uvb__rate_t* rate, double now) {
  return rate->value == 0 ? 0 : rate->value * exp2(-passed(rate->at, now) / half_life_ms);
}

void uvb__rate_fold(uvb__rate_t* rate, uint32_t events, double now) {
  rate->value = uvb__rate_read(rate, now) + events * ln_2 / half_life_ms;
  rate->at = now;
}

/* ---- costs */

static const double costs_half_life_ms = 1000;
/* Batches whose sizes differ less than this cannot tell the two costs apart. */
static const double least_spread = 0.001;

void uvb__costs_init(uvb__costs_t* costs) {
  /* Costs that cannot be told apart yet count as the batch's: then a hold is tried, and the first held batches tell. */
  *costs = (uvb__costs_t){.share = 1};
}

void uvb__costs_sample(uvb__costs_t* costs, double types, double events, double ms, double now) {
  double kept = exp2(-passed(costs->at, now) / costs_half_life_ms);
  double gg = costs->gg = costs->gg * kept + types * types;
  double gn = costs->gn = costs->gn * kept + types * events;
  double nn = costs->nn = costs->nn * kept + events * events;
  double gd = costs->gd = costs->gd * kept + types * ms;
  double nd = costs->nd = costs->nd * kept + events * ms;
  costs->at = now;
  double spread = gg * nn - gn * gn;
  if (spread > least_spread * gg * nn) {
    double batch = (gd * nn - nd * gn) / spread;
    double event = (gg * nd - gn * gd) / spread;
    if (batch < 0) {
      batch = 0;
      event = nd / nn;
    } else if (event < 0) {
      event = 0;
      batch = gd / gg;
    }
    costs->batch_cost = batch;
    costs->event_cost = event;
    double time = batch * gn + event * nn;
    if (time > 0) costs->share = batch * gn / time;
  } else {
    double each = nd / nn;
    costs->event_cost = (1 - costs->share) * each;
    costs->batch_cost = costs->share * each * nn / gn;
  }
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

const char* uvb__why_words(uvb__why_t why) {
  static const char* const words[] = {
      [uvb__holding] = NULL,
      [uvb__no_delay] = "no delay allowed",
      [uvb__not_asked] = "not asked yet",
      [uvb__nothing_to_save] = "nothing to save",
      [uvb__below_price] = "saving is below the price",
      [uvb__comparing] = "comparison window",
      [uvb__no_saving] = "no saving measured",
      [uvb__slows_senders] = "slows its senders down",
  };
  return words[why];
}

static uvb__decision_t adaptive(const uvb__signals_t* signals, const uv_batch_options_t* options) {
  double max_delay = options->max_delay;
  double rate = signals->rate;
  double total = signals->total;
  double batch_cost = signals->batch_cost;
  if (max_delay == 0) return (uvb__decision_t){0, uvb__no_delay};
  if (!(rate > 0 && total > 0 && batch_cost > 0)) return (uvb__decision_t){0, uvb__nothing_to_save};
  double idle = 1 - signals->utilization;
  double price = options->min_saving * idle * idle;
  double hold_cost = signals->hold_cost;
  double spread = total * batch_cost + rate * hold_cost;
  double hold = price == 0 ? max_delay : (sqrt(rate * spread / price) - 1) / rate;
  /* Written so that NaN fails. */
  if (hold > max_delay) hold = max_delay;
  double used = total * batch_cost / (1 + rate * hold) + total * hold_cost / (1 + total * hold);
  bool pays = hold > 0 && used + price * hold < total * batch_cost;
  return pays ? (uvb__decision_t){hold, uvb__holding} : (uvb__decision_t){0, uvb__below_price};
}

uvb__decision_t uvb__policy_hold(const uvb__signals_t* signals, const uv_batch_options_t* options) {
  if (options->policy == UV_BATCH_POLICY_ADAPTIVE) return adaptive(signals, options);
  double hold = options->policy == UV_BATCH_POLICY_FIXED ? options->max_delay : 0;
  return (uvb__decision_t){hold, hold > 0 ? uvb__holding : uvb__no_delay};
}

static const double first_backoff_ms = 1000;
static const double longest_backoff_ms = 60000;

static void back_off(uvb__backoff_t* off, double factor, double now) {
  off->until = now + off->ms;
  off->ms = fmin(off->ms * factor, longest_backoff_ms);
}

/* ---- the limit by time */

/* One batch that takes too long may be an accident: the thread was preempted, or a page was not there. */
static const uint32_t batches_over = 2;
/* Smaller batches share the cost of a batch among fewer events. Where that makes an event dearer than this, the cut
 * costs more than it is worth. */
static const double dearer = 1.1;
static const uint32_t batches_met = 4;

void uvb__time_limit_init(uvb__time_limit_t* limit) {
  *limit = (uvb__time_limit_t){.off = {0, first_backoff_ms}};
}

static uint32_t fitting(uint32_t events, double ms, double max_ms) {
  return (uint32_t)fmax(1, floor(events * max_ms / ms));
}

void uvb__time_limit_sample(uvb__time_limit_t* limit, uint32_t events, double ms, double now,
                            const uv_batch_options_t* options) {
  double most = options->max_batch_time;
  if (now < limit->off.until) return;
  if (limit->events == 0) {
    limit->over = ms > most ? limit->over + 1 : 0;
    if (limit->over < batches_over) return;
    limit->over = limit->met = 0;
    limit->before = ms / events;
    limit->events = fitting(events, ms, most);
  } else if (events == limit->events) {
    if (ms / events > dearer * limit->before) {
      limit->events = 0;
      back_off(&limit->off, 2, now);
      return;
    }
    if (++limit->met == batches_met) limit->off.ms = first_backoff_ms;
    if (ms > most) limit->events = fitting(events, ms, most);
    else if (ms < most / 2) limit->events = 2 * events < options->max_batch ? 2 * events : 0;
  }
}

/* ---- the comparison */

/* A window that holds lasts four delays, within these bounds; one that does not, as long as the shortest. */
static const double shortest_window_ms = 50;
static const double longest_window_ms = 1000;
static const double delays_in_a_window = 4;
static const double fewest_events = 8;
/* A large batch makes the next ones large, because events come while it is handled. So the measured part of a window
 * begins when batches do not shrink any more, or at this asking. */
static const double settled_share = 0.9;
static const uint32_t longest_settling = 9;
/* The first windows alternate. After them one in 8 does not hold, and less and less often where holding pays. */
static const uint64_t trial_windows = 4;
static const uint32_t first_distance = 8;
static const uint32_t longest_distance = 128;
/* Windows of each kind, before a saving that is too small counts. */
static const uint32_t enough_windows = 2;
static const double least_saving = 0.02;
static const double most_slowdown = 0.05;
/* In standard deviations of the difference of two rates: chance alone gives it once in 30,000 comparisons. */
static const double beyond_chance = 4;

static void start_anew(uvb__comparison_t* comparison) {
  memset(comparison->sums, 0, sizeof(comparison->sums));
  comparison->number = 0;
  comparison->plain_at = comparison->distance = first_distance;
  comparison->askings = 0;
  comparison->measured = false;
}

void uvb__comparison_init(uvb__comparison_t* comparison) {
  *comparison = (uvb__comparison_t){.saving = NAN, .off = {0, first_backoff_ms}};
  start_anew(comparison);
}

static bool holds_now(const uvb__comparison_t* comparison) {
  uint64_t number = comparison->number;
  return number < trial_windows ? number % 2 == 1 : number != comparison->plain_at;
}

static void next_window(uvb__comparison_t* comparison) {
  if (comparison->number == comparison->plain_at) comparison->plain_at += comparison->distance;
  comparison->number++;
  comparison->askings = 0;
  comparison->measured = false;
}

void uvb__comparison_drop(uvb__comparison_t* comparison) {
  if (comparison->askings > 0) next_window(comparison);
}

/* A closed loop stays closed, and each trial costs it throughput: the next one is further away. */
static uvb__why_t switch_off(uvb__comparison_t* comparison, uvb__why_t why, double now) {
  back_off(&comparison->off, why == uvb__slows_senders ? 4 : 2, now);
  comparison->why_off = why;
  start_anew(comparison);
  return why;
}

/* Switches holding off where what was measured speaks against it. */
static uvb__why_t judge(uvb__comparison_t* comparison, double saving, double slowdown, bool sure, double now) {
  if (slowdown > most_slowdown) return switch_off(comparison, uvb__slows_senders, now);
  if (sure && saving < least_saving) return switch_off(comparison, uvb__no_saving, now);
  if (sure) comparison->off.ms = first_backoff_ms;
  return uvb__holding;
}

uvb__why_t uvb__comparison_judge(uvb__comparison_t* comparison, double saving, double slowdown, double now) {
  if (now < comparison->off.until) return comparison->why_off;
  uvb__comparison_drop(comparison);
  return judge(comparison, saving, slowdown, true, now);
}

static uvb__observed_t difference(const uvb__observed_t* from, const uvb__observed_t* to) {
  return (uvb__observed_t){
      .ms = to->ms - from->ms,
      .busy = passed(from->busy, to->busy),
      .left = to->left - from->left,
      .pushed = to->pushed - from->pushed,
      .windows = 1,
  };
}

static uvb__observed_t sum_of(const uvb__observed_t* sum, const uvb__observed_t* window) {
  return (uvb__observed_t){
      .ms = sum->ms + window->ms,
      .busy = sum->busy + window->busy,
      .left = sum->left + window->left,
      .pushed = sum->pushed + window->pushed,
      .windows = sum->windows + window->windows,
  };
}

static void halve(uvb__observed_t* sum) {
  sum->ms /= 2;
  sum->busy /= 2;
  sum->left /= 2;
  sum->pushed /= 2;
}

/* Share by which the rate of pushes falls while holding. The rate of events that left would fall in any case, as held
 * windows end while events wait. */
typedef struct {
  double beyond_one;    /* less one standard deviation; 0 within it */
  double beyond_chance; /* 0 where it may be chance */
} fall_t;

static fall_t fall_of(const uvb__observed_t* plain, const uvb__observed_t* held) {
  double before = plain->pushed / plain->ms;
  double after = held->pushed / held->ms;
  double fall = before - after;
  double deviation = sqrt(before / plain->ms + after / held->ms);
  return (fall_t){fmax(0, fall - deviation) / before, fall > beyond_chance * deviation ? fall / before : 0};
}

/* The current window counts, and may decide. */
static uvb__why_t end_window(uvb__comparison_t* comparison, const uvb__observed_t* window, double now) {
  uvb__observed_t* plain = &comparison->sums[false];
  uvb__observed_t* held = &comparison->sums[true];
  bool holds = holds_now(comparison);
  if (!holds) {
    halve(plain);
    halve(held);
  }
  comparison->sums[holds] = sum_of(&comparison->sums[holds], window);
  if (plain->windows > 0 && held->windows > 0) {
    fall_t fall = fall_of(plain, held);
    comparison->slowdown = fall.beyond_chance;
    comparison->saving = plain->busy > 0 ? 1 - held->busy / held->left / (plain->busy / plain->left) : NAN;
    bool sure = plain->windows >= enough_windows && held->windows >= enough_windows;
    uvb__why_t why = judge(comparison, comparison->saving - fall.beyond_one, comparison->slowdown, sure, now);
    if (why != uvb__holding) return why;
    if (sure && !holds && comparison->distance < longest_distance) comparison->distance *= 2;
  }
  next_window(comparison);
  return uvb__holding;
}

/* An asking of a window that is being measured: the last one, or, during the trial, already enough to see that senders
 * wait. */
static uvb__why_t look(uvb__comparison_t* comparison, const uvb__observed_t* now, double max_delay) {
  bool holds = holds_now(comparison);
  uvb__observed_t window = difference(&comparison->since, now);
  double lasts = holds ? fmin(fmax(shortest_window_ms, delays_in_a_window * max_delay), longest_window_ms)
                       : shortest_window_ms;
  if (window.ms >= lasts && window.left >= fewest_events) return end_window(comparison, &window, now->ms);
  bool tells = holds && comparison->number < trial_windows && window.ms >= shortest_window_ms;
  if (!tells || comparison->sums[false].windows == 0) return uvb__holding;
  uvb__observed_t held = sum_of(&comparison->sums[true], &window);
  double slowdown = fall_of(&comparison->sums[false], &held).beyond_chance;
  if (slowdown <= most_slowdown) return uvb__holding;
  comparison->slowdown = slowdown;
  return switch_off(comparison, uvb__slows_senders, now->ms);
}

static void settle(uvb__comparison_t* comparison, const uvb__observed_t* now, double size) {
  comparison->askings++;
  bool settled = comparison->askings >= 2 && size >= settled_share * comparison->size_before;
  if (!settled && comparison->askings < longest_settling) return;
  comparison->measured = true;
  comparison->since = *now;
}

uvb__why_t uvb__comparison_ask(uvb__comparison_t* comparison, const uvb__observed_t* now, double max_delay) {
  if (now->ms < comparison->off.until) return comparison->why_off;
  double size = now->left - comparison->left_before;
  if (comparison->measured && now->ms < comparison->since.ms) uvb__comparison_drop(comparison);
  uvb__why_t why = uvb__holding;
  if (comparison->measured) why = look(comparison, now, max_delay);
  else settle(comparison, now, size);
  comparison->left_before = now->left;
  comparison->size_before = size;
  if (why != uvb__holding) return why;
  return holds_now(comparison) ? uvb__holding : uvb__comparing;
}

/* ---- the advisor */

void uvb__advisor_init(uvb__advisor_t* advisor) {
  *advisor = (uvb__advisor_t){.sample = 1, .decision = {0, uvb__not_asked}};
  advisor->given = (uvb__signals_t){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  uvb__costs_init(&advisor->costs);
  uvb__time_limit_init(&advisor->limit);
  uvb__comparison_init(&advisor->comparison);
}

void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options) {
  bool adapts = options->policy == UV_BATCH_POLICY_ADAPTIVE;
  bool delays = options->policy != UV_BATCH_POLICY_DIRECT && options->max_delay > 0;
  advisor->estimating = adapts && delays;
  advisor->timing = adapts && options->max_batch_time > 0;
  if (!delays) advisor->decision = (uvb__decision_t){0, uvb__no_delay};
  else if (advisor->decision.why == uvb__no_delay) advisor->decision.why = uvb__not_asked;
}

static double either(double given, double own) {
  return isnan(given) ? own : given;
}

void uvb__advisor_fold(uvb__advisor_t* advisor, double now) {
  if (advisor->first_fresh == NULL) return;
  uint32_t events = 0;
  double highest = 0;
  for (uvb__type_t* type = advisor->first_fresh; type != NULL; type = type->next_fresh) {
    uvb__rate_fold(&type->rate, type->fresh, now);
    events += type->fresh;
    type->fresh = 0;
    /* A held batch has two dispatch points, and a type may be pushed before both. */
    if (type->counted_in != advisor->sample) advisor->types++;
    type->counted_in = advisor->sample;
    highest = fmax(highest, either(type->given_rate, either(advisor->given.rate, type->rate.value)));
  }
  uvb__rate_fold(&advisor->total, events, now);
  advisor->rate = highest;
  advisor->first_fresh = NULL;
}

void uvb__advisor_took(uvb__advisor_t* advisor, unsigned int timed_for, const uv_batch_options_t* options,
                       size_t events, double start, double end) {
  double ms = passed(start, end);
  if ((timed_for & uvb__for_costs) != 0) {
    uvb__costs_sample(&advisor->costs, fmax(1, advisor->types), (double)events, ms, end);
    advisor->types = 0;
    advisor->sample++;
  }
  if ((timed_for & uvb__for_limit) != 0) uvb__time_limit_sample(&advisor->limit, (uint32_t)events, ms, end, options);
}

static uvb__signals_t observe(const uvb__advisor_t* advisor, const uvb__load_t* load, const uvb__host_t* host,
                              double now) {
  return (uvb__signals_t){
      .utilization = load->utilization,
      .rate = advisor->rate,
      .total = uvb__rate_read(&advisor->total, now),
      .batch_cost = advisor->costs.batch_cost,
      .event_cost = advisor->costs.event_cost,
      .hold_cost = host->hold_cost,
      .saving = advisor->comparison.saving,
      .slowdown = advisor->comparison.slowdown,
  };
}

/* The law of `adaptive`, and, where it would hold, what was measured. */
static uvb__decision_t decide(uvb__advisor_t* advisor, const uv_batch_options_t* options, uvb__host_t* host,
                              double now, uint64_t pushed) {
  const uvb__signals_t* given = &advisor->given;
  uvb__comparison_t* comparison = &advisor->comparison;
  uvb__load_t load = host->load(host, now);
  uvb__signals_t signals = observe(advisor, &load, host, now);
  signals.utilization = either(given->utilization, signals.utilization);
  signals.total = either(given->total, signals.total);
  signals.batch_cost = either(given->batch_cost, signals.batch_cost);
  signals.hold_cost = either(given->hold_cost, signals.hold_cost);
  uvb__decision_t decision = uvb__policy_hold(&signals, options);
  if (decision.hold == 0 || options->hold == UV_BATCH_HOLD_ALWAYS) {
    uvb__comparison_drop(comparison);
    return decision;
  }
  if (isnan(given->saving) && isnan(given->slowdown)) {
    uvb__observed_t until_now = {now, load.busy, advisor->left, (double)pushed, 0};
    decision.why = uvb__comparison_ask(comparison, &until_now, options->max_delay);
  } else {
    decision.why = uvb__comparison_judge(comparison, either(given->saving, 1), either(given->slowdown, 0), now);
  }
  if (decision.why != uvb__holding) decision.hold = 0;
  return decision;
}

double uvb__advisor_hold(uvb__advisor_t* advisor, const uv_batch_options_t* options, uvb__host_t* host, double now,
                         uint64_t pushed) {
  /* Without a delay there is nothing to estimate: the common case costs nothing. */
  if (advisor->estimating) {
    advisor->decision = decide(advisor, options, host, now, pushed);
  } else {
    uvb__comparison_drop(&advisor->comparison);
    advisor->decision = uvb__policy_hold(&advisor->given, options);
  }
  return advisor->decision.hold;
}

uvb__signals_t uvb__advisor_estimate(const uvb__advisor_t* advisor, const uvb__type_t* type, uvb__host_t* host,
                                     double now) {
  uvb__load_t load = {0, 0};
  if (advisor->estimating) load = host->load(host, now);
  uvb__signals_t signals = observe(advisor, &load, host, now);
  if (type != NULL) signals.rate = uvb__rate_read(&type->rate, now);
  return signals;
}
