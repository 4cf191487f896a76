/*
 * The hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and look-up by
 * type are O(1). Taking a batch is O(1) per event, plus, with order `type`, the lanes that have events. The queue
 * allocates nothing but buckets for keys, and knows no policy and no clock: the caller says how many events a batch can
 * hold and what time it is. An event's status, links and level are the queue's from push until it is taken or removed.
 *
 * Aging, so that nothing starves: an event counts as one class higher for each max_deferral that it has waited. No
 * event is moved for that, and no timer runs. A lane is first in, first out, so its aged events are its first ones, and
 * a batch merges the heads of the lanes. First leave, by arrival, all events that count as HIGH: the HIGH ones, the
 * NORMAL ones that have waited once, the LOW ones that have waited twice. When they are gone, each LOW event that
 * counts as NORMAL is older than every NORMAL one, so those come next and nothing is compared. As long as the oldest
 * NORMAL and the oldest LOW event are young, no event has aged: a batch looks at these two, and that is all it costs.
 *
 * Keys: a hash table has the queued event of each type and key. A newer event of the same class takes the older one's
 * links. An entry lives as long as its event is queued, so the table is bounded as the queue is. It grows with the events
 * in it, where there is memory; without, its chains get longer. Events without a key never look at it.
 */
#include "queue.h"

#include <math.h>
#include <string.h>

/* When a limit cuts a batch, this many NORMAL events are chosen for one LOW one. */
static const uint32_t normal_per_low = 8;

/* ---- types, by number and by name */

/* libuv's kinds of event. All other types are NORMAL. */
static const struct {
  const char* name;
  int level;
} builtin[uvb__builtin_types + 1] = {
    [UV_BATCH_SIGNAL] = {"signal", uvb__high},         [UV_BATCH_PROCESS] = {"process", uvb__high},
    [UV_BATCH_ASYNC] = {"async", uvb__high},           [UV_BATCH_NETWORK] = {"network", uvb__normal},
    [UV_BATCH_FILESYSTEM] = {"filesystem", uvb__normal}, [UV_BATCH_STREAM] = {"stream", uvb__normal},
    [UV_BATCH_TIMER] = {"timer", uvb__normal},         [UV_BATCH_IDLE] = {"idle", uvb__low},
    [UV_BATCH_WORK] = {"work", uvb__low},              [UV_BATCH_BACKGROUND] = {"background", uvb__low},
};

static const uv_batch_type_options_t defaults = {
    .priority = UV_BATCH_PRIORITY_NORMAL,
    .max_batch = UV_BATCH_NO_LIMIT,
    .retain = UV_BATCH_RETAIN_OFF,
    .retain_max = 1000,
    .retain_max_bytes = 1024 * 1024,
    .retain_max_age = 60000,
};

