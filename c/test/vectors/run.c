#include "vectors/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double none = -1;

static void* checked(void* memory) {
  if (memory == NULL) {
    fputs("out of memory\n", stderr);
    exit(2);
  }
  return memory;
}

static void fault(vector_run_t* run, const char* what) {
  if (run->fault == NULL) run->fault = what;
}

/* ---- the host: a clock that stands still unless told, and the timers that hang on it ---- */

static double host_now(uvb__host_t* host) {
  return ((vector_run_t*)host)->time;
}

static void host_schedule(uvb__host_t* host) {
  ((vector_run_t*)host)->scheduled = true;
}

static void host_arm(uvb__host_t* host, double deadline) {
  ((vector_run_t*)host)->hold_at = deadline;
}

static void host_arm_expiry(uvb__host_t* host, double deadline) {
  ((vector_run_t*)host)->expiry_at = deadline;
}

static uvb__load_t host_load(uvb__host_t* host, double now) {
  vector_run_t* run = (vector_run_t*)host;
  return (uvb__load_t){uvb__utilization_read(&run->window, now), run->busy};
}

static void pass(vector_run_t* run, double ms, bool busy) {
  uvb__utilization_observe(&run->window, run->time, run->time + ms, busy ? ms : 0);
  if (busy) run->busy += ms;
  run->time += ms;
}

/* Exactly that time, whatever a sum of fractions came to. */
static void pass_until(vector_run_t* run, double time) {
  pass(run, fmax(0, time - run->time), false);
  run->time = fmax(run->time, time);
}

static void wait_until(vector_run_t* run, double until) {
  for (;;) {
    double hold = run->hold_at < 0 ? INFINITY : run->hold_at;
    double expiry = run->expiry_at < 0 ? INFINITY : run->expiry_at;
    double next = fmin(hold, expiry);
    if (next > until) break;
    pass_until(run, next);
    if (hold == next) {
      run->hold_at = none;
      uvb__hold_ended(&run->batch);
    } else {
      run->expiry_at = none;
      uvb__expire(&run->batch);
    }
  }
  pass_until(run, until);
}

/* ---- the log ---- */

static vector_statement_t* out(vector_run_t* run, vector_word_t word) {
  vector_log_t* log = &run->log;
  if (log->count == log->room) {
    log->room = log->room * 2 + 16;
    log->all = checked(realloc(log->all, log->room * sizeof(*log->all)));
  }
  vector_statement_t* outcome = &log->all[log->count++];
  memset(outcome, 0, sizeof(*outcome));
  outcome->word = word;
  outcome->type = outcome->id = outcome->choice = -1;
  return outcome;
}

static void out_id(vector_run_t* run, vector_word_t word, const uv_batch_event_t* event) {
  out(run, word)->id = ((const vector_event_t*)event)->id;
}

static void out_refused(vector_run_t* run, int id, vector_code_t code) {
  vector_statement_t* outcome = out(run, VECTOR_REFUSED);
  outcome->id = id;
  outcome->choice = (int)code;
}

void vector_log_clear(vector_log_t* log) {
  for (size_t i = 0; i < log->count; i++) free(log->all[i].ids);
  log->count = 0;
}

static void on_batch(void* data, const uv_batch_info_t* info) {
  vector_run_t* run = data;
  vector_statement_t* outcome = out(run, VECTOR_EXPECT);
  outcome->time = info->time;
  outcome->choice = (int)info->trigger;
  outcome->ids = checked(malloc((info->count + 1) * sizeof(*outcome->ids)));
  for (uv_batch_event_t* event = info->first; event != NULL && outcome->id_count < info->count; event = event->next) {
    outcome->ids[outcome->id_count++] = ((vector_event_t*)event)->id;
  }
  if (outcome->id_count != info->count) fault(run, "a batch has fewer events than its count says");
  if (run->watch != NULL) run->watch(run, info);
}

static void on_hold(void* data, double hold_ms) {
  out(data, VECTOR_HOLD)->time = hold_ms;
}

static void on_held(void* data, uv_batch_event_t* event) {
  out_id(data, VECTOR_HELD, event);
}

static void on_replayed(void* data, uv_batch_event_t* event) {
  out_id(data, VECTOR_REPLAYED, event);
}

static void on_error(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  vector_run_t* run = ((vector_event_t*)event)->run;
  if (batch != &run->batch || status != UV_EIO) fault(run, "an error callback got another batch or status");
  out_id(run, VECTOR_ERROR, event);
  if (run->failed != NULL) run->failed(run, (vector_event_t*)event);
}

