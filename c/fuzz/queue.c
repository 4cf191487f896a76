/* Operations of every kind, in any order, from outside, from handlers and from the callbacks of events, on the virtual
 * clock of the conformance vectors. Whatever they are: each event that is taken ends once, lanes are first in first
 * out, a batch is HIGH, NORMAL, LOW, counts add up, and what waits has a turn or a timer to wait for. With FUZZ_PRINT
 * set the operations are printed first: those of the grammar as in a vector, others as comments. */
#include "vectors/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { max_statements = 400, max_ids = 250, max_pairs = 3, types = 5, lanes = types * 3 };

static char* type_names[types] = {"network", "chat", "signal", "work", "stream"};

/* Highest bounds of the vectors' options: a batch may leave under older ones than are set. */
typedef struct {
  double batch, queue, bytes, least_deferral;
} extremes_t;

typedef struct {
  uv_batch_handler_t handler;
  vector_run_t* run;
  bool on;
} group_t;

typedef struct {
  vector_run_t run;
  vector_t vector;
  vector_statement_t statements[max_statements];
  vector_pair_t pairs[max_statements][max_pairs];
  size_t used;
  int ids;
  double clock;
  fuzz_bytes_t bytes;
  extremes_t ever;
  uint64_t last_number[lanes];
  uint64_t left; /* events that left in batches */
  uint64_t said[VECTOR_STATS];
  uint64_t refused[VECTOR_CODES];
  bool has_left[max_ids];
  const vector_statement_t* when_failed[max_ids]; /* what the callbacks of events do, each once */
  const vector_statement_t* when_over[max_ids];
  bool again[max_ids]; /* events that are pushed again when they are over */
  group_t groups[types];
  bool print;
} machine_t;

/* ---- what the bytes say ---- */

static vector_statement_t* statement(machine_t* machine, vector_word_t word) {
  vector_statement_t* made = &machine->statements[machine->used];
  memset(made, 0, sizeof(*made));
  made->word = word;
  made->type = made->id = made->choice = -1;
  made->pairs = machine->pairs[machine->used++];
  return made;
}

static int some_id(machine_t* machine) {
  int back = (int)fuzz_below(&machine->bytes, 12);
  return machine->ids > back ? machine->ids - 1 - back : 0;
}

static void add_pair(vector_statement_t* to, int key, double value) {
  for (size_t i = 0; i < to->pair_count; i++) {
    if (to->pairs[i].key == key) return;
  }
  to->pairs[to->pair_count++] = (vector_pair_t){key, value};
}

static void queue_options(machine_t* machine, vector_statement_t* to) {
  fuzz_bytes_t* bytes = &machine->bytes;
  for (size_t count = 1 + fuzz_below(bytes, max_pairs); count > 0; count--) {
    int key = (int)fuzz_below(bytes, OPTIONS);
    double value = fuzz_below(bytes, 16);
    if (key == OPTION_POLICY) value = fmod(value, 3);
    if (key == OPTION_ORDER || key == OPTION_HOLD) value = fmod(value, 2);
    if (key == OPTION_MAX_BATCH && value == 15) value = 1000001;
    if (key == OPTION_MIN_SAVING) value /= 8;
    if (key == OPTION_MAX_QUEUE_BYTES) value *= 10;
    if (key == OPTION_MAX_BATCH) machine->ever.batch = fmax(machine->ever.batch, value > 1000000 ? 0 : value);
    if (key == OPTION_MAX_QUEUE) machine->ever.queue = fmax(machine->ever.queue, value);
    if (key == OPTION_MAX_QUEUE_BYTES) machine->ever.bytes = fmax(machine->ever.bytes, value);
    if (key == OPTION_MAX_DEFERRAL) machine->ever.least_deferral = fmin(machine->ever.least_deferral, value);
    add_pair(to, key, value);
  }
}