static uvb__type_t** bucket_of(const uvb__types_t* types, const char* name) {
  uint32_t h = 2166136261u;
  for (; *name != '\0'; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return &types->by_name[h & (types->buckets - 1)];
}

static void enter_name(uvb__types_t* types, uvb__type_t* type) {
  uvb__type_t** bucket = bucket_of(types, type->name);
  type->same_hash = *bucket;
  *bucket = type;
}

/* When memory runs out, there are no more buckets than before: slower, but still correct. */
static void spread(uvb__types_t* types) {
  if ((uint32_t)types->count < types->buckets) return;
  uvb__type_t** by_name = uvb__calloc(types->buckets * 4, sizeof(*by_name));
  if (by_name == NULL) return;
  uvb__free(types->by_name);
  types->by_name = by_name;
  types->buckets *= 4;
  for (int i = 1; i < types->count; i++) enter_name(types, types->all[i]);
}

static uvb__type_t* make(const char* name, int id) {
  size_t size = strlen(name) + 1;
  uvb__type_t* type = uvb__calloc(1, sizeof(*type) + size);
  if (type == NULL) return NULL;
  type->name = memcpy(type + 1, name, size);
  type->id = id;
  type->options = defaults;
  if (id <= uvb__builtin_types) type->options.priority = builtin[id].level;
  type->given_rate = NAN;
  for (uint8_t level = 0; level < uvb__levels; level++) type->lanes[level].level = level;
  return type;
}

int uvb__types_number(uvb__types_t* types, const char* name) {
  uvb__type_t* type = *bucket_of(types, name);
  while (type != NULL && strcmp(type->name, name) != 0) type = type->same_hash;
  if (type != NULL) return type->id;
  if (types->count > UV_BATCH_MAX_TYPES) return UV_ENOBUFS;
  if (types->count == types->capacity) {
    uvb__type_t** all = uvb__realloc(types->all, (size_t)types->capacity * 2 * sizeof(*all));
    if (all == NULL) return UV_ENOMEM;
    types->all = all;
    types->capacity *= 2;
  }
  type = make(name, types->count);
  if (type == NULL) return UV_ENOMEM;
  types->all[types->count++] = type;
  enter_name(types, type);
  spread(types);
  return type->id;
}

int uvb__types_init(uvb__types_t* types) {
  *types = (uvb__types_t){.count = 1, .capacity = 32, .buckets = 64};
  types->all = uvb__calloc((size_t)types->capacity, sizeof(*types->all));
  types->by_name = uvb__calloc(types->buckets, sizeof(*types->by_name));
  bool made = types->all != NULL && types->by_name != NULL;
  for (int i = 1; made && i <= uvb__builtin_types; i++) made = uvb__types_number(types, builtin[i].name) == i;
  if (made) return 0;
  uvb__types_free(types);
  return UV_ENOMEM;
}

void uvb__types_free(uvb__types_t* types) {
  for (int i = 1; types->all != NULL && i < types->count; i++) uvb__free(types->all[i]);
  uvb__free(types->all);
  uvb__free(types->by_name);
  *types = (uvb__types_t){.all = NULL};
}

/* ---- lanes */

static uvb__lane_t* lane_of(uvb__queue_t* queue, uvb__type_t* type, const uv_batch_event_t* event) {
  return queue->by_type ? &type->lanes[event->level_] : &queue->lanes[event->level_];
}

/* Order `type`: the lane gets its first event. */
static void list_lane(uvb__queue_t* queue, uvb__lane_t* lane) {
  lane->listed = true;
  lane->next = NULL;
  if (queue->listed[lane->level].last == NULL) queue->listed[lane->level].first = lane;
  else queue->listed[lane->level].last->next = lane;
  queue->listed[lane->level].last = lane;
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

/* Drops emptied lanes and sorts the others by their oldest event. */
static void sort_lanes(uvb__queue_t* queue) {
  for (int level = 0; level < uvb__levels; level++) {
    for (uvb__lane_t** at = &queue->listed[level].first; *at != NULL;) {
      uvb__lane_t* lane = *at;
      lane->listed = lane->head != NULL;
      if (lane->listed) at = &lane->next;
      else *at = lane->next;
    }
    uvb__lane_t* last = queue->listed[level].first = sorted(queue->listed[level].first);
    while (last != NULL && last->next != NULL) last = last->next;
    queue->listed[level].last = last;
  }
  queue->unsorted = false;
}

/* The oldest event of a class, or NULL; its lanes are sorted. */
static uv_batch_event_t* head_of(const uvb__queue_t* queue, int level) {
  const uvb__lane_t* lane = queue->by_type ? queue->listed[level].first : &queue->lanes[level];
  return lane == NULL ? NULL : lane->head;
}

/* ---- keys */

static uv_batch_event_t** key_bucket(uvb__queue_t* queue, uint64_t hash) {
  uv_batch_event_t** buckets = queue->by_key != NULL ? queue->by_key : queue->few_keys;
  return &buckets[hash & (queue->key_buckets - 1)];
}

/* FNV-1a from a start of the queue's own, so that nobody can choose keys that are all in one chain. */
static uint64_t hash_of(const uvb__queue_t* queue, const uv_batch_event_t* event) {
  const unsigned char* key = event->key;
  uint64_t hash = (queue->key_seed ^ (uint32_t)event->type) * UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t i = 0; i < event->key_size; i++) hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 32;
}

static bool same_key(const uv_batch_event_t* a, const uv_batch_event_t* b) {
  return a->number_ == b->number_ && a->type == b->type && a->key_size == b->key_size &&
         memcmp(a->key, b->key, a->key_size) == 0;
}

uv_batch_event_t* uvb__queue_find(uvb__queue_t* queue, uv_batch_event_t* event) {
  event->number_ = hash_of(queue, event);
  uv_batch_event_t* found = *key_bucket(queue, event->number_);
  while (found != NULL && !same_key(found, event)) found = found->link_;
  return found;
}

static void enter_key(uvb__queue_t* queue, uv_batch_event_t* event) {
  uv_batch_event_t** bucket = key_bucket(queue, event->number_);
  event->link_ = *bucket;
  *bucket = event;
}

/* When memory runs out, there are no more buckets than before: slower, but still correct. */
static void spread_keys(uvb__queue_t* queue) {
  uint32_t before = queue->key_buckets;
  uv_batch_event_t** by_key = uvb__calloc((size_t)before * 4, sizeof(*by_key));
  if (by_key == NULL) return;
  uv_batch_event_t** old = queue->by_key;
  uv_batch_event_t** buckets = old != NULL ? old : queue->few_keys;
  queue->by_key = by_key;
  queue->key_buckets = before * 4;
  for (uint32_t i = 0; i < before; i++) {
    for (uv_batch_event_t *event = buckets[i], *next; event != NULL; event = next) {
      next = event->link_;
      enter_key(queue, event);
    }
  }
  uvb__free(old);
}

void uvb__queue_enter_key(uvb__queue_t* queue, uv_batch_event_t* event) {
  if (++queue->keyed > queue->key_buckets) spread_keys(queue);
  enter_key(queue, event);
}

void uvb__queue_free_key(uvb__queue_t* queue, const uv_batch_event_t* event) {
  if (event->key == NULL) return;
  uv_batch_event_t** at = key_bucket(queue, event->number_);
  while (*at != NULL && *at != event) at = &(*at)->link_;
  if (*at == NULL) return;
  *at = event->link_;
  queue->keyed--;
}

/* ---- push and remove */

void uvb__queue_free(uvb__queue_t* queue) {
  uvb__free(queue->by_key);
}

void uvb__queue_init(uvb__queue_t* queue, bool by_type) {
  *queue = (uvb__queue_t){.by_type = by_type, .key_buckets = uvb__few_keys, .key_seed = uv_hrtime()};
  for (uint8_t level = 0; level < uvb__levels; level++) queue->lanes[level].level = level;
}

void uvb__queue_reorder(uvb__queue_t* queue, bool by_type) {
  /* Lanes that were emptied one by one still think that they are listed. */
  if (queue->unsorted) sort_lanes(queue);
  queue->by_type = by_type;
}

void uvb__queue_limit_type(uvb__queue_t* queue, uvb__type_t* type, uint32_t max_batch) {
  bool was_full = type->count >= type->options.max_batch;
  bool is_full = type->count >= max_batch;
  type->options.max_batch = max_batch;
  if (was_full && !is_full) queue->full_types--;
  if (!was_full && is_full) queue->full_types++;
}

static inline void come(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  event->status = UV_BATCH_STATUS_QUEUED;
  if (type->count++ == 0) UVB__APPEND(queue->first_queued, queue->last_queued, type, next_queued, prev_queued);
  if (type->count == type->options.max_batch) queue->full_types++;
}

static inline void gone(uvb__queue_t* queue, uvb__type_t* type, const uv_batch_event_t* event) {
  if (queue->keyed > 0) uvb__queue_free_key(queue, event);
  if (type->count-- == type->options.max_batch) queue->full_types--;
  if (type->count == 0) UVB__REMOVE(queue->first_queued, queue->last_queued, type, next_queued, prev_queued);
  queue->count--;
  queue->depth[event->level_]--;
  queue->bytes -= event->size;
}

void uvb__queue_push(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  uvb__lane_t* lane = lane_of(queue, type, event);
  if (queue->by_type) {
    /* The new event is the youngest of all, so the end of the list is its lane's place. */
    if (!lane->listed) list_lane(queue, lane);
    else if (lane->head == NULL) queue->unsorted = true;
  }
  UVB__APPEND(lane->head, lane->tail, event, next, prev_);
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
    queue->count += count;
    queue->depth[level] += count;
  }
}

