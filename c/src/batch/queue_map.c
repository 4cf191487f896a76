#include "batch/queue_map.h"

#include <math.h>
#include <string.h>

#include "batch/cursor.h"

/* When a limit cuts a batch, this many NORMAL events are chosen for one LOW one. */
static const uint32_t normal_per_low = 8;

void uvb__queue_init(uvb__queue_t* queue, bool by_type) {
  memset(queue, 0, sizeof(*queue));
  queue->by_type = by_type;
  for (uint8_t level = 0; level < uvb__levels; level++) queue->lanes[level].level = level;
}

static uint32_t saturated(uint32_t normals) {
  return normals < normal_per_low ? normals : normal_per_low;
}

/* ---- the lists of lanes, for order `type` */

static void list_lane(uvb__queue_t* queue, uvb__lane_t* lane) {
  uvb__lanes_t* lanes = &queue->listed[lane->level];
  lane->listed = true;
  lane->next = NULL;
  if (lanes->last == NULL) lanes->first = lane;
  else lanes->last->next = lane;
  lanes->last = lane;
}

/* Sorts by the oldest event: a merge sort of a linked list, for lists that are mostly sorted. */
static uvb__lane_t* sorted(uvb__lane_t* lane) {
  if (lane == NULL || lane->next == NULL) return lane;
  uvb__lane_t* middle = lane;
  for (uvb__lane_t* end = lane->next; end != NULL && end->next != NULL; end = end->next->next) middle = middle->next;
  uvb__lane_t* b = middle->next;
  middle->next = NULL;
  uvb__lane_t* a = sorted(lane);
  b = sorted(b);
  uvb__lane_t* first = NULL;
  uvb__lane_t** at = &first;
  while (a != NULL && b != NULL) {
    uvb__lane_t** older = a->head->seq_ < b->head->seq_ ? &a : &b;
    *at = *older;
    at = &(*older)->next;
    *older = (*older)->next;
  }
  *at = a != NULL ? a : b;
  return first;
}

void uvb__queue_sort_lanes(uvb__queue_t* queue) {
  for (int level = 0; level < uvb__levels; level++) {
    uvb__lanes_t* lanes = &queue->listed[level];
    uvb__lane_t** at = &lanes->first;
    while (*at != NULL) {
      uvb__lane_t* lane = *at;
      if (lane->head != NULL) {
        at = &lane->next;
      } else {
        lane->listed = false;
        *at = lane->next;
      }
    }
    lanes->first = sorted(lanes->first);
    lanes->last = lanes->first;
    while (lanes->last != NULL && lanes->last->next != NULL) lanes->last = lanes->last->next;
  }
}

/* After a cut or a removal only, so that a removal itself stays O(1). */
static void sort_lanes(uvb__queue_t* queue) {
  if (!queue->unsorted) return;
  queue->unsorted = false;
  uvb__queue_sort_lanes(queue);
}

static uvb__lane_t* lane_of(uvb__queue_t* queue, uvb__type_t* type, const uv_batch_event_t* event) {
  return queue->by_type ? &type->lanes[event->level_] : &queue->lanes[event->level_];
}

/* ---- push and remove */

static void first_of_type(uvb__queue_t* queue, uvb__type_t* type) {
  type->prev_queued = NULL;
  type->next_queued = queue->first_queued;
  if (queue->first_queued != NULL) queue->first_queued->prev_queued = type;
  queue->first_queued = type;
}

static void last_of_type(uvb__queue_t* queue, uvb__type_t* type) {
  if (type->prev_queued == NULL) queue->first_queued = type->next_queued;
  else type->prev_queued->next_queued = type->next_queued;
  if (type->next_queued != NULL) type->next_queued->prev_queued = type->prev_queued;
}

static inline void come(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  event->status = UV_BATCH_STATUS_QUEUED;
  if (type->count++ == 0) first_of_type(queue, type);
  if (type->count == type->options.max_batch) queue->full_types++;
}

void uvb__queue_push(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  uvb__lane_t* lane = lane_of(queue, type, event);
  if (queue->by_type) {
    /* The new event is the youngest of all, so the end of the list is its lane's place. */
    if (!lane->listed) list_lane(queue, lane);
    else if (lane->head == NULL) queue->unsorted = true;
  }
  uvb__lane_append(lane, event);
  come(queue, type, event);
  queue->count++;
  queue->depth[event->level_]++;
  queue->bytes += event->size;
}

