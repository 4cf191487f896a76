#include "marker.h"

#include <stdlib.h>

#include "check.h"

static const struct marker wanted = {
    .priority = PRIORITY_NORMAL, .sender = 409, .seq = 7031, .sched_us = 1234567};

static void writes_what_it_reads(void) {
  static const size_t payloads[] = {MARKER_MIN_PAYLOAD, 100, 4082, 4200, 100000};
  static const char *const prefixes[PRIORITIES] = {"!#", "#", "~#"};
  uint8_t *text = malloc(100000);
  for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
    for (uint32_t priority = 0; priority < PRIORITIES; priority++) {
      struct marker marker = wanted;
      marker.priority = (enum priority)priority;
      marker_write(text, payloads[i], &marker);
      CHECK(memcmp(text, prefixes[priority], strlen(prefixes[priority])) == 0);
      struct marker read;
      CHECK(marker_read(text, payloads[i], &read));
      CHECK_EQUAL(read.priority, priority);
      CHECK_EQUAL(read.sender, 409);
      CHECK_EQUAL(read.seq, 7031);
      CHECK_EQUAL(read.sched_us, 1234567);
      CHECK(marker_check(text, payloads[i], payloads[i], &read) == MARKER_INTACT);
    }
  }
  free(text);
}

static void the_form_is_fixed(void) {
  uint8_t text[MARKER_MIN_PAYLOAD];
  marker_write(text, sizeof text, &(struct marker){.priority = PRIORITY_NORMAL, .seq = 3});
  CHECK(memcmp(text, "#0.3.0.vwxyzabcdefghijklmnopqrstuvwxyza", sizeof text - 1) == 0);
}

static void the_longest_marker_fits_the_smallest_payload(void) {
  uint8_t text[MARKER_MIN_PAYLOAD];
  struct marker marker = {PRIORITY_LOW, 59999, UINT32_MAX, 9999999999, 0};
  marker_write(text, sizeof text, &marker);
  struct marker read;
  CHECK(marker_read(text, sizeof text, &read));
  CHECK_EQUAL(read.seq, UINT32_MAX);
  CHECK(read.length < sizeof text);
  CHECK(marker_check(text, sizeof text, sizeof text, &read) == MARKER_INTACT);
}

static void every_changed_byte_is_seen(void) {
  uint8_t text[100];
  for (size_t at = 0; at < sizeof text; at++) {
    for (unsigned to = '0'; to <= 'z'; to++) {
      marker_write(text, sizeof text, &wanted);
      if (text[at] == to) continue;
      text[at] = (uint8_t)to;
      struct marker read;
      const bool readable = marker_read(text, sizeof text, &read);
      if (!readable) continue;
      const enum marker_state state = marker_check(text, sizeof text, sizeof text, &read);
      const enum marker_state expected =
          at < read.length ? MARKER_NUMBERS_DAMAGED : MARKER_LETTERS_DAMAGED;
      if (state != expected) {
        fprintf(stderr, "byte %zu changed to %c\n", at, (char)to);
        CHECK(state == expected);
      }
    }
  }
}

static void a_cut_or_stretched_text_is_seen(void) {
  uint8_t text[101];
  marker_write(text, 101, &wanted);
  struct marker read;
  CHECK(marker_read(text, 101, &read));
  CHECK(marker_check(text, 101, 100, &read) == MARKER_LETTERS_DAMAGED);
  CHECK(marker_check(text, 99, 100, &read) == MARKER_LETTERS_DAMAGED);
  CHECK(marker_check(text, read.length, 100, &read) == MARKER_LETTERS_DAMAGED);
}

static void what_is_no_marker_is_not_read(void) {
  static const char *const texts[] = {
      "",        "#",          "x#1.2.3.",  "##1.2.3.", "#1.2.3",           "#1.2.",
      "#.2.3.a", "#1..3.abc",  "#1.2..abc", "#-1.2.3.", "#1.2.x3.",         "!1.2.3.",
      "!",       "#1,2.3.abc", "hello",     "#1.4294967296.3.abc", "#1.2.99999999999999999999.a",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct marker read;
    if (marker_read((const uint8_t *)texts[i], strlen(texts[i]), &read)) {
      fprintf(stderr, "read: %s\n", texts[i]);
      CHECK(false);
    }
  }
}

int main(void) {
  writes_what_it_reads();
  the_form_is_fixed();
  the_longest_marker_fits_the_smallest_payload();
  every_changed_byte_is_seen();
  a_cut_or_stretched_text_is_seen();
  what_is_no_marker_is_not_read();
  return check_result();
}
