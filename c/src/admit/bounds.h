/* Whether there is room. What other threads post is admitted by the inbox, which counts the queue as well. */
#ifndef UVB_BOUNDS_H
#define UVB_BOUNDS_H

#include "dispatch/core.h"
#include "intake/inbox.h"

static inline bool uvb__has_room(const uvb__core_t* core, uint64_t bytes) {
  const uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  uint64_t posted = uvb__inbox_at_most(inbox);
  uint64_t taken = core->queue.bytes + uvb__inbox_bytes_at_most(inbox);
  return core->queue.count + posted < core->options.max_queue && bytes <= core->options.max_queue_bytes &&
         taken <= core->options.max_queue_bytes - bytes;
}

#endif
