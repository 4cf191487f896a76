/* The public functions of the queue: each checks what it is given and leaves the work to the stage that does it. */
#include "uv_batch.h"

#include <limits.h>
#include <string.h>

#include "attach.h"
#include "dispatch/core.h"
#include "dispatch/loop.h"
#include "intake/inbox.h"
#include "intake/push.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

unsigned int uv_batch_version(void) {
  return UV_BATCH_VERSION_HEX;
}

const char* uv_batch_version_string(void) {
  return STRING(UV_BATCH_VERSION_MAJOR) "." STRING(UV_BATCH_VERSION_MINOR) "." STRING(UV_BATCH_VERSION_PATCH);
}

/* ---- life */

static void publish_limits(uvb__core_t* core) {
  uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  uvb__inbox_limit(inbox, core->options.max_queue, core->options.max_queue_bytes);
  atomic_store_explicit(&inbox->types, (uint_fast32_t)core->types.count, memory_order_relaxed);
}

/* The state of a batch that has no core yet. */
static char starting;

/* Marks the batch as in use, so that a second init fails, and makes its core. */
static int begin(uv_batch_t* batch, uv_loop_t* loop, uvb__host_t* host, const uv_batch_options_t* options) {
  uv_batch_options_t defaults;
  uv_batch_options_init(&defaults);
  if (options == NULL) options = &defaults;
  if (uv_batch_options_check(options, NULL, 0) != 0) return UV_EINVAL;
  int status = uvb__attach(batch, UVB__ATTACH_BATCH, &starting);
  if (status == UV_EBUSY) {
    void* before = uvb__attached(batch, UVB__ATTACH_BATCH);
    if (before == NULL || before == &starting || !uvb__loop_forget(before)) return UV_EBUSY;
    status = uvb__attach(batch, UVB__ATTACH_BATCH, &starting);
  }
  if (status != 0) return status;
  void* data = batch->data;
  memset((void*)batch, 0, sizeof(*batch));
  batch->data = data;
  batch->loop = loop;
  if (loop != NULL) {
    status = uvb__loop_start(loop, batch, options);
  } else {
    uvb__core_t* core = NULL;
    status = uvb__core_new(&core, batch, host, options);
    batch->core_ = core;
    uvb__inbox_init(uvb__inbox_of(batch), NULL);
  }
  if (status != 0) {
    uvb__detach(batch, UVB__ATTACH_BATCH);
    return status;
  }
  uvb__attach_other(batch, UVB__ATTACH_BATCH, batch->core_);
  publish_limits(uvb__core(batch));
  return 0;
}

int uv_batch_init(uv_loop_t* loop, uv_batch_t* batch, const uv_batch_options_t* options) {
  if (loop == NULL || batch == NULL) return UV_EINVAL;
  return begin(batch, loop, NULL, options);
}

/* There is no handle of a loop to close: all that is left is memory. */
static void end_on_host(uvb__core_t* core) {
  uv_batch_t* batch = core->batch;
  uv_batch_close_cb close_cb = core->close_cb;
  uvb__core_remember(core);
  batch->core_ = NULL;
  uvb__core_free(core);
  uvb__detach(batch, UVB__ATTACH_BATCH);
  if (close_cb != NULL) close_cb(batch);
}

int uvb__init_on_host(uv_batch_t* batch, uvb__host_t* host, const uv_batch_options_t* options) {
  int status = begin(batch, NULL, host, options);
  if (status == 0) uvb__core(batch)->end = end_on_host;
  return status;
}

/* Whether somebody else has closed its handles, so that it takes nothing any more: then the core may be gone. */
static inline bool is_gone(uvb__core_t* core) {
  return core->gate != NULL && uv_is_closing(core->gate) && uvb__loop_gone(core);
}

static bool is_open(uvb__core_t* core) {
  return core != NULL && core->closing == uvb__open && !is_gone(core);
}

int uv_batch_close(uv_batch_t* batch, unsigned int flags, uv_batch_close_cb cb) {
  if (batch == NULL || (flags & ~UV_BATCH_DISCARD) != 0) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing != uvb__open) return UV_EALREADY;
  uvb__enter(core);
  core->close_cb = cb;
  core->closed = true;
  /* What other threads have posted belongs to what is queued, also under `direct`; what they post from here on is
   * refused. */
  uvb__loop_take_last(core);
  uvb__engine_close(core, (flags & UV_BATCH_DISCARD) != 0);
  uvb__leave(core);
  return 0;
}

