/*
 * Children, whose exit is an event of type PROCESS.
 *
 * The state lives from uv_batch_spawn() until libuv has closed the handle, which is after the event. libuv's handle is
 * in the state and not in the user's struct: after a failed uv_spawn() it has to be closed, which takes a turn, while
 * the struct is the user's again at once.
 */
#include "adapter.h"

typedef struct {
  uv_process_t handle;
  uvb__ending_t ending;
  uvb__waiter_t waiter;
  uv_batch_process_t* process;
  uv_batch_process_cb cb;
} state_t;

static void end(uvb__ending_t* ending) {
  state_t* state = uvb__of(ending, state_t, ending);
  uv_batch_process_t* process = state->process;
  uv_batch_process_cb cb = state->cb;
  process->handle = NULL;
  uvb__give_up(process->private_);
  uvb__free(state);
  if (cb != NULL) cb(process);
}

static void on_failed_closed(uvb__ending_t* ending) {
  uvb__free(uvb__of(ending, state_t, ending));
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  (void)batch, (void)status;
  state_t* state = uvb__claimed(uvb__of(event, uv_batch_process_t, event)->private_);
  uvb__end_handle(&state->ending, (uv_handle_t*)&state->handle, end);
}

static void offer(state_t* state) {
  uv_batch_process_t* process = state->process;
  /* Under the policy `direct` the event may be over when this returns. */
  if (uvb__adapt_offer(process->batch, &process->event, &state->waiter)) return;
  uvb__end_handle(&state->ending, (uv_handle_t*)&state->handle, end);
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
  if (batch == NULL || process == NULL || options == NULL || options->file == NULL) return UV_EINVAL;
  if (options->stdio_count < 0 || (options->stdio_count > 0 && options->stdio == NULL)) return UV_EINVAL;
  int status = uvb__adapt_check(batch, process->private_);
  if (status != 0) return status;
  state_t* state = uvb__calloc(1, sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  uv_process_options_t own = *options;
  own.exit_cb = on_exit;
  status = uv_spawn(batch->loop, &state->handle, &own);
  if (status != 0) {
    uvb__end_handle(&state->ending, (uv_handle_t*)&state->handle, on_failed_closed);
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