/* ---- events ---- */

static void free_event(vector_event_t* event) {
  event->run->ids[event->id].event = NULL;
  free(event);
}

static void on_end(uv_batch_t* batch, uv_batch_event_t* over, int status) {
  vector_event_t* event = (vector_event_t*)over;
  vector_run_t* run = event->run;
  bool right = batch == &run->batch;
  switch (over->status) {
    case UV_BATCH_STATUS_COMPLETED:
      right &= status == 0;
      break;
    case UV_BATCH_STATUS_FAILED:
      right &= status == UV_EIO;
      break;
    case UV_BATCH_STATUS_SUPERSEDED:
      right &= status == UV_ECANCELED;
      out_id(run, VECTOR_SUPERSEDED, over);
      break;
    case UV_BATCH_STATUS_CANCELLED:
      right &= status == UV_ECANCELED;
      if (run->cancelling != event) out_refused(run, event->id, VECTOR_CANCELLED);
      break;
    case UV_BATCH_STATUS_EXPIRED:
      right &= status == UV_ETIMEDOUT || status == UV_ECANCELED;
      out_id(run, VECTOR_EXPIRED, over);
      break;
    case UV_BATCH_STATUS_UNHANDLED:
      right &= status == UV_ENOENT || status == UV_ENOBUFS;
      if (status == UV_ENOENT) out_id(run, VECTOR_UNHANDLED, over);
      else out_refused(run, event->id, VECTOR_RETENTION);
      break;
    default:
      right = false;
  }
  if (!right) fault(run, "an event ended with a batch, a status or a code that do not go together");
  if (!event->taken) fault(run, "an event ended that was not taken");
  if (++run->ids[event->id].ended > 1) fault(run, "an event ended twice");
  run->ended++;
  if (run->over != NULL && run->over(run, event)) return;
  if (run->frees_events) free_event(event);
}

static int on_event(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  vector_run_t* run = ((vector_handler_t*)handler)->run;
  if (handler->type != event->type) fault(run, "a handler got an event of another type");
  /* From here on neither the handler nor the event may be there any more. */
  return vector_run_handle(run, event);
}

/* Operations of a handler are done once, by the first handler that gets the event. */
int vector_run_handle(vector_run_t* run, uv_batch_event_t* event) {
  vector_id_t* id = &run->ids[((vector_event_t*)event)->id];
  const vector_statement_t** acts = id->acts;
  size_t count = id->act_count;
  id->acts = NULL;
  id->act_count = 0;
  for (size_t i = 0; i < count; i++) vector_run_do(run, acts[i]);
  free(acts);
  return id->failing ? UV_EIO : 0;
}

static bool push_event(vector_run_t* run, vector_event_t* event, int level) {
  int id = event->id;
  event->level = level;
  event->number = ++run->pushes;
  event->taken = true;
  run->ids[id].event = event;
  run->taken++;
  vector_event_t* outer = run->pushing;
  run->pushing = event;
  int status = uv_batch_push(&run->batch, &event->event);
  run->pushing = outer;
  /* Under `direct` it may be over by now, and gone. */
  if (status == 0) return true;
  if (status == UV_ESHUTDOWN && run->closed) run->last.refused_closed++;
  event->taken = false;
  run->taken--;
  if (status == UV_ENOBUFS) out_refused(run, id, VECTOR_OVERLOADED);
  else if (status == UV_ESHUTDOWN) out_refused(run, id, VECTOR_CLOSED);
  else fault(run, "a push was refused with a code that no vector has");
  return false;
}

static void push(vector_run_t* run, const vector_statement_t* statement) {
  vector_event_t* event = checked(calloc(1, sizeof(*event)));
  uv_batch_event_init(&event->event, run->types[statement->type].number, NULL);
  event->event.callback = on_end;
  event->event.size = (uint64_t)statement->bytes;
  event->event.priority = (int8_t)statement->choice;
  event->event.key = statement->key;
  event->event.key_size = statement->key == NULL ? 0 : (uint32_t)strlen(statement->key);
  event->run = run;
  event->id = statement->id;
  int level = statement->choice >= 0 ? statement->choice : run->types[statement->type].options.priority;
  if (!push_event(run, event, level) && run->frees_events) free_event(event);
}

bool vector_run_push_again(vector_run_t* run, vector_event_t* event, int id) {
  run->ids[event->id].event = NULL;
  event->id = id;
  return push_event(run, event, event->level);
}

