/* The words of conformance/README.md. Lists of words stand in the order of the enums of uv_batch.h, so that the index
 * of a word is its value. */
#ifndef VECTOR_WORDS_H
#define VECTOR_WORDS_H

#include <stddef.h>

/* Words that a line can start with; operations, outcomes and queries stand together. */
typedef enum {
  VECTOR_CONFIG,
  VECTOR_AT,
  VECTOR_ADVANCE,
  VECTOR_BUSY,
  VECTOR_PUSH,
  VECTOR_TURN,
  VECTOR_HANDLE,
  VECTOR_UNHANDLE,
  VECTOR_CANCEL,
  VECTOR_FAIL,
  VECTOR_FROM,
  VECTOR_SIGNAL,
  VECTOR_SET,
  VECTOR_FLUSH,
  VECTOR_CLOSE,
  VECTOR_EXPECT,
  VECTOR_HOLD,
  VECTOR_ERROR,
  VECTOR_UNHANDLED,
  VECTOR_HELD,
  VECTOR_REPLAYED,
  VECTOR_EXPIRED,
  VECTOR_SUPERSEDED,
  VECTOR_REFUSED,
  VECTOR_ESTIMATE,
  VECTOR_STATS
} vector_word_t;

static inline int vector_is_outcome(vector_word_t word) {
  return word >= VECTOR_EXPECT && word <= VECTOR_REFUSED;
}
static inline int vector_is_query(vector_word_t word) {
  return word >= VECTOR_ESTIMATE;
}

typedef enum {
  VECTOR_OVERLOADED,
  VECTOR_CLOSED,
  VECTOR_CANCELLED,
  VECTOR_RETENTION,
  VECTOR_ALREADY,
  VECTOR_INVALID,
  VECTOR_CODES
} vector_code_t;

/* Form of a value. */
typedef enum {
  VECTOR_A_WORD,    /* one of `words` */
  VECTOR_A_NAME,
  VECTOR_A_NUMBER,  /* decimal */
  VECTOR_AN_AMOUNT, /* decimal, at least 0 */
  VECTOR_A_SHARE,   /* decimal, 0 to 1 */
  VECTOR_AN_INTEGER,
  VECTOR_A_COUNT    /* whole, at least 0 */
} vector_kind_t;

/* All lists end with NULL, or with a key without a name. */
typedef struct {
  const char* name;
  vector_kind_t kind;
  const char* const* words;
} vector_key_t;

enum {
  OPTION_POLICY,
  OPTION_ORDER,
  OPTION_MAX_BATCH,
  OPTION_MAX_DELAY,
  OPTION_MIN_SAVING,
  OPTION_MAX_BATCH_TIME,
  OPTION_THRESHOLD,
  OPTION_HOLD,
  OPTION_MAX_QUEUE,
  OPTION_MAX_QUEUE_BYTES,
  OPTION_MAX_DEFERRAL,
  OPTIONS
};
enum { PUSH_BYTES, PUSH_KEY };
enum { MERGE_OFF, MERGE_ON, MERGE_FAIL };
enum {
  TYPE_OPTION_PRIORITY,
  TYPE_OPTION_MAX_BATCH,
  TYPE_OPTION_RETAIN,
  TYPE_OPTION_RETAIN_MAX,
  TYPE_OPTION_RETAIN_MAX_BYTES,
  TYPE_OPTION_RETAIN_MAX_AGE,
  TYPE_OPTION_MERGE,
  TYPE_OPTIONS
};
/* The rate is that of a type; the cost of an event and the limit by time are estimates only. */
enum {
  SIGNAL_UTILIZATION,
  SIGNAL_TOTAL,
  SIGNAL_BATCH_COST,
  SIGNAL_HOLD_COST,
  SIGNAL_SAVING,
  SIGNAL_SLOWDOWN,
  SIGNAL_RATE,
  SIGNALS
};
enum { ESTIMATE_EVENT_COST = SIGNAL_RATE, ESTIMATE_LIMIT, ESTIMATES };
enum {
  STAT_QUEUED,
  STAT_BYTES,
  STAT_PUSHED,
  STAT_DELIVERED,
  STAT_BATCHES,
  STAT_CANCELLED,
  STAT_ERRORS,
  STAT_UNHANDLED,
  STAT_RETAINED,
  STAT_RETAINED_BYTES,
  STAT_HELD,
  STAT_REPLAYED,
  STAT_EXPIRED,
  STAT_SUPERSEDED,
  STAT_DEPTH,              /* by class */
  STAT_WAIT = STAT_DEPTH + 3,
  STAT_TRIGGER = STAT_WAIT + 3,
  STAT_REFUSED = STAT_TRIGGER + 7,
  STATS = STAT_REFUSED + VECTOR_CODES
};

extern const char* const vector_words[];
extern const char* const vector_from_words[]; /* operations that a handler can do */
extern const char* const vector_triggers[];
extern const char* const vector_codes[];
extern const char* const vector_classes[];
extern const vector_key_t vector_options[];
extern const vector_key_t vector_type_options[];
extern const vector_key_t vector_signals[];
extern const vector_key_t vector_estimates[];    /* of a queue */
extern const vector_key_t vector_type_signals[]; /* signals and estimates of a type: one key */
extern const vector_key_t vector_stats[];
extern const vector_key_t vector_push_keys[];

/* The index of a word in a list, or -1. */
int vector_find_word(const char* const* list, const char* word);
int vector_find_key(const vector_key_t* list, const char* name);

#endif
