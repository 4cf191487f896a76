/* Policies, the estimates that they are given, and the advisor that asks them. See policy.c. */
#ifndef UVB_POLICY_H
#define UVB_POLICY_H

#include "common.h"

struct uvb__host_s;
struct uvb__queue_s;
struct uvb__type_s;

/* ---- estimates */

/* Events per ms of a type: an exponentially weighted mean with a half-life of 100 ms. An event adds ln 2 / 100 and
 * loses half of that every 100 ms, so a steady stream of r events per ms settles at r. */
typedef struct {
  double value; /* events per ms at `at` */
  double at;
} uvb__rate_t;

double uvb__rate_read(const uvb__rate_t* rate, double now);
void uvb__rate_fold(uvb__rate_t* rate, uint32_t events, double now); /* adds what was pushed since the last one */

enum { uvb__holds_on_record = 16, uvb__slices = 10 };

/* The gain of the last 16 holds: events in the batch that left, minus events queued when the hold began. */
typedef struct {
  double extra[uvb__holds_on_record];
  uint32_t holds; /* on record */
  uint32_t next;
} uvb__gain_t;

void uvb__gain_record(uvb__gain_t* gain, double extra);
void uvb__gain_clear(uvb__gain_t* gain);
double uvb__gain_read(const uvb__gain_t* gain); /* mean extra events per batch; 0 without a record */

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

/* ---- policies */

/* The engine's estimates of the loop and of the types of the open batch, as in uv_batch_estimate_t. */
typedef struct {
  double utilization;
  double rate; /* the highest among the queued types */
  double gain;
  double holds;
} uvb__signals_t;

/* What a policy remembers between two questions. */
typedef struct {
  double off_until; /* until this time holding is switched off */
  double backoff;   /* how long it is switched off the next time, in ms */
} uvb__policy_state_t;

extern const uvb__policy_state_t uvb__policy_initial;

typedef struct {
  double hold; /* how long a batch may be held from the push of its oldest event, in ms; 0: not at all */
  uvb__policy_state_t state;
} uvb__decision_t;

typedef uvb__decision_t (*uvb__policy_t)(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                         uvb__policy_state_t state, double now);

uvb__decision_t uvb__policy_fixed(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                  uvb__policy_state_t state, double now);
uvb__decision_t uvb__policy_adaptive(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                     uvb__policy_state_t state, double now);
/* The function of `fixed` or `adaptive`; under `direct` nothing waits, and nothing is asked. */
uvb__policy_t uvb__policy_of(uv_batch_policy_t policy);

/* ---- the advisor of a queue */

typedef struct {
  uvb__policy_state_t state;
  uvb__gain_t gain;
  struct uvb__type_s* first_fresh; /* types pushed since the last dispatch point */
  bool estimating;                 /* whether rates and gains matter */
  uvb__signals_t given;            /* in place of the estimates, for tests; NAN: none */
} uvb__advisor_t;

void uvb__advisor_init(uvb__advisor_t* advisor);
void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options);
void uvb__advisor_fold(uvb__advisor_t* advisor, double now); /* a dispatch point: brings the rates up to date */
/* A held batch has left, with this many more events than when its hold began. */
void uvb__advisor_held(uvb__advisor_t* advisor, double extra);
/* How long the open batch may be held from the push of its oldest event, in ms. */
double uvb__advisor_hold(uvb__advisor_t* advisor, const struct uvb__queue_s* queue, const uv_batch_options_t* options,
                         struct uvb__host_s* host, double now);
/* The estimates, `rate` for one type, which may be NULL. */
uvb__signals_t uvb__advisor_estimate(const uvb__advisor_t* advisor, const struct uvb__type_s* type,
                                     struct uvb__host_s* host, double now);

#endif
