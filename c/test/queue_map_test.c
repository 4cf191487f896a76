/* The queue-map against a naive model of conformance/README.md, "Taking a batch": arrays, and a scan for each event. */
#include "queue.h"

#include <math.h>

#include "failing_allocator.h"
#include "test.h"

enum { pool_size = 256, type_count = 14 };

typedef struct {
  uv_batch_event_t event; /* first, so that a pointer to it is one to this */
  bool queued;
  bool chosen;
} item_t;

static item_t pool[pool_size];
static uvb__queue_t queue;
static uvb__types_t types;
static uint64_t seq;
static double now;

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 33) % limit;
}

/* ---- the model */

static item_t* waiting[pool_size]; /* in the order of arrival */
static size_t waiting_count;
static uint32_t normal_since_low;

typedef struct {
  bool by_type;
  double now, deferral;
  /* The lanes that are being taken: a type, 0: none; HIGH and NORMAL with their own class. */
  int type[uvb__levels];
  int level[uvb__levels];
} choice_t;

/* The class that an event counts as. */
static int counts_as(const choice_t* choice, const item_t* item) {
  int level = item->event.level_;
  for (int n = 1; n <= 2; n++) {
    if (level > uvb__high && item->event.timestamp <= choice->now - n * choice->deferral) level--;
  }
  return level;
}

/* The oldest event of a lane: of all types when `type` is 0. */
static item_t* lane_head(int level, int type) {
  for (size_t i = 0; i < waiting_count; i++) {
    item_t* item = waiting[i];
    if (!item->chosen && item->event.level_ == level && (type == 0 || item->event.type == type)) return item;
  }
  return NULL;
}

/* The next event that counts as HIGH or as NORMAL. */
static item_t* next_of(choice_t* choice, int level) {
  if (choice->by_type && choice->type[level] != 0) {
    item_t* item = lane_head(choice->level[level], choice->type[level]);
    if (item != NULL && counts_as(choice, item) == level) return item;
  }
  for (size_t i = 0; i < waiting_count; i++) {
    item_t* item = waiting[i];
    if (item->chosen || counts_as(choice, item) != level) continue;
    choice->type[level] = item->event.type;
    choice->level[level] = item->event.level_;
    return item;
  }
  return NULL;
}

static item_t* next_low(choice_t* choice) {
  if (!choice->by_type) {
    item_t* item = lane_head(uvb__low, 0);
    return item != NULL && counts_as(choice, item) < uvb__low ? NULL : item;
  }
  if (choice->type[uvb__low] != 0) {
    item_t* item = lane_head(uvb__low, choice->type[uvb__low]);
    if (item != NULL) return item;
  }
  for (size_t i = 0; i < waiting_count; i++) {
    item_t* item = waiting[i];
    if (item->chosen || item->event.level_ != uvb__low || lane_head(uvb__low, item->event.type) != item) continue;
    if (counts_as(choice, item) < uvb__low) continue;
    choice->type[uvb__low] = item->event.type;
    return item;
  }
  return NULL;
}

static size_t model_take(item_t** batch, uint32_t limit, double deferral) {
  item_t* lows[pool_size];
  size_t count = 0, low_count = 0;
  uint32_t of_type[type_count + 1] = {0};
  bool cut = waiting_count > limit;
  choice_t choice = {.by_type = queue.by_type, .now = now, .deferral = deferral};
  while (count + low_count < limit) {
    item_t* high = next_of(&choice, uvb__high);
    item_t* normal = high == NULL ? next_of(&choice, uvb__normal) : NULL;
    bool asks_low = high == NULL && (normal == NULL || (cut && normal_since_low == 8));
    item_t* low = asks_low ? next_low(&choice) : NULL;
    item_t* item = high != NULL ? high : low != NULL ? low : normal;
    if (item == NULL) break;
    if (of_type[item->event.type]++ == types.all[item->event.type]->options.max_batch) break;
    item->chosen = true;
    if (item == low) lows[low_count++] = item;
    else batch[count++] = item;
    if (item == low) normal_since_low = 0;
    else if (item == normal && normal_since_low < 8) normal_since_low++;
  }
  for (size_t i = 0; i < low_count; i++) batch[count++] = lows[i];
  size_t left = 0;
  for (size_t i = 0; i < waiting_count; i++) {
    if (!waiting[i]->chosen) waiting[left++] = waiting[i];
  }
  waiting_count = left;
  return count;
}

/* ---- both, side by side */

static void start(bool by_type) {
  failing_allocator_install();
  failing_allocator_after(-1);
  CHECK_EQ(uvb__types_init(&types), 0);
  for (int i = uvb__builtin_types + 1; i <= type_count; i++) {
    char name[16];
    snprintf(name, sizeof(name), "type%d", i);
    CHECK_EQ(uvb__types_number(&types, name), i);
  }
  uvb__queue_init(&queue, by_type);
  memset(pool, 0, sizeof(pool));
  waiting_count = 0;
  normal_since_low = 0;
  seq = 0;
  now = 0;
}

