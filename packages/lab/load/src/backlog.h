#ifndef MILLRACE_BACKLOG_H
#define MILLRACE_BACKLOG_H

#include <stdint.h>
#include <stdlib.h>

#include "memory.h"

/* The due times (µs) of the messages a sender has yet to write: a ring. Start it as {0}. */
struct backlog {
  uint64_t *due;
  uint32_t room; /* a power of two */
  uint32_t head;
  uint32_t count;
};

static inline void backlog_push(struct backlog *backlog, uint64_t due_us) {
  if (backlog->count == backlog->room) {
    const uint32_t old = backlog->room;
    const uint32_t room = old == 0 ? 4 : old * 2;
    backlog->due = memory_resize(backlog->due, room, sizeof *backlog->due);
    /* What had wrapped round goes behind the rest. */
    for (uint32_t i = 0; i < backlog->head; i++) backlog->due[old + i] = backlog->due[i];
    backlog->room = room;
  }
  backlog->due[(backlog->head + backlog->count++) & (backlog->room - 1)] = due_us;
}

static inline uint64_t backlog_at(const struct backlog *backlog, uint32_t index) {
  return backlog->due[(backlog->head + index) & (backlog->room - 1)];
}

static inline void backlog_drop(struct backlog *backlog, uint32_t count) {
  backlog->head = (backlog->head + count) & (backlog->room - 1);
  backlog->count -= count;
}

static inline void backlog_free(struct backlog *backlog) {
  free(backlog->due);
  *backlog = (struct backlog){0};
}

#endif
