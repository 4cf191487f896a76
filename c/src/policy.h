/* Policies, the estimates that they are given, and the advisor that asks them. See policy.c. */
#ifndef UVB_POLICY_H
#define UVB_POLICY_H

#include "common.h"

struct uvb__host_s;
struct uvb__type_s;

/* ---- estimates */

/* Events per ms: an exponentially weighted mean with a half-life of 100 ms. An event adds ln 2 / 100 and loses half of
 * that every 100 ms, so a steady stream of r events per ms settles at r. */
typedef struct {
  double value; /* events per ms at `at` */
  double at;
} uvb__rate_t;

double uvb__rate_read(const uvb__rate_t* rate, double now);
void uvb__rate_fold(uvb__rate_t* rate, uint32_t events, double now); /* adds what was pushed since the last one */

/* The cost of a batch beside its events, and of an event in it: least squares over the times that batches took, with a
 * half-life of 1 s. */
typedef struct {
  double gg, gn, nn, gd, nd; /* decayed sums of products: types pushed, events, ms */
  double at;                 /* time of the last sample */
  double share;              /* part of the time that is the batches', as last told apart */
  double batch_cost;         /* ms */
  double event_cost;         /* ms */
} uvb__costs_t;

void uvb__costs_init(uvb__costs_t* costs);
/* A batch with events of this many types took `ms`. */
void uvb__costs_sample(uvb__costs_t* costs, double types, double events, double ms, double now);

enum { uvb__times_on_record = 4, uvb__slices = 10 };

/* The time that an event keeps the loop: the least of the last four batches. A thread that is preempted in one batch
 * says nothing about the events. */
typedef struct {
  double last[uvb__times_on_record];
  uint32_t next;
} uvb__event_time_t;

void uvb__event_time_init(uvb__event_time_t* times);
void uvb__event_time_record(uvb__event_time_t* times, double ms); /* per event of one batch */
double uvb__event_time_read(const uvb__event_time_t* times);      /* ms; 0 without a record */

/* The busy share of a loop over about 250 ms: ten slices of 25 ms, the current one included. */
typedef struct {
  double busy[uvb__slices];
  int64_t newest; /* the newest slice that was written; the ten up to it are valid */
  double start;   /* the time from which the loop is observed */
} uvb__utilization_t;

void uvb__utilization_init(uvb__utilization_t* window, double start);
/* The loop was busy for `busy` ms of this span; they are spread evenly over it. Spans must not go back in time. */
void uvb__utilization_observe(uvb__utilization_t* window, double from, double to, double busy);
double uvb__utilization_read(uvb__utilization_t* window, double now);

/* The engine's estimates, as in uv_batch_estimate_t. */
typedef struct {
  double utilization;
  double rate;
  double total;
  double batch_cost;
  double event_cost;
  double hold_cost;
  double saving;
  double slowdown;
  double event_time;
} uvb__signals_t;

/* ---- policies */

/* Reasons not to hold a batch. Their words are in policy.c. */
typedef enum {
  uvb__holding,
  uvb__no_delay,
  uvb__not_asked,
  uvb__nothing_to_save,
  uvb__below_price,
  uvb__comparing,
  uvb__no_saving,
  uvb__slows_senders
} uvb__why_t;

const char* uvb__why_words(uvb__why_t why); /* NULL while holding */

typedef struct {
  double hold; /* how long a batch may be held from the push of its oldest event, in ms; 0: not at all */
  uvb__why_t why;
} uvb__decision_t;

/* The hold of `fixed` or of the law of `adaptive`; under `direct` nothing waits, and nothing is asked. */
uvb__decision_t uvb__policy_hold(const uvb__signals_t* signals, const uv_batch_options_t* options);
/* The events that a batch takes at most: those that fit into max_batch_time, and never more than max_batch. */
uint32_t uvb__policy_limit(double event_time, const uv_batch_options_t* options);

