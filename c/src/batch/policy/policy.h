/* What a policy is given and what it answers. A policy is a pure function: no clock, no queue, no loop. */
#ifndef UVB_POLICY_H
#define UVB_POLICY_H

#include "uv_batch.h"

/* What the engine knows about the loop and the destinations of the open batch. */
typedef struct {
  double utilization; /* busy share of the loop, 0 to 1 */
  double rate;        /* events per ms: the highest among the queued types */
  double gain;        /* extra events a batch got from being held */
  double holds;       /* holds on record, 0 to 16 */
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

uvb__decision_t uvb__policy_direct(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                   uvb__policy_state_t state, double now);
uvb__decision_t uvb__policy_fixed(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                  uvb__policy_state_t state, double now);
uvb__decision_t uvb__policy_adaptive(const uvb__signals_t* signals, const uv_batch_options_t* options,
                                     uvb__policy_state_t state, double now);

uvb__policy_t uvb__policy_of(uv_batch_policy_t policy);

#endif