void uvb__queue_prepend(uvb__queue_t* queue, uvb__type_t* type, uvb__chain_t front[uvb__levels],
                        uv_batch_event_t* event) {
  uvb__chain_t* chain = &front[event->level_];
  event->next = chain->first;
  if (chain->first == NULL) chain->last = event;
  else chain->first->prev_ = event;
  chain->first = event;
  chain->count++;
  come(queue, type, event);
}

void uvb__queue_join(uvb__queue_t* queue, const uvb__chain_t front[uvb__levels], uint64_t bytes) {
  queue->bytes += bytes;
  for (int level = 0; level < uvb__levels; level++) {
    uvb__lane_t* lane = &queue->lanes[level];
    uint32_t count = (uint32_t)front[level].count;
    if (count == 0) continue;
    front[level].first->prev_ = lane->tail;
    if (lane->tail == NULL) lane->head = front[level].first;
    else lane->tail->next = front[level].first;
    lane->tail = front[level].last;
    lane->count += count;
    queue->count += count;
    queue->depth[level] += count;
  }
}

static inline void gone(uvb__queue_t* queue, uvb__type_t* type, const uv_batch_event_t* event) {
  if (type->count-- == type->options.max_batch) queue->full_types--;
  if (type->count == 0) last_of_type(queue, type);
  queue->count--;
  queue->depth[event->level_]--;
  queue->bytes -= event->size;
}

void uvb__queue_remove(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  uvb__lane_t* lane = lane_of(queue, type, event);
  /* A lane that loses its oldest event may have to give way to another. */
  if (queue->by_type && lane->head == event) queue->unsorted = true;
  uvb__lane_remove(lane, event);
  gone(queue, type, event);
}

void uvb__queue_limit_type(uvb__queue_t* queue, uvb__type_t* type, uint32_t max_batch) {
  bool was_full = type->count >= type->options.max_batch;
  bool is_full = type->count >= max_batch;
  type->options.max_batch = max_batch;
  if (was_full && !is_full) queue->full_types--;
  if (!was_full && is_full) queue->full_types++;
}

/* The oldest event of a class, or NULL; its lanes are sorted. */
static uv_batch_event_t* head_of(const uvb__queue_t* queue, int level) {
  const uvb__lane_t* lane = queue->by_type ? queue->listed[level].first : &queue->lanes[level];
  return lane == NULL ? NULL : lane->head;
}

uv_batch_event_t* uvb__queue_oldest(uvb__queue_t* queue) {
  uv_batch_event_t* oldest = NULL;
  if (queue->by_type) sort_lanes(queue);
  for (int level = 0; level < uvb__levels; level++) {
    uv_batch_event_t* head = head_of(queue, level);
    if (head != NULL && (oldest == NULL || head->seq_ < oldest->seq_)) oldest = head;
  }
  return oldest;
}

void uvb__queue_reorder(uvb__queue_t* queue, bool by_type) {
  /* Lanes that were emptied one by one still think that they are listed. */
  sort_lanes(queue);
  queue->by_type = by_type;
}

/* ---- taking a batch */

static void empty_lane(uvb__queue_t* queue, uvb__lane_t* lane, uvb__chain_t* chain) {
  if (lane->tail != NULL && lane->tail->seq_ > queue->left) queue->left = lane->tail->seq_;
  uvb__chain_t all = {lane->head, lane->tail, lane->count};
  uvb__chain_join(chain, &all);
  lane->head = lane->tail = NULL;
  lane->count = 0;
}

/* Everything leaves and no event has aged: there is no choice to make, only the order, and no event is touched. */
static uvb__chain_t take_all(uvb__queue_t* queue) {
  uvb__chain_t batch = {NULL, NULL, 0};
  for (int level = 0; level < uvb__levels; level++) {
    uvb__lane_t* first = queue->by_type ? queue->listed[level].first : &queue->lanes[level];
    /* The first lane of a class has its oldest event. */
    if (first != NULL && first->head != NULL) queue->taken[level] = first->head->timestamp;
    if (!queue->by_type) {
      empty_lane(queue, first, &batch);
      continue;
    }
    for (uvb__lane_t* lane = first; lane != NULL; lane = lane->next) {
      empty_lane(queue, lane, &batch);
      lane->listed = false;
    }
    queue->listed[level] = (uvb__lanes_t){NULL, NULL};
  }
  for (uvb__type_t* type = queue->first_queued; type != NULL; type = type->next_queued) type->count = 0;
  queue->first_queued = NULL;
  uint32_t normals = queue->normal_since_low + queue->depth[uvb__normal];
  queue->normal_since_low = queue->depth[uvb__low] > 0 ? 0 : saturated(normals);
  queue->unsorted = false;
  queue->count = 0;
  queue->bytes = 0;
  memset(queue->depth, 0, sizeof(queue->depth));
  return batch;
}