int uv_batch_is_closing(const uv_batch_t* batch) {
  if (batch == NULL || batch->core_ == NULL) return 1;
  const uvb__core_t* core = uvb__core(batch);
  return core->closed || (core->gate != NULL && uv_is_closing(core->gate));
}

static int keep_alive(uv_batch_t* batch, bool ref) {
  if (batch == NULL || batch->loop == NULL) return UV_EINVAL;
  if (uv_batch_is_closing(batch)) return UV_ESHUTDOWN;
  uvb__loop_ref(uvb__core(batch), ref);
  return 0;
}

int uv_batch_ref(uv_batch_t* batch) {
  return keep_alive(batch, true);
}

int uv_batch_unref(uv_batch_t* batch) {
  return keep_alive(batch, false);
}

/* ---- events */

void uv_batch_event_init(uv_batch_event_t* event, int type, void* data) {
  if (event == NULL) return;
  /* In two parts: gcc zeroes a struct of this size by `rep stos`, which takes longer to start than all the rest. */
  const size_t line = offsetof(uv_batch_event_t, number_);
  memset(event, 0, line);
  memset((char*)event + line, 0, sizeof(*event) - line);
  event->data = data;
  event->type = type;
  event->priority = UV_BATCH_PRIORITY_OF_TYPE;
}

/* States in which an event is its owner's. */
enum { owners_states = 1 << UV_BATCH_STATUS_NEW | 1 << UV_BATCH_STATUS_COMPLETED | 1 << UV_BATCH_STATUS_FAILED |
                       1 << UV_BATCH_STATUS_CANCELLED | 1 << UV_BATCH_STATUS_EXPIRED | 1 << UV_BATCH_STATUS_UNHANDLED |
                       1 << UV_BATCH_STATUS_REFUSED };

/* Checks that the event is the caller's, and has a valid type and priority. */
static inline int check_event(const uv_batch_event_t* event, int types) {
  if (event->status > UV_BATCH_STATUS_REFUSED) return UV_EINVAL;
  if ((1 << event->status & owners_states) == 0) return UV_EBUSY;
  if (event->type <= 0 || event->type >= types) return UV_EINVAL;
  if (event->priority < UV_BATCH_PRIORITY_OF_TYPE || event->priority > UV_BATCH_PRIORITY_LOW) return UV_EINVAL;
  return 0;
}

