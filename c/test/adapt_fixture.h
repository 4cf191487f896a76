/* A loop with a batch queue, for the tests of the adapters. */
#ifndef ADAPT_FIXTURE_H
#define ADAPT_FIXTURE_H

#include "test.h"
#include "uv_batch.h"

static uv_loop_t loop;
static uv_batch_t batch;

static inline void open_queue(uint32_t max_queue, uv_batch_policy_t policy) {
  uv_batch_options_t options;
  uv_batch_options_init(&options);
  options.max_queue = max_queue;
  options.policy = policy;
  /* What `fixed` holds leaves when a test flushes, and not before. */
  if (policy == UV_BATCH_POLICY_FIXED) options.max_delay = 60000;
  CHECK_EQ(uv_loop_init(&loop), 0);
  CHECK_EQ(uv_batch_init(&loop, &batch, &options), 0);
}

static inline void run_until(const int* reached, int value) {
  while (*reached < value) CHECK(uv_run(&loop, UV_RUN_ONCE) != 0 || *reached >= value);
}

/* A turn that does not wait, and what it has made due. */
static inline void run_turns(int turns) {
  for (int i = 0; i < turns; i++) uv_run(&loop, UV_RUN_NOWAIT);
}

/* Everything is closed: nothing of the adapters is left in the loop. */
static inline void close_loop(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(uv_loop_close(&loop), 0);
}

static inline void close_queue(void) {
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  close_loop();
}

#endif