static void cancel(vector_run_t* run, int id) {
  vector_event_t* event = run->ids[id].event;
  vector_event_t* outer = run->cancelling;
  int status = UV_EALREADY;
  if (event != NULL) {
    run->cancelling = event;
    status = uv_batch_cancel(&run->batch, &event->event);
    run->cancelling = outer;
  }
  if (status == 0) {
    if (run->ids[id].ended != 1) fault(run, "the callback of a cancelled event has not run");
    return;
  }
  if (status != UV_EALREADY) fault(run, "cancel failed with a code that no vector has");
  run->already++;
  out_refused(run, id, VECTOR_ALREADY);
}

/* ---- handlers ---- */

static void handle(vector_run_t* run, vector_type_t* type) {
  vector_handler_t* handler = checked(calloc(1, sizeof(*handler)));
  handler->run = run;
  int status = uv_batch_on(&run->batch, &handler->handler, type->number, on_event);
  if (status != 0) {
    if (status != UV_ESHUTDOWN || !uv_batch_is_closing(&run->batch)) fault(run, "a handler was not registered");
    free(handler);
    return;
  }
  handler->next = type->handlers;
  type->handlers = handler;
}

static void unhandle(vector_run_t* run, vector_type_t* type) {
  for (vector_handler_t* handler = type->handlers; handler != NULL;) {
    vector_handler_t* next = handler->next;
    if (!run->closed && uv_batch_off(&handler->handler) != 0) fault(run, "a handler was not removed");
    free(handler);
    handler = next;
  }
  type->handlers = NULL;
}

/* ---- options ---- */

/* A number that a field cannot hold becomes one that it can, and that is out of every option's range. */
static uint32_t small(double value) {
  return value < 0 || value >= UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)value;
}

static uint64_t large(double value) {
  return value < 0 ? UINT64_C(1) << 53 : (uint64_t)value;
}

static void change(uv_batch_options_t* options, const vector_pair_t* pair) {
  switch (pair->key) {
    case OPTION_POLICY:
      options->policy = (uv_batch_policy_t)pair->value;
      break;
    case OPTION_ORDER:
      options->order = (uv_batch_order_t)pair->value;
      break;
    case OPTION_MAX_BATCH:
      options->max_batch = small(pair->value);
      break;
    case OPTION_MAX_DELAY:
      options->max_delay = pair->value;
      break;
    case OPTION_MIN_SAVING:
      options->min_saving = pair->value;
      break;
    case OPTION_MAX_BATCH_TIME:
      options->max_batch_time = pair->value;
      break;
    case OPTION_THRESHOLD:
      options->threshold = small(pair->value);
      break;
    case OPTION_HOLD:
      options->hold = (uv_batch_hold_t)pair->value;
      break;
    case OPTION_MAX_QUEUE:
      options->max_queue = small(pair->value);
      break;
    case OPTION_MAX_QUEUE_BYTES:
      options->max_queue_bytes = large(pair->value);
      break;
    default:
      options->max_deferral = pair->value;
  }
}

/* A combined event is known by the ID of the newer one: there is nothing to do. */
static int merge(uv_batch_t* batch, const uv_batch_event_t* older, uv_batch_event_t* newer) {
  vector_run_t* run = ((vector_event_t*)newer)->run;
  if (batch != &run->batch || older->type != newer->type || older->key_size != newer->key_size ||
      memcmp(older->key, newer->key, older->key_size) != 0) {
    fault(run, "a merge got another batch, or events of different types or keys");
  }
  return 0;
}

static int fail_to_merge(uv_batch_t* batch, const uv_batch_event_t* older, uv_batch_event_t* newer) {
  merge(batch, older, newer);
  /* Nothing of this is to last. */
  newer->size = UINT64_MAX;
  return UV_EIO;
}

static void change_type(uv_batch_type_options_t* options, const vector_pair_t* pair) {
  switch (pair->key) {
    case TYPE_OPTION_PRIORITY:
      options->priority = (int)pair->value;
      break;
    case TYPE_OPTION_MAX_BATCH:
      options->max_batch = small(pair->value);
      break;
    case TYPE_OPTION_RETAIN:
      options->retain = (uv_batch_retain_t)pair->value;
      break;
    case TYPE_OPTION_RETAIN_MAX:
      options->retain_max = small(pair->value);
      break;
    case TYPE_OPTION_RETAIN_MAX_BYTES:
      options->retain_max_bytes = large(pair->value);
      break;
    case TYPE_OPTION_MERGE:
      options->merge = (int)pair->value == MERGE_OFF ? NULL : (int)pair->value == MERGE_ON ? merge : fail_to_merge;
      break;
    default:
      options->retain_max_age = pair->value;
  }
}