static void type_options(machine_t* machine, vector_statement_t* to) {
  fuzz_bytes_t* bytes = &machine->bytes;
  for (size_t count = 1 + fuzz_below(bytes, max_pairs); count > 0; count--) {
    int key = (int)fuzz_below(bytes, TYPE_OPTIONS);
    double value = fuzz_below(bytes, 16);
    if (key == TYPE_OPTION_PRIORITY || key == TYPE_OPTION_RETAIN || key == TYPE_OPTION_MERGE) value = fmod(value, 3);
    if (key == TYPE_OPTION_RETAIN_MAX_BYTES) value *= 5;
    add_pair(to, key, value);
  }
}

static void signals(machine_t* machine, vector_statement_t* to) {
  static const double values[SIGNALS][4] = {
      [SIGNAL_UTILIZATION] = {0, 0.7, 0.8, 1}, [SIGNAL_TOTAL] = {0, 0.01, 1, 5},
      [SIGNAL_BATCH_COST] = {0, 0.05, 1, 5},   [SIGNAL_HOLD_COST] = {0, 0.05, 0.1, 1},
      [SIGNAL_SAVING] = {-1, 0, 0.02, 1},      [SIGNAL_SLOWDOWN] = {0, 0.05, 0.06, 1},
      [SIGNAL_RATE] = {0, 0.01, 1, 5},
  };
  fuzz_bytes_t* bytes = &machine->bytes;
  if (fuzz_below(bytes, 4) == 0) {
    to->type = (int)fuzz_below(bytes, types);
    add_pair(to, 0, values[SIGNAL_RATE][fuzz_below(bytes, 4)]);
    return;
  }
  for (size_t count = 1 + fuzz_below(bytes, max_pairs); count > 0; count--) {
    int key = (int)fuzz_below(bytes, SIGNALS);
    add_pair(to, key, values[key][fuzz_below(bytes, 4)]);
  }
}

static void push_of(machine_t* machine, vector_statement_t* to) {
  fuzz_bytes_t* bytes = &machine->bytes;
  unsigned how = fuzz_byte(bytes);
  to->type = (int)(how % types);
  to->id = machine->ids++;
  to->choice = how < 60 ? (int)(how % 3) : -1;
  to->bytes = how & 64 ? how % 30 : 0;
  if (how >= 192) to->key = how & 1 ? "k" : "l";
}

static const vector_word_t handler_words[] = {VECTOR_PUSH,   VECTOR_CANCEL,   VECTOR_FLUSH, VECTOR_SET,
                                              VECTOR_HANDLE, VECTOR_UNHANDLE, VECTOR_BUSY,  VECTOR_CLOSE};

static void fill(machine_t* machine, vector_statement_t* to) {
  fuzz_bytes_t* bytes = &machine->bytes;
  switch (to->word) {
    case VECTOR_CONFIG:
      queue_options(machine, to);
      break;
    case VECTOR_AT:
    case VECTOR_ADVANCE:
    case VECTOR_BUSY:
      to->time = fuzz_byte(bytes) / 8.0;
      machine->clock += to->time;
      if (to->word == VECTOR_AT) to->time = machine->clock;
      break;
    case VECTOR_PUSH:
      push_of(machine, to);
      break;
    case VECTOR_HANDLE:
    case VECTOR_UNHANDLE:
      to->type = (int)fuzz_below(bytes, types);
      break;
    case VECTOR_CANCEL:
    case VECTOR_FAIL:
      to->id = some_id(machine);
      break;
    case VECTOR_FROM: {
      to->id = some_id(machine);
      unsigned kind = fuzz_below(bytes, 16);
      vector_word_t inner = handler_words[kind < 7 ? kind : kind < 15 ? kind % 5 : 7];
      if (inner == VECTOR_PUSH && machine->ids == max_ids) inner = VECTOR_FLUSH;
      to->inner = statement(machine, inner);
      fill(machine, to->inner);
      break;
    }
    case VECTOR_SIGNAL:
      signals(machine, to);
      break;
    case VECTOR_SET:
      if (fuzz_below(bytes, 2) == 0) {
        queue_options(machine, to);
      } else {
        to->type = (int)fuzz_below(bytes, types);
        type_options(machine, to);
      }
      break;
    case VECTOR_CLOSE:
      to->choice = (int)fuzz_below(bytes, 2);
      break;
    default:
      break;
  }
}

