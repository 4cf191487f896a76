/* The table from handles to what the library knows about them. */
#include "common.h"

#include "failing_allocator.h"
#include "test.h"

enum { many = 10000 };

static char handles[many];
static char states[many];

static void start(void) {
  failing_allocator_install();
  failing_allocator_after(-1);
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST(ten_thousand_entries_are_found_and_forgotten_and_leave_nothing) {
  start();
  for (int i = 0; i < many; i++) CHECK_EQ(uvb__attach(&handles[i], UVB__ATTACH_READER, &states[i]), 0);
  for (int i = 0; i < many; i++) CHECK(uvb__attached(&handles[i], UVB__ATTACH_READER) == &states[i]);
  for (int i = 0; i < many; i += 2) CHECK(uvb__detach(&handles[i], UVB__ATTACH_READER) == &states[i]);
  for (int i = 0; i < many; i++) {
    CHECK(uvb__attached(&handles[i], UVB__ATTACH_READER) == (i % 2 == 0 ? NULL : &states[i]));
  }
  for (int i = 1; i < many; i += 2) CHECK(uvb__detach(&handles[i], UVB__ATTACH_READER) == &states[i]);
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST(a_table_that_was_emptied_works_again) {
  start();
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 200; i++) CHECK_EQ(uvb__attach(&handles[i], UVB__ATTACH_READER, &states[i]), 0);
    for (int i = 0; i < 200; i++) CHECK(uvb__detach(&handles[i], UVB__ATTACH_READER) == &states[i]);
    CHECK_EQ(failing_allocator_live(), 0);
  }
}

TEST(a_handle_has_one_state_of_each_kind) {
  start();
  CHECK_EQ(uvb__attach(&handles[0], UVB__ATTACH_READER, &states[0]), 0);
  CHECK_EQ(uvb__attach(&handles[0], UVB__ATTACH_LISTENER, &states[1]), 0);
  CHECK_EQ(uvb__attach(&handles[0], UVB__ATTACH_READER, &states[2]), UV_EBUSY);
  CHECK(uvb__attached(&handles[0], UVB__ATTACH_READER) == &states[0]);
  CHECK(uvb__attached(&handles[0], UVB__ATTACH_LISTENER) == &states[1]);
  CHECK(uvb__attached(&handles[0], UVB__ATTACH_LARGESOCKET) == NULL);
  CHECK(uvb__detach(&handles[0], UVB__ATTACH_READER) == &states[0]);
  CHECK(uvb__detach(&handles[0], UVB__ATTACH_READER) == NULL);
  CHECK(uvb__attached(&handles[0], UVB__ATTACH_LISTENER) == &states[1]);
  CHECK_EQ(uvb__attach(&handles[0], UVB__ATTACH_READER, &states[2]), 0);
  CHECK(uvb__detach(&handles[0], UVB__ATTACH_READER) == &states[2]);
  CHECK(uvb__detach(&handles[0], UVB__ATTACH_LISTENER) == &states[1]);
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST(an_unknown_handle_has_no_state) {
  start();
  CHECK(uvb__attached(&handles[0], UVB__ATTACH_BATCH) == NULL);
  CHECK(uvb__detach(&handles[0], UVB__ATTACH_BATCH) == NULL);
}

TEST(without_memory_an_entry_is_refused_or_the_table_does_not_grow) {
  start();
  for (int i = 0; i < 200; i++) {
    failing_allocator_after(0);
    CHECK_EQ(uvb__attach(&handles[i], UVB__ATTACH_READER, &states[i]), UV_ENOMEM);
    /* The second allocation is that of a larger table. */
    failing_allocator_after(1);
    CHECK_EQ(uvb__attach(&handles[i], UVB__ATTACH_READER, &states[i]), 0);
    failing_allocator_after(-1);
    CHECK_EQ(failing_allocator_live(), i + 1);
  }
  for (int i = 0; i < 200; i++) CHECK(uvb__detach(&handles[i], UVB__ATTACH_READER) == &states[i]);
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST_MAIN
