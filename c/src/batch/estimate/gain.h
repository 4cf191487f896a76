/* What holding brought: over the last 16 holds, how many more events the batch had than when the hold began. Pure. */
#ifndef UVB_GAIN_H
#define UVB_GAIN_H

#include <stdint.h>

enum { uvb__holds_on_record = 16 };

typedef struct {
  double extra[uvb__holds_on_record];
  uint32_t holds; /* on record */
  uint32_t next;
} uvb__gain_t;

/* Records one hold: events in the batch that left, minus events queued when the hold began. */
void uvb__gain_record(uvb__gain_t* gain, double extra);
void uvb__gain_clear(uvb__gain_t* gain);

/* Mean extra events a batch; 0 without a record. */
double uvb__gain_read(const uvb__gain_t* gain);

#endif
