#ifndef MILLRACE_SCHEDULE_H
#define MILLRACE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "random.h"

/*
 * Decides for open mode when the next message is due and who sends it. It knows no clock and no
 * socket: times are seconds since the run's start, where the warm-up begins.
 */

/* The rate over time, as a multiple of the wanted rate. */
struct schedule_shape {
  enum pattern pattern;
  double start; /* of the measured window, s */
  double seconds;
};

/* The multiple at time t. */
double schedule_shape_at(const struct schedule_shape *shape, double t);

/* The time at which `work` seconds' worth of the wanted rate have passed since t. */
double schedule_shape_advance(const struct schedule_shape *shape, double t, double work);

/* A group of senders that share a rate; `blend` has two, all others one. */
struct schedule_group {
  uint32_t first;
  uint32_t count;
  double rate;  /* messages/s */
  bool poisson; /* random gaps and senders; else even gaps and senders in turn */
  uint32_t turn;
  double due; /* time of its next message, s */
};

struct schedule {
  struct schedule_shape shape;
  struct schedule_group group[2];
  uint32_t groups;
  double end;
  struct random random;
};

/* `rate` in messages/s over all senders. */
void schedule_start(struct schedule *schedule, const struct options *options, double rate);

/* The time of the next message, s; INFINITY when the schedule has ended. */
double schedule_due(const struct schedule *schedule);

/* Takes the next message: returns its sender. */
uint32_t schedule_take(struct schedule *schedule);

/* The share of all messages that a sender makes: what the mean room size is weighted with. */
double schedule_share(const struct options *options, uint32_t sender);

/* Draws the priority of a message: with the mixed pattern 5 % high, 15 % low; else normal. */
uint32_t schedule_priority(const struct options *options, struct random *random);

#endif