void uvb__queue_remove(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  uvb__lane_t* lane = lane_of(queue, type, event);
  /* A lane that loses its oldest event may have to give way to another. */
  if (queue->by_type && lane->head == event) queue->unsorted = true;
  UVB__REMOVE(lane->head, lane->tail, event, next, prev_);
  gone(queue, type, event);
}

void uvb__queue_replace(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* older, uv_batch_event_t* event) {
  uvb__lane_t* lane = lane_of(queue, type, older);
  event->status = UV_BATCH_STATUS_QUEUED;
  event->next = older->next;
  event->prev_ = older->prev_;
  if (event->prev_ == NULL) lane->head = event;
  else event->prev_->next = event;
  if (event->next == NULL) lane->tail = event;
  else event->next->prev_ = event;
  queue->bytes += event->size - older->size;
  uvb__queue_free_key(queue, older);
  uvb__queue_enter_key(queue, event);
}

uv_batch_event_t* uvb__queue_oldest(uvb__queue_t* queue) {
  uv_batch_event_t* oldest = NULL;
  if (queue->unsorted) sort_lanes(queue);
  for (int level = 0; level < uvb__levels; level++) {
    uv_batch_event_t* head = head_of(queue, level);
    if (head != NULL && (oldest == NULL || head->seq_ < oldest->seq_)) oldest = head;
  }
  return oldest;
}

