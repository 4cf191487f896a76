/*
 * Work on libuv's threadpool, whose completion is an event of type WORK.
 *
 * The state lives from uv_batch_queue_work() until the event is over: then, or if its queue is over, the callback gives
 * the struct back. A thread of the pool reads the state and the struct while the work runs, and changes neither.
 */
#include "adapter.h"

typedef struct {
  uvb__waiter_t waiter;
  uv_batch_work_t* work;
  uv_batch_work_cb work_cb;
  uv_batch_work_cb cb;
  bool has_run; /* or was cancelled: libuv has finished with the request */
} state_t;

static void end(state_t* state) {
  uv_batch_work_t* work = state->work;
  uv_batch_work_cb cb = state->cb;
  uvb__give_up(work->private_);
  uvb__free(state);
  if (cb != NULL) cb(work);
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  (void)batch, (void)status;
  end(uvb__claimed(uvb__of(event, uv_batch_work_t, event)->private_));
}

static void offer(state_t* state) {
  if (!uvb__adapt_offer(state->work->batch, &state->work->event, &state->waiter)) end(state);
}

static void retry(uvb__waiter_t* waiter) {
  offer(uvb__of(waiter, state_t, waiter));
}

static void run(uv_work_t* req) {
  uv_batch_work_t* work = uvb__of(req, uv_batch_work_t, req);
  const state_t* state = uvb__claimed(work->private_);
  state->work_cb(work);
}

static void on_done(uv_work_t* req, int status) {
  uv_batch_work_t* work = uvb__of(req, uv_batch_work_t, req);
  state_t* state = uvb__claimed(work->private_);
  state->has_run = true;
  work->status = status;
  offer(state);
}

int uv_batch_queue_work(uv_batch_t* batch, uv_batch_work_t* work, uv_batch_work_cb work_cb, uv_batch_work_cb cb) {
  if (batch == NULL || work == NULL || work_cb == NULL) return UV_EINVAL;
  int status = uvb__adapt_check(batch, work->private_);
  if (status != 0) return status;
  state_t* state = uvb__calloc(1, sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  *state = (state_t){.waiter.retry = retry, .work = work, .work_cb = work_cb, .cb = cb};
  uv_batch_event_init(&work->event, UV_BATCH_WORK, work);
  work->event.callback = on_over;
  work->batch = batch;
  work->status = 0;
  uvb__claim(work->private_, state);
  status = uv_queue_work(batch->loop, &work->req, run, on_done);
  if (status != 0) {
    uvb__give_up(work->private_);
    uvb__free(state);
  }
  return status;
}

int uv_batch_work_cancel(uv_batch_work_t* work) {
  if (work == NULL) return UV_EINVAL;
  const state_t* state = uvb__claimed(work->private_);
  if (state == NULL) return UV_EALREADY;
  /* libuv must not be asked about a request that it has finished with. */
  return state->has_run ? UV_EBUSY : uv_cancel((uv_req_t*)&work->req);
}
