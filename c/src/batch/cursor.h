/* Shows which event of each class would be chosen next, in either order. */
#ifndef UVB_CURSOR_H
#define UVB_CURSOR_H

#include "batch/queue_map.h"

typedef struct {
  uvb__queue_t* queue;
  double aged_at;
  /* Order `type`: where the walk over the lists of lanes is. Lanes are taken whole, one after the other. */
  uvb__lane_t* at[uvb__levels];
  /* The lane that NORMAL events are being taken from, and the one that LOW events are. */
  uvb__lane_t* group;
  uvb__lane_t* low_group;
  /* The next of the LOW lanes that had no aged event; and those that lost theirs, the one with the oldest event
   * first. */
  bool low_found;
  uvb__lane_t* low_at;
  uvb__lane_t* replaced;
} uvb__cursor_t;

void uvb__cursor_init(uvb__cursor_t* cursor, uvb__queue_t* queue, double aged_at);

uv_batch_event_t* uvb__cursor_high(uvb__cursor_t* cursor);
/* The next event that counts as NORMAL. */
uv_batch_event_t* uvb__cursor_normal(uvb__cursor_t* cursor);
/* The next LOW event that still counts as LOW. */
uv_batch_event_t* uvb__cursor_low(uvb__cursor_t* cursor);

#endif
