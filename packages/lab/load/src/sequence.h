#ifndef MILLRACE_SEQUENCE_H
#define MILLRACE_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Follows the sequence numbers 0, 1, 2… that one receiver sees from one sender.
 *
 * In order, a number costs one comparison and the state 8 bytes. A number that is skipped is
 * remembered in a list of gaps until it comes, so that a late number (in a gap) and a repeated one
 * (in no gap) are told apart however far back they lie. Only faults take memory: 8 bytes per gap.
 */
struct sequence {
  uint32_t next; /* one above the highest number seen */
  uint32_t gaps; /* index of its list of gaps in the store; 0: it has none */
};

struct sequence_gap {
  uint32_t first;
  uint32_t last;
};

struct sequence_list {
  struct sequence_gap *gap; /* ascending, never touching */
  uint32_t count;
  uint32_t room;
};

/* The gaps of all sequences of a run. Start it as {0} with `limit` set; end it with _free. */
struct sequence_store {
  struct sequence_list *list; /* list[0] is unused */
  uint32_t count;
  uint32_t room;
  uint64_t gaps;      /* gaps held now */
  uint64_t limit;     /* gaps to hold at most */
  uint64_t missing;   /* numbers skipped and not seen since */
  uint64_t forgotten; /* of these, numbers no longer held because of the limit: should one still
                         come, it would be taken for a repeated one */
};

enum sequence_verdict {
  SEQUENCE_NEW,       /* the next one, or one further on (what lies between is missing) */
  SEQUENCE_REORDERED, /* was missing: it came after a higher one */
  SEQUENCE_DUPLICATE, /* was seen already */
};

/* Handles numbers that are not simply the next one. */
enum sequence_verdict sequence_observe_out_of_order(struct sequence_store *store,
                                                    struct sequence *sequence, uint32_t number);

static inline enum sequence_verdict sequence_observe(struct sequence_store *store,
                                                     struct sequence *sequence, uint32_t number) {
  if (__builtin_expect(number == sequence->next, 1)) {
    sequence->next++;
    return SEQUENCE_NEW;
  }
  return sequence_observe_out_of_order(store, sequence, number);
}

void sequence_store_free(struct sequence_store *store);

#endif
