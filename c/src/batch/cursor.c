#include "batch/cursor.h"

static void to_start(uvb__cursor_t* cursor) {
  for (int level = 0; level < uvb__levels; level++) cursor->at[level] = cursor->queue->listed[level].first;
}

void uvb__cursor_init(uvb__cursor_t* cursor, uvb__queue_t* queue, const uvb__aged_t* aged) {
  *cursor = (uvb__cursor_t){.queue = queue, .aged = *aged};
  if (queue->by_type) to_start(cursor);
}

static bool counts(const uvb__cursor_t* cursor, const uv_batch_event_t* event, int as) {
  return uvb__counts(&cursor->aged, event, as);
}

/* ---- order `arrival` */

static uv_batch_event_t* aged_of(const uvb__cursor_t* cursor, int level, int as) {
  uv_batch_event_t* head = cursor->queue->lanes[level].head;
  return counts(cursor, head, as) ? head : NULL;
}

/* The one of two events that arrived first; each of them may be missing. */
static uv_batch_event_t* earlier(uv_batch_event_t* a, uv_batch_event_t* b) {
  return a == NULL || (b != NULL && b->seq_ < a->seq_) ? b : a;
}

static uv_batch_event_t* high_by_arrival(const uvb__cursor_t* cursor) {
  uv_batch_event_t* first = earlier(cursor->queue->lanes[uvb__high].head, aged_of(cursor, uvb__normal, uvb__high));
  return earlier(first, aged_of(cursor, uvb__low, uvb__high));
}

static uv_batch_event_t* normal_by_arrival(const uvb__cursor_t* cursor) {
  uv_batch_event_t* aged = aged_of(cursor, uvb__low, uvb__normal);
  return aged != NULL ? aged : cursor->queue->lanes[uvb__normal].head;
}

static uv_batch_event_t* low_by_arrival(const uvb__cursor_t* cursor) {
  uv_batch_event_t* head = cursor->queue->lanes[uvb__low].head;
  return counts(cursor, head, uvb__normal) ? NULL : head;
}

/* ---- order `type` */

static uv_batch_event_t* head_of(const uvb__lane_t* lane) {
  return lane == NULL ? NULL : lane->head;
}

/* The next lane of a class, if its oldest event counts as this one. Of the lanes, only the last group has given
 * events. */
static uvb__lane_t* next_lane(uvb__cursor_t* cursor, int level, int as) {
  uvb__lane_t* lane = cursor->at[level];
  if (lane != NULL && lane == cursor->group) cursor->at[level] = lane = lane->next;
  return counts(cursor, head_of(lane), as) ? lane : NULL;
}

static uv_batch_event_t* high_by_type(uvb__cursor_t* cursor) {
  uv_batch_event_t* head = head_of(cursor->group);
  if (counts(cursor, head, uvb__high)) return head;
  uvb__lane_t* first = next_lane(cursor, uvb__high, uvb__high);
  for (int level = uvb__normal; level <= uvb__low; level++) {
    uvb__lane_t* lane = next_lane(cursor, level, uvb__high);
    if (lane == NULL) continue;
    cursor->has_aged = true;
    if (first == NULL || lane->head->seq_ < first->head->seq_) first = lane;
  }
  cursor->group = first;
  if (first == NULL && cursor->has_aged) {
    uvb__queue_sort_lanes(cursor->queue);
    to_start(cursor);
  }
  return head_of(first);
}

/* LOW lanes are sorted by their oldest event: those with an aged one come first. */
static uvb__lane_t* first_young_lane(const uvb__cursor_t* cursor) {
  uvb__lane_t* lane = cursor->queue->listed[uvb__low].first;
  while (lane != NULL && counts(cursor, lane->head, uvb__normal)) lane = lane->next;
  return lane;
}

/* What is left in a LOW lane counts as LOW from here on. It has left the list of lanes by now, which is
 * rebuilt in any case. */
static void replace(uvb__cursor_t* cursor, uvb__lane_t* lane) {
  uvb__lane_t** at = &cursor->replaced;
  while (*at != NULL && (*at)->head->seq_ < lane->head->seq_) at = &(*at)->replaced;
  lane->replaced = *at;
  *at = lane;
}

static uv_batch_event_t* normal_by_type(uvb__cursor_t* cursor) {
  if (!cursor->low_found) {
    cursor->low_at = first_young_lane(cursor);
    cursor->low_found = true;
  }
  uvb__lane_t* group = cursor->group;
  uv_batch_event_t* head = head_of(group);
  if (counts(cursor, head, uvb__normal)) return head;
  if (head != NULL) replace(cursor, group);
  uvb__lane_t* aged = next_lane(cursor, uvb__low, uvb__normal);
  cursor->group = aged != NULL ? aged : next_lane(cursor, uvb__normal, uvb__normal);
  return head_of(cursor->group);
}

static uv_batch_event_t* low_by_type(uvb__cursor_t* cursor) {
  uv_batch_event_t* head = head_of(cursor->low_group);
  if (head != NULL) return head;
  uvb__lane_t* listed = cursor->low_at;
  uvb__lane_t* replaced = cursor->replaced;
  bool takes_replaced = replaced != NULL && (listed == NULL || replaced->head->seq_ < listed->head->seq_);
  if (takes_replaced) cursor->replaced = replaced->replaced;
  else if (listed != NULL) cursor->low_at = listed->next;
  cursor->low_group = takes_replaced ? replaced : listed;
  return head_of(cursor->low_group);
}

/* ---- either */

uv_batch_event_t* uvb__cursor_high(uvb__cursor_t* cursor) {
  return cursor->queue->by_type ? high_by_type(cursor) : high_by_arrival(cursor);
}

uv_batch_event_t* uvb__cursor_normal(uvb__cursor_t* cursor) {
  return cursor->queue->by_type ? normal_by_type(cursor) : normal_by_arrival(cursor);
}

uv_batch_event_t* uvb__cursor_low(uvb__cursor_t* cursor) {
  return cursor->queue->by_type ? low_by_type(cursor) : low_by_arrival(cursor);
}
