/* The busy share of a loop over about 250 ms: ten slices of 25 ms, the current one included. Pure: the caller says
 * which spans of time were how busy. */
#ifndef UVB_UTILIZATION_H
#define UVB_UTILIZATION_H

#include <stdint.h>

enum { uvb__slices = 10 };

typedef struct {
  double busy[uvb__slices];
  /* Number of the newest slice that was written; all slices after `newest - uvb__slices` are valid. */
  int64_t newest;
  double start;
} uvb__utilization_t;

/* `start`: the time from which the loop is observed, in ms. */
void uvb__utilization_init(uvb__utilization_t* window, double start);

/* The loop was busy for `busy` ms of the span; they are spread evenly over it. Spans must not go back in time. */
void uvb__utilization_observe(uvb__utilization_t* window, double from, double to, double busy);

/* Busy share at `now`, 0 to 1. */
double uvb__utilization_read(uvb__utilization_t* window, double now);

#endif
