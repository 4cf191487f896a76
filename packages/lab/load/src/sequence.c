#include "sequence.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

static struct sequence_list *list_of(struct sequence_store *store, struct sequence *sequence) {
  if (sequence->gaps == 0) {
    if (store->count + 1 >= store->room) {
      const uint32_t room = store->room == 0 ? 64 : store->room * 2;
      store->list = memory_resize(store->list, room, sizeof *store->list);
      memset(store->list + store->room, 0, (room - store->room) * sizeof *store->list);
      store->room = room;
    }
    sequence->gaps = ++store->count;
  }
  return &store->list[sequence->gaps];
}

static void insert(struct sequence_store *store, struct sequence_list *list, uint32_t at,
                   uint32_t first, uint32_t last) {
  if (store->gaps >= store->limit) {
    store->forgotten += (uint64_t)last - first + 1;
    return;
  }
  if (list->count == list->room) {
    list->room = list->room == 0 ? 4 : list->room * 2;
    list->gap = memory_resize(list->gap, list->room, sizeof *list->gap);
  }
  memmove(list->gap + at + 1, list->gap + at, (list->count - at) * sizeof *list->gap);
  list->gap[at] = (struct sequence_gap){.first = first, .last = last};
  list->count++;
  store->gaps++;
}

static void erase(struct sequence_store *store, struct sequence_list *list, uint32_t at) {
  list->count--;
  store->gaps--;
  memmove(list->gap + at, list->gap + at + 1, (list->count - at) * sizeof *list->gap);
}

/* The index of the gap that holds the number, or the count when none does. */
static uint32_t find(const struct sequence_list *list, uint32_t number) {
  uint32_t low = 0;
  uint32_t high = list->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (list->gap[middle].last < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < list->count && list->gap[low].first <= number ? low : list->count;
}

enum sequence_verdict sequence_observe_out_of_order(struct sequence_store *store,
                                                    struct sequence *sequence, uint32_t number) {
  if (number >= sequence->next) {
    if (number > sequence->next) {
      struct sequence_list *list = list_of(store, sequence);
      insert(store, list, list->count, sequence->next, number - 1);
      store->missing += number - sequence->next;
    }
    sequence->next = number + 1;
    return SEQUENCE_NEW;
  }

  if (sequence->gaps == 0) return SEQUENCE_DUPLICATE;
  struct sequence_list *list = &store->list[sequence->gaps];
  const uint32_t at = find(list, number);
  if (at == list->count) return SEQUENCE_DUPLICATE;

  struct sequence_gap *gap = &list->gap[at];
  if (gap->first == gap->last) {
    erase(store, list, at);
  } else if (number == gap->first) {
    gap->first++;
  } else if (number == gap->last) {
    gap->last--;
  } else {
    const uint32_t last = gap->last;
    gap->last = number - 1;
    insert(store, list, at + 1, number + 1, last);
  }
  store->missing--;
  return SEQUENCE_REORDERED;
}

void sequence_store_free(struct sequence_store *store) {
  for (uint32_t i = 1; i <= store->count; i++) free(store->list[i].gap);
  free(store->list);
  *store = (struct sequence_store){0};
}
