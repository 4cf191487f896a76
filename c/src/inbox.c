/*
 * Events from other threads, on both sides: a post pushes onto the stack of inbox.h, and the loop takes all of it at
 * once into its queue. Any thread may post; only the loop's thread takes, sleeps, closes and publishes what is in its
 * queue.
 *
 * `held` counts what is in the stack and in the queue together, before it is there. So a bound holds for both, without
 * a lock: whoever finds the sum too large takes its own count back. What has left the queue makes room when the loop
 * says so next, at the end of each call into the queue.
 *
 * An event is the posting thread's until the compare and exchange that puts it in; it releases, and the exchange that
 * empties the stack acquires, so the loop sees all that the thread wrote. After a close nobody uses the async handle:
 * the close waits for threads that are about to.
 */
#include "inbox.h"

#include <string.h>

#include "engine.h"

enum { asleep = 0, awake = 1, closed = 2 };

_Static_assert(sizeof(uvb__inbox_t) <= sizeof(((uv_batch_t*)NULL)->inbox_), "uv_batch_t has room for the inbox");

void uvb__inbox_init(uvb__inbox_t* inbox, uv_async_t* async) {
  memset((void*)inbox, 0, sizeof(*inbox));
  inbox->async = async;
}

static int refuse(uvb__inbox_t* inbox, uv_batch_event_t* event, int status) {
  atomic_fetch_add_explicit(status == UV_ENOBUFS ? &inbox->refused_overloaded : &inbox->refused_closed, 1,
                            memory_order_relaxed);
  event->status = UV_BATCH_STATUS_REFUSED;
  return status;
}

/* Takes back what was counted in and is not to enter. */
static void give_up(uvb__inbox_t* inbox, uint64_t count, uint64_t bytes) {
  if (count > 0) atomic_fetch_sub_explicit(&inbox->held, count, memory_order_relaxed);
  if (bytes > 0) atomic_fetch_sub_explicit(&inbox->held_bytes, bytes, memory_order_relaxed);
}

/* Counts the event in, if that is within the bounds. */
static bool admit(uvb__inbox_t* inbox, uint64_t size) {
  uint64_t held = atomic_fetch_add_explicit(&inbox->held, 1, memory_order_relaxed);
  bool fits = held < atomic_load_explicit(&inbox->max_queue, memory_order_relaxed);
  if (fits && size == 0) return true;
  uint64_t max = atomic_load_explicit(&inbox->max_bytes, memory_order_relaxed);
  if (fits && size <= max) {
    if (atomic_fetch_add_explicit(&inbox->held_bytes, size, memory_order_relaxed) <= max - size) return true;
    give_up(inbox, 0, size);
  }
  give_up(inbox, 1, 0);
  return false;
}

int uvb__inbox_post(uvb__inbox_t* inbox, uv_batch_event_t* event) {
  if (!admit(inbox, event->size)) {
    /* A closed queue may stay full for good: the error names what matters. */
    bool over = atomic_load_explicit(&inbox->head, memory_order_relaxed) == closed;
    return refuse(inbox, event, over ? UV_ESHUTDOWN : UV_ENOBUFS);
  }
  event->status = UV_BATCH_STATUS_POSTED;
  /* Never taken back: the loop sees it with the event, as both are written before the release below. */
  if (event->key != NULL && atomic_load_explicit(&inbox->keyed, memory_order_relaxed) == 0) {
    atomic_store_explicit(&inbox->keyed, 1, memory_order_relaxed);
  }
  uintptr_t head = atomic_load_explicit(&inbox->head, memory_order_relaxed);
  for (;;) {
    if (head == closed) {
      give_up(inbox, 1, event->size);
      return refuse(inbox, event, UV_ESHUTDOWN);
    }
    event->next = head == awake || head == asleep ? NULL : (uv_batch_event_t*)head;
    /* Before the event is in: whoever closes the inbox waits for this count, and sees it if they see the event. */
    int wakes = head == asleep;
    if (wakes) atomic_fetch_add_explicit(&inbox->waking, 1, memory_order_relaxed);
    /* Release: whoever takes the event out sees what its thread wrote into it. */
    if (atomic_compare_exchange_weak_explicit(&inbox->head, &head, (uintptr_t)event, memory_order_release,
                                              memory_order_relaxed)) {
      if (!wakes) return 0;
      atomic_fetch_add_explicit(&inbox->wakes, 1, memory_order_relaxed);
      uv_async_send(inbox->async);
      atomic_fetch_sub_explicit(&inbox->waking, 1, memory_order_release);
      return 0;
    }
    if (wakes) atomic_fetch_sub_explicit(&inbox->waking, 1, memory_order_relaxed);
  }
}

