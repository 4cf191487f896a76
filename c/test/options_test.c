/* Options: defaults, bounds, and what the checks say. */
#include "failing_allocator.h"
#include "test.h"
#include "uv_batch.h"

static const double max_bytes = 9007199254740991;

TEST(the_defaults_are_the_documented_ones) {
  uv_batch_options_t options;
  memset(&options, 0x5a, sizeof(options));
  uv_batch_options_init(&options);
  CHECK_EQ(options.policy, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(options.order, UV_BATCH_ORDER_ARRIVAL);
  CHECK_EQ(options.hold, UV_BATCH_HOLD_TUNED);
  CHECK_EQ(options.max_batch, 1024);
  CHECK_EQ(options.threshold, 0);
  CHECK_EQ(options.max_queue, 65536);
  CHECK_EQ(options.max_queue_bytes, 67108864);
  CHECK(options.max_delay == UV_BATCH_DELAY_OF_POLICY);
  CHECK(options.min_saving == 0.005);
  CHECK(options.max_batch_time == 0);
  CHECK(options.max_deferral == 100);
  CHECK(options.batch_cb == NULL);
  CHECK(options.error_cb == NULL);
  for (int i = 0; i < 6; i++) CHECK(options.reserved[i] == NULL);
  CHECK_EQ(uv_batch_options_check(&options, NULL, 0), 0);
  uv_batch_options_init(NULL);
}

/* ---- bounds */

typedef void (*set_t)(uv_batch_options_t* options, double value);
typedef void (*set_type_t)(uv_batch_type_options_t* options, double value);

static void set_max_batch(uv_batch_options_t* options, double value) { options->max_batch = (uint32_t)value; }
static void set_threshold(uv_batch_options_t* options, double value) { options->threshold = (uint32_t)value; }
static void set_max_queue(uv_batch_options_t* options, double value) { options->max_queue = (uint32_t)value; }
static void set_max_bytes(uv_batch_options_t* options, double value) { options->max_queue_bytes = (uint64_t)value; }
static void set_max_delay(uv_batch_options_t* options, double value) { options->max_delay = value; }
static void set_min_saving(uv_batch_options_t* options, double value) { options->min_saving = value; }
static void set_batch_time(uv_batch_options_t* options, double value) { options->max_batch_time = value; }
static void set_max_deferral(uv_batch_options_t* options, double value) { options->max_deferral = value; }
static void set_policy(uv_batch_options_t* options, double value) { options->policy = (uv_batch_policy_t)value; }
static void set_order(uv_batch_options_t* options, double value) { options->order = (uv_batch_order_t)value; }
static void set_hold(uv_batch_options_t* options, double value) { options->hold = (uv_batch_hold_t)value; }

static void set_priority(uv_batch_type_options_t* options, double value) { options->priority = (int)value; }
static void set_type_batch(uv_batch_type_options_t* options, double value) { options->max_batch = (uint32_t)value; }
static void set_retain(uv_batch_type_options_t* options, double value) { options->retain = (uv_batch_retain_t)value; }
static void set_retain_max(uv_batch_type_options_t* options, double value) { options->retain_max = (uint32_t)value; }
static void set_retain_bytes(uv_batch_type_options_t* options, double value) {
  options->retain_max_bytes = (uint64_t)value;
}
static void set_retain_age(uv_batch_type_options_t* options, double value) { options->retain_max_age = value; }

typedef struct {
  const char* name;
  set_t set;
  set_type_t set_type;
  double min, below; /* the least that is taken, and the next value, which is not; NAN: there is none */
  double max, above;
  const char* range; /* what the message says about it */
} bound_t;

static const bound_t bounds[] = {
    {"max_batch", set_max_batch, NULL, 1, 0, 1000000, 1000001, "from 1 to 1000000"},
    {"threshold", set_threshold, NULL, 0, NAN, 1000000, 1000001, "from 0 to 1000000"},
    {"max_queue", set_max_queue, NULL, 1, 0, 100000000, 100000001, "from 1 to 100000000"},
    {"max_queue_bytes", set_max_bytes, NULL, 1, 0, max_bytes, max_bytes + 1, "from 1 to 9007199254740991"},
    {"max_delay", set_max_delay, NULL, 0, -1e-9, 60000, 60000.001, "from 0 to 60000"},
    {"min_saving", set_min_saving, NULL, 0, -1e-9, 1, 1.001, "from 0 to 1"},
    {"max_batch_time", set_batch_time, NULL, 0, -1e-9, 60000, 60000.001, "from 0 to 60000"},
    {"max_deferral", set_max_deferral, NULL, 0, -1e-9, 3600000, 3600000.001, "from 0 to 3600000"},
    {"policy", set_policy, NULL, 0, NAN, 2, 3, "UV_BATCH_POLICY_"},
    {"order", set_order, NULL, 0, NAN, 1, 2, "UV_BATCH_ORDER_"},
    {"hold", set_hold, NULL, 0, NAN, 1, 2, "UV_BATCH_HOLD_"},
    {"priority", NULL, set_priority, 0, -1, 2, 3, "UV_BATCH_PRIORITY_"},
    {"max_batch", NULL, set_type_batch, 1, 0, 1000000, 1000001, "from 1 to 1000000"},
    {"retain", NULL, set_retain, 0, NAN, 2, 3, "UV_BATCH_RETAIN_"},
    {"retain_max", NULL, set_retain_max, 1, 0, 1000000, 1000001, "from 1 to 1000000"},
    {"retain_max_bytes", NULL, set_retain_bytes, 1, 0, max_bytes, max_bytes + 1, "from 1 to 9007199254740991"},
    {"retain_max_age", NULL, set_retain_age, 1, 0.999999, 2147483647, 2147483648.0, "from 1 to 2147483647"},
};
static const size_t bound_count = sizeof(bounds) / sizeof(bounds[0]);

static const uv_batch_type_options_t type_defaults = {
    .priority = UV_BATCH_PRIORITY_NORMAL,
    .max_batch = UV_BATCH_NO_LIMIT,
    .retain_max = 1000,
    .retain_max_bytes = 1048576,
    .retain_max_age = 60000,
};

static int check(const bound_t* bound, double value, char* message, size_t size) {
  uv_batch_options_t options;
  uv_batch_type_options_t type_options = type_defaults;
  uv_batch_options_init(&options);
  if (bound->set != NULL) {
    bound->set(&options, value);
    return uv_batch_options_check(&options, message, size);
  }
  bound->set_type(&type_options, value);
  return uv_batch_type_options_check(&type_options, message, size);
}

TEST(each_option_is_taken_up_to_its_bounds_and_refused_beyond) {
  for (size_t i = 0; i < bound_count; i++) {
    const bound_t* bound = &bounds[i];
    char message[256] = "?";
    CHECK_EQ(check(bound, bound->min, message, sizeof(message)), 0);
    CHECK(strcmp(message, "") == 0);
    CHECK_EQ(check(bound, bound->max, message, sizeof(message)), 0);
    CHECK_EQ(check(bound, bound->above, NULL, 0), UV_EINVAL);
    if (!isnan(bound->below)) CHECK_EQ(check(bound, bound->below, NULL, 0), UV_EINVAL);
  }
}

TEST(a_message_names_the_option_its_value_and_what_is_allowed) {
  for (size_t i = 0; i < bound_count; i++) {
    const bound_t* bound = &bounds[i];
    char message[256];
    char value[64];
    snprintf(value, sizeof(value), " is %.17g;", bound->above);
    CHECK_EQ(check(bound, bound->above, message, sizeof(message)), UV_EINVAL);
    CHECK(strncmp(message, bound->name, strlen(bound->name)) == 0);
    CHECK(strstr(message, value) != NULL);
    CHECK(strstr(message, bound->range) != NULL);
  }
}

TEST(what_is_no_number_or_without_end_is_refused) {
  static const double bad[] = {NAN, -NAN, HUGE_VAL};
  for (size_t i = 0; i < 3; i++) {
    uv_batch_options_t options;
    uv_batch_type_options_t type_options = type_defaults;
    uv_batch_options_init(&options);
    options.max_delay = bad[i];
    CHECK_EQ(uv_batch_options_check(&options, NULL, 0), UV_EINVAL);
    uv_batch_options_init(&options);
    options.max_deferral = bad[i];
    CHECK_EQ(uv_batch_options_check(&options, NULL, 0), UV_EINVAL);
    uv_batch_options_init(&options);
    options.min_saving = bad[i];
    CHECK_EQ(uv_batch_options_check(&options, NULL, 0), UV_EINVAL);
    uv_batch_options_init(&options);
    options.max_batch_time = bad[i];
    CHECK_EQ(uv_batch_options_check(&options, NULL, 0), UV_EINVAL);
    type_options.retain_max_age = bad[i];
    CHECK_EQ(uv_batch_type_options_check(&type_options, NULL, 0), UV_EINVAL);
  }
}

TEST(the_largest_numbers_are_refused) {
  uv_batch_options_t options;
  uv_batch_type_options_t type_options = type_defaults;
  uv_batch_options_init(&options);
  options.max_queue_bytes = UINT64_MAX;
  CHECK_EQ(uv_batch_options_check(&options, NULL, 0), UV_EINVAL);
  uv_batch_options_init(&options);
  options.max_batch = UINT32_MAX;
  CHECK_EQ(uv_batch_options_check(&options, NULL, 0), UV_EINVAL);
  type_options.max_batch = UINT32_MAX - 1;
  CHECK_EQ(uv_batch_type_options_check(&type_options, NULL, 0), UV_EINVAL);
  type_options.max_batch = UV_BATCH_NO_LIMIT;
  CHECK_EQ(uv_batch_type_options_check(&type_options, NULL, 0), 0);
  type_options.retain_max_bytes = UINT64_MAX;
  CHECK_EQ(uv_batch_type_options_check(&type_options, NULL, 0), UV_EINVAL);
}

TEST(the_first_of_several_wrong_options_is_named) {
  uv_batch_options_t options;
  char message[256];
  uv_batch_options_init(&options);
  options.max_batch = 0;
  options.max_queue = 0;
  CHECK_EQ(uv_batch_options_check(&options, message, sizeof(message)), UV_EINVAL);
  CHECK(strstr(message, "max_batch") != NULL);
  CHECK(strstr(message, "max_queue") == NULL);
}

TEST(a_message_is_cut_to_its_room) {
  uv_batch_options_t options;
  char message[8] = "1234567";
  uv_batch_options_init(&options);
  options.max_batch = 0;
  CHECK_EQ(uv_batch_options_check(&options, message, 4), UV_EINVAL);
  CHECK(strcmp(message, "max") == 0);
  CHECK_EQ(message[4], '5');
  CHECK_EQ(uv_batch_options_check(&options, message, 0), UV_EINVAL);
  CHECK(strcmp(message, "max") == 0);
}

TEST(null_options_are_refused_with_a_way_out) {
  char message[256];
  CHECK_EQ(uv_batch_options_check(NULL, message, sizeof(message)), UV_EINVAL);
  CHECK(strstr(message, "uv_batch_options_init()") != NULL);
  CHECK_EQ(uv_batch_type_options_check(NULL, message, sizeof(message)), UV_EINVAL);
  CHECK(strstr(message, "uv_batch_get_type()") != NULL);
  CHECK_EQ(uv_batch_options_check(NULL, NULL, 0), UV_EINVAL);
}

/* ---- set and get, on a queue */

static uv_loop_t loop;
static uv_batch_t batch;

static void start(void) {
  failing_allocator_install();
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, NULL), 0);
}

