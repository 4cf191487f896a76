/* A queue on a real loop whose callbacks write what happens into one line, so that a test reads as a story: "Xa" is
 * handler X that gets event a, "a:ok" the end of a. Events are allocated, and freed by their callbacks, so a sanitizer
 * sees each use of one that is over. */
#ifndef BATCH_FIXTURE_H
#define BATCH_FIXTURE_H

#include <stdarg.h>

#include "failing_allocator.h"
#include "test.h"
#include "uv_batch.h"

static uv_loop_t loop;
static uv_batch_t batch;
static uv_batch_options_t options;
static uv_batch_handler_t handlers[128]; /* by name */
static int closed;
static uv_batch_stats_t last; /* of a queue that is closed */

static char story[8192];
static size_t story_length;

/* Of events, by name. */
static uv_batch_event_t* event_of[128];
static int ends[128];
static int last_status[128];
static int fails_with[128];                      /* what a handler returns for it */
static void (*while_handled[128])(void);         /* what its handlers do */
static void (*when_over[128])(void);             /* what its callback does, before it frees the event */
static uv_batch_event_t* given_back[128];        /* its callback leaves it here in place of freeing it */
static int keeps[128];
static const char* keys[128];
static long live_events;

static inline void note(const char* format, ...) {
  va_list arguments;
  if (story_length >= sizeof(story)) return;
  va_start(arguments, format);
  int added = vsnprintf(story + story_length, sizeof(story) - story_length, format, arguments);
  va_end(arguments);
  story_length += (size_t)added;
}

/* Events since the last call. */
static inline void expect_at(int line, const char* expected) {
  size_t length = story_length < sizeof(story) ? story_length : sizeof(story) - 1;
  if (length > 0 && story[length - 1] == ' ') length--;
  story[length] = '\0';
  if (strcmp(story, expected) != 0) {
    fprintf(stderr, "line %d: expected '%s', got '%s'\n", line, expected, story);
    exit(1);
  }
  story_length = 0;
}
#define expect(expected) expect_at(__LINE__, expected)

static inline int name_of(const uv_batch_event_t* event) {
  return (int)(intptr_t)event->data;
}

static inline const char* word_of(int status) {
  switch (status) {
    case 0: return "ok";
    case UV_ECANCELED: return "cancelled";
    case UV_ETIMEDOUT: return "expired";
    case UV_ENOENT: return "unhandled";
    case UV_ENOBUFS: return "noroom";
    default: return "failed";
  }
}

static inline void is_over(uv_batch_t* from, uv_batch_event_t* event, int status) {
  int name = name_of(event);
  CHECK(from == &batch);
  CHECK(event == event_of[name]);
  CHECK(event->status >= UV_BATCH_STATUS_COMPLETED);
  note("%c:%s ", name, event->status == UV_BATCH_STATUS_SUPERSEDED ? "superseded" : word_of(status));
  ends[name]++;
  last_status[name] = status;
  event_of[name] = NULL;
  live_events--;
  if (when_over[name] != NULL) when_over[name]();
  if (keeps[name]) given_back[name] = event;
  else free(event);
}

static inline uv_batch_event_t* make(int type, int name) {
  uv_batch_event_t* event = malloc(sizeof(*event));
  CHECK(event != NULL);
  memset(event, 0xa5, sizeof(*event));
  uv_batch_event_init(event, type, (void*)(intptr_t)name);
  event->callback = is_over;
  event->key = keys[name];
  event->key_size = keys[name] == NULL ? 0 : (uint32_t)strlen(keys[name]);
  return event;
}


static inline int push(int type, int name) {
  uv_batch_event_t* event = make(type, name);
  event_of[name] = event;
  live_events++;
  int status = uv_batch_push(&batch, event);
  if (status != 0) {
    event_of[name] = NULL;
    live_events--;
    free(event);
  }
  return status;
}

/* One event of the type for each letter. */
static inline void push_all(int type, const char* names) {
  for (; *names != '\0'; names++) CHECK_EQ(push(type, *names), 0);
}