static uv_batch_event_t* newest_of(uintptr_t head) {
  return head > closed ? (uv_batch_event_t*)head : NULL;
}

uv_batch_event_t* uvb__inbox_take(uvb__inbox_t* inbox) {
  /* Acquire: whatever the other threads wrote into the events. */
  return newest_of(atomic_exchange_explicit(&inbox->head, awake, memory_order_acquire));
}

bool uvb__inbox_sleep(uvb__inbox_t* inbox) {
  uintptr_t head = atomic_load_explicit(&inbox->head, memory_order_relaxed);
  if (head == asleep || head == closed) return true;
  return head == awake && atomic_compare_exchange_strong_explicit(&inbox->head, &head, asleep, memory_order_relaxed,
                                                                  memory_order_relaxed);
}

uv_batch_event_t* uvb__inbox_close(uvb__inbox_t* inbox) {
  uintptr_t head = atomic_exchange_explicit(&inbox->head, closed, memory_order_acq_rel);
  /* A few instructions in another thread, and its uv_async_send(). */
  while (atomic_load_explicit(&inbox->waking, memory_order_acquire) > 0) uv_sleep(0);
  return newest_of(head);
}

/* ---- into the queue */

typedef struct {
  uint64_t count;
  uint64_t bytes;
} taken_t;

static uv_batch_event_t* oldest_first(uv_batch_event_t* newest) {
  uv_batch_event_t* first = NULL;
  while (newest != NULL) {
    uv_batch_event_t* next = newest->next;
    newest->next = first;
    first = newest;
    newest = next;
  }
  return first;
}

static taken_t one_by_one(uvb__core_t* core, uv_batch_event_t* newest) {
  taken_t taken = {0, 0};
  /* Handlers run here under `direct`, and callbacks of superseded events. What they ask for, a close above all, waits
   * until everything is in. */
  core->nested++;
  for (uv_batch_event_t *event = oldest_first(newest), *next; event != NULL; event = next) {
    next = event->next;
    taken.count++;
    taken.bytes += event->size;
    uvb__take_event(core, event);
  }
  uvb__leave_direct(core);
  return taken;
}

/* From the newest to the oldest in one pass: each event is in the cache of another core, and is fetched once. */
static taken_t by_arrival(uvb__core_t* core, uv_batch_event_t* newest, uint64_t at_most) {
  taken_t taken = {0, 0};
  uvb__chain_t front[uvb__levels] = {{NULL, NULL, 0}, {NULL, NULL, 0}, {NULL, NULL, 0}};
  double now = uvb__now(core);
  core->seq += at_most;
  uint64_t seq = core->seq;
  for (uv_batch_event_t* event = newest; event != NULL; taken.count++) {
    uv_batch_event_t* next = event->next;
    uvb__type_t* type = core->types.all[event->type];
    taken.bytes += event->size;
    uvb__stamp(core, event, type, now, seq--);
    uvb__queue_prepend(&core->queue, type, front, event);
    uvb__note_push(core, type);
    event = next;
  }
  uvb__queue_join(&core->queue, front, taken.bytes);
  core->counters.pushed += taken.count;
  uvb__pushed(core);
  return taken;
}

static void take_in(uvb__core_t* core, uv_batch_event_t* newest) {
  uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  if (newest != NULL) {
    bool keyed = atomic_load_explicit(&inbox->keyed, memory_order_relaxed) != 0;
    bool in_order = core->direct || core->queue.by_type || keyed;
    taken_t taken = in_order ? one_by_one(core, newest) : by_arrival(core, newest, uvb__inbox_at_most(inbox));
    core->counters.posted += taken.count;
    uvb__inbox_taken(inbox, taken.count, taken.bytes);
  }
  uvb__inbox_publish(inbox, core->queue.count, core->queue.bytes);
}

void uvb__take_in(uvb__core_t* core) {
  uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  if (uvb__inbox_has(inbox)) take_in(core, uvb__inbox_take(inbox));
}

void uvb__take_last(uvb__core_t* core) {
  take_in(core, uvb__inbox_close(uvb__inbox_of(core->batch)));
}

void uvb__publish_limits(uvb__core_t* core) {
  uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  uvb__inbox_limit(inbox, core->options.max_queue, core->options.max_queue_bytes);
  atomic_store_explicit(&inbox->types, (uint_fast32_t)core->types.count, memory_order_relaxed);
}