static void stop(void) {
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(&loop), 0);
  CHECK_EQ(failing_allocator_live(), 0);
}

static void some_batch(uv_batch_t* from, const uv_batch_info_t* info) {
  (void)from, (void)info;
}

static void some_error(uv_batch_t* from, uv_batch_event_t* event, int status) {
  (void)from, (void)event, (void)status;
}

TEST(what_is_set_is_what_is_got) {
  uv_batch_options_t options, got;
  start();
  uv_batch_options_init(&options);
  options.policy = UV_BATCH_POLICY_FIXED;
  options.order = UV_BATCH_ORDER_TYPE;
  options.hold = UV_BATCH_HOLD_ALWAYS;
  options.max_batch = 7;
  options.threshold = 6;
  options.max_queue = 5;
  options.max_queue_bytes = 4;
  options.max_delay = 3.5;
  options.min_saving = 0.75;
  options.max_batch_time = 1.5;
  options.max_deferral = 2.25;
  options.batch_cb = some_batch;
  options.error_cb = some_error;
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  memset(&got, 0x5a, sizeof(got));
  CHECK_EQ(uv_batch_get(&batch, &got), 0);
  CHECK_EQ(got.policy, UV_BATCH_POLICY_FIXED);
  CHECK_EQ(got.order, UV_BATCH_ORDER_TYPE);
  CHECK_EQ(got.hold, UV_BATCH_HOLD_ALWAYS);
  CHECK_EQ(got.max_batch, 7);
  CHECK_EQ(got.threshold, 6);
  CHECK_EQ(got.max_queue, 5);
  CHECK_EQ(got.max_queue_bytes, 4);
  CHECK(got.max_delay == 3.5);
  CHECK(got.min_saving == 0.75);
  CHECK(got.max_batch_time == 1.5);
  CHECK(got.max_deferral == 2.25);
  CHECK(got.batch_cb == some_batch);
  CHECK(got.error_cb == some_error);
  stop();
}

