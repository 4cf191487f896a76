/* What a queue knows that its policy needs: the rates of its types, and what holding has brought. It keeps these only
 * while they matter, under `adaptive` with a max_delay, and asks the policy. */
#ifndef UVB_ADVISOR_H
#define UVB_ADVISOR_H

#include "batch/estimate/gain.h"
#include "batch/policy/policy.h"
#include "batch/queue_map.h"
#include "dispatch/host.h"

typedef struct {
  uvb__policy_t policy;
  uvb__policy_state_t state;
  uvb__gain_t gain;
  uvb__type_t* first_fresh; /* types pushed since the last dispatch point */
  bool estimating;          /* whether rates and gains matter */
  uvb__signals_t given;     /* in place of the estimates, for tests; NAN: none */
} uvb__advisor_t;

void uvb__advisor_init(uvb__advisor_t* advisor);
void uvb__advisor_configure(uvb__advisor_t* advisor, const uv_batch_options_t* options);

/* An event of the type was pushed: no arithmetic yet. */
static inline void uvb__advisor_pushed(uvb__advisor_t* advisor, uvb__type_t* type) {
  if (type->fresh++ > 0) return;
  type->next_fresh = advisor->first_fresh;
  advisor->first_fresh = type;
}

/* A dispatch point: brings the rates up to date. */
void uvb__advisor_fold(uvb__advisor_t* advisor, double now);

/* A held batch has left, with this many more events than when its hold began. */
void uvb__advisor_held(uvb__advisor_t* advisor, double extra);

/* How long the open batch may be held from the push of its oldest event, in ms. */
double uvb__advisor_hold(uvb__advisor_t* advisor, const uvb__queue_t* queue, const uv_batch_options_t* options,
                         uvb__host_t* host, double now);

/* The estimates, `rate` for one type, which may be NULL. */
uvb__signals_t uvb__advisor_estimate(const uvb__advisor_t* advisor, const uvb__type_t* type, uvb__host_t* host,
                                     double now);

#endif