/* ---- the cursor: which event of each class would be chosen next */

/* Times of push up to which an event counts as its own class, as one class higher, as two. */
typedef struct {
  double at[uvb__levels];
} aged_t;

typedef struct {
  uvb__queue_t* queue;
  aged_t aged;
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
} cursor_t;

/* Reports whether an event counts as this class or a higher one. */
static inline bool counts(const aged_t* aged, const uv_batch_event_t* event, int as) {
  return event != NULL && event->timestamp <= aged->at[event->level_ - as];
}

static uv_batch_event_t* aged_head(const cursor_t* cursor, int level, int as) {
  uv_batch_event_t* head = cursor->queue->lanes[level].head;
  return counts(&cursor->aged, head, as) ? head : NULL;
}

/* The one of two events that arrived first; each of them may be missing. */
static uv_batch_event_t* earlier(uv_batch_event_t* a, uv_batch_event_t* b) {
  return a == NULL || (b != NULL && b->seq_ < a->seq_) ? b : a;
}

static void to_start(cursor_t* cursor) {
  for (int level = 0; level < uvb__levels; level++) cursor->at[level] = cursor->queue->listed[level].first;
}

static uv_batch_event_t* lane_head(const uvb__lane_t* lane) {
  return lane == NULL ? NULL : lane->head;
}

/* The next lane of a class, if its oldest event counts as this one. Of the lanes, only the last group has given
 * events. */
static uvb__lane_t* next_lane(cursor_t* cursor, int level, int as) {
  uvb__lane_t* lane = cursor->at[level];
  if (lane != NULL && lane == cursor->group) cursor->at[level] = lane = lane->next;
  return counts(&cursor->aged, lane_head(lane), as) ? lane : NULL;
}

/* What is left in a LOW lane counts as LOW from here on. It has left the list of lanes by now, which is
 * rebuilt in any case. */
static void replace(cursor_t* cursor, uvb__lane_t* lane) {
  uvb__lane_t** at = &cursor->replaced;
  while (*at != NULL && (*at)->head->seq_ < lane->head->seq_) at = &(*at)->replaced;
  lane->replaced = *at;
  *at = lane;
}

/* The next event that counts as HIGH. When there is none HIGH is over, and only the others are asked for. */
static uv_batch_event_t* next_high(cursor_t* cursor) {
  uvb__queue_t* queue = cursor->queue;
  if (!queue->by_type) {
    uv_batch_event_t* first = earlier(queue->lanes[uvb__high].head, aged_head(cursor, uvb__normal, uvb__high));
    return earlier(first, aged_head(cursor, uvb__low, uvb__high));
  }
  uv_batch_event_t* head = lane_head(cursor->group);
  if (counts(&cursor->aged, head, uvb__high)) return head;
  uvb__lane_t* first = next_lane(cursor, uvb__high, uvb__high);
  for (int level = uvb__normal; level <= uvb__low; level++) {
    uvb__lane_t* lane = next_lane(cursor, level, uvb__high);
    if (lane == NULL) continue;
    cursor->has_aged = true;
    if (first == NULL || lane->head->seq_ < first->head->seq_) first = lane;
  }
  cursor->group = first;
  if (first == NULL && cursor->has_aged) {
    sort_lanes(queue);
    to_start(cursor);
  }
  return lane_head(first);
}

/* The next event that counts as NORMAL. */
static uv_batch_event_t* next_normal(cursor_t* cursor) {
  if (!cursor->queue->by_type) {
    uv_batch_event_t* aged = aged_head(cursor, uvb__low, uvb__normal);
    return aged != NULL ? aged : cursor->queue->lanes[uvb__normal].head;
  }
  if (!cursor->low_found) {
    /* LOW lanes are sorted by their oldest event: those with an aged one come first. */
    cursor->low_at = cursor->queue->listed[uvb__low].first;
    while (counts(&cursor->aged, lane_head(cursor->low_at), uvb__normal)) cursor->low_at = cursor->low_at->next;
    cursor->low_found = true;
  }
  uvb__lane_t* group = cursor->group;
  uv_batch_event_t* head = lane_head(group);
  if (counts(&cursor->aged, head, uvb__normal)) return head;
  if (head != NULL) replace(cursor, group);
  uvb__lane_t* aged = next_lane(cursor, uvb__low, uvb__normal);
  cursor->group = aged != NULL ? aged : next_lane(cursor, uvb__normal, uvb__normal);
  return lane_head(cursor->group);
}

