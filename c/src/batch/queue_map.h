/* The hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and look-up by
 * type are O(1); taking a batch is O(1) an event, plus, with order `type`, the lanes that have events. Nothing is
 * allocated.
 *
 * It knows no policy and no clock: the caller says how many events a batch can hold and what time it is.
 *
 * Aging, so that nothing starves: an event counts as one class higher for each max_deferral that it has waited. No event
 * is moved for that, and no timer runs. A lane is first in, first out, so its aged events are its first ones, and a batch
 * merges the heads of the lanes. First leave, by arrival, all events that count as HIGH: the HIGH ones, the NORMAL ones
 * that have waited once, the LOW ones that have waited twice. When they are gone, each LOW event that counts as NORMAL is
 * older than every NORMAL one, so those come next and nothing is compared. As long as the oldest NORMAL and the oldest LOW
 * event are young, no event has aged: a batch looks at these two, and that is all it costs. */
#ifndef UVB_QUEUE_MAP_H
#define UVB_QUEUE_MAP_H

#include "batch/type.h"

typedef struct {
  uvb__lane_t* first;
  uvb__lane_t* last;
} uvb__lanes_t;

typedef struct {
  bool by_type; /* order `type` */
  /* Order `arrival`: the one lane of each class. */
  uvb__lane_t lanes[uvb__levels];
  /* Order `type`: the lanes with events of each class, the one with the oldest event first unless `unsorted`. */
  uvb__lanes_t listed[uvb__levels];
  bool unsorted;
  /* NORMAL events chosen since the last LOW one; survives batches. */
  uint32_t normal_since_low;
  /* Types that have their own max_batch of events queued: they make a batch full. */
  uint32_t full_types;
  uint64_t batch_number;
  uvb__type_t* first_queued;

  uint32_t count;
  uint64_t bytes;
  uint32_t depth[uvb__levels];
  /* Events up to this arrival number have left. */
  uint64_t left;
  /* For each class, the push of the oldest event in the batch that was taken last; negative: it has none of the
   * class. */
  double taken[uvb__levels];
} uvb__queue_t;

void uvb__queue_init(uvb__queue_t* queue, bool by_type);

/* Changes the order of an empty queue. */
void uvb__queue_reorder(uvb__queue_t* queue, bool by_type);

/* Queues an event whose level_, seq_, timestamp and size are set. */
void uvb__queue_push(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event);

/* The same for many events of order `arrival`, newest first: each is put before those in `front`, the chain of its
 * class. uvb__queue_join() then appends the chains, whose sizes add up to `bytes`: one pass over events of other
 * threads. */
void uvb__queue_prepend(uvb__queue_t* queue, uvb__type_t* type, uvb__chain_t front[uvb__levels],
                        uv_batch_event_t* event);
void uvb__queue_join(uvb__queue_t* queue, const uvb__chain_t front[uvb__levels], uint64_t bytes);

/* Whether an event that was queued still is. When the whole queue leaves at once, none is touched before its turn. */
static inline bool uvb__queue_has(const uvb__queue_t* queue, const uv_batch_event_t* event) {
  return event->status == UV_BATCH_STATUS_QUEUED && event->seq_ > queue->left;
}

/* Takes a queued event out. */
void uvb__queue_remove(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event);

/* The queued event that arrived first, or NULL. */
uv_batch_event_t* uvb__queue_oldest(uvb__queue_t* queue);

/* Takes a batch of at most `limit` events: those that count as HIGH at `now`, then as NORMAL, then as LOW. An event's
 * status changes when its turn comes. */
uvb__chain_t uvb__queue_take(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit, double now,
                             double max_deferral);

/* Drops emptied lanes and sorts the others by their oldest event. For the cursor. */
void uvb__queue_sort_lanes(uvb__queue_t* queue);

/* Sets how many events of a type a batch can hold. */
void uvb__queue_limit_type(uvb__queue_t* queue, uvb__type_t* type, uint32_t max_batch);

#endif
