/* How many events a type gets per ms: an exponentially weighted mean with a half-life of 100 ms. Pure. An event adds
 * ln 2 / 100 and loses half of that every 100 ms, so a steady stream of r events per ms settles at r. */
#ifndef UVB_RATE_H
#define UVB_RATE_H

#include <stdint.h>

typedef struct {
  double value; /* events per ms at `at` */
  double at;
} uvb__rate_t;

/* The rate decayed to `now`. */
double uvb__rate_read(const uvb__rate_t* rate, double now);

/* Folds in `events` that were pushed since the last update. */
void uvb__rate_fold(uvb__rate_t* rate, uint32_t events, double now);

#endif
