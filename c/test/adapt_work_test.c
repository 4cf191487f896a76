#include "adapt_fixture.h"
#include "failing_allocator.h"

enum { most = 500 };

static uv_batch_work_t jobs[most];
static uv_batch_handler_t handler;
static uv_batch_event_t other;
static int results[most];
static int handled, cancelled, ended, queue_again;
static uv_sem_t go, running;

static void work(uv_batch_work_t* job) {
  results[job - jobs]++;
}

static void wait_to_go(uv_batch_work_t* job) {
  uv_sem_post(&running);
  uv_sem_wait(&go);
  work(job);
}

static int on_done(uv_batch_handler_t* self, uv_batch_event_t* event) {
  uv_batch_work_t* job = event->data;
  (void)self;
  CHECK(job == (uv_batch_work_t*)event);
  CHECK_EQ(results[job - jobs], job->status == 0 ? 1 : 0);
  CHECK_EQ(uv_batch_work_cancel(job), UV_EBUSY);
  if (job->status == UV_ECANCELED) cancelled++;
  else CHECK_EQ(job->status, 0);
  handled++;
  return 0;
}

static void on_ended(uv_batch_work_t* job) {
  CHECK_EQ(uv_batch_work_cancel(job), UV_EALREADY);
  ended++;
  if (queue_again > 0) {
    queue_again--;
    results[job - jobs] = 0;
    CHECK_EQ(uv_batch_queue_work(&batch, job, work, on_ended), 0);
  }
}

static void open_work(uint32_t max_queue, uv_batch_policy_t policy) {
  memset(jobs, 0, sizeof(jobs));
  memset(&handler, 0, sizeof(handler));
  memset(results, 0, sizeof(results));
  handled = cancelled = ended = queue_again = 0;
  open_queue(max_queue, policy);
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_WORK, on_done), 0);
}

static void run_many(uint32_t max_queue, uv_batch_policy_t policy) {
  open_work(max_queue, policy);
  for (int i = 0; i < most; i++) CHECK_EQ(uv_batch_queue_work(&batch, &jobs[i], work, on_ended), 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, most);
  CHECK_EQ(ended, most);
  close_queue();
}

TEST(every_job_ends_in_an_event) {
  run_many(65536, UV_BATCH_POLICY_ADAPTIVE);
}

TEST(no_job_is_lost_when_the_queue_has_room_for_one) {
  run_many(1, UV_BATCH_POLICY_ADAPTIVE);
}

TEST(direct_handlers_get_every_job) {
  run_many(65536, UV_BATCH_POLICY_DIRECT);
}

TEST(a_job_can_be_queued_again_when_it_is_over) {
  open_work(65536, UV_BATCH_POLICY_ADAPTIVE);
  queue_again = 4;
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], work, on_ended), 0);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], work, on_ended), UV_EBUSY);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, 5);
  CHECK_EQ(ended, 5);
  close_queue();
}

/* All threads of the pool are kept busy meanwhile. */
static int block_pool(void) {
  int threads = 4;
  const char* said = getenv("UV_THREADPOOL_SIZE");
  if (said != NULL && atoi(said) > 0) threads = atoi(said);
  CHECK_EQ(uv_sem_init(&go, 0), 0);
  CHECK_EQ(uv_sem_init(&running, 0), 0);
  for (int i = 0; i < threads; i++) CHECK_EQ(uv_batch_queue_work(&batch, &jobs[i], wait_to_go, on_ended), 0);
  for (int i = 0; i < threads; i++) uv_sem_wait(&running);
  return threads;
}

static void unblock_pool(int threads) {
  for (int i = 0; i < threads; i++) uv_sem_post(&go);
}

TEST(a_job_that_has_not_begun_can_be_cancelled_and_one_that_runs_cannot) {
  open_work(65536, UV_BATCH_POLICY_ADAPTIVE);
  int threads = block_pool();
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[threads], work, on_ended), 0);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[threads + 1], work, on_ended), 0);
  CHECK_EQ(uv_batch_work_cancel(&jobs[0]), UV_EBUSY);
  CHECK_EQ(uv_batch_work_cancel(&jobs[threads]), 0);
  CHECK_EQ(uv_batch_work_cancel(&jobs[threads]), 0);
  run_until(&ended, 1);
  CHECK_EQ(cancelled, 1);
  unblock_pool(threads);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(handled, threads + 2);
  CHECK_EQ(cancelled, 1);
  CHECK_EQ(jobs[threads].status, UV_ECANCELED);
  uv_sem_destroy(&go);
  uv_sem_destroy(&running);
  close_queue();
}

TEST(jobs_that_outlive_the_queue_still_end_with_their_callback) {
  open_work(1, UV_BATCH_POLICY_ADAPTIVE);
  int threads = block_pool();
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  run_turns(3);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[threads], work, on_ended), UV_ESHUTDOWN);
  unblock_pool(threads);
  close_loop();
  CHECK_EQ(ended, threads);
  CHECK_EQ(handled, 0);
  uv_sem_destroy(&go);
  uv_sem_destroy(&running);
}

TEST(kept_completions_end_with_the_queue) {
  open_work(1, UV_BATCH_POLICY_FIXED);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], work, on_ended), 0);
  while (jobs[0].event.status != UV_BATCH_STATUS_REFUSED) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(ended, 0);
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  CHECK_EQ(ended, 1);
  close_loop();
  CHECK_EQ(handled, 0);
}

TEST(bad_input_is_refused) {
  open_work(65536, UV_BATCH_POLICY_ADAPTIVE);
  CHECK_EQ(uv_batch_queue_work(NULL, &jobs[0], work, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_queue_work(&batch, NULL, work, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_work_cancel(NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_work_cancel(&jobs[0]), UV_EALREADY);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], work, NULL), 0);
  close_queue();
  CHECK_EQ(results[0], 1);
}

TEST(an_allocation_that_fails_is_reported_and_runs_nothing) {
  failing_allocator_install();
  open_work(65536, UV_BATCH_POLICY_ADAPTIVE);
  failing_allocator_after(0);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], work, on_ended), UV_ENOMEM);
  CHECK_EQ(uv_batch_queue_work(&batch, &jobs[0], work, on_ended), 0);
  failing_allocator_after(0);
  uv_run(&loop, UV_RUN_DEFAULT);
  failing_allocator_after(-1);
  CHECK_EQ(handled, 1);
  CHECK_EQ(results[0], 1);
  close_queue();
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST_MAIN
