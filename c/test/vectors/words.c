#include "vectors/words.h"

#include <string.h>

const char* const vector_words[] = {
    "config", "at",        "advance",  "busy",     "push",    "turn",    "handle", "unhandle", "cancel",
    "fail",   "from",      "signal",   "set",      "flush",   "close",   "expect", "hold",     "error",
    "unhandled", "held",   "replayed", "expired",  "superseded", "refused", "estimate", "stats", NULL,
};
const char* const vector_from_words[] = {"push", "cancel", "flush", "close", "set", "handle", "unhandle", "busy", NULL};
const char* const vector_triggers[] = {"size", "threshold", "delay", "turn", "priority", "flush", "close", NULL};
const char* const vector_codes[] = {"overloaded", "closed", "cancelled", "retention", "already", "invalid", NULL};
const char* const vector_classes[] = {"high", "normal", "low", NULL};

static const char* const policies[] = {"adaptive", "fixed", "direct", NULL};
static const char* const orders[] = {"arrival", "type", NULL};
static const char* const holds[] = {"tuned", "always", NULL};
static const char* const retains[] = {"off", "first", "each", NULL};
static const char* const merges[] = {"off", "on", "fail", NULL};

const vector_key_t vector_options[] = {
    {"policy", VECTOR_A_WORD, policies},
    {"order", VECTOR_A_WORD, orders},
    {"max_batch", VECTOR_AN_INTEGER, NULL},
    {"max_delay", VECTOR_A_NUMBER, NULL},
    {"min_saving", VECTOR_A_NUMBER, NULL},
    {"max_batch_time", VECTOR_A_NUMBER, NULL},
    {"threshold", VECTOR_AN_INTEGER, NULL},
    {"hold", VECTOR_A_WORD, holds},
    {"max_queue", VECTOR_AN_INTEGER, NULL},
    {"max_queue_bytes", VECTOR_AN_INTEGER, NULL},
    {"max_deferral", VECTOR_A_NUMBER, NULL},
    {NULL, VECTOR_A_WORD, NULL},
};

const vector_key_t vector_type_options[] = {
    {"priority", VECTOR_A_WORD, vector_classes},
    {"max_batch", VECTOR_AN_INTEGER, NULL},
    {"retain", VECTOR_A_WORD, retains},
    {"retain_max", VECTOR_AN_INTEGER, NULL},
    {"retain_max_bytes", VECTOR_AN_INTEGER, NULL},
    {"retain_max_age", VECTOR_A_NUMBER, NULL},
    {"merge", VECTOR_A_WORD, merges},
    {NULL, VECTOR_A_WORD, NULL},
};

const vector_key_t vector_signals[] = {
    {"utilization", VECTOR_A_SHARE, NULL},
    {"total", VECTOR_AN_AMOUNT, NULL},
    {"batch_cost", VECTOR_AN_AMOUNT, NULL},
    {"hold_cost", VECTOR_AN_AMOUNT, NULL},
    {"saving", VECTOR_A_NUMBER, NULL},
    {"slowdown", VECTOR_A_NUMBER, NULL},
    {"rate", VECTOR_AN_AMOUNT, NULL},
    {NULL, VECTOR_A_WORD, NULL},
};
const vector_key_t vector_estimates[] = {
    {"utilization", VECTOR_A_SHARE, NULL},
    {"total", VECTOR_AN_AMOUNT, NULL},
    {"batch_cost", VECTOR_AN_AMOUNT, NULL},
    {"hold_cost", VECTOR_AN_AMOUNT, NULL},
    {"saving", VECTOR_A_NUMBER, NULL},
    {"slowdown", VECTOR_A_NUMBER, NULL},
    {"event_cost", VECTOR_AN_AMOUNT, NULL},
    {"limit", VECTOR_A_COUNT, NULL},
    {NULL, VECTOR_A_WORD, NULL},
};
const vector_key_t vector_type_signals[] = {
    {"rate", VECTOR_AN_AMOUNT, NULL},
    {NULL, VECTOR_A_WORD, NULL},
};

const vector_key_t vector_stats[] = {
    {"queued", VECTOR_A_COUNT, NULL},
    {"bytes", VECTOR_A_COUNT, NULL},
    {"pushed", VECTOR_A_COUNT, NULL},
    {"delivered", VECTOR_A_COUNT, NULL},
    {"batches", VECTOR_A_COUNT, NULL},
    {"cancelled", VECTOR_A_COUNT, NULL},
    {"errors", VECTOR_A_COUNT, NULL},
    {"unhandled", VECTOR_A_COUNT, NULL},
    {"retained", VECTOR_A_COUNT, NULL},
    {"retained.bytes", VECTOR_A_COUNT, NULL},
    {"held", VECTOR_A_COUNT, NULL},
    {"replayed", VECTOR_A_COUNT, NULL},
    {"expired", VECTOR_A_COUNT, NULL},
    {"superseded", VECTOR_A_COUNT, NULL},
    {"depth.high", VECTOR_A_COUNT, NULL},
    {"depth.normal", VECTOR_A_COUNT, NULL},
    {"depth.low", VECTOR_A_COUNT, NULL},
    {"wait.high", VECTOR_AN_AMOUNT, NULL},
    {"wait.normal", VECTOR_AN_AMOUNT, NULL},
    {"wait.low", VECTOR_AN_AMOUNT, NULL},
    {"trigger.size", VECTOR_A_COUNT, NULL},
    {"trigger.threshold", VECTOR_A_COUNT, NULL},
    {"trigger.delay", VECTOR_A_COUNT, NULL},
    {"trigger.turn", VECTOR_A_COUNT, NULL},
    {"trigger.priority", VECTOR_A_COUNT, NULL},
    {"trigger.flush", VECTOR_A_COUNT, NULL},
    {"trigger.close", VECTOR_A_COUNT, NULL},
    {"refused.overloaded", VECTOR_A_COUNT, NULL},
    {"refused.closed", VECTOR_A_COUNT, NULL},
    {"refused.cancelled", VECTOR_A_COUNT, NULL},
    {"refused.retention", VECTOR_A_COUNT, NULL},
    {"refused.already", VECTOR_A_COUNT, NULL},
    {"refused.invalid", VECTOR_A_COUNT, NULL},
    {NULL, VECTOR_A_WORD, NULL},
};

const vector_key_t vector_push_keys[] = {
    {"bytes", VECTOR_A_COUNT, NULL},
    {"key", VECTOR_A_NAME, NULL},
    {NULL, VECTOR_A_WORD, NULL},
};

int vector_find_word(const char* const* list, const char* word) {
  for (int i = 0; list[i] != NULL; i++) {
    if (strcmp(list[i], word) == 0) return i;
  }
  return -1;
}

int vector_find_key(const vector_key_t* list, const char* name) {
  for (int i = 0; list[i].name != NULL; i++) {
    if (strcmp(list[i].name, name) == 0) return i;
  }
  return -1;
}
