#include "sequence.h"

#include <stdlib.h>

#include "check.h"
#include "random.h"

static struct sequence_store store;
static struct sequence sequence;

static void reset(void) {
  sequence_store_free(&store);
  store.limit = 1000000;
  sequence = (struct sequence){0};
}

static enum sequence_verdict see(uint32_t number) {
  return sequence_observe(&store, &sequence, number);
}

static void in_order_is_new(void) {
  reset();
  for (uint32_t i = 0; i < 1000; i++) CHECK(see(i) == SEQUENCE_NEW);
  CHECK_EQUAL(store.missing, 0);
  CHECK_EQUAL(store.gaps, 0);
}

static void a_skipped_number_is_missing(void) {
  reset();
  CHECK(see(0) == SEQUENCE_NEW);
  CHECK(see(2) == SEQUENCE_NEW);
  CHECK(see(3) == SEQUENCE_NEW);
  CHECK(see(7) == SEQUENCE_NEW);
  CHECK_EQUAL(store.missing, 4);
}

static void a_late_number_is_reordered_once_and_then_a_duplicate(void) {
  reset();
  see(1);
  CHECK_EQUAL(store.missing, 1);
  CHECK(see(0) == SEQUENCE_REORDERED);
  CHECK_EQUAL(store.missing, 0);
  CHECK(see(0) == SEQUENCE_DUPLICATE);
  CHECK(see(1) == SEQUENCE_DUPLICATE);
  CHECK(see(2) == SEQUENCE_NEW);
}

static void a_gap_is_filled_from_either_end_and_from_the_middle(void) {
  reset();
  see(9); /* 0..8 are missing */
  CHECK(see(0) == SEQUENCE_REORDERED);
  CHECK(see(8) == SEQUENCE_REORDERED);
  CHECK(see(4) == SEQUENCE_REORDERED);
  CHECK_EQUAL(store.gaps, 2);
  CHECK(see(4) == SEQUENCE_DUPLICATE);
  static const uint32_t rest[] = {3, 5, 1, 7, 2, 6};
  for (size_t i = 0; i < 6; i++) CHECK(see(rest[i]) == SEQUENCE_REORDERED);
  CHECK_EQUAL(store.missing, 0);
  CHECK_EQUAL(store.gaps, 0);
}

static void nothing_is_forgotten_however_far_back(void) {
  reset();
  see(1);
  for (uint32_t i = 2; i < 100000; i++) see(i);
  CHECK(see(0) == SEQUENCE_REORDERED);
  CHECK(see(50000) == SEQUENCE_DUPLICATE);
}

static void beyond_the_limit_numbers_are_forgotten_and_counted(void) {
  reset();
  store.limit = 2;
  see(1);
  see(3);
  see(6); /* 4 and 5: no room for this gap */
  CHECK_EQUAL(store.missing, 4);
  CHECK_EQUAL(store.forgotten, 2);
  CHECK(see(2) == SEQUENCE_REORDERED);
  CHECK(see(4) == SEQUENCE_DUPLICATE);
}

static void sequences_do_not_mix(void) {
  reset();
  struct sequence other = {0};
  see(2);
  CHECK(sequence_observe(&store, &other, 0) == SEQUENCE_NEW);
  CHECK(sequence_observe(&store, &other, 5) == SEQUENCE_NEW);
  CHECK(sequence_observe(&store, &other, 1) == SEQUENCE_REORDERED);
  CHECK(see(1) == SEQUENCE_REORDERED);
  CHECK_EQUAL(store.missing, 4);
}

/* Any shuffle with losses and repeats, against a plain table of what was seen. */
static void agrees_with_a_table_of_all_numbers(void) {
  enum { NUMBERS = 400, EVENTS = 1500, ROUNDS = 200 };
  struct random random;
  random_seed(&random, 7);
  for (int round = 0; round < ROUNDS; round++) {
    reset();
    bool seen[NUMBERS] = {false};
    uint32_t high = 0; /* one above the highest */
    uint64_t missing = 0;
    for (int i = 0; i < EVENTS; i++) {
      const uint32_t around = (uint32_t)i * NUMBERS / EVENTS;
      const uint32_t number = random_below(&random, around + 1 < NUMBERS ? around + 1 : NUMBERS);
      enum sequence_verdict wanted = SEQUENCE_NEW;
      if (number < high) wanted = seen[number] ? SEQUENCE_DUPLICATE : SEQUENCE_REORDERED;
      if (see(number) != wanted) CHECK(false);
      if (number >= high) {
        missing += number - high;
        high = number + 1;
      } else if (!seen[number]) {
        missing--;
      }
      seen[number] = true;
      if (store.missing != missing) CHECK_EQUAL(store.missing, missing);
    }
  }
}

int main(void) {
  in_order_is_new();
  a_skipped_number_is_missing();
  a_late_number_is_reordered_once_and_then_a_duplicate();
  a_gap_is_filled_from_either_end_and_from_the_middle();
  nothing_is_forgotten_however_far_back();
  beyond_the_limit_numbers_are_forgotten_and_counted();
  sequences_do_not_mix();
  agrees_with_a_table_of_all_numbers();
  sequence_store_free(&store);
  return check_result();
}
