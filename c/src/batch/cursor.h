/* Shows which event of each class would be chosen next, in either order. */
#ifndef UVB_CURSOR_H
#define UVB_CURSOR_H

#include "batch/queue_map.h"

/* Times of push up to which an event counts as its own class, as one class higher, as two. */
typedef struct {
  double at[uvb__levels];
} uvb__aged_t;

/* Whether an event counts as this class or a higher one. */
static inline bool uvb__counts(const uvb__aged_t* aged, const uv_batch_event_t* event, int as) {
  return event != NULL && event->timestamp <= aged->at[event->level_ - as];
}

typedef struct {
  uvb__queue_t* queue;
  uvb__aged_t aged;
  /* Order `type`: where the walk over the lists of lanes is. Of a lane, all events that count as one class are taken
   * before another lane starts; the rest is placed anew, by its oldest event. */
  uvb__lane_t* at[uvb__levels];
  /* The lane that HIGH events, and later NORMAL ones, are being taken from, and the one that LOW events are. */
  uvb__lane_t* group;
  uvb__lane_t* low_group;
  bool has_aged; /* NORMAL or LOW lanes had events that count as HIGH */
  /* The next of the LOW lanes that had no aged event; and those that lost theirs, the one with the oldest event
   * first. */
  bool low_found;
  uvb__lane_t* low_at;
  uvb__lane_t* replaced;
} uvb__cursor_t;

void uvb__cursor_init(uvb__cursor_t* cursor, uvb__queue_t* queue, const uvb__aged_t* aged);

/* The next event that counts as HIGH. When there is none HIGH is over, and only the others are asked for. */
uv_batch_event_t* uvb__cursor_high(uvb__cursor_t* cursor);
/* The next event that counts as NORMAL. */
uv_batch_event_t* uvb__cursor_normal(uvb__cursor_t* cursor);
/* The next event that counts as LOW. */
uv_batch_event_t* uvb__cursor_low(uvb__cursor_t* cursor);

#endif
