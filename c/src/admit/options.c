#include "admit/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Under `fixed` a hold is the point, so it has a default of its own. */
static const double fixed_max_delay_ms = 50;
static const double max_bytes = 9007199254740991;

void uv_batch_options_init(uv_batch_options_t* options) {
  if (options == NULL) return;
  *options = (uv_batch_options_t){
      .policy = UV_BATCH_POLICY_ADAPTIVE,
      .order = UV_BATCH_ORDER_ARRIVAL,
      .hold = UV_BATCH_HOLD_TUNED,
      .max_batch = 1024,
      .threshold = 0,
      .max_queue = 65536,
      .max_queue_bytes = 64 * 1024 * 1024,
      .max_delay = UV_BATCH_DELAY_OF_POLICY,
      .max_deferral = 100,
  };
}

/* Where a check reports what is wrong; the first complaint is kept. */
typedef struct {
  char* text;
  size_t size;
  int status;
} complaint_t;

static void complain(complaint_t* complaint, const char* format, ...) {
  va_list arguments;
  if (complaint->status != 0) return;
  complaint->status = UV_EINVAL;
  if (complaint->text == NULL || complaint->size == 0) return;
  va_start(arguments, format);
  vsnprintf(complaint->text, complaint->size, format, arguments);
  va_end(arguments);
}

static void number(complaint_t* complaint, const char* name, double value, double min, double max) {
  /* Written so that NaN fails. */
  if (value >= min && value <= max) return;
  complain(complaint, "%s is %.17g; it must be a number from %.17g to %.17g", name, value, min, max);
}

static void choice(complaint_t* complaint, const char* name, int value, int min, int max, const char* allowed) {
  if (value >= min && value <= max) return;
  complain(complaint, "%s is %d; it must be one of %s", name, value, allowed);
}

static complaint_t begin(char* message, size_t size) {
  if (message != NULL && size > 0) message[0] = '\0';
  return (complaint_t){message, size, 0};
}

int uv_batch_options_check(const uv_batch_options_t* options, char* message, size_t size) {
  complaint_t complaint = begin(message, size);
  if (options == NULL) {
    complain(&complaint, "options are NULL; start from uv_batch_options_init()");
    return complaint.status;
  }
  choice(&complaint, "policy", (int)options->policy, 0, UV_BATCH_POLICY_DIRECT, "UV_BATCH_POLICY_…");
  choice(&complaint, "order", (int)options->order, 0, UV_BATCH_ORDER_TYPE, "UV_BATCH_ORDER_…");
  choice(&complaint, "hold", (int)options->hold, 0, UV_BATCH_HOLD_ALWAYS, "UV_BATCH_HOLD_…");
  number(&complaint, "max_batch", options->max_batch, 1, 1000000);
  if (options->max_delay != UV_BATCH_DELAY_OF_POLICY) number(&complaint, "max_delay", options->max_delay, 0, 60000);
  number(&complaint, "threshold", options->threshold, 0, 1000000);
  number(&complaint, "max_queue", options->max_queue, 1, 100000000);
  number(&complaint, "max_queue_bytes", (double)options->max_queue_bytes, 1, max_bytes);
  number(&complaint, "max_deferral", options->max_deferral, 0, 3600000);
  return complaint.status;
}

int uv_batch_type_options_check(const uv_batch_type_options_t* options, char* message, size_t size) {
  complaint_t complaint = begin(message, size);
  if (options == NULL) {
    complain(&complaint, "options are NULL; start from uv_batch_get_type()");
    return complaint.status;
  }
  choice(&complaint, "priority", options->priority, 0, UV_BATCH_PRIORITY_LOW, "UV_BATCH_PRIORITY_…");
  if (options->max_batch != UV_BATCH_NO_LIMIT) number(&complaint, "max_batch", options->max_batch, 1, 1000000);
  choice(&complaint, "retain", (int)options->retain, 0, UV_BATCH_RETAIN_EACH, "UV_BATCH_RETAIN_…");
  number(&complaint, "retain_max", options->retain_max, 1, 1000000);
  number(&complaint, "retain_max_bytes", (double)options->retain_max_bytes, 1, max_bytes);
  number(&complaint, "retain_max_age", options->retain_max_age, 1, 2147483647);
  return complaint.status;
}

/* Each member once: its bit, how it is compared, how it is copied. */
#define MEMBERS(each)                                                                                          \
  each(0, policy) each(1, order) each(2, hold) each(3, max_batch) each(4, threshold) each(5, max_queue)        \
      each(6, max_queue_bytes) each(7, max_delay) each(8, max_deferral) each(9, batch_cb) each(10, error_cb)

uvb__changes_t uvb__options_changes(const uv_batch_options_t* from, const uv_batch_options_t* to) {
  uvb__changes_t changes = 0;
#define COMPARE(bit, member) \
  if (memcmp(&from->member, &to->member, sizeof(from->member)) != 0) changes |= 1u << bit;
  MEMBERS(COMPARE)
#undef COMPARE
  return changes;
}

void uvb__options_apply(uv_batch_options_t* options, const uv_batch_options_t* changed, uvb__changes_t changes) {
#define COPY(bit, member) \
  if ((changes & (1u << bit)) != 0) options->member = changed->member;
  MEMBERS(COPY)
#undef COPY
}

uv_batch_options_t uvb__options_complete(uv_batch_options_t options) {
  if (options.max_delay == UV_BATCH_DELAY_OF_POLICY) {
    options.max_delay = options.policy == UV_BATCH_POLICY_FIXED ? fixed_max_delay_ms : 0;
  }
  return options;
}
