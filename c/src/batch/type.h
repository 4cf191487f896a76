/* What the map holds for a type: its settings, how many of its events are queued, its rate, its handlers, and what is
 * retained of it. */
#ifndef UVB_TYPE_H
#define UVB_TYPE_H

#include "batch/estimate/rate.h"
#include "batch/lane.h"
#include "intake/priority.h"

typedef struct uvb__type_s uvb__type_t;

struct uvb__type_s {
  char* name;
  int id;
  uvb__type_t* same_hash;
  uv_batch_type_options_t options;

  /* Queued events. */
  uint32_t count;
  uvb__lane_t lanes[uvb__levels]; /* order `type` */
  uvb__type_t* next_queued;       /* the types with queued events */
  uvb__type_t* prev_queued;
  uint32_t chosen; /* its events in the batch that is being taken, valid for the batch numbered `chosen_in` */
  uint64_t chosen_in;

  /* Events pushed since the rate was last updated, and the next type that has some. */
  uint32_t fresh;
  uvb__type_t* next_fresh;
  uvb__rate_t rate;
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
  uvb__type_t* next_keeping; /* the types with retained events */
  uvb__type_t* prev_keeping;
  bool due; /* in the list of types for which a handler has registered since */
  bool to_replay;
  uvb__type_t* next_due;
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

#endif
