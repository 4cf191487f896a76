#include "intake/inbox.h"

#include <stdbool.h>
#include <string.h>

enum { asleep = 0, awake = 1, closed = 2 };

_Static_assert(sizeof(uvb__inbox_t) <= sizeof(((uv_batch_t*)NULL)->inbox_), "uv_batch_t has room for the inbox");

void uvb__inbox_init(uvb__inbox_t* inbox, uv_async_t* async) {
  memset((void*)inbox, 0, sizeof(*inbox));
  inbox->async = async;
}

static uint64_t load(const atomic_uint_fast64_t* value) {
  return atomic_load_explicit(value, memory_order_relaxed);
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
  uint64_t max = load(&inbox->max_bytes);
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

int uvb__inbox_sleep(uvb__inbox_t* inbox) {
  uintptr_t head = atomic_load_explicit(&inbox->head, memory_order_relaxed);
  if (head == asleep || head == closed) return 1;
  return head == awake && atomic_compare_exchange_strong_explicit(&inbox->head, &head, asleep, memory_order_relaxed,
                                                                  memory_order_relaxed);
}

uv_batch_event_t* uvb__inbox_close(uvb__inbox_t* inbox) {
  uintptr_t head = atomic_exchange_explicit(&inbox->head, closed, memory_order_acq_rel);
  /* A few instructions in another thread, and its uv_async_send(). */
  while (atomic_load_explicit(&inbox->waking, memory_order_acquire) > 0) uv_sleep(0);
  return newest_of(head);
}
