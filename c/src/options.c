/*
 * The options of a queue and of a type: defaults, the checks that keep bad ones out, and the functions that get and set
 * them. A check names the first option that is wrong, its value, and what is allowed. An option that has passed its
 * check is never checked again.
 *
 * The core keeps what was given and, apart, the complete set that follows from it. A change of policy or order inside a
 * handler waits in `pending` until the batch is over; which members that are, is a set of bits, so that two changes do
 * not undo each other. Changing them is the engine's: uv_batch_set() is in engine.c.
 */
#include "engine.h"

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
      .min_saving = 0.005,
      .max_batch_time = 0,
      .max_deferral = 100,
  };
}

/* Report of a check; the first fault is kept. */
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
  number(&complaint, "min_saving", options->min_saving, 0, 1);
  number(&complaint, "max_batch_time", options->max_batch_time, 0, 60000);
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
      each(6, max_queue_bytes) each(7, max_delay) each(8, max_deferral) each(9, batch_cb) each(10, error_cb)   \
          each(11, min_saving) each(12, max_batch_time)

uint32_t uvb__options_changes(const uv_batch_options_t* from, const uv_batch_options_t* to) {
  uint32_t changes = 0;
#define COMPARE(bit, member) \
  if (memcmp(&from->member, &to->member, sizeof(from->member)) != 0) changes |= 1u << bit;
  MEMBERS(COMPARE)
#undef COMPARE
  return changes;
}

void uvb__options_apply(uv_batch_options_t* options, const uv_batch_options_t* changed, uint32_t changes) {
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

/* ---- getting and setting */

int uv_batch_get(const uv_batch_t* batch, uv_batch_options_t* options) {
  if (batch == NULL || options == NULL) return UV_EINVAL;
  const uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_ESHUTDOWN;
  *options = core->given;
  uvb__options_apply(options, &core->pending, core->pending_changes);
  return 0;
}

int uv_batch_type(uv_batch_t* batch, const char* name) {
  if (batch == NULL || name == NULL || name[0] == '\0' || strlen(name) > UV_BATCH_MAX_TYPE_NAME) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_ESHUTDOWN;
  int type = uvb__types_number(&core->types, name);
  uvb__publish_limits(core);
  return type;
}

const char* uv_batch_type_name(const uv_batch_t* batch, int type) {
  if (batch == NULL || batch->core_ == NULL) return NULL;
  const uvb__type_t* known = uvb__types_get(&uvb__core(batch)->types, type);
  return known == NULL ? NULL : known->name;
}

int uv_batch_get_type(const uv_batch_t* batch, int type, uv_batch_type_options_t* options) {
  if (batch == NULL || options == NULL) return UV_EINVAL;
  if (batch->core_ == NULL) return UV_ESHUTDOWN;
  const uvb__type_t* known = uvb__types_get(&uvb__core(batch)->types, type);
  if (known == NULL) return UV_EINVAL;
  *options = known->options;
  return 0;
}

int uv_batch_set_type(uv_batch_t* batch, int type, const uv_batch_type_options_t* options) {
  if (batch == NULL || uv_batch_type_options_check(options, NULL, 0) != 0) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing == uvb__closed || uvb__is_gone(core)) return UV_ESHUTDOWN;
  uvb__type_t* known = uvb__types_get(&core->types, type);
  if (known == NULL) return UV_EINVAL;
  uvb__enter(core);
  uvb__queue_limit_type(&core->queue, known, options->max_batch);
  known->options = *options;
  uvb__retention_configured(core, known);
  uvb__leave(core);
  return 0;
}
