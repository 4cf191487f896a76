/* A first-in-first-out list of queued events, linked through the events themselves: nothing is allocated, and any event
 * can be taken out in O(1). One for each class, or for each class of each type (order `type`). */
#ifndef UVB_LANE_H
#define UVB_LANE_H

#include <stdbool.h>

#include "uv_batch.h"

typedef struct uvb__lane_s uvb__lane_t;

struct uvb__lane_s {
  uv_batch_event_t* head;
  uv_batch_event_t* tail;
  uint32_t count;
  /* Order `type`: its place among the lanes with events of its class, and its class. */
  uvb__lane_t* next;
  uvb__lane_t* replaced; /* see cursor.h */
  uint8_t level;
  bool listed;
};

static inline void uvb__lane_append(uvb__lane_t* lane, uv_batch_event_t* event) {
  event->next = NULL;
  event->prev_ = lane->tail;
  if (lane->tail == NULL) lane->head = event;
  else lane->tail->next = event;
  lane->tail = event;
  lane->count++;
}

static inline void uvb__lane_remove(uvb__lane_t* lane, uv_batch_event_t* event) {
  if (event->prev_ == NULL) lane->head = event->next;
  else event->prev_->next = event->next;
  if (event->next == NULL) lane->tail = event->prev_;
  else event->next->prev_ = event->prev_;
  lane->count--;
}

/* Events that leave together, linked by `next`. */
typedef struct {
  uv_batch_event_t* first;
  uv_batch_event_t* last;
  size_t count;
} uvb__chain_t;

static inline void uvb__chain_append(uvb__chain_t* chain, uv_batch_event_t* event) {
  event->next = NULL;
  if (chain->last == NULL) chain->first = event;
  else chain->last->next = event;
  chain->last = event;
  chain->count++;
}

static inline void uvb__chain_join(uvb__chain_t* chain, const uvb__chain_t* other) {
  if (other->first == NULL) return;
  if (chain->last == NULL) chain->first = other->first;
  else chain->last->next = other->first;
  chain->last = other->last;
  chain->count += other->count;
}

#endif
