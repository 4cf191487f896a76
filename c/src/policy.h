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

enum { uvb__slices = 10 };

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

/* Something that did not pay is left off for a while, the next time for longer. */
typedef struct {
  double until; /* it is off until this time */
  double ms;    /* length of the next back-off */
} uvb__backoff_t;

/* ---- the limit by time: the events of a batch that is not held, so that it keeps the loop for max_batch_time at most */

typedef struct {
  uint32_t events; /* 0: no limit */
  uint32_t over;   /* batches in a row that took too long, while there is no limit */
  uint32_t met;    /* batches in a row that met the limit */
  double before;   /* ms per event when the limit was set */
  uvb__backoff_t off;
} uvb__time_limit_t;

void uvb__time_limit_init(uvb__time_limit_t* limit);
/* Reports whether the time of a batch of so many events says something. */
static inline bool uvb__time_limit_wants(const uvb__time_limit_t* limit, size_t events) {
  return events >= 8 || events == limit->events;
}
/* A batch that uvb__time_limit_wants(), and that was not held, has taken `ms`. */
void uvb__time_limit_sample(uvb__time_limit_t* limit, uint32_t events, double ms, double now,
                            const uv_batch_options_t* options);

/* ---- the comparison: whether holding saves anything here, measured in windows that hold and windows that do not */

typedef struct {
  double ms;
  double busy;   /* ms of the loop */
  double left;   /* events, in batches */
  double pushed; /* events */
  uint32_t windows;
} uvb__observed_t;

typedef struct {
  uvb__observed_t sums[2]; /* of the windows without holding, and with it */
  uint64_t number;         /* of the current window */
  uint64_t plain_at;     /* the next one after the trial that does not hold */
  uint32_t distance;       /* from one of those to the next */
  uint32_t askings;        /* of the current window */
  bool measured;           /* it has settled: its measured part has begun */
  uvb__observed_t since;   /* the counts at that moment */
  double left_before;      /* events that had left at the asking before */
  double size_before;      /* how many of them between the one before that and it */
  /* As found last. */
  double saving;           /* share of the busy time per event that holding saves; NAN: not measured */
  double slowdown;         /* share by which the rate falls while holding, where it is more than chance; else 0 */
  uvb__backoff_t off;
  uvb__why_t why_off;
} uvb__comparison_t;

void uvb__comparison_init(uvb__comparison_t* comparison);
/* Reports whether a batch that the law would hold may be held: uvb__holding, or why not. `now` has the time, the
 * busy time of the loop, the events that have left and those that were pushed, each counted from any point. */
uvb__why_t uvb__comparison_ask(uvb__comparison_t* comparison, const uvb__observed_t* now, double max_delay);
/* The same with signals from outside in place of windows. */
uvb__why_t uvb__comparison_judge(uvb__comparison_t* comparison, double saving, double slowdown, double now);
/* The current window does not count, but its number is used up: else a load at which the law changes its mind often
 * would never get past a window that does not hold. */
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
  uvb__time_limit_t limit;
  uvb__comparison_t comparison;
  uvb__decision_t decision; /* the last one */
  bool estimating;          /* whether rates, costs and the comparison matter */
  bool timing;              /* whether the limit matters */
  uvb__signals_t given;     /* in place of the estimates, for tests; NAN: none */
} uvb__advisor_t;

void uvb__advisor_init(uvb__advisor_t* advisor);
void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options);
void uvb__advisor_fold(uvb__advisor_t* advisor, double now); /* a dispatch point: brings the rates up to date */
/* Batches that leave at a dispatch point are timed, those that were held for the costs alone; other batches are not. */
/* Ways of leaving. Only the time of a batch that the limit bounds, outside of comparison windows, says something about it. */
typedef enum { uvb__not_judged, uvb__was_not_limited, uvb__was_limited } uvb__leaving_t;
/* Purposes of timing a batch. */
enum { uvb__for_costs = 1, uvb__for_limit = 2 };
/* A batch leaves. Returns what it is to be timed for. */
static inline unsigned int uvb__advisor_leaves(uvb__advisor_t* advisor, size_t events, uvb__leaving_t leaving) {
  advisor->left += (double)events;
  if (leaving == uvb__not_judged) return 0;
  bool limits = advisor->timing && leaving == uvb__was_limited && uvb__time_limit_wants(&advisor->limit, events);
  return (advisor->estimating ? uvb__for_costs : 0u) | (limits ? uvb__for_limit : 0u);
}
/* Reports whether the batch about which the policy was asked last leaves in a window that does not hold. */
static inline bool uvb__advisor_compares(const uvb__advisor_t* advisor) {
  return advisor->estimating && advisor->decision.why == uvb__comparing;
}
/* A batch was with its handlers from `start` to `end`. */
void uvb__advisor_took(uvb__advisor_t* advisor, unsigned int timed_for, const uv_batch_options_t* options,
                       size_t events, double start, double end);
/* Hold of the open batch in ms, from the push of its oldest event. `pushed`: events so far. */
double uvb__advisor_hold(uvb__advisor_t* advisor, const uv_batch_options_t* options, struct uvb__host_s* host,
                         double now, uint64_t pushed);
/* The events that a batch takes at most because of max_batch_time, if it is not held; 0: no limit. */
static inline uint32_t uvb__advisor_limit(const uvb__advisor_t* advisor) {
  return advisor->timing ? advisor->limit.events : 0;
}
/* The estimates; `rate` of one type, or, when that is NULL, as the policy sees it. */
uvb__signals_t uvb__advisor_estimate(const uvb__advisor_t* advisor, const struct uvb__type_s* type,
                                     struct uvb__host_s* host, double now);

#endif