/* ---- printing ---- */

static void print(const machine_t* machine, const vector_statement_t* said) {
  const vector_key_t* keys = said->word == VECTOR_SIGNAL ? vector_signals : vector_options;
  if (said->type >= 0) keys = said->word == VECTOR_SIGNAL ? vector_type_signals : vector_type_options;
  fputs(vector_words[said->word], stderr);
  if (said->word >= VECTOR_AT && said->word <= VECTOR_BUSY) fprintf(stderr, " %.10g", said->time);
  if (said->type >= 0) fprintf(stderr, " %s", type_names[said->type]);
  if (said->id >= 0) fprintf(stderr, " e%d", said->id);
  if (said->word == VECTOR_PUSH && said->choice >= 0) fprintf(stderr, " %s", vector_classes[said->choice]);
  if (said->bytes > 0) fprintf(stderr, " bytes=%.10g", said->bytes);
  if (said->key != NULL) fprintf(stderr, " key=%s", said->key);
  if (said->word == VECTOR_CLOSE && said->choice == 1) fputs(" discard", stderr);
  for (size_t i = 0; i < said->pair_count; i++) {
    const vector_key_t* key = &keys[said->pairs[i].key];
    fprintf(stderr, " %s=", key->name);
    if (key->kind == VECTOR_A_WORD) fputs(key->words[(int)said->pairs[i].value], stderr);
    else fprintf(stderr, "%.10g", said->pairs[i].value);
  }
  if (said->inner != NULL) {
    fputc(' ', stderr);
    print(machine, said->inner);
    return;
  }
  fputc('\n', stderr);
}

/* ---- what must hold ---- */

/* The highest class that an event may count as. */
static int highest_of(const machine_t* machine, const uv_batch_info_t* info, const uv_batch_event_t* event) {
  int level = ((const vector_event_t*)event)->level;
  for (int n = 1; n <= 2; n++) {
    if (level > UV_BATCH_PRIORITY_HIGH && info->time - event->timestamp >= n * machine->ever.least_deferral) level--;
  }
  return level;
}

/* An event that may have aged can stand in several places: as little has been reached as its age and those behind it
 * allow. */
static void check_order(machine_t* machine, const uv_batch_info_t* info) {
  int reached = UV_BATCH_PRIORITY_HIGH;
  for (const uv_batch_event_t* event = info->first; event != NULL; event = event->next) {
    int level = ((const vector_event_t*)event)->level;
    HOLDS(level >= reached, "a batch is what counts as HIGH, then as NORMAL, then as LOW");
    int highest = highest_of(machine, info, event);
    if (highest > reached) reached = highest;
  }
}

static int type_of(const vector_run_t* run, const uv_batch_event_t* event) {
  int type = 0;
  while (type < types - 1 && run->types[type].number != event->type) type++;
  return type;
}

static void on_batch(vector_run_t* run, const uv_batch_info_t* info) {
  machine_t* machine = run->watcher;
  HOLDS(info->count > 0 && (double)info->count <= machine->ever.batch, "a batch has 1 to max_batch events");
  HOLDS(info->time == run->time, "a batch leaves now");
  check_order(machine, info);
  for (const uv_batch_event_t* event = info->first; event != NULL; event = event->next) {
    const vector_event_t* one = (const vector_event_t*)event;
    uint64_t* last = &machine->last_number[type_of(run, event) * 3 + one->level];
    HOLDS(!machine->has_left[one->id], "an event leaves once");
    machine->has_left[one->id] = true;
    machine->left++;
    /* Under `direct` an event leaves in its push, before those that a switch to it has cut and not handed on yet. */
    if (one == run->pushing) continue;
    HOLDS(one->number > *last, "a lane is first in, first out");
    *last = one->number;
  }
}