/* ---- the comparison: whether holding saves anything here, measured in windows that hold and windows that do not */

typedef struct {
  double ms;
  double busy; /* ms of the loop */
  double events;
  uint32_t windows;
} uvb__observed_t;

typedef struct {
  uvb__observed_t sums[2]; /* of the windows without holding, and with it */
  uint32_t number;         /* of the window under way, or the next one */
  bool under_way;
  uvb__observed_t since;   /* the counts at its beginning */
  /* As found when a window ended last. */
  double saving;           /* share of the busy time per event that holding saves; NAN: not measured */
  double slowdown;         /* share by which the rate falls while holding, where it is more than chance; else 0 */
  double off_until;        /* until this time holding is switched off */
  double backoff;          /* how long it is switched off the next time, in ms */
  uvb__why_t off;          /* why it was switched off */
} uvb__comparison_t;

void uvb__comparison_init(uvb__comparison_t* comparison);
/* Whether a batch that the law would hold may be held: uvb__holding, or why not. `now` has the time, the busy time of
 * the loop and the events that have left, each counted from any point. */
uvb__why_t uvb__comparison_ask(uvb__comparison_t* comparison, const uvb__observed_t* now, double max_delay);
/* The same with signals from outside in place of windows. */
uvb__why_t uvb__comparison_judge(uvb__comparison_t* comparison, double saving, double slowdown, double now);
/* The window that is under way does not count, but its number is used up: else a load at which the law changes its mind
 * often would never get past a window that does not hold. */
void uvb__comparison_drop(uvb__comparison_t* comparison);

/* ---- the advisor of a queue */

typedef struct {
  struct uvb__type_s* first_fresh; /* types pushed since the last dispatch point */
  uvb__rate_t total;               /* of all types */
  double rate;                     /* the highest of the types that the last dispatch point with a push found */
  uint32_t types;                  /* that dispatch points have found pushed since the last sample of the costs */
  uint64_t sample;                 /* the number of the next one */
  double left;                     /* events that have left */
  uvb__costs_t costs;
  uvb__event_time_t times;
  uvb__comparison_t comparison;
  uvb__decision_t decision; /* the last one */
  bool estimating;          /* whether rates, costs and the comparison matter */
  bool timing;              /* whether the time of an event matters */
  uvb__signals_t given;     /* in place of the estimates, for tests; NAN: none */
} uvb__advisor_t;

void uvb__advisor_init(uvb__advisor_t* advisor);
void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options);
void uvb__advisor_fold(uvb__advisor_t* advisor, double now); /* a dispatch point: brings the rates up to date */
/* Purposes of timing a batch. */
enum { uvb__for_costs = 1, uvb__for_event_time = 2 };
/* A batch leaves. Returns what it is to be timed for if it leaves at a dispatch point. */
static inline unsigned int uvb__advisor_leaves(uvb__advisor_t* advisor, size_t events) {
  advisor->left += (double)events;
  return (advisor->estimating ? uvb__for_costs : 0u) | (advisor->timing && events >= 2 ? uvb__for_event_time : 0u);
}
/* A batch was with its handlers from `start` to `end`. */
void uvb__advisor_took(uvb__advisor_t* advisor, unsigned int timed_for, size_t events, double start, double end);
/* How long the open batch may be held from the push of its oldest event, in ms. */
double uvb__advisor_hold(uvb__advisor_t* advisor, const uv_batch_options_t* options, struct uvb__host_s* host,
                         double now);
/* The events that a batch takes at most. */
uint32_t uvb__advisor_limit(const uvb__advisor_t* advisor, const uv_batch_options_t* options);
/* The estimates; `rate` of one type, or, when that is NULL, as the policy sees it. */
uvb__signals_t uvb__advisor_estimate(const uvb__advisor_t* advisor, const struct uvb__type_s* type,
                                     struct uvb__host_s* host, double now);

#endif