TEST(the_delay_of_the_policy_stays_that_when_it_is_got_and_set) {
  uv_batch_options_t options;
  start();
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  CHECK(options.max_delay == UV_BATCH_DELAY_OF_POLICY);
  CHECK_EQ(uv_batch_set(&batch, &options), 0);
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  CHECK(options.max_delay == UV_BATCH_DELAY_OF_POLICY);
  stop();
}

TEST(of_a_set_with_something_wrong_nothing_is_applied) {
  uv_batch_options_t options;
  start();
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  options.max_batch = 5;
  options.max_deferral = -1;
  CHECK_EQ(uv_batch_set(&batch, &options), UV_EINVAL);
  CHECK_EQ(uv_batch_set(&batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_set(NULL, &options), UV_EINVAL);
  CHECK_EQ(uv_batch_get(&batch, &options), 0);
  CHECK_EQ(options.max_batch, 1024);
  CHECK_EQ(uv_batch_get(NULL, &options), UV_EINVAL);
  CHECK_EQ(uv_batch_get(&batch, NULL), UV_EINVAL);
  stop();
}

TEST(a_start_with_wrong_options_fails_and_leaves_nothing) {
  uv_batch_options_t options;
  failing_allocator_install();
  CHECK_EQ(uv_loop_init(&loop), 0);
  uv_batch_options_init(&options);
  options.max_queue = 0;
  CHECK_EQ(uv_batch_init(&loop, &batch, &options), UV_EINVAL);
  CHECK_EQ(failing_allocator_live(), 0);
  options.max_queue = 1;
  CHECK_EQ(uv_batch_init(&loop, &batch, &options), 0);
  stop();
}

TEST(a_types_options_are_the_documented_ones_and_can_be_set) {
  uv_batch_type_options_t options;
  start();
  CHECK_EQ(uv_batch_get_type(&batch, UV_BATCH_WORK, &options), 0);
  CHECK_EQ(options.priority, UV_BATCH_PRIORITY_LOW);
  CHECK_EQ(options.max_batch, UV_BATCH_NO_LIMIT);
  CHECK_EQ(options.retain, UV_BATCH_RETAIN_OFF);
  CHECK_EQ(options.retain_max, 1000);
  CHECK_EQ(options.retain_max_bytes, 1048576);
  CHECK(options.retain_max_age == 60000);
  options.priority = UV_BATCH_PRIORITY_HIGH;
  options.max_batch = 3;
  options.retain = UV_BATCH_RETAIN_EACH;
  options.retain_max = 4;
  options.retain_max_bytes = 5;
  options.retain_max_age = 6;
  CHECK_EQ(uv_batch_set_type(&batch, UV_BATCH_WORK, &options), 0);
  memset(&options, 0, sizeof(options));
  CHECK_EQ(uv_batch_get_type(&batch, UV_BATCH_WORK, &options), 0);
  CHECK_EQ(options.priority, UV_BATCH_PRIORITY_HIGH);
  CHECK_EQ(options.max_batch, 3);
  CHECK_EQ(options.retain, UV_BATCH_RETAIN_EACH);
  CHECK_EQ(options.retain_max, 4);
  CHECK_EQ(options.retain_max_bytes, 5);
  CHECK(options.retain_max_age == 6);
  options.retain_max = 0;
  CHECK_EQ(uv_batch_set_type(&batch, UV_BATCH_WORK, &options), UV_EINVAL);
  CHECK_EQ(uv_batch_set_type(&batch, UV_BATCH_WORK, NULL), UV_EINVAL);
  options.retain_max = 1;
  static const int unknown[] = {0, -1, 11, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    CHECK_EQ(uv_batch_get_type(&batch, unknown[i], &options), UV_EINVAL);
    CHECK_EQ(uv_batch_set_type(&batch, unknown[i], &options), UV_EINVAL);
  }
  CHECK_EQ(uv_batch_get_type(&batch, 1, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_get_type(NULL, 1, &options), UV_EINVAL);
  CHECK_EQ(uv_batch_set_type(NULL, 1, &options), UV_EINVAL);
  stop();
}

TEST_MAIN
