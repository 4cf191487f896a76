#include "batch/cursor.h"

void uvb__cursor_init(uvb__cursor_t* cursor, uvb__queue_t* queue, double aged_at) {
  *cursor = (uvb__cursor_t){.queue = queue, .aged_at = aged_at};
  if (!queue->by_type) return;
  for (int level = 0; level < uvb__levels; level++) cursor->at[level] = queue->listed[level].first;
}

static bool is_aged(const uvb__cursor_t* cursor, const uv_batch_event_t* event) {
  return event->timestamp <= cursor->aged_at;
}

/* ---- order `arrival` */

static uv_batch_event_t* normal_by_arrival(const uvb__cursor_t* cursor) {
  uv_batch_event_t* normal = cursor->queue->lanes[uvb__normal].head;
  uv_batch_event_t* low = cursor->queue->lanes[uvb__low].head;
  if (low == NULL || !is_aged(cursor, low)) return normal;
  return normal == NULL || low->seq_ < normal->seq_ ? low : normal;
}

static uv_batch_event_t* low_by_arrival(const uvb__cursor_t* cursor) {
  uv_batch_event_t* low = cursor->queue->lanes[uvb__low].head;
  return low == NULL || is_aged(cursor, low) ? NULL : low;
}

/* ---- order `type` */

static uv_batch_event_t* head_of(const uvb__lane_t* lane) {
  return lane == NULL ? NULL : lane->head;
}

static uvb__lane_t* first_lane(uvb__cursor_t* cursor, int level) {
  uvb__lane_t* lane = cursor->at[level];
  while (lane != NULL && lane->head == NULL) lane = lane->next;
  cursor->at[level] = lane;
  return lane;
}

/* LOW lanes are sorted by their oldest event: those with an aged one come first. */
static uvb__lane_t* first_aged_lane(uvb__cursor_t* cursor) {
  uvb__lane_t* lane = cursor->at[uvb__low];
  while (lane != NULL && (lane->head == NULL || !is_aged(cursor, lane->head))) lane = lane->next;
  cursor->at[uvb__low] = lane;
  return lane;
}

static uvb__lane_t* first_young_lane(uvb__cursor_t* cursor) {
  uvb__lane_t* lane = cursor->queue->listed[uvb__low].first;
  while (lane != NULL && (lane->head == NULL || is_aged(cursor, lane->head))) lane = lane->next;
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
  if (head != NULL && (group->level == uvb__normal || is_aged(cursor, head))) return head;
  if (head != NULL) replace(cursor, group);
  uvb__lane_t* normal = first_lane(cursor, uvb__normal);
  uvb__lane_t* low = first_aged_lane(cursor);
  bool takes_low = low != NULL && (normal == NULL || low->head->seq_ < normal->head->seq_);
  cursor->group = takes_low ? low : normal;
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
  if (!cursor->queue->by_type) return cursor->queue->lanes[uvb__high].head;
  return head_of(first_lane(cursor, uvb__high));
}

uv_batch_event_t* uvb__cursor_normal(uvb__cursor_t* cursor) {
  return cursor->queue->by_type ? normal_by_type(cursor) : normal_by_arrival(cursor);
}

uv_batch_event_t* uvb__cursor_low(uvb__cursor_t* cursor) {
  return cursor->queue->by_type ? low_by_type(cursor) : low_by_arrival(cursor);
}
