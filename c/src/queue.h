/* The queue-map, and the types whose events are in it. See queue.c. */
#ifndef UVB_QUEUE_H
#define UVB_QUEUE_H

#include "policy.h"

enum { uvb__high, uvb__normal, uvb__low, uvb__levels };
enum { uvb__builtin_types = UV_BATCH_BACKGROUND };
enum { uvb__few_keys = 16 };

typedef struct uvb__lane_s uvb__lane_t;
typedef struct uvb__type_s uvb__type_t;

/* Doubly linked lists of events, handlers and types, each through two members of its items. Nothing is allocated, and
 * any item can be taken out in O(1). */
#define UVB__APPEND(first, last, item, next, prev) \
  do {                                             \
    (item)->next = NULL;                           \
    (item)->prev = (last);                         \
    if ((last) == NULL) (first) = (item);          \
    else (last)->next = (item);                    \
    (last) = (item);                               \
  } while (0)

#define UVB__REMOVE(first, last, item, next, prev)          \
  do {                                                      \
    if ((item)->prev == NULL) (first) = (item)->next;       \
    else (item)->prev->next = (item)->next;                 \
    if ((item)->next == NULL) (last) = (item)->prev;        \
    else (item)->next->prev = (item)->prev;                 \
  } while (0)

/* A first-in-first-out list of queued events: one for each class, or for each class of each type (order `type`). */
struct uvb__lane_s {
  uv_batch_event_t* head;
  uv_batch_event_t* tail;
  /* Order `type`: its place among the lanes with events of its class, and its class. */
  uvb__lane_t* next;
  uvb__lane_t* replaced; /* see the cursor in queue.c */
  uint8_t level;
  bool listed;
};

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

/* ---- types */

struct uvb__type_s {
  const char* name; /* behind this struct */
  int id;
  uvb__type_t* same_hash;
  uv_batch_type_options_t options;

  /* Queued events. */
  uint32_t count;
  uvb__lane_t lanes[uvb__levels]; /* order `type` */
  uvb__type_t* next_queued;       /* among the types with queued events */
  uvb__type_t* prev_queued;
  uint32_t chosen; /* its events in the batch that is being taken, valid for the batch numbered `chosen_in` */
  uint64_t chosen_in;

  /* Events pushed since the rate was last updated, and the next type that has some. */
  uint32_t fresh;
  uvb__type_t* next_fresh;
  uvb__rate_t rate;
  uint64_t counted_in; /* the sample of the costs that it was counted for last */
  double given_rate; /* in place of the rate; NAN: none */

  uv_batch_handler_t* first_handler;
  uv_batch_handler_t* last_handler;
  uint32_t group_handlers;
  /* Of the batch that is being delivered: the first event for the group handlers, and those behind it. */
  uv_batch_event_t* group_lead;
  uvb__chain_t group;

  /* Retained events, in the order they left, by link_ and prev_. */
  uv_batch_event_t* first_kept;
  uv_batch_event_t* last_kept;
  uint32_t kept;
  uint64_t kept_bytes;
  uvb__type_t* next_keeping; /* among the types with retained events */
  uvb__type_t* prev_keeping;
  bool due; /* in the list of types for which a handler has registered since */
  bool to_replay;
  uvb__type_t* next_due;
  uvb__type_t* prev_due;
};

/* Types by number and by name. */
typedef struct {
  uvb__type_t** all; /* by number; number 0 is not used */
  int count;
  int capacity;
  uvb__type_t** by_name;
  uint32_t buckets;
} uvb__types_t;

/* 0 or UV_ENOMEM; then nothing is to be freed. */
int uvb__types_init(uvb__types_t* types);
void uvb__types_free(uvb__types_t* types);
/* The number of a name, made when there is none; UV_ENOMEM, UV_ENOBUFS. */
int uvb__types_number(uvb__types_t* types, const char* name);
/* The type of a number, or NULL. */
static inline uvb__type_t* uvb__types_get(const uvb__types_t* types, int number) {
  return number > 0 && number < types->count ? types->all[number] : NULL;
}

