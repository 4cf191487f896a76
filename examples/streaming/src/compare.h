/* Arms side by side: each in a process of its own, in turns, so that a busy moment of the machine meets all of them. */
#ifndef COMPARE_H
#define COMPARE_H

#include "download.h"

enum { most_arms = 8, most_rounds = 100 };

typedef struct {
  download_t download;
  const arm_t* arms[most_arms + 1]; /* ends with NULL; the others are compared with the first */
  size_t rounds;
  size_t whole; /* rounds of a case too long to be run, whose times are extrapolated from those that were; or 0 */
  double until; /* uv_hrtime() in ns: no round begins after that */
} compare_t;

/* Runs the rounds and prints a row for each arm. */
void compare_run(const compare_t* compare, const struct sockaddr_in* server);
void compare_heading(void);

/* Runs the first arm once and prints a JSON object. */
void compare_once(const compare_t* compare, const struct sockaddr_in* server);

#endif