static void stop(void) {
  uvb__types_free(&types);
  CHECK_EQ(failing_allocator_live(), 0);
}

static item_t* push(item_t* item, int type, int level, uint64_t size) {
  item->event.type = type;
  item->event.level_ = (uint8_t)level;
  item->event.size = size;
  item->event.seq_ = ++seq;
  item->event.timestamp = now;
  item->queued = true;
  item->chosen = false;
  waiting[waiting_count++] = item;
  uvb__queue_push(&queue, types.all[type], &item->event);
  return item;
}

static void withdraw(size_t at) {
  item_t* item = waiting[at];
  memmove(&waiting[at], &waiting[at + 1], (--waiting_count - at) * sizeof(waiting[0]));
  item->queued = false;
  uvb__queue_remove(&queue, types.all[item->event.type], &item->event);
}

/* Takes a batch from both and compares them. */
static size_t take(uint32_t limit, double deferral) {
  item_t* expected[pool_size];
  double oldest[uvb__levels] = {-1, -1, -1};
  size_t count = model_take(expected, limit, deferral);
  uvb__chain_t batch = uvb__queue_take(&queue, &types, limit, now, deferral);
  CHECK_EQ(batch.count, count);
  const uv_batch_event_t* event = batch.first;
  for (size_t i = 0; i < count; i++, event = event->next) {
    CHECK(event != NULL);
    CHECK_EQ(event->seq_, expected[i]->event.seq_);
    CHECK(!uvb__queue_has(&queue, event));
    double* first = &oldest[event->level_];
    if (*first < 0 || event->timestamp < *first) *first = event->timestamp;
    expected[i]->queued = false;
  }
  CHECK(event == NULL);
  for (int level = 0; level < uvb__levels; level++) CHECK(queue.taken[level] == oldest[level]);
  return count;
}

static void compare(void) {
  uint64_t bytes = 0;
  uint32_t depth[uvb__levels] = {0}, of_type[type_count + 1] = {0}, full = 0;
  for (size_t i = 0; i < waiting_count; i++) {
    bytes += waiting[i]->event.size;
    depth[waiting[i]->event.level_]++;
    of_type[waiting[i]->event.type]++;
    CHECK(uvb__queue_has(&queue, &waiting[i]->event));
  }
  CHECK_EQ(queue.count, waiting_count);
  CHECK_EQ(queue.bytes, bytes);
  for (int level = 0; level < uvb__levels; level++) CHECK_EQ(queue.depth[level], depth[level]);
  for (int type = 1; type <= type_count; type++) {
    CHECK_EQ(types.all[type]->count, of_type[type]);
    if (of_type[type] >= types.all[type]->options.max_batch) full++;
  }
  CHECK_EQ(queue.full_types, full);
  const uv_batch_event_t* oldest = uvb__queue_oldest(&queue);
  CHECK(oldest == (waiting_count == 0 ? NULL : &waiting[0]->event));
}

/* Types with queued events, as the policy walks them. */
static void compare_types(void) {
  size_t listed = 0, queued = 0;
  for (const uvb__type_t* type = queue.first_queued; type != NULL; type = type->next_queued) listed++;
  for (int type = 1; type <= type_count; type++) queued += types.all[type]->count > 0;
  CHECK_EQ(listed, queued);
}

static item_t* unused(void) {
  uint32_t at = random_below(pool_size);
  while (pool[at].queued) at = (at + 1) % pool_size;
  return &pool[at];
}

static const double deferrals[] = {0, 1, 3, 20, HUGE_VAL};

static void drain(void) {
  double deferral = deferrals[random_below(5)];
  uint32_t limit = 1 + random_below(40);
  while (waiting_count > 0) {
    if (random_below(2) == 0) withdraw(random_below((uint32_t)waiting_count));
    else CHECK(take(limit, deferral) > 0);
  }
}

/* Changes the rate of pushes from time to time, so that the queue is empty, short and full in turn. */
static void step(uint32_t* eagerness) {
  uint32_t what = random_below(1000);
  if (what < 3) *eagerness = 350 + random_below(500);
  if (what >= 900) now += random_below(3);
  if (random_below(1000) < *eagerness) {
    if (waiting_count == pool_size) return;
    int level = (int)random_below(10);
    level = level == 0 ? uvb__high : level < 6 ? uvb__normal : uvb__low;
    push(unused(), 1 + (int)random_below(type_count), level, random_below(100));
  } else if (what < 300) {
    if (waiting_count > 0) withdraw(random_below((uint32_t)waiting_count));
  } else if (what < 400) {
    take(1 + random_below(what < 350 ? 8 : pool_size), deferrals[random_below(5)]);
  } else if (what < 420) {
    uint32_t limit = random_below(3) == 0 ? 1 + random_below(6) : UV_BATCH_NO_LIMIT;
    uvb__queue_limit_type(&queue, types.all[1 + random_below(type_count)], limit);
  } else if (what < 423) {
    drain();
    uvb__queue_reorder(&queue, !queue.by_type);
  }
}