static inline int handle(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  int name = name_of(event);
  note("%c%c ", (int)(handler - handlers), name);
  if (while_handled[name] != NULL) while_handled[name]();
  return fails_with[name];
}

static inline void handle_group(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  size_t seen = 0;
  note("%c[", (int)(handler - handlers));
  for (uv_batch_event_t* event = first; event != NULL; event = event->next, seen++) {
    int name = name_of(event);
    note("%c", name);
    if (fails_with[name] != 0) CHECK_EQ(uv_batch_event_fail(event, fails_with[name]), 0);
  }
  note("] ");
  CHECK_EQ(seen, count);
  if (while_handled[name_of(first)] != NULL) while_handled[name_of(first)]();
}

static inline void on(int name, int type) {
  CHECK_EQ(uv_batch_on(&batch, &handlers[name], type, handle), 0);
}

static inline void on_group(int name, int type) {
  CHECK_EQ(uv_batch_on_group(&batch, &handlers[name], type, handle_group), 0);
}

static inline void off(int name) {
  CHECK_EQ(uv_batch_off(&handlers[name]), 0);
}

static inline void note_error(uv_batch_t* from, uv_batch_event_t* event, int status) {
  CHECK(from == &batch);
  CHECK(status < 0);
  note("!%c ", name_of(event));
}

static inline void note_batch(uv_batch_t* from, const uv_batch_info_t* info) {
  size_t count = 0;
  CHECK(from == &batch);
  note("%s(", uv_batch_trigger_name(info->trigger));
  for (const uv_batch_event_t* event = info->first; event != NULL; event = event->next, count++) {
    note("%c", name_of(event));
  }
  note(") ");
  CHECK_EQ(count, info->count);
}

static inline void note_closed(uv_batch_t* from, const uv_batch_stats_t* stats) {
  CHECK(from == &batch);
  last = *stats;
  closed++;
}

/* `options` as the test has changed them since reset(). */
static inline void start(void) {
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, &options), 0);
}

static inline void reset(void) {
  failing_allocator_install();
  failing_allocator_after(-1);
  CHECK_EQ(live_events, 0);
  memset(handlers, 0, sizeof(handlers));
  memset(event_of, 0, sizeof(event_of));
  memset(ends, 0, sizeof(ends));
  memset(last_status, 0, sizeof(last_status));
  memset(fails_with, 0, sizeof(fails_with));
  memset(while_handled, 0, sizeof(while_handled));
  memset(when_over, 0, sizeof(when_over));
  memset(given_back, 0, sizeof(given_back));
  memset(keeps, 0, sizeof(keeps));
  memset(keys, 0, sizeof(keys));
  memset(&batch, 0, sizeof(batch));
  closed = 0;
  story_length = 0;
  uv_batch_options_init(&options);
  /* However slow the machine is, no event ages. */
  options.max_deferral = 3600000;
}

static inline void run(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
}

/* Ends the test: whatever it has done, nothing is left. */
static inline void stop(void) {
  int status = uv_batch_close(&batch, 0, note_closed);
  CHECK(status == 0 || status == UV_EALREADY);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  if (status == 0) CHECK_EQ(closed, 1);
  CHECK_EQ(uv_loop_close(&loop), 0);
  CHECK_EQ(live_events, 0);
  CHECK_EQ(failing_allocator_live(), 0);
}

static inline uv_batch_stats_t stats(void) {
  uv_batch_stats_t now;
  CHECK_EQ(uv_batch_stats(&batch, &now), 0);
  return now;
}

static inline void retain(int type, uv_batch_retain_t how) {
  uv_batch_type_options_t of_type;
  CHECK_EQ(uv_batch_get_type(&batch, type, &of_type), 0);
  of_type.retain = how;
  CHECK_EQ(uv_batch_set_type(&batch, type, &of_type), 0);
}

static inline void set_policy(uv_batch_policy_t policy) {
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.policy = policy;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
}

#endif