/* The next event that counts as LOW. */
static uv_batch_event_t* next_low(cursor_t* cursor) {
  if (!cursor->queue->by_type) {
    uv_batch_event_t* head = cursor->queue->lanes[uvb__low].head;
    return counts(&cursor->aged, head, uvb__normal) ? NULL : head;
  }
  uv_batch_event_t* head = lane_head(cursor->low_group);
  if (head != NULL) return head;
  uvb__lane_t* listed = cursor->low_at;
  uvb__lane_t* replaced = cursor->replaced;
  bool takes_replaced = replaced != NULL && (listed == NULL || replaced->head->seq_ < listed->head->seq_);
  if (takes_replaced) cursor->replaced = replaced->replaced;
  else if (listed != NULL) cursor->low_at = listed->next;
  cursor->low_group = takes_replaced ? replaced : listed;
  return lane_head(cursor->low_group);
}

/* ---- taking a batch */

static uint32_t saturated(uint32_t normals) {
  return normals < normal_per_low ? normals : normal_per_low;
}

static void empty_lane(uvb__queue_t* queue, uvb__lane_t* lane, uvb__chain_t* chain) {
  if (lane->tail != NULL && lane->tail->seq_ > queue->left) queue->left = lane->tail->seq_;
  uvb__chain_join(chain, &(uvb__chain_t){lane->head, lane->tail, 0});
  lane->head = lane->tail = NULL;
}

/* Everything leaves and no event has aged: there is no choice to make, only the order, and no event is touched. */
static uvb__chain_t take_all(uvb__queue_t* queue) {
  uvb__chain_t batch = {NULL, NULL, queue->count};
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
    queue->listed[level].first = queue->listed[level].last = NULL;
  }
  for (uv_batch_event_t* event = batch.first; queue->keyed > 0; event = event->next) {
    uvb__queue_free_key(queue, event);
  }
  for (uvb__type_t* type = queue->first_queued; type != NULL; type = type->next_queued) type->count = 0;
  queue->first_queued = queue->last_queued = NULL;
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
static uvb__chain_t take_first(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit, const aged_t* aged) {
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
      normals += !counts(aged, event, uvb__high);
      taken.last = event;
      taken.count++;
    }
    if (taken.count == 0) continue;
    queue->normal_since_low = saturated(queue->normal_since_low + normals);
    taken.last->next = NULL;
    lane->head = event;
    if (event == NULL) lane->tail = NULL;
    else event->prev_ = NULL;
    uvb__chain_join(&batch, &taken);
  }
  return batch;
}

/* Takes out an event that is the oldest of its lane. */
static void take_head(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event) {
  uvb__lane_t* lane = lane_of(queue, type, event);
  double* oldest = &queue->taken[event->level_];
  if (*oldest < 0 || event->timestamp < *oldest) *oldest = event->timestamp;
  UVB__REMOVE(lane->head, lane->tail, event, next, prev_);
  gone(queue, type, event);
  event->status = UV_BATCH_STATUS_PROCESSING;
}

static uvb__chain_t choose(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit, const aged_t* aged) {
  bool cut = queue->count > limit;
  uint64_t number = ++queue->batch_number;
  uvb__chain_t batch = {NULL, NULL, 0};
  uvb__chain_t low = {NULL, NULL, 0};
  cursor_t cursor = {.queue = queue, .aged = *aged};
  if (queue->by_type) to_start(&cursor);
  bool high_is_over = false;
  while (batch.count + low.count < limit) {
    uv_batch_event_t* high = high_is_over ? NULL : next_high(&cursor);
    high_is_over = high == NULL;
    uv_batch_event_t* normal = high != NULL ? high : next_normal(&cursor);
    bool lows_turn = normal == NULL || (cut && queue->normal_since_low >= normal_per_low);
    uv_batch_event_t* low_one = high == NULL && lows_turn ? next_low(&cursor) : NULL;
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
  if (queue->unsorted) sort_lanes(queue);
  for (int level = 0; level < uvb__levels; level++) queue->taken[level] = -1;
  aged_t aged = {{HUGE_VAL, now - max_deferral, now - max_deferral - max_deferral}};
  bool aged_normal = counts(&aged, head_of(queue, uvb__normal), uvb__high);
  bool aged_low = counts(&aged, head_of(queue, uvb__low), uvb__normal);
  if (queue->full_types == 0) {
    if (queue->count <= limit && !aged_normal && !aged_low) return take_all(queue);
    bool merges = queue->depth[uvb__low] > 0 || (aged_normal && queue->depth[uvb__high] > 0);
    if (!queue->by_type && !merges) return take_first(queue, types, limit, &aged);
  }
  return choose(queue, types, limit, &aged);
}
