#include "dispatch/loop.h"

#include <math.h>
#include <stddef.h>

#include "attach.h"
#include "batch/estimate/utilization.h"
#include "intake/inbox.h"
#include "intake/push.h"
#include "memory.h"

/*
 * Where a queue lives in a turn of the loop:
 *
 *   prepare   a dispatch point is due: the poll must not block
 *   poll      reads, connections and their callbacks, which push; `async`: a thread has posted
 *   check     takes in what was posted, then the dispatch point: everything that this turn has brought is there
 *
 * prepare and check are active all the time, and unref'd, so that an idle loop ends as it would without them. While a
 * dispatch point is due, `check` is ref'd (the loop goes on) and a timer of 0 ms runs (the poll does not block, and an
 * embedder that asks uv_backend_timeout() hears 0). The timer alone would not do: libuv runs timers before the poll in
 * some releases and after it in others, and a loop whose last timer has fired ends, or blocks.
 */
typedef struct {
  uvb__host_t host;
  uvb__core_t* core;
  uv_loop_t* loop;
  uv_prepare_t prepare;
  uv_check_t check;
  uv_async_t async;
  uv_timer_t turn;
  uv_timer_t hold;   /* keeps the loop alive: events are waiting for it */
  uv_timer_t expiry; /* keeps nothing alive */
  int handles;       /* that are not closed yet */
  bool due;
  /* The time of this turn, kept while a dispatch point is due or running; negative: it has to be read. */
  double now;
  /* That of the loop; sampled when a policy asks, never by a timer. */
  uvb__utilization_t utilization;
  double sampled_at;
  double idle;
  bool observed;
} uvb__on_loop_t;

static uvb__on_loop_t* of(uvb__host_t* host) {
  return (uvb__on_loop_t*)host;
}

static double clock_ms(void) {
  return (double)uv_hrtime() / 1e6;
}

static double read_now(uvb__host_t* host) {
  uvb__on_loop_t* on = of(host);
  if (on->now >= 0) return on->now;
  double now = clock_ms();
  if (on->due) on->now = now;
  return now;
}

void uvb__loop_look_at_clock(uvb__core_t* core) {
  of(core->host)->now = -1;
}

/* ---- asking for calls */

static void turn_timer_fired(uv_timer_t* timer) {
  /* It has kept the poll from blocking; prepare starts it again if need be. */
  (void)timer;
}

static void ask_for_turn(uvb__host_t* host) {
  uvb__on_loop_t* on = of(host);
  if (on->due) return;
  on->due = true;
  uv_ref((uv_handle_t*)&on->check);
  uv_timer_start(&on->turn, turn_timer_fired, 0, 0);
}

static void turn_taken(uvb__on_loop_t* on) {
  on->due = false;
  uv_unref((uv_handle_t*)&on->check);
  uv_timer_stop(&on->turn);
}

static void start_timer(uv_timer_t* timer, uv_timer_cb cb, double deadline) {
  if (deadline < 0) {
    uv_timer_stop(timer);
    return;
  }
  /* libuv counts from its own idea of now, which may be behind: then the timer comes early, and is asked for again. */
  double left = ceil(deadline - clock_ms());
  uv_timer_start(timer, cb, left > 0 ? (uint64_t)left : 0, 0);
}

static void hold_ended(uv_timer_t* timer) {
  uvb__on_loop_t* on = timer->data;
  on->now = -1;
  uvb__hold_ended(on->core->batch);
}

static void arm_hold(uvb__host_t* host, double deadline) {
  start_timer(&of(host)->hold, hold_ended, deadline);
}

static void age_reached(uv_timer_t* timer) {
  uvb__on_loop_t* on = timer->data;
  uvb__expire(on->core->batch);
}

static void arm_expiry(uvb__host_t* host, double deadline) {
  start_timer(&of(host)->expiry, age_reached, deadline);
}

/* ---- utilization, from libuv's own count of the time it was idle in the poll */

static double idle_ms(const uvb__on_loop_t* on) {
  return (double)uv_metrics_idle_time(on->loop) / 1e6;
}

static double read_utilization(uvb__host_t* host, double now) {
  uvb__on_loop_t* on = of(host);
  if (!on->observed) {
    /* It makes the loop read the clock twice a turn, so it is turned on only when a policy wants to know. */
    uv_loop_configure(on->loop, UV_METRICS_IDLE_TIME);
    on->observed = true;
    on->sampled_at = now;
    on->idle = idle_ms(on);
    uvb__utilization_init(&on->utilization, now);
  }
  /* A sample a ms is plenty for slices of 25 ms. */
  if (now - on->sampled_at >= 1) {
    double idle = idle_ms(on);
    double busy = now - on->sampled_at - (idle - on->idle);
    uvb__utilization_observe(&on->utilization, on->sampled_at, now, fmax(0, busy));
    on->sampled_at = now;
    on->idle = idle;
  }
  return uvb__utilization_read(&on->utilization, now);
}

/* ---- the phases of a turn */

