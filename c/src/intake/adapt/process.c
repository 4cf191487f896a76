#include "intake/adapt/adapt.h"
#include "memory.h"

/* libuv's handle is here and not in the user's struct: after a failed uv_spawn() it has to be closed, which takes a
 * turn, while the struct is the user's again at once. */
typedef struct {
  uv_process_t handle;
  uvb__await_t await; /* when somebody else has closed it */
  uvb__waiter_t waiter;
  uv_batch_process_t* process;
  uv_batch_process_cb cb;
} state_t;

static state_t* state_of(const uv_batch_process_t* process) {
  return uvb__claimed(process->private_);
}

static void end(state_t* state) {
  uv_batch_process_t* process = state->process;
  uv_batch_process_cb cb = state->cb;
  process->handle = NULL;
  uvb__give_up(process->private_);
  uvb__free(state);
  if (cb != NULL) cb(process);
}

static void on_closed(uv_handle_t* handle) {
  end(uvb__of(handle, state_t, handle));
}

static void on_awaited(uvb__await_t* await) {
  end(uvb__of(await, state_t, await));
}

static void close_handle(state_t* state) {
  uv_handle_t* handle = (uv_handle_t*)&state->handle;
  if (uv_is_closing(handle)) uvb__await(&state->await, handle, on_awaited);
  else uv_close(handle, on_closed);
}

static void on_failed_closed(uv_handle_t* handle) {
  uvb__free(uvb__of(handle, state_t, handle));
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  state_t* state = state_of(uvb__of(event, uv_batch_process_t, event));
  (void)batch;
  (void)status;
  close_handle(state);
}

static void offer(state_t* state) {
  uv_batch_process_t* process = state->process;
  /* Under the policy `direct` the event may be over when this returns. */
  if (uvb__adapt_offer(process->batch, &process->event, &state->waiter)) return;
  close_handle(state);
}

static void retry(uvb__waiter_t* waiter) {
  offer(uvb__of(waiter, state_t, waiter));
}

static void on_exit(uv_process_t* handle, int64_t exit_status, int term_signal) {
  state_t* state = uvb__of(handle, state_t, handle);
  state->process->exit_status = exit_status;
  state->process->term_signal = term_signal;
  offer(state);
}

int uv_batch_spawn(uv_batch_t* batch, uv_batch_process_t* process, const uv_process_options_t* options,
                   uv_batch_process_cb cb) {
  uv_process_options_t own;
  state_t* state;
  int status = uvb__adapt_check(batch);
  if (process == NULL || options == NULL || options->file == NULL) return UV_EINVAL;
  if (options->stdio_count < 0 || (options->stdio_count > 0 && options->stdio == NULL)) return UV_EINVAL;
  if (status != 0) return status;
  if (state_of(process) != NULL) return UV_EBUSY;
  state = uvb__calloc(1, sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  own = *options;
  own.exit_cb = on_exit;
  status = uv_spawn(batch->loop, &state->handle, &own);
  if (status != 0) {
    uv_close((uv_handle_t*)&state->handle, on_failed_closed);
    return status;
  }
  state->waiter.retry = retry;
  state->process = process;
  state->cb = cb;
  uv_batch_event_init(&process->event, UV_BATCH_PROCESS, process);
  process->event.callback = on_over;
  process->batch = batch;
  process->exit_status = 0;
  process->term_signal = 0;
  process->handle = &state->handle;
  process->pid = uv_process_get_pid(&state->handle);
  uvb__claim(process->private_, state);
  return 0;
}
