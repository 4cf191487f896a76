/* Events from other threads: a stack that any thread pushes to without a lock, and that the loop empties at once. */
#ifndef UVB_INBOX_H
#define UVB_INBOX_H

#include "common.h"

/*
 * One word, `head`, says both what is waiting and whether the loop has to be woken, so that neither can be seen without
 * the other, and no wake is lost:
 *
 *   asleep   nothing waits, and the loop may be asleep or about to be: whoever pushes wakes it
 *   awake    nothing waits, and the loop will look again before it sleeps: nobody wakes it
 *   closed   nothing is taken any more
 *   else     the event that was pushed last; the events before it follow by `next`
 *
 * Only the push that turns `asleep` into an event wakes: one wake for each change from idle to busy, and its
 * uv_async_send() comes after the event is in the stack, so whoever is woken finds it. Only the loop turns anything
 * into `asleep`, by a compare and exchange that fails when an event is there.
 *
 * The stack is emptied by one exchange, so a node is never taken out while another thread looks at it: there is no ABA.
 */
typedef struct {
  /* Read by all, written rarely: not in the cache line of `head`. */
  uv_async_t* async;
  atomic_uint_fast32_t max_queue;
  atomic_uint_fast64_t max_bytes;
  atomic_uint_fast32_t types;  /* how many types there are, number 0 included */
  atomic_uint_fast32_t keyed;  /* whether events with a key have been posted */
  atomic_uint_fast32_t waking; /* threads that may be inside uv_async_send() */
  atomic_uint_fast64_t refused_overloaded;
  atomic_uint_fast64_t refused_closed;
  /* The loop's alone: how much of `held` is in its queue, as it last said. */
  uint64_t queued;
  uint64_t queued_bytes;
  /* A post uses it only for an event that has a size. */
  atomic_uint_fast64_t held_bytes;
  /* Written by every post. */
  atomic_uintptr_t head;
  /* Events in the stack and in the loop's queue, and those that are just being refused. One number: an event that goes
   * from the one to the other is never counted twice, and so no other is refused because of it. */
  atomic_uint_fast64_t held;
  atomic_uint_fast64_t wakes;
  char last_line[64]; /* no post writes into the cache line of what follows */
} uvb__inbox_t;

static inline uvb__inbox_t* uvb__inbox_of(const uv_batch_t* batch) {
  return (uvb__inbox_t*)(uintptr_t)&batch->inbox_;
}

void uvb__inbox_init(uvb__inbox_t* inbox, uv_async_t* async);

/* The bounds of the queue. */
static inline void uvb__inbox_limit(uvb__inbox_t* inbox, uint32_t max_queue, uint64_t max_bytes) {
  atomic_store_explicit(&inbox->max_queue, max_queue, memory_order_relaxed);
  atomic_store_explicit(&inbox->max_bytes, max_bytes, memory_order_relaxed);
}

/* Any thread. UV_ENOBUFS, UV_ESHUTDOWN. */
int uvb__inbox_post(uvb__inbox_t* inbox, uv_batch_event_t* event);

/* The loop: takes everything out, newest first by `next`, and stays awake. NULL when nothing is there. */
uv_batch_event_t* uvb__inbox_take(uvb__inbox_t* inbox);

/* The loop: an upper bound of the events in the stack, or in what it just took: each is counted before it comes in. */
static inline uint64_t uvb__inbox_at_most(const uvb__inbox_t* inbox) {
  return atomic_load_explicit(&inbox->held, memory_order_relaxed) - inbox->queued;
}

static inline uint64_t uvb__inbox_bytes_at_most(const uvb__inbox_t* inbox) {
  return atomic_load_explicit(&inbox->held_bytes, memory_order_relaxed) - inbox->queued_bytes;
}

/* The loop: says what is in its queue now. What has left since it last said so makes room. */
static inline void uvb__inbox_publish(uvb__inbox_t* inbox, uint64_t queued, uint64_t bytes) {
  /* Differences below 0 wrap, and so does the sum. */
  if (queued != inbox->queued) atomic_fetch_add_explicit(&inbox->held, queued - inbox->queued, memory_order_relaxed);
  if (bytes != inbox->queued_bytes) {
    atomic_fetch_add_explicit(&inbox->held_bytes, bytes - inbox->queued_bytes, memory_order_relaxed);
  }
  inbox->queued = queued;
  inbox->queued_bytes = bytes;
}

/* The loop: this much was taken out and queued. How much of that is still queued is published afterwards. */
static inline void uvb__inbox_taken(uvb__inbox_t* inbox, uint64_t count, uint64_t bytes) {
  inbox->queued += count;
  inbox->queued_bytes += bytes;
}

/* The loop: true when something waits, as far as can be seen without taking it. */
static inline bool uvb__inbox_has(const uvb__inbox_t* inbox) {
  return atomic_load_explicit(&inbox->head, memory_order_relaxed) > 2;
}

/* The loop may sleep from here on; false when something has come, and then it may not. */
bool uvb__inbox_sleep(uvb__inbox_t* inbox);

/* The loop: refuses later posts, and returns what was there; when it returns, no thread uses `async` any more. */
uv_batch_event_t* uvb__inbox_close(uvb__inbox_t* inbox);

#endif