/* The message of a check begins with the option's name. */
static void out_invalid(vector_run_t* run, const char* message) {
  char name[32];
  size_t size = strspn(message, "abcdefghijklmnopqrstuvwxyz_");
  snprintf(name, sizeof(name), "%.*s", (int)size, message);
  int key = vector_find_key(vector_options, name);
  int type_key = vector_find_key(vector_type_options, name);
  if (key < 0 && type_key < 0) fault(run, "the message of a check does not begin with the name of an option");
  vector_statement_t* outcome = out(run, VECTOR_REFUSED);
  outcome->key = key >= 0 ? vector_options[key].name : type_key >= 0 ? vector_type_options[type_key].name : "?";
  outcome->choice = VECTOR_INVALID;
  run->invalid++;
}

static void set(vector_run_t* run, const vector_statement_t* statement) {
  char message[512] = "";
  uv_batch_options_t options = run->options;
  if (!run->closed && uv_batch_get(&run->batch, &options) != 0) fault(run, "the options are not told");
  for (size_t i = 0; i < statement->pair_count; i++) change(&options, &statement->pairs[i]);
  if (uv_batch_options_check(&options, message, sizeof(message)) != 0) {
    if (!run->closed && uv_batch_set(&run->batch, &options) != UV_EINVAL) fault(run, "options out of range were set");
    out_invalid(run, message);
    return;
  }
  if (run->closed) return;
  bool closing = uv_batch_is_closing(&run->batch);
  int status = uv_batch_set(&run->batch, &options);
  if (status != 0 && !(closing && status == UV_ESHUTDOWN)) fault(run, "options were not set");
}

static void set_type(vector_run_t* run, vector_type_t* type, const vector_statement_t* statement) {
  char message[512] = "";
  uv_batch_type_options_t options = type->options;
  for (size_t i = 0; i < statement->pair_count; i++) change_type(&options, &statement->pairs[i]);
  if (uv_batch_type_options_check(&options, message, sizeof(message)) != 0) {
    if (!run->closed && uv_batch_set_type(&run->batch, type->number, &options) != UV_EINVAL) {
      fault(run, "options of a type that are out of range were set");
    }
    out_invalid(run, message);
    return;
  }
  type->options = options;
  if (run->closed) return;
  bool closing = uv_batch_is_closing(&run->batch);
  int status = uv_batch_set_type(&run->batch, type->number, &options);
  if (status != 0 && !(closing && status == UV_ESHUTDOWN)) fault(run, "options of a type were not set");
}

static void give_rate(vector_run_t* run, int type, double rate) {
  uvb__types_get(&uvb__core(&run->batch)->types, run->types[type].number)->given_rate = rate;
}

static void give_signals(vector_run_t* run, const vector_statement_t* statement) {
  if (statement->type >= 0) {
    give_rate(run, statement->type, statement->pairs[0].value);
    return;
  }
  for (size_t i = 0; i < statement->pair_count; i++) {
    const vector_pair_t* pair = &statement->pairs[i];
    run->given[pair->key] = pair->value;
    /* A rate for all is for those, too, that have been given one of their own. */
    for (size_t type = 0; pair->key == SIGNAL_RATE && type < run->vector->type_count; type++) {
      give_rate(run, (int)type, NAN);
    }
  }
  uvb__core(&run->batch)->advisor.given = (uvb__signals_t){
      .utilization = run->given[SIGNAL_UTILIZATION],
      .rate = run->given[SIGNAL_RATE],
      .total = run->given[SIGNAL_TOTAL],
      .batch_cost = run->given[SIGNAL_BATCH_COST],
      .event_cost = NAN,
      .hold_cost = run->given[SIGNAL_HOLD_COST],
      .saving = run->given[SIGNAL_SAVING],
      .slowdown = run->given[SIGNAL_SLOWDOWN],
  };
}

/* ---- beginning and end ---- */

static void on_closed(uv_batch_t* batch, const uv_batch_stats_t* stats) {
  vector_run_t* run = batch->data;
  if (run->closed) fault(run, "a close callback ran twice");
  run->closed = true;
  run->last = *stats;
  run->hold_at = run->expiry_at = none;
  run->scheduled = false;
  /* From here on they are ours, without uv_batch_off(). */
  for (size_t i = 0; i < run->vector->type_count; i++) unhandle(run, &run->types[i]);
}

