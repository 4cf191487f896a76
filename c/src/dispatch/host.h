/* What an engine needs from the world: time, and calls at the right moments. The loop is one host; tests have another,
 * whose clock stands still unless told. */
#ifndef UVB_HOST_H
#define UVB_HOST_H

typedef struct uvb__host_s uvb__host_t;

struct uvb__host_s {
  /* Time in ms; may be read once and kept for the rest of a turn. */
  double (*now)(uvb__host_t* host);
  /* Asks for one call of uvb__turn() at the end of this turn. */
  void (*schedule)(uvb__host_t* host);
  /* Asks for one call of uvb__hold_ended() at this time; replaces the last request. Negative: takes it back. */
  void (*arm)(uvb__host_t* host, double deadline);
  /* The same for uvb__expire(): the age of what is retained. It keeps no loop alive. */
  void (*arm_expiry)(uvb__host_t* host, double deadline);
  /* Busy share of the loop, 0 to 1, at `now`. Asked only under `adaptive` with a max_delay. */
  double (*utilization)(uvb__host_t* host, double now);
};

#endif