static void run_random(bool by_type, uint64_t seed) {
  start(by_type);
  random_state = seed;
  uint32_t eagerness = 500;
  failing_allocator_after(1000);
  for (int i = 0; i < 100000; i++) {
    step(&eagerness);
    compare();
    if (i % 64 == 0) compare_types();
  }
  drain();
  compare();
  /* None of that has asked for memory. */
  CHECK_EQ(atomic_load(&failing_allocator_left), 1000);
  stop();
}

TEST(a_hundred_thousand_random_steps_from_order_arrival_are_as_the_model_says) {
  run_random(false, 88172645463325252u);
}

TEST(a_hundred_thousand_random_steps_from_order_type_are_as_the_model_says) {
  run_random(true, 2463534242u);
}

/* ---- the same by hand, to read */

static void expect(uint32_t limit, double deferral, const char* expected) {
  char text[256] = "";
  uvb__chain_t batch = uvb__queue_take(&queue, &types, limit, now, deferral);
  waiting_count = 0;
  for (uv_batch_event_t* event = batch.first; event != NULL; event = event->next) {
    size_t length = strlen(text);
    snprintf(text + length, sizeof(text) - length, "%s%d", length == 0 ? "" : " ", (int)event->seq_);
  }
  if (strcmp(text, expected) != 0) fprintf(stderr, "got '%s', not '%s'\n", text, expected);
  CHECK(strcmp(text, expected) == 0);
}

static void push_each(const char* text) {
  for (const char* at = text; *at != '\0'; at += 2) {
    int level = at[0] == 'h' ? uvb__high : at[0] == 'n' ? uvb__normal : uvb__low;
    push(&pool[seq], at[1] - '0', level, 0);
  }
}

TEST(classes_leave_high_then_normal_then_low_each_by_arrival) {
  start(false);
  push_each("l1n1h2n2l2h1");
  expect(100, HUGE_VAL, "3 6 2 4 1 5");
  stop();
}

TEST(order_type_groups_each_class_by_the_type_with_the_oldest_event) {
  start(true);
  push_each("n2n1n2h3n1l1l2l1");
  expect(100, HUGE_VAL, "4 1 3 2 5 6 8 7");
  stop();
}

TEST(a_limit_that_cuts_takes_one_low_event_for_eight_normal_ones) {
  start(false);
  push_each("l1l1n1n1n1n1n1n1n1n1n1n1n1");
  expect(4, HUGE_VAL, "3 4 5 6");
  expect(6, HUGE_VAL, "7 8 9 10 11 1");
  stop();
}

TEST(a_low_event_that_has_waited_long_enough_stands_among_the_normal_ones) {
  start(false);
  push_each("l1");
  now = 5;
  push_each("n1l1");
  expect(2, 5, "1 2");
  stop();
}

TEST(a_normal_event_that_has_waited_long_enough_stands_among_the_high_ones) {
  start(false);
  push_each("h1n1");
  now = 5;
  push_each("n1h1");
  expect(100, 5, "1 2 4 3");
  stop();
}

TEST(a_low_event_that_has_waited_twice_as_long_stands_among_the_high_ones) {
  start(false);
  push_each("h1l1");
  now = 10;
  push_each("n1h1");
  expect(100, 5, "1 2 4 3");
  stop();
}

TEST(order_type_takes_the_aged_events_of_a_lane_and_places_the_rest_anew) {
  start(true);
  push_each("n1");
  now = 4;
  push_each("n2n1h3");
  now = 5;
  expect(100, 5, "1 4 2 3");
  stop();
}

TEST(a_cut_lane_keeps_the_rest_and_is_placed_anew) {
  start(true);
  push_each("n1n2n1n2");
  expect(1, HUGE_VAL, "1");
  expect(100, HUGE_VAL, "2 4 3");
  stop();
}

TEST(a_batch_ends_before_an_event_whose_type_has_its_own_limit_in_it) {
  start(false);
  uvb__queue_limit_type(&queue, types.all[1], 1);
  push_each("n2n1n2n1n2");
  expect(100, HUGE_VAL, "1 2 3");
  expect(100, HUGE_VAL, "4 5");
  stop();
}

TEST(sizes_that_add_up_to_more_than_64_bits_come_out_again) {
  start(false);
  push(&pool[0], 1, uvb__normal, UINT64_MAX);
  push(&pool[1], 1, uvb__normal, 7);
  withdraw(0);
  CHECK_EQ(queue.bytes, 7);
  CHECK_EQ(take(10, HUGE_VAL), 1);
  CHECK_EQ(queue.bytes, 0);
  stop();
}

TEST_MAIN