/* Counts the events by their states, and their bytes. */
static void count_events(const machine_t* machine, uv_batch_status_t status, double* count, double* bytes) {
  *count = *bytes = 0;
  for (int id = 0; id < machine->ids; id++) {
    const vector_event_t* event = machine->run.ids[id].event;
    if (event == NULL || event->event.status != status) continue;
    (*count)++;
    *bytes += (double)event->event.size;
  }
}

static void count_outcomes(machine_t* machine) {
  vector_log_t* log = &machine->run.log;
  for (size_t i = 0; i < log->count; i++) {
    machine->said[log->all[i].word]++;
    if (log->all[i].word == VECTOR_REFUSED) machine->refused[log->all[i].choice]++;
  }
  vector_log_clear(log);
}

static void check_counts(machine_t* machine, const double* stats) {
  const vector_run_t* run = &machine->run;
  double triggers = 0;
  for (int i = 0; i < UV_BATCH_TRIGGERS; i++) triggers += stats[STAT_TRIGGER + i];
  HOLDS(stats[STAT_BATCHES] == triggers, "each batch has a trigger");
  HOLDS(stats[STAT_BATCHES] == (double)machine->said[VECTOR_EXPECT], "batches are counted");
  HOLDS(stats[STAT_ERRORS] == (double)machine->said[VECTOR_ERROR], "errors are counted");
  HOLDS(stats[STAT_UNHANDLED] == (double)machine->said[VECTOR_UNHANDLED], "unhandled events are counted");
  HOLDS(stats[STAT_HELD] == (double)machine->said[VECTOR_HELD], "held events are counted");
  HOLDS(stats[STAT_REPLAYED] == (double)machine->said[VECTOR_REPLAYED], "replays are counted");
  HOLDS(stats[STAT_EXPIRED] == (double)machine->said[VECTOR_EXPIRED], "expired events are counted");
  HOLDS(stats[STAT_SUPERSEDED] == (double)machine->said[VECTOR_SUPERSEDED], "superseded events are counted");
  for (int i = 0; i < VECTOR_CODES; i++) {
    HOLDS(stats[STAT_REFUSED + i] == (double)machine->refused[i], "refusals are counted");
  }
  double kept = stats[STAT_UNHANDLED] + stats[STAT_HELD] + stats[STAT_REFUSED + VECTOR_RETENTION];
  HOLDS(stats[STAT_DELIVERED] + kept == (double)machine->left, "each event that left was delivered or not");
  HOLDS(stats[STAT_PUSHED] == (double)run->taken, "events that were taken are counted");
  HOLDS(stats[STAT_QUEUED] + stats[STAT_RETAINED] == (double)(run->taken - run->ended),
        "an event that is not over is queued or retained");
}

/* No handler runs now. */
static void check_rest(machine_t* machine) {
  vector_run_t* run = &machine->run;
  double stats[STATS], count, bytes;
  vector_run_stats(run, stats);
  count_outcomes(machine);
  check_counts(machine, stats);
  count_events(machine, UV_BATCH_STATUS_QUEUED, &count, &bytes);
  HOLDS(stats[STAT_QUEUED] == count && stats[STAT_BYTES] == bytes, "what is queued is counted");
  HOLDS(stats[STAT_DEPTH] + stats[STAT_DEPTH + 1] + stats[STAT_DEPTH + 2] == count, "each queued event has a class");
  HOLDS(count <= machine->ever.queue && bytes <= machine->ever.bytes, "a queue keeps its bounds");
  HOLDS(count == 0 || run->scheduled || run->hold_at >= 0, "what is queued has a turn or a timer to wait for");
  HOLDS(count > 0 || run->hold_at < 0, "no timer runs for an empty queue");
  count_events(machine, UV_BATCH_STATUS_RETAINED, &count, &bytes);
  HOLDS(stats[STAT_RETAINED] == count && stats[STAT_RETAINED_BYTES] == bytes, "what is retained is counted");
  HOLDS(count == 0 || run->expiry_at >= 0, "what is retained has a timer for its age");
  if (run->fault != NULL) HOLDS(false, run->fault);
}

