#include "marker.h"

#include <string.h>

enum { ALPHABET = 26, RUN = 4096 };

/* The alphabet over and over, so that letters are written and compared in long runs. */
static uint8_t letters[RUN + ALPHABET];

static const uint8_t *letters_from(uint32_t place) {
  if (letters[0] == 0) {
    for (size_t i = 0; i < sizeof letters; i++) letters[i] = (uint8_t)('a' + i % ALPHABET);
  }
  return letters + place % ALPHABET;
}

/*
 * Any one changed digit moves the place: a digit differs by 1..9 and 13, a factor of 26, divides
 * neither that nor a power of ten nor the weights.
 */
static uint32_t first_letter(const struct marker *marker) {
  return (uint32_t)((marker->sender * 5ull + marker->seq * 7ull + marker->sched_us) % ALPHABET);
}

/* Whole alphabets, so that each run begins with the same letter. */
enum { STEP = RUN / ALPHABET * ALPHABET };

static bool letters_are(const uint8_t *text, size_t length, uint32_t place) {
  const uint8_t *run = letters_from(place);
  for (size_t i = 0; i < length; i += STEP) {
    const size_t n = length - i < STEP ? length - i : STEP;
    if (memcmp(text + i, run, n) != 0) return false;
  }
  return true;
}

static uint8_t *write_number(uint8_t *out, uint64_t number) {
  uint8_t digits[20];
  size_t n = 0;
  do {
    digits[n++] = (uint8_t)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (n > 0) *out++ = digits[--n];
  *out++ = '.';
  return out;
}

void marker_write(uint8_t *out, size_t payload, const struct marker *marker) {
  uint8_t *at = out;
  if (marker->priority == PRIORITY_HIGH) *at++ = '!';
  if (marker->priority == PRIORITY_LOW) *at++ = '~';
  *at++ = '#';
  at = write_number(at, marker->sender);
  at = write_number(at, marker->seq);
  at = write_number(at, marker->sched_us);
  const size_t length = payload - (size_t)(at - out);
  const uint8_t *run = letters_from(first_letter(marker));
  for (size_t i = 0; i < length; i += STEP) {
    memcpy(at + i, run, length - i < STEP ? length - i : STEP);
  }
}

/* Reads `DIGITS.`; returns what follows, or NULL. */
static inline const uint8_t *read_number(const uint8_t *at, const uint8_t *end, uint64_t *number) {
  const uint8_t *const first = at;
  uint64_t value = 0;
  while (at < end) {
    const uint32_t digit = (uint32_t)*at - '0';
    if (digit > 9) break;
    value = value * 10 + digit;
    at++;
  }
  if (at == end || *at != '.' || at == first || at - first > 15) return NULL;
  *number = value;
  return at + 1;
}

bool marker_read(const uint8_t *text, size_t length, struct marker *marker) {
  const uint8_t *at = text;
  const uint8_t *const end = text + length;
  marker->priority = PRIORITY_NORMAL;
  if (length < 2) return false;
  if (*at != '#') {
    if (*at == '!') {
      marker->priority = PRIORITY_HIGH;
    } else if (*at == '~') {
      marker->priority = PRIORITY_LOW;
    } else {
      return false;
    }
    if (*++at != '#') return false;
  }
  uint64_t sender;
  uint64_t seq;
  if ((at = read_number(at + 1, end, &sender)) == NULL || sender > UINT32_MAX) return false;
  if ((at = read_number(at, end, &seq)) == NULL || seq > UINT32_MAX) return false;
  if ((at = read_number(at, end, &marker->sched_us)) == NULL) return false;
  marker->sender = (uint32_t)sender;
  marker->seq = (uint32_t)seq;
  marker->length = (size_t)(at - text);
  return true;
}

enum marker_state marker_check(const uint8_t *text, size_t length, size_t payload,
                               const struct marker *marker) {
  const uint8_t *at = text + marker->length;
  const size_t rest = length - marker->length;
  const uint32_t place = first_letter(marker);
  if (length == payload && letters_are(at, rest, place)) return MARKER_INTACT;
  /* Letters that are whole but run from elsewhere belong to other numbers. */
  if (rest > 0 && *at >= 'a' && *at <= 'z' && (uint32_t)(*at - 'a') != place &&
      letters_are(at, rest, (uint32_t)(*at - 'a'))) {
    return MARKER_NUMBERS_DAMAGED;
  }
  return MARKER_LETTERS_DAMAGED;
}