/* ---- the queue-map */

typedef struct uvb__queue_s {
  bool by_type;                   /* order `type` */
  uvb__lane_t lanes[uvb__levels]; /* order `arrival`: the one lane of each class */
  /* Order `type`: the lanes with events of each class, the one with the oldest event first unless `unsorted`. */
  struct {
    uvb__lane_t* first;
    uvb__lane_t* last;
  } listed[uvb__levels];
  bool unsorted;
  uint32_t normal_since_low; /* NORMAL events chosen since the last LOW one; survives batches */
  uint32_t full_types;       /* types that have their own max_batch of events queued: they make a batch full */
  uint64_t batch_number;
  uvb__type_t* first_queued;
  uvb__type_t* last_queued;

  uint32_t count;
  uint64_t bytes;
  uint32_t depth[uvb__levels];
  uint64_t left; /* events up to this arrival number have left */
  /* Queued events by type and key, those that a newer one of their key has left behind excepted: chained by link_, with
   * the hash in number_. */
  uv_batch_event_t** by_key; /* NULL: `few_keys` */
  uint32_t key_buckets;
  uint32_t keyed; /* events in there */
  uint64_t key_seed;
  uv_batch_event_t* few_keys[uvb__few_keys];
  /* For each class, the push of the oldest event in the batch that was taken last; negative: none of the class. */
  double taken[uvb__levels];
} uvb__queue_t;

void uvb__queue_init(uvb__queue_t* queue, bool by_type);
void uvb__queue_free(uvb__queue_t* queue);
void uvb__queue_reorder(uvb__queue_t* queue, bool by_type); /* changes the order; it is empty */
void uvb__queue_limit_type(uvb__queue_t* queue, uvb__type_t* type, uint32_t max_batch);

/* The queued event of this one's type and key, or NULL. The event has a key. */
uv_batch_event_t* uvb__queue_find(uvb__queue_t* queue, uv_batch_event_t* event);
/* Enters an event that is queued, and that uvb__queue_find() found nothing for. */
void uvb__queue_enter_key(uvb__queue_t* queue, uv_batch_event_t* event);
/* Nothing supersedes the event from here on; does nothing if that is so already. */
void uvb__queue_free_key(uvb__queue_t* queue, const uv_batch_event_t* event);
/* Puts an event into the place of an older one, of the same type and class. Its level_, seq_, timestamp and size are
 * set. */
void uvb__queue_replace(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* older, uv_batch_event_t* event);

/* Queues an event whose level_, seq_, timestamp and size are set. */
void uvb__queue_push(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event);
/* The same for many events of order `arrival`, newest first: each is put before those in `front`, the chain of its
 * class. uvb__queue_join() then appends the chains, whose sizes add up to `bytes`: one pass over events of other
 * threads. */
void uvb__queue_prepend(uvb__queue_t* queue, uvb__type_t* type, uvb__chain_t front[uvb__levels],
                        uv_batch_event_t* event);
void uvb__queue_join(uvb__queue_t* queue, const uvb__chain_t front[uvb__levels], uint64_t bytes);

/* Reports whether an event that was queued still is. When the whole queue leaves at once, none is touched before its
 * turn. */
static inline bool uvb__queue_has(const uvb__queue_t* queue, const uv_batch_event_t* event) {
  return event->status == UV_BATCH_STATUS_QUEUED && event->seq_ > queue->left;
}

void uvb__queue_remove(uvb__queue_t* queue, uvb__type_t* type, uv_batch_event_t* event);
/* The queued event that arrived first, or NULL. */
uv_batch_event_t* uvb__queue_oldest(uvb__queue_t* queue);
/* Takes a batch of at most `limit` events: those that count as HIGH at `now`, then as NORMAL, then as LOW. An event's
 * status changes when its turn comes. */
uvb__chain_t uvb__queue_take(uvb__queue_t* queue, const uvb__types_t* types, uint32_t limit, double now,
                             double max_deferral);

#endif