/* ---- what the grammar has no word for ---- */

/* Handlers of groups and of batches: some of their events fail, and those do not reach the other handlers. */
static void fail_some(const vector_run_t* run, uv_batch_event_t* first, size_t count) {
  size_t seen = 0;
  for (uv_batch_event_t* event = first; event != NULL; event = event->next, seen++) {
    HOLDS(seen < count && (seen == 0 || event->type == first->type), "a group is of one type, and as long as it says");
    if (run->ids[((vector_event_t*)event)->id].failing) uv_batch_event_fail(event, UV_EIO);
  }
  HOLDS(seen == count, "a group is as long as it says");
}

static void on_group(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  group_t* group = (group_t*)handler;
  HOLDS(group->on && handler->type == first->type, "a handler gets what it is registered for");
  fail_some(group->run, first, count);
  /* Its failure has been told. */
  (void)vector_run_handle(group->run, first);
}

static void on_whole_batch(uv_batch_t* batch, const uv_batch_info_t* info) {
  vector_run_t* run = batch->data;
  for (uv_batch_event_t* event = info->first; event != NULL; event = event->next) {
    if (run->ids[((vector_event_t*)event)->id].failing) uv_batch_event_fail(event, UV_EIO);
  }
  (void)vector_run_handle(run, info->first);
}

static void switch_group(machine_t* machine, int type) {
  group_t* group = &machine->groups[type];
  vector_run_t* run = &machine->run;
  if (uv_batch_is_closing(&run->batch)) return;
  group->run = run;
  int status = group->on ? uv_batch_off(&group->handler)
                         : uv_batch_on_group(&run->batch, &group->handler, run->types[type].number, on_group);
  HOLDS(status == 0, "a handler of groups comes and goes");
  group->on = !group->on;
}

static void do_once(machine_t* machine, const vector_statement_t** act) {
  const vector_statement_t* one = *act;
  *act = NULL;
  if (one != NULL) vector_run_do(&machine->run, one);
}

static void on_failed(vector_run_t* run, vector_event_t* event) {
  machine_t* machine = run->watcher;
  do_once(machine, &machine->when_failed[event->id]);
}

static bool on_over(vector_run_t* run, vector_event_t* event) {
  machine_t* machine = run->watcher;
  int id = event->id;
  /* The event of its key that is being pushed has its place, if their classes are the same. */
  bool superseded = event->event.status == UV_BATCH_STATUS_SUPERSEDED;
  if (superseded && run->pushing->level == event->level) run->pushing->number = event->number;
  do_once(machine, &machine->when_over[id]);
  if (id % 7 == 3 && !run->closed) uv_batch_process(&run->batch);
  if (id % 11 == 5 && !uv_batch_is_closing(&run->batch)) switch_group(machine, id % types);
  if (!machine->again[id] || machine->ids == max_ids) return false;
  /* Its class is the one it had. */
  event->event.priority = (int8_t)event->level;
  return vector_run_push_again(run, event, machine->ids++);
}

/* Acts for the callback of an event that has failed, or is over. */
static void choose_callback(machine_t* machine) {
  static const char* const said[] = {"failed", "over", "again"};
  int id = some_id(machine);
  unsigned when = fuzz_below(&machine->bytes, 3);
  if (machine->print) fprintf(stderr, "# when e%d is %s: ", id, said[when]);
  if (when == 2) {
    machine->again[id] = true;
    if (machine->print) fputc('\n', stderr);
    return;
  }
  vector_statement_t* from = statement(machine, VECTOR_FROM);
  fill(machine, from);
  if (machine->print) print(machine, from->inner);
  (when == 0 ? machine->when_failed : machine->when_over)[id] = from->inner;
}