static void close_queue(vector_run_t* run, bool discard) {
  if (run->closed) return;
  uv_batch_estimate(&run->batch, 0, &run->last_estimate);
  int status = uv_batch_close(&run->batch, discard ? UV_BATCH_DISCARD : 0, on_closed);
  if (status != 0 && status != UV_EALREADY) fault(run, "close failed");
}

static void start(vector_run_t* run) {
  run->observer = (uvb__observer_t){run, on_batch, on_hold, on_held, on_replayed};
  run->started = true;
  run->options.error_cb = on_error;
  if (uvb__init(&run->batch, NULL, &run->host, &run->options) != 0) {
    fputs("the engine did not start\n", stderr);
    exit(2);
  }
  run->batch.data = run;
  uvb__core(&run->batch)->observer = &run->observer;
  for (size_t i = 0; i < run->vector->type_count; i++) {
    vector_type_t* type = &run->types[i];
    type->number = uv_batch_type(&run->batch, run->vector->types[i]);
    if (type->number <= 0 || uv_batch_get_type(&run->batch, type->number, &type->options) != 0) {
      fprintf(stderr, "no type was made for '%s'\n", run->vector->types[i]);
      exit(2);
    }
    handle(run, type);
  }
}

static void configure(vector_run_t* run, const vector_statement_t* statement) {
  char message[512] = "";
  uv_batch_options_t options = run->options;
  for (size_t i = 0; i < statement->pair_count; i++) change(&options, &statement->pairs[i]);
  if (uv_batch_options_check(&options, message, sizeof(message)) != 0) out_invalid(run, message);
  else run->options = options;
  start(run);
}

void vector_run_init(vector_run_t* run, const vector_t* vector, bool frees_events) {
  memset(run, 0, sizeof(*run));
  run->host.now = run->host.clock = host_now;
  run->host.schedule = host_schedule;
  run->host.arm = host_arm;
  run->host.arm_expiry = host_arm_expiry;
  run->host.load = host_load;
  run->host.hold_cost = 0.05;
  run->hold_at = run->expiry_at = none;
  uvb__utilization_init(&run->window, 0);
  run->vector = vector;
  run->frees_events = frees_events;
  uv_batch_options_init(&run->options);
  for (int i = 0; i < SIGNALS; i++) run->given[i] = NAN;
  run->types = checked(calloc(vector->type_count + 1, sizeof(*run->types)));
  run->ids = checked(calloc(vector->id_count + 1, sizeof(*run->ids)));
}

static void add_act(vector_id_t* id, const vector_statement_t* act) {
  id->acts = checked(realloc(id->acts, (id->act_count + 1) * sizeof(*id->acts)));
  id->acts[id->act_count++] = act;
}

void vector_run_do(vector_run_t* run, const vector_statement_t* statement) {
  if (!run->started && statement->word != VECTOR_CONFIG) start(run);
  switch (statement->word) {
    case VECTOR_CONFIG:
      configure(run, statement);
      break;
    case VECTOR_AT:
      wait_until(run, statement->time);
      if (statement->inner != NULL) vector_run_do(run, statement->inner);
      break;
    case VECTOR_ADVANCE:
      wait_until(run, run->time + statement->time);
      break;
    case VECTOR_BUSY:
      pass(run, statement->time, true);
      break;
    case VECTOR_PUSH:
      push(run, statement);
      break;
    case VECTOR_TURN:
      /* A loop would not call the engine either if it had not asked. */
      if (!run->scheduled) break;
      run->scheduled = false;
      uvb__turn(&run->batch);
      break;
    case VECTOR_HANDLE:
      handle(run, &run->types[statement->type]);
      break;
    case VECTOR_UNHANDLE:
      unhandle(run, &run->types[statement->type]);
      break;
    case VECTOR_CANCEL:
      cancel(run, statement->id);
      break;
    case VECTOR_FAIL:
      run->ids[statement->id].failing = true;
      break;
    case VECTOR_FROM:
      add_act(&run->ids[statement->id], statement->inner);
      break;
    case VECTOR_SIGNAL:
      if (!run->closed) give_signals(run, statement);
      break;
    case VECTOR_SET:
      if (statement->type < 0) set(run, statement);
      else set_type(run, &run->types[statement->type], statement);
      break;
    case VECTOR_FLUSH:
      if (!run->closed && uv_batch_flush(&run->batch) != 0 && !uv_batch_is_closing(&run->batch)) {
        fault(run, "flush failed");
      }
      break;
    case VECTOR_CLOSE:
      close_queue(run, statement->choice == 1);
      break;
    default:
      fault(run, "no operation");
  }
}

