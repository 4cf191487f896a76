#include "largesocket.h"
#include "test.h"

static uv_largesocket_options_t options;
static uvb__read_size_t size;

/* 4,096 to 65,536; grows after 2, shrinks after 3, sustained after 4. */
static void begin(void) {
  uv_largesocket_options_init(&options);
  options.min_read = 4096;
  options.max_read = 65536;
  options.grow_after = 2;
  options.shrink_after = 3;
  options.raise_after = 4;
  size = (uvb__read_size_t){0};
  uvb__read_size_limit(&size, &options);
}

static uvb__read_size_change_t full(void) {
  return uvb__read_size_observe(&size, &options, size.size, size.size);
}

static uvb__read_size_change_t sparse(void) {
  return uvb__read_size_observe(&size, &options, 1, size.size);
}

static uvb__read_size_change_t half_full(void) {
  return uvb__read_size_observe(&size, &options, size.size / 2, size.size);
}

static void grow_to(size_t wanted) {
  for (int i = 0; i < 100 && size.size < wanted; i++) full();
  CHECK_EQ(size.size, wanted);
}

TEST(starts_at_the_least) {
  begin();
  CHECK_EQ(size.size, 4096);
}

TEST(doubles_after_full_reads_in_a_row) {
  begin();
  CHECK_EQ(full(), UVB__READ_SIZE_KEPT);
  CHECK_EQ(size.size, 4096);
  CHECK_EQ(full(), UVB__READ_SIZE_GREW);
  CHECK_EQ(size.size, 8192);
  CHECK_EQ(full(), UVB__READ_SIZE_KEPT);
  CHECK_EQ(full(), UVB__READ_SIZE_GREW);
  CHECK_EQ(size.size, 16384);
}

TEST(a_read_that_is_not_full_begins_the_row_again) {
  begin();
  for (int i = 0; i < 10; i++) {
    CHECK_EQ(full(), UVB__READ_SIZE_KEPT);
    CHECK_EQ(half_full(), UVB__READ_SIZE_KEPT);
  }
  CHECK_EQ(size.size, 4096);
}

TEST(grows_to_the_most_and_no_further) {
  begin();
  options.max_read = 50000;
  grow_to(50000);
  for (int i = 0; i < 10; i++) CHECK_EQ(full(), UVB__READ_SIZE_KEPT);
  CHECK_EQ(size.size, 50000);
}

TEST(halves_after_sparse_reads_in_a_row) {
  begin();
  grow_to(16384);
  CHECK_EQ(sparse(), UVB__READ_SIZE_KEPT);
  CHECK_EQ(sparse(), UVB__READ_SIZE_KEPT);
  CHECK_EQ(sparse(), UVB__READ_SIZE_SHRANK);
  CHECK_EQ(size.size, 8192);
}

TEST(a_quarter_is_not_sparse) {
  begin();
  grow_to(16384);
  for (int i = 0; i < 10; i++) CHECK_EQ(uvb__read_size_observe(&size, &options, 4096, 16384), UVB__READ_SIZE_KEPT);
  for (int i = 0; i < 2; i++) CHECK_EQ(uvb__read_size_observe(&size, &options, 4095, 16384), UVB__READ_SIZE_KEPT);
  CHECK_EQ(uvb__read_size_observe(&size, &options, 4095, 16384), UVB__READ_SIZE_SHRANK);
}

TEST(one_larger_read_begins_the_sparse_row_again) {
  begin();
  grow_to(16384);
  for (int i = 0; i < 10; i++) {
    sparse();
    sparse();
    half_full();
  }
  CHECK_EQ(size.size, 16384);
}

TEST(shrinks_to_the_least_and_no_further) {
  begin();
  options.min_read = 5000;
  size = (uvb__read_size_t){0};
  uvb__read_size_limit(&size, &options);
  full();
  full();
  CHECK_EQ(size.size, 10000);
  options.min_read = 6000;
  for (int i = 0; i < 3; i++) sparse();
  CHECK_EQ(size.size, 6000);
  for (int i = 0; i < 20; i++) CHECK_EQ(sparse(), UVB__READ_SIZE_KEPT);
  CHECK_EQ(size.size, 6000);
}

TEST(full_is_told_by_the_buffer_that_was_given) {
  begin();
  for (int i = 0; i < 2; i++) uvb__read_size_observe(&size, &options, 100, 100);
  CHECK_EQ(size.size, 8192);
  for (int i = 0; i < 3; i++) uvb__read_size_observe(&size, &options, 24, 100);
  CHECK_EQ(size.size, 4096);
}

TEST(sustained_counts_full_reads_at_the_most_only) {
  begin();
  grow_to(65536);
  for (int i = 0; i < 3; i++) full();
  CHECK(!uvb__read_size_sustained(&size, &options));
  half_full();
  CHECK(!uvb__read_size_sustained(&size, &options));
  full();
  CHECK(uvb__read_size_sustained(&size, &options));
}

TEST(shrinking_ends_what_was_sustained) {
  begin();
  grow_to(65536);
  for (int i = 0; i < 4; i++) full();
  CHECK(uvb__read_size_sustained(&size, &options));
  for (int i = 0; i < 3; i++) sparse();
  CHECK(!uvb__read_size_sustained(&size, &options));
}

TEST(a_fixed_size_is_sustained_too) {
  begin();
  options.min_read = options.max_read = 8192;
  size = (uvb__read_size_t){0};
  uvb__read_size_limit(&size, &options);
  for (int i = 0; i < 4; i++) CHECK_EQ(full(), UVB__READ_SIZE_KEPT);
  CHECK(uvb__read_size_sustained(&size, &options));
}

TEST(other_limits_keep_the_size_where_they_can) {
  begin();
  grow_to(16384);
  options.max_read = 32768;
  uvb__read_size_limit(&size, &options);
  CHECK_EQ(size.size, 16384);
  options.max_read = 8192;
  uvb__read_size_limit(&size, &options);
  CHECK_EQ(size.size, 8192);
  options.max_read = options.min_read = 20000;
  uvb__read_size_limit(&size, &options);
  CHECK_EQ(size.size, 20000);
}

TEST_MAIN