/* ---- the machine ---- */

static void operate(machine_t* machine, vector_word_t word) {
  vector_statement_t* one = statement(machine, word);
  fill(machine, one);
  if (machine->print) print(machine, one);
  vector_run_do(&machine->run, one);
  check_rest(machine);
}

static void step(machine_t* machine) {
  fuzz_bytes_t* bytes = &machine->bytes;
  unsigned dice = fuzz_byte(bytes);
  if (dice < 90 && machine->ids < max_ids) operate(machine, VECTOR_PUSH);
  else if (dice < 140) operate(machine, VECTOR_TURN);
  else if (dice < 165) operate(machine, VECTOR_FROM);
  else if (dice < 175) operate(machine, VECTOR_ADVANCE);
  else if (dice < 180) operate(machine, VECTOR_AT);
  else if (dice < 185) operate(machine, VECTOR_BUSY);
  else if (dice < 190) operate(machine, VECTOR_FAIL);
  else if (dice < 200) operate(machine, VECTOR_CANCEL);
  else if (dice < 210) operate(machine, VECTOR_HANDLE);
  else if (dice < 220) operate(machine, VECTOR_UNHANDLE);
  else if (dice < 235) operate(machine, VECTOR_SET);
  else if (dice < 239) operate(machine, VECTOR_SIGNAL);
  else if (dice < 244) operate(machine, VECTOR_FLUSH);
  else if (dice < 245) operate(machine, VECTOR_CLOSE);
  else if (dice < 249) choose_callback(machine);
  else {
    if (machine->print) fprintf(stderr, "# %s\n", dice < 252 ? "process" : type_names[dice % types]);
    if (dice >= 252) switch_group(machine, (int)dice % types);
    else if (!machine->run.closed) uv_batch_process(&machine->run.batch);
    check_rest(machine);
  }
}

/* Once the queue is there nothing is allocated any more but for types, which are all known then. */
static bool out_of_memory;
static void* allocate(size_t size) {
  return out_of_memory ? NULL : malloc(size);
}
static void* allocate_zeroed(size_t count, size_t size) {
  return out_of_memory ? NULL : calloc(count, size);
}
static void* reallocate(void* memory, size_t size) {
  return out_of_memory ? NULL : realloc(memory, size);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static char* ids[max_ids];
  static char no_name[] = "";
  for (int i = 0; i < max_ids; i++) ids[i] = no_name;
  uv_batch_replace_allocator(allocate, reallocate, allocate_zeroed, free);

  machine_t* machine = calloc(1, sizeof(*machine));
  if (machine == NULL) return 0;
  machine->bytes = (fuzz_bytes_t){data, size};
  machine->vector = (vector_t){.file = "", .ids = ids, .id_count = max_ids, .types = type_names, .type_count = types};
  machine->ever = (extremes_t){1024, 65536, 67108864, 100};
  machine->print = getenv("FUZZ_PRINT") != NULL;
  machine->ids = 1; /* so that there is always one to name */
  unsigned how = fuzz_byte(&machine->bytes);
  vector_run_t* run = &machine->run;
  vector_run_init(run, &machine->vector, (how & 1) != 0);
  run->watch = on_batch;
  run->failed = on_failed;
  run->over = on_over;
  run->watcher = machine;
  if ((how & 30) == 30) run->options.batch_cb = on_whole_batch;
  operate(machine, VECTOR_CONFIG);
  out_of_memory = (how & 32) != 0;
  while (machine->bytes.left > 0 && machine->used + 3 < max_statements) step(machine);
  vector_run_end(run);
  out_of_memory = false;
  check_rest(machine);
  vector_run_free(run);
  free(machine);
  return 0;
}
