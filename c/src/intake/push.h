#ifndef UVB_PUSH_H
#define UVB_PUSH_H

#include "dispatch/core.h"

/* The caller has checked the event. */
int uvb__push(uvb__core_t* core, uv_batch_event_t* event);

typedef struct {
  uint64_t count;
  uint64_t bytes;
} uvb__taken_t;

/* Queues what was posted, newest first by `next`, at most `at_most` of them: they were admitted by the post. */
uvb__taken_t uvb__take_in(uvb__core_t* core, uv_batch_event_t* newest, uint64_t at_most);

#endif