void vector_run_stats(vector_run_t* run, double stats[STATS]) {
  uv_batch_stats_t got;
  memset(stats, 0, STATS * sizeof(*stats));
  if (!run->started) return;
  int status = uv_batch_stats(&run->batch, &got);
  if (status != (run->closed ? UV_ESHUTDOWN : 0)) fault(run, "no stats are told, or those of a queue that is over");
  if (status != 0) got = run->last;
  stats[STAT_QUEUED] = (double)got.queued;
  stats[STAT_BYTES] = (double)got.bytes;
  stats[STAT_PUSHED] = (double)got.pushed;
  stats[STAT_DELIVERED] = (double)got.delivered;
  stats[STAT_BATCHES] = (double)got.batches;
  stats[STAT_CANCELLED] = (double)got.cancelled;
  stats[STAT_ERRORS] = (double)got.errors;
  stats[STAT_UNHANDLED] = (double)got.unhandled;
  stats[STAT_RETAINED] = (double)got.retained;
  stats[STAT_RETAINED_BYTES] = (double)got.retained_bytes;
  stats[STAT_HELD] = (double)got.held;
  stats[STAT_REPLAYED] = (double)got.replayed;
  stats[STAT_EXPIRED] = (double)got.expired;
  stats[STAT_SUPERSEDED] = (double)got.superseded;
  for (int class = 0; class < 3; class++) {
    stats[STAT_DEPTH + class] = (double)got.depth[class];
    stats[STAT_WAIT + class] = got.worst_wait[class];
  }
  for (int trigger = 0; trigger < UV_BATCH_TRIGGERS; trigger++) {
    stats[STAT_TRIGGER + trigger] = (double)got.trigger[trigger];
  }
  stats[STAT_REFUSED + VECTOR_OVERLOADED] = (double)got.refused_overloaded;
  stats[STAT_REFUSED + VECTOR_CLOSED] = (double)got.refused_closed;
  stats[STAT_REFUSED + VECTOR_CANCELLED] = (double)got.refused_cancelled;
  stats[STAT_REFUSED + VECTOR_RETENTION] = (double)got.refused_retention;
  stats[STAT_REFUSED + VECTOR_ALREADY] = (double)run->already;
  stats[STAT_REFUSED + VECTOR_INVALID] = (double)run->invalid;
}

void vector_run_estimate(vector_run_t* run, int type, double estimates[ESTIMATES]) {
  uv_batch_estimate_t got;
  memset(estimates, 0, ESTIMATES * sizeof(*estimates));
  if (!run->started) return;
  int status = uv_batch_estimate(&run->batch, type < 0 ? UV_BATCH_NETWORK : run->types[type].number, &got);
  if (status != (run->closed ? UV_ESHUTDOWN : 0)) fault(run, "no estimate is told, or that of a queue that is over");
  if (status != 0) got = run->last_estimate;
  if (type >= 0) {
    estimates[0] = got.rate;
    return;
  }
  estimates[SIGNAL_UTILIZATION] = got.utilization;
  estimates[SIGNAL_TOTAL] = got.total;
  estimates[SIGNAL_BATCH_COST] = got.batch_cost;
  estimates[ESTIMATE_EVENT_COST] = got.event_cost;
  estimates[SIGNAL_HOLD_COST] = got.hold_cost;
  estimates[ESTIMATE_LIMIT] = got.limit;
  estimates[SIGNAL_SAVING] = isnan(got.saving) ? 0 : got.saving;
  estimates[SIGNAL_SLOWDOWN] = got.slowdown;
}

void vector_run_end(vector_run_t* run) {
  if (!run->started) return;
  close_queue(run, true);
  if (!run->closed) fault(run, "a close outside all handlers is not over when it returns");
  if (run->taken != run->ended) fault(run, "an event that was taken is not over after the close");
}

void vector_run_free(vector_run_t* run) {
  vector_log_clear(&run->log);
  free(run->log.all);
  for (size_t i = 0; i < run->vector->id_count; i++) {
    free(run->ids[i].event);
    free(run->ids[i].acts);
  }
  free(run->ids);
  free(run->types);
}