/* There is no LOW event, no full type, and no NORMAL event that would go before a HIGH one, so nothing to choose: the
 * first of HIGH, then of NORMAL. */
static uvb__chain_t take_first(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit,
                               const uvb__aged_t* aged) {
  uvb__chain_t batch = {NULL, NULL, 0};
  for (int level = uvb__high; level <= uvb__normal; level++) {
    uvb__lane_t* lane = &queue->lanes[level];
    uv_batch_event_t* event = lane->head;
    uvb__chain_t taken = {event, NULL, 0};
    uint32_t normals = 0;
    if (event != NULL && batch.count < limit) queue->taken[level] = event->timestamp;
    for (; event != NULL && batch.count + taken.count < limit; event = event->next) {
      event->status = UV_BATCH_STATUS_PROCESSING;
      gone(queue, types->all[event->type], event);
      normals += !uvb__counts(aged, event, uvb__high);
      taken.last = event;
      taken.count++;
    }
    if (taken.count == 0) continue;
    queue->normal_since_low = saturated(queue->normal_since_low + normals);
    taken.last->next = NULL;
    lane->head = event;
    lane->count -= (uint32_t)taken.count;
    if (event == NULL) lane->tail = NULL;
    else event->prev_ = NULL;
    uvb__chain_join(&batch, &taken);
  }
  return batch;
}

/* Takes out an event that is the oldest of its lane. */
static void take_head(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  double* oldest = &queue->taken[event->level_];
  if (*oldest < 0 || event->timestamp < *oldest) *oldest = event->timestamp;
  uvb__lane_remove(lane_of(queue, type, event), event);
  gone(queue, type, event);
  event->status = UV_BATCH_STATUS_PROCESSING;
}

static uvb__chain_t choose(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit, const uvb__aged_t* aged) {
  bool cut = queue->count > limit;
  uint64_t number = ++queue->batch_number;
  uvb__chain_t batch = {NULL, NULL, 0};
  uvb__chain_t low = {NULL, NULL, 0};
  uvb__cursor_t cursor;
  uvb__cursor_init(&cursor, queue, aged);
  bool high_is_over = false;
  while (batch.count + low.count < limit) {
    uv_batch_event_t* high = high_is_over ? NULL : uvb__cursor_high(&cursor);
    high_is_over = high == NULL;
    uv_batch_event_t* normal = high != NULL ? high : uvb__cursor_normal(&cursor);
    bool lows_turn = normal == NULL || (cut && queue->normal_since_low >= normal_per_low);
    uv_batch_event_t* low_one = high == NULL && lows_turn ? uvb__cursor_low(&cursor) : NULL;
    uv_batch_event_t* event = low_one != NULL ? low_one : normal;
    if (event == NULL) break;
    uvb__type_t* type = types->all[event->type];
    if (type->chosen_in != number) {
      type->chosen_in = number;
      type->chosen = 0;
    }
    if (type->chosen == type->options.max_batch) break;
    type->chosen++;
    take_head(queue, type, event);
    if (low_one != NULL) {
      uvb__chain_append(&low, event);
      queue->normal_since_low = 0;
    } else {
      uvb__chain_append(&batch, event);
      if (high == NULL) queue->normal_since_low = saturated(queue->normal_since_low + 1);
    }
  }
  /* Order `type`: a lane that was cut may now be younger than others, an emptied one has to go. */
  queue->unsorted = queue->by_type;
  uvb__chain_join(&batch, &low);
  return batch;
}

uvb__chain_t uvb__queue_take(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit, double now,
                             double max_deferral) {
  if (queue->by_type) sort_lanes(queue);
  for (int level = 0; level < uvb__levels; level++) queue->taken[level] = -1;
  uvb__aged_t aged = {{HUGE_VAL, now - max_deferral, now - max_deferral - max_deferral}};
  bool aged_normal = uvb__counts(&aged, head_of(queue, uvb__normal), uvb__high);
  bool aged_low = uvb__counts(&aged, head_of(queue, uvb__low), uvb__normal);
  if (queue->full_types == 0) {
    if (queue->count <= limit && !aged_normal && !aged_low) return take_all(queue);
    bool merges = queue->depth[uvb__low] > 0 || (aged_normal && queue->depth[uvb__high] > 0);
    if (!queue->by_type && !merges) return take_first(queue, types, limit, &aged);
  }
  return choose(queue, types, limit, &aged);
}
