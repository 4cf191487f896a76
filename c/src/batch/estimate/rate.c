#include "batch/estimate/rate.h"

#include <math.h>

static const double half_life_ms = 100;
static const double ln_2 = 0.693147180559945309;

double uvb__rate_read(const uvb__rate_t* rate, double now) {
  return rate->value == 0 ? 0 : rate->value * exp2(-(now - rate->at) / half_life_ms);
}

void uvb__rate_fold(uvb__rate_t* rate, uint32_t events, double now) {
  rate->value = uvb__rate_read(rate, now) + events * ln_2 / half_life_ms;
  rate->at = now;
}