static void take_in(uvb__core_t* core, uv_batch_event_t* newest) {
  uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  uvb__taken_t taken = uvb__take_in(core, newest, uvb__inbox_at_most(inbox));
  uvb__inbox_taken(inbox, taken.count, taken.bytes);
  uvb__inbox_publish(inbox, core->queue.count, core->queue.bytes);
}

void uvb__loop_take_in(uvb__core_t* core) {
  uvb__inbox_t* inbox = uvb__inbox_of(core->batch);
  if (uvb__inbox_has(inbox)) take_in(core, uvb__inbox_take(inbox));
}

void uvb__loop_let_sleep(uvb__core_t* core) {
  if (uvb__inbox_sleep(uvb__inbox_of(core->batch))) return;
  /* What has come meanwhile did not wake the loop, as it was awake. */
  uvb__loop_take_in(core);
  /* Nobody is going to wake the loop, so it has to come round again; under `direct` nothing else has asked for that. */
  uvb__engine_wake(core);
}

void uvb__loop_take_last(uvb__core_t* core) {
  take_in(core, uvb__inbox_close(uvb__inbox_of(core->batch)));
}

static void on_prepare(uv_prepare_t* prepare) {
  uvb__on_loop_t* on = prepare->data;
  if (on->due && !uv_is_active((uv_handle_t*)&on->turn)) uv_timer_start(&on->turn, turn_timer_fired, 0, 0);
}

static void on_async(uv_async_t* async) {
  uvb__on_loop_t* on = async->data;
  uvb__enter(on->core);
  uvb__loop_take_in(on->core);
  uvb__leave(on->core);
}

static void on_check(uv_check_t* check) {
  uvb__on_loop_t* on = check->data;
  uvb__core_t* core = on->core;
  uvb__enter(core);
  uvb__loop_take_in(core);
  if (on->due) {
    turn_taken(on);
    on->now = clock_ms();
    uvb__turn(core->batch);
    on->now = -1;
  }
  uvb__loop_let_sleep(core);
  uvb__leave(core);
}

/* ---- start and end */

static void closed_one(uv_handle_t* handle) {
  uvb__on_loop_t* on = handle->data;
  if (--on->handles > 0) return;
  uvb__core_t* core = on->core;
  uv_batch_t* batch = core->batch;
  uv_batch_close_cb close_cb = core->close_cb;
  batch->core_ = NULL;
  uvb__core_free(core);
  uvb__free(on);
  uvb__detach(batch, UVB__ATTACH_BATCH);
  if (close_cb != NULL) close_cb(batch);
}

static void close_handles(uvb__on_loop_t* on) {
  uv_handle_t* handles[] = {(uv_handle_t*)&on->prepare, (uv_handle_t*)&on->check, (uv_handle_t*)&on->async,
                            (uv_handle_t*)&on->turn,    (uv_handle_t*)&on->hold,  (uv_handle_t*)&on->expiry};
  for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) uv_close(handles[i], closed_one);
}

static void end(uvb__core_t* core) {
  uvb__on_loop_t* on = of(core->host);
  if (on->due) turn_taken(on);
  uvb__core_remember(core);
  close_handles(on);
}

static uvb__on_loop_t* make(uv_loop_t* loop) {
  uvb__on_loop_t* on = uvb__calloc(1, sizeof(*on));
  if (on == NULL) return NULL;
  on->host = (uvb__host_t){read_now, ask_for_turn, arm_hold, arm_expiry, read_utilization};
  on->loop = loop;
  on->now = -1;
  return on;
}

int uvb__loop_start(uv_loop_t* loop, uv_batch_t* batch, const uv_batch_options_t* options) {
  uvb__on_loop_t* on = make(loop);
  if (on == NULL) return UV_ENOMEM;
  int status = uvb__core_new(&on->core, batch, &on->host, options);
  /* The only one of libuv's calls here that can fail: it may need a descriptor. */
  if (status == 0) status = uv_async_init(loop, &on->async, on_async);
  if (status != 0) {
    if (on->core != NULL) uvb__core_free(on->core);
    uvb__free(on);
    return status;
  }
  uv_prepare_init(loop, &on->prepare);
  uv_check_init(loop, &on->check);
  uv_timer_init(loop, &on->turn);
  uv_timer_init(loop, &on->hold);
  uv_timer_init(loop, &on->expiry);
  on->prepare.data = on->check.data = on->async.data = on->turn.data = on->hold.data = on->expiry.data = on;
  on->handles = 6;
  uv_prepare_start(&on->prepare, on_prepare);
  uv_check_start(&on->check, on_check);
  uv_unref((uv_handle_t*)&on->prepare);
  uv_unref((uv_handle_t*)&on->check);
  uv_unref((uv_handle_t*)&on->async);
  uv_unref((uv_handle_t*)&on->expiry);
  on->core->end = end;
  batch->core_ = on->core;
  uvb__inbox_init(uvb__inbox_of(batch), &on->async);
  return 0;
}

void uvb__loop_ref(uvb__core_t* core, bool ref) {
  uvb__on_loop_t* on = of(core->host);
  if (ref) uv_ref((uv_handle_t*)&on->async);
  else uv_unref((uv_handle_t*)&on->async);
}
