#ifndef MILLRACE_MARKER_H
#define MILLRACE_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Marker of a load message: `#SENDER.SEQ.SCHED_US.` and then letters up to the wanted length. With a priority other
 * than normal one byte comes first: `!` high, `~` low.
 *
 * The letters run through the alphabet from a place that follows from the three numbers, so a
 * changed letter and a changed digit are both seen by marker_check.
 */

enum priority { PRIORITY_HIGH, PRIORITY_NORMAL, PRIORITY_LOW, PRIORITIES };

enum {
  MARKER_MIN_PAYLOAD = 40, /* the longest marker takes 30; the rest are letters to check */
  MARKER_MAX_PAYLOAD = 1024 * 1024,
};

struct marker {
  enum priority priority;
  uint32_t sender;
  uint32_t seq;
  uint64_t sched_us; /* when it was due, since the run's start */
  size_t length;     /* bytes up to the first letter */
};

/* Writes a message of exactly `payload` bytes, at least MARKER_MIN_PAYLOAD; not terminated. */
void marker_write(uint8_t *out, size_t payload, const struct marker *marker);

/* Reads the numbers at the start of a text; false when they are not there. */
bool marker_read(const uint8_t *text, size_t length, struct marker *marker);

enum marker_state {
  MARKER_INTACT,
  MARKER_LETTERS_DAMAGED, /* the numbers can still be believed */
  MARKER_NUMBERS_DAMAGED,
};

/* Checks length and letters of a text whose marker was read. Costs a comparison of its bytes. */
enum marker_state marker_check(const uint8_t *text, size_t length, size_t payload,
                               const struct marker *marker);

#endif
