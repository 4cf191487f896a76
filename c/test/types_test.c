/* Types: their numbers, names and limits. */
#include "queue.h"

#include "failing_allocator.h"
#include "test.h"

static uvb__types_t types;

static void start(void) {
  failing_allocator_install();
  failing_allocator_after(-1);
  CHECK_EQ(uvb__types_init(&types), 0);
}

static void stop(void) {
  uvb__types_free(&types);
  CHECK_EQ(failing_allocator_live(), 0);
}

static int number_of(int i) {
  char name[16];
  snprintf(name, sizeof(name), "own%d", i);
  return uvb__types_number(&types, name);
}

TEST(the_kinds_of_libuv_have_their_numbers_names_and_classes) {
  static const struct {
    const char* name;
    int number;
    int priority;
  } kinds[] = {
      {"signal", UV_BATCH_SIGNAL, UV_BATCH_PRIORITY_HIGH},
      {"process", UV_BATCH_PROCESS, UV_BATCH_PRIORITY_HIGH},
      {"async", UV_BATCH_ASYNC, UV_BATCH_PRIORITY_HIGH},
      {"network", UV_BATCH_NETWORK, UV_BATCH_PRIORITY_NORMAL},
      {"filesystem", UV_BATCH_FILESYSTEM, UV_BATCH_PRIORITY_NORMAL},
      {"stream", UV_BATCH_STREAM, UV_BATCH_PRIORITY_NORMAL},
      {"timer", UV_BATCH_TIMER, UV_BATCH_PRIORITY_NORMAL},
      {"idle", UV_BATCH_IDLE, UV_BATCH_PRIORITY_LOW},
      {"work", UV_BATCH_WORK, UV_BATCH_PRIORITY_LOW},
      {"background", UV_BATCH_BACKGROUND, UV_BATCH_PRIORITY_LOW},
  };
  start();
  CHECK_EQ(types.count, 11);
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    CHECK_EQ(uvb__types_number(&types, kinds[i].name), kinds[i].number);
    const uvb__type_t* type = uvb__types_get(&types, kinds[i].number);
    CHECK(strcmp(type->name, kinds[i].name) == 0);
    CHECK_EQ(type->options.priority, kinds[i].priority);
  }
  stop();
}

TEST(a_new_name_gets_the_next_number_and_the_class_normal) {
  start();
  CHECK_EQ(uvb__types_number(&types, "chat"), 11);
  CHECK_EQ(uvb__types_number(&types, "trade"), 12);
  CHECK_EQ(uvb__types_number(&types, "chat"), 11);
  CHECK_EQ(uvb__types_number(&types, "Chat"), 13);
  CHECK_EQ(uvb__types_get(&types, 11)->options.priority, UV_BATCH_PRIORITY_NORMAL);
  stop();
}

TEST(a_name_is_copied) {
  char name[] = "mine";
  start();
  CHECK_EQ(uvb__types_number(&types, name), 11);
  name[0] = 'f';
  CHECK(strcmp(uvb__types_get(&types, 11)->name, "mine") == 0);
  CHECK_EQ(uvb__types_number(&types, name), 12);
  stop();
}

TEST(numbers_that_no_type_has_find_nothing) {
  start();
  CHECK(uvb__types_get(&types, 0) == NULL);
  CHECK(uvb__types_get(&types, -1) == NULL);
  CHECK(uvb__types_get(&types, 11) == NULL);
  CHECK(uvb__types_get(&types, INT32_MAX) == NULL);
  CHECK(uvb__types_get(&types, INT32_MIN) == NULL);
  stop();
}

TEST(there_are_as_many_types_as_promised_and_one_more_is_refused) {
  start();
  for (int i = 11; i <= UV_BATCH_MAX_TYPES; i++) CHECK_EQ(number_of(i), i);
  CHECK_EQ(number_of(UV_BATCH_MAX_TYPES + 1), UV_ENOBUFS);
  CHECK_EQ(number_of(UV_BATCH_MAX_TYPES), UV_BATCH_MAX_TYPES);
  CHECK_EQ(number_of(11), 11);
  CHECK_EQ(uvb__types_number(&types, "signal"), UV_BATCH_SIGNAL);
  stop();
}

TEST(a_start_without_memory_leaves_nothing_behind) {
  failing_allocator_install();
  long n = 0;
  for (;; n++) {
    failing_allocator_after(n);
    int status = uvb__types_init(&types);
    failing_allocator_after(-1);
    if (status == 0) break;
    CHECK_EQ(status, UV_ENOMEM);
    CHECK_EQ(failing_allocator_live(), 0);
  }
  /* Two tables, and each of the ten types with its name. */
  CHECK_EQ(n, 12);
  stop();
}

TEST(a_name_that_finds_no_memory_changes_nothing_and_can_be_tried_again) {
  start();
  for (int i = 11; i <= 1000; i++) {
    for (long n = 0;; n++) {
      failing_allocator_after(n);
      int status = number_of(i);
      failing_allocator_after(-1);
      if (status == i) break;
      CHECK_EQ(status, UV_ENOMEM);
      CHECK_EQ(types.count, i);
      CHECK(uvb__types_get(&types, i) == NULL);
    }
    CHECK_EQ(number_of(11 + i / 2 - 5), 11 + i / 2 - 5);
  }
  stop();
}

TEST(types_are_found_by_name_even_when_their_table_could_not_grow) {
  start();
  for (int i = 11; i <= 300; i++) {
    /* A type takes one allocation; the second is the growth of the table by name, but where that by number grew. */
    int status = UV_ENOMEM;
    for (int attempt = 0; attempt < 2 && status != i; attempt++) {
      failing_allocator_after(1);
      status = number_of(i);
      failing_allocator_after(-1);
    }
    CHECK_EQ(status, i);
  }
  CHECK_EQ(types.buckets, 64);
  for (int i = 11; i <= 300; i++) CHECK_EQ(number_of(i), i);
  stop();
}

/* ---- by the queue */

static uv_loop_t loop;
static uv_batch_t batch;

TEST(a_queue_takes_names_of_1_to_255_characters) {
  char name[UV_BATCH_MAX_TYPE_NAME + 2];
  memset(name, 'x', sizeof(name));
  name[UV_BATCH_MAX_TYPE_NAME + 1] = '\0';
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, NULL), 0);
  CHECK_EQ(uv_batch_type(&batch, ""), UV_EINVAL);
  CHECK_EQ(uv_batch_type(&batch, name), UV_EINVAL);
  name[UV_BATCH_MAX_TYPE_NAME] = '\0';
  CHECK_EQ(uv_batch_type(&batch, name), 11);
  CHECK(strcmp(uv_batch_type_name(&batch, 11), name) == 0);
  CHECK_EQ(uv_batch_type(&batch, "x"), 12);
  CHECK_EQ(uv_batch_type(&batch, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_type(NULL, "x"), UV_EINVAL);
  CHECK(uv_batch_type_name(&batch, 0) == NULL);
  CHECK(uv_batch_type_name(&batch, 13) == NULL);
  CHECK(uv_batch_type_name(NULL, 1) == NULL);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_batch_type(&batch, "x"), UV_ESHUTDOWN);
  CHECK(uv_batch_type_name(&batch, 1) == NULL);
  CHECK_EQ(uv_loop_close(&loop), 0);
}

TEST_MAIN