int uv_batch_push(uv_batch_t* batch, uv_batch_event_t* event) {
  if (batch == NULL || event == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  int status = check_event(event, core == NULL ? INT_MAX : core->types.count);
  if (status != 0) return status;
  if (core != NULL && is_gone(core)) core = uvb__core(batch);
  if (core == NULL) {
    batch->last_.refused_closed++;
    event->status = UV_BATCH_STATUS_REFUSED;
    return UV_ESHUTDOWN;
  }
  /* Only under `direct` does a push run anything. */
  if (!core->direct) return uvb__push(core, event);
  uvb__enter(core);
  status = uvb__push(core, event);
  uvb__leave(core);
  return status;
}

int uv_batch_post(uv_batch_t* batch, uv_batch_event_t* event) {
  if (batch == NULL || event == NULL) return UV_EINVAL;
  uvb__inbox_t* inbox = uvb__inbox_of(batch);
  int status = check_event(event, (int)atomic_load_explicit(&inbox->types, memory_order_relaxed));
  return status == 0 ? uvb__inbox_post(inbox, event) : status;
}

int uv_batch_cancel(uv_batch_t* batch, uv_batch_event_t* event) {
  if (batch == NULL || event == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_EALREADY;
  uvb__enter(core);
  int status = uvb__engine_cancel(core, event);
  uvb__leave(core);
  return status;
}

/* ---- handlers */

/* A mark that is hardly ever in memory by chance. */
static const uint32_t registered = 0x75766268;

static int add_handler(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_handler_cb cb,
                       uv_batch_group_cb group_cb) {
  if (batch == NULL || handler == NULL || (cb == NULL && group_cb == NULL)) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || core->closing == uvb__closed || is_gone(core)) return UV_ESHUTDOWN;
  if (uvb__types_get(&core->types, type) == NULL) return UV_EINVAL;
  if (handler->flags_ == registered && handler->batch != NULL) return UV_EBUSY;
  handler->type = type;
  handler->flags_ = registered;
  handler->cb_ = cb;
  handler->group_cb_ = group_cb;
  uvb__handler_add(core, handler);
  return 0;
}

int uv_batch_on(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_handler_cb cb) {
  return add_handler(batch, handler, type, cb, NULL);
}

int uv_batch_on_group(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_group_cb cb) {
  return add_handler(batch, handler, type, NULL, cb);
}

int uv_batch_off(uv_batch_handler_t* handler) {
  if (handler == NULL || handler->batch == NULL || handler->batch->core_ == NULL) return UV_EINVAL;
  uvb__handler_remove(uvb__core(handler->batch), handler);
  return 0;
}

/* ---- dispatch */

int uv_batch_flush(uv_batch_t* batch) {
  if (batch == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (!is_open(core)) return UV_ESHUTDOWN;
  uvb__enter(core);
  uvb__loop_take_in(core);
  uvb__engine_flush(core);
  uvb__loop_let_sleep(core);
  uvb__leave(core);
  return 0;
}

int uv_batch_process(uv_batch_t* batch) {
  if (batch == NULL) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (!is_open(core)) return UV_ESHUTDOWN;
  uvb__enter(core);
  if (batch->loop != NULL) uvb__loop_look_at_clock(core);
  uvb__loop_take_in(core);
  uvb__engine_process(core);
  uvb__loop_let_sleep(core);
  uvb__leave(core);
  return 0;
}

/* ---- options */

int uv_batch_get(const uv_batch_t* batch, uv_batch_options_t* options) {
  if (batch == NULL || options == NULL) return UV_EINVAL;
  const uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_ESHUTDOWN;
  *options = core->given;
  uvb__options_apply(options, &core->pending, core->pending_changes);
  return 0;
}

int uv_batch_set(uv_batch_t* batch, const uv_batch_options_t* options) {
  if (batch == NULL || uv_batch_options_check(options, NULL, 0) != 0) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL || is_gone(core)) return UV_ESHUTDOWN;
  uvb__enter(core);
  int status = uvb__engine_set(core, options);
  uvb__leave(core);
  return status;
}

int uv_batch_type(uv_batch_t* batch, const char* name) {
  if (batch == NULL || name == NULL || name[0] == '\0' || strlen(name) > UV_BATCH_MAX_TYPE_NAME) return UV_EINVAL;
  uvb__core_t* core = uvb__core(batch);
  if (core == NULL) return UV_ESHUTDOWN;
  int type = uvb__types_number(&core->types, name);
  publish_limits(core);
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
  if (core == NULL || core->closing == uvb__closed || is_gone(core)) return UV_ESHUTDOWN;
  uvb__type_t* known = uvb__types_get(&core->types, type);
  if (known == NULL) return UV_EINVAL;
  uvb__enter(core);
  uvb__queue_limit_type(&core->queue, known, options->max_batch);
  known->options = *options;
  uvb__retention_configured(core, known);
  uvb__leave(core);
  return 0;
}

/* ---- what can be read */

int uv_batch_stats(const uv_batch_t* batch, uv_batch_stats_t* stats) {
  if (batch == NULL || stats == NULL) return UV_EINVAL;
  if (batch->core_ == NULL) *stats = batch->last_;
  else uvb__core_stats(uvb__core(batch), stats);
  return 0;
}

int uv_batch_estimate(const uv_batch_t* batch, int type, uv_batch_estimate_t* estimate) {
  if (batch == NULL || estimate == NULL) return UV_EINVAL;
  const uvb__core_t* core = uvb__core(batch);
  if (core == NULL) {
    *estimate = batch->last_estimate_;
    return 0;
  }
  const uvb__type_t* known = uvb__types_get(&core->types, type);
  if (known == NULL && type != 0) return UV_EINVAL;
  uvb__core_estimate(core, known, estimate);
  return 0;
}

const char* uv_batch_trigger_name(uv_batch_trigger_t trigger) {
  static const char* const names[UV_BATCH_TRIGGERS] = {"size",     "threshold", "delay", "turn",
                                                       "priority", "flush",     "close"};
  return (unsigned int)trigger < UV_BATCH_TRIGGERS ? names[trigger] : NULL;
}
