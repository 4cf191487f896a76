#include "dispatch/loop.h"

#include <math.h>
#include <stddef.h>

#include "attach.h"
#include "batch/estimate/utilization.h"
#include "closer.h"
#include "dispatch/sentinel.h"
#include "intake/inbox.h"
#include "intake/push.h"
#include "memory.h"

/*
 * Where a queue lives in a turn of the loop:
 *
 *   poll      reads, connections and their callbacks, which push; `async`: a thread has posted
 *   check     takes in what was posted, then the dispatch point: everything that this turn has brought is there
 *   closing   `turn`, which a push has closed, is over
 *
 * `check` is active all the time, and unref'd, so that an idle loop ends as it would without it.
 *
 * `turn` is a handle that does nothing but close. As long as one is closing, libuv in each of its releases goes on,
 * does not block in the poll, and tells embedders so (uv_backend_timeout() is 0), wherever in the turn it runs its
 * timers. And nobody else can close it: when a program ends its loop by uv_walk() and uv_close(), the callback of `turn`
 * still comes, and finds that the other handles are gone. Events that wait longer, for the end of a hold, have a
 * sentinel for that, and so has a queue that waits for posts. A queue that keeps no loop alive cannot learn of it from
 * libuv: it finds out at the next call.
 */
typedef struct {
  uvb__host_t host;
  uvb__core_t* core;
  uv_loop_t* loop;
  uv_check_t check;
  uv_async_t async;
  uv_timer_t hold;   /* keeps the loop alive: events are waiting for it. Ref'd from first to last, see is_over() */
  uv_timer_t expiry; /* keeps nothing alive */
  uvb__closer_t turn;
  uvb__sentinel_t* sentinel; /* while events are held, or posts are waited for */
  int closing;               /* close callbacks of ours that are still to come */
  bool held;
  bool aging; /* a retained event has an age to reach */
  bool ref;
  bool turning; /* `turn` is closing */
  bool due;
  bool ended;   /* the handles are being closed by us */
  bool foreign; /* some of them were closed by others */
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

/* ---- handles that others have closed */

enum { handles = 4 };

static uv_handle_t* handle_of(uvb__on_loop_t* on, int index) {
  switch (index) {
    case 0: return (uv_handle_t*)&on->check;
    case 1: return (uv_handle_t*)&on->async;
    case 2: return (uv_handle_t*)&on->hold;
    default: return (uv_handle_t*)&on->expiry;
  }
}

static int count_closing(uvb__on_loop_t* on) {
  int count = 0;
  for (int i = 0; i < handles; i++) count += uv_is_closing(handle_of(on, i)) != 0;
  return count;
}

static bool was_closed_by_others(uvb__on_loop_t* on) {
  if (on->ended) return false;
  if (on->sentinel != NULL && uv_is_closing(uvb__sentinel_handle(on->sentinel))) return true;
  return count_closing(on) > 0;
}

/* Others have closed everything, and libuv has finished with it: the loop is not needed any more, and may be gone.
 * libuv takes the mark of a ref'd handle away when it is closed for good. Windows leaves it. */
static bool is_over(uvb__on_loop_t* on) {
  return !on->ended && uv_is_closing((uv_handle_t*)&on->check) && count_closing(on) == handles &&
         !uv_has_ref((uv_handle_t*)&on->hold) && !on->turning &&
         (on->sentinel == NULL || !uv_has_ref(uvb__sentinel_handle(on->sentinel)));
}

static void turn_over(uvb__closer_t* turn);

static void start_turn(uvb__on_loop_t* on) {
  if (is_over(on)) return;
  on->turning = true;
  uvb__closer_start(&on->turn, on->loop, turn_over);
}

static void start_turn_again(uvb__on_loop_t* on) {
  on->turning = true;
  uvb__closer_again(&on->turn);
}

/* In the middle of anything: if others have closed handles, sees to it that the queue ends in this turn. */
static void look(uvb__on_loop_t* on) {
  if (!on->turning && was_closed_by_others(on)) start_turn(on);
}

bool uvb__loop_gone(uvb__core_t* core) {
  uvb__on_loop_t* on = of(core->host);
  if (!was_closed_by_others(on)) return false;
  core->closed = true;
  if (is_over(on)) uv_batch_close(core->batch, UV_BATCH_DISCARD, NULL);
  else look(on);
  return true;
}

/* True: others have closed handles, and the queue is over. What is queued is cancelled, as libuv cancels requests. */
static bool ends(uvb__on_loop_t* on) {
  if (!was_closed_by_others(on)) return false;
  uv_batch_close(on->core->batch, UV_BATCH_DISCARD, NULL);
  return true;
}

static void sentinel_lost(void* data) {
  ends(data);
}

static void keep_alive(uvb__on_loop_t* on) {
  bool wanted = on->held || on->ref;
  if (wanted && on->sentinel == NULL) on->sentinel = uvb__sentinel_start(on->loop, sentinel_lost, on);
  else if (!wanted && on->sentinel != NULL && uvb__sentinel_end(on->sentinel)) on->sentinel = NULL;
}

/* ---- asking for calls */

static void ask_for_turn(uvb__host_t* host) {
  uvb__on_loop_t* on = of(host);
  on->due = true;
  if (!on->turning) start_turn(on);
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
  uvb__core_t* core = on->core;
  if (ends(on)) return;
  on->now = -1;
  on->held = false;
  uvb__enter(core);
  uvb__hold_ended(core->batch);
  keep_alive(on);
  look(on);
  uvb__leave(core);
}

static void arm_hold(uvb__host_t* host, double deadline) {
  uvb__on_loop_t* on = of(host);
  if (was_closed_by_others(on)) {
    look(on);
    return;
  }
  start_timer(&on->hold, hold_ended, deadline);
  on->held = deadline >= 0;
  keep_alive(on);
}

static void age_reached(uv_timer_t* timer) {
  uvb__on_loop_t* on = timer->data;
  uvb__core_t* core = on->core;
  if (ends(on)) return;
  uvb__enter(core);
  uvb__expire(core->batch);
  look(on);
  uvb__leave(core);
}

static void arm_expiry(uvb__host_t* host, double deadline) {
  uvb__on_loop_t* on = of(host);
  if (was_closed_by_others(on)) {
    look(on);
    return;
  }
  start_timer(&on->expiry, age_reached, deadline);
  on->aging = deadline >= 0;
}

/* ---- utilization, from libuv's own count of the time it was idle in the poll */

static double idle_ms(const uvb__on_loop_t* on) {
  return (double)uv_metrics_idle_time(on->loop) / 1e6;
}

static double read_utilization(uvb__host_t* host, double now) {
  uvb__on_loop_t* on = of(host);
  /* The loop may be gone. */
  if (uv_is_closing((uv_handle_t*)&on->check)) return on->observed ? uvb__utilization_read(&on->utilization, now) : 0;
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
  if (core->gate != NULL) look(of(core->host));
  if (uvb__inbox_sleep(uvb__inbox_of(core->batch))) return;
  /* What has come meanwhile did not wake the loop, as it was awake. */
  uvb__loop_take_in(core);
  /* Nobody is going to wake the loop, so it has to come round again; under `direct` nothing else has asked for that. */
  uvb__engine_wake(core);
}

void uvb__loop_take_last(uvb__core_t* core) {
  take_in(core, uvb__inbox_close(uvb__inbox_of(core->batch)));
}

static void on_async(uv_async_t* async) {
  uvb__on_loop_t* on = async->data;
  uvb__core_t* core = on->core;
  if (ends(on)) return;
  uvb__enter(core);
  uvb__loop_take_in(core);
  look(on);
  uvb__leave(core);
}

static void on_check(uv_check_t* check) {
  uvb__on_loop_t* on = check->data;
  uvb__core_t* core = on->core;
  /* Timers that are not in use are looked at when they are started. */
  if ((on->held || on->aging || uv_is_closing((uv_handle_t*)&on->async)) && ends(on)) return;
  uvb__enter(core);
  uvb__loop_take_in(core);
  if (on->due) {
    on->due = false;
    on->now = clock_ms();
    uvb__turn(core->batch);
    on->now = -1;
  }
  uvb__loop_let_sleep(core);
  uvb__leave(core);
}

/* ---- start and end */

static void release(uvb__on_loop_t* on) {
  if (on->sentinel != NULL) uvb__sentinel_free(on->sentinel);
  uvb__free(on);
}

static void finish(uvb__on_loop_t* on) {
  uvb__core_t* core = on->core;
  uv_batch_t* batch = core->batch;
  uv_batch_close_cb close_cb = core->close_cb;
  batch->core_ = NULL;
  uvb__core_free(core);
  release(on);
  uvb__detach(batch, UVB__ATTACH_BATCH);
  if (close_cb != NULL) close_cb(batch);
}

bool uvb__loop_forget(uvb__core_t* core) {
  if (core->gate == NULL) return false;
  uvb__on_loop_t* on = of(core->host);
  if (!was_closed_by_others(on) || !is_over(on)) return false;
  if (core->batch->core_ == core) return uv_batch_close(core->batch, UV_BATCH_DISCARD, NULL) == 0;
  /* The memory was used for something else since: nothing of the old queue is there any more. */
  uvb__detach(core->batch, UVB__ATTACH_BATCH);
  uvb__core_forget(core);
  release(on);
  return true;
}

static void closed_one(uvb__on_loop_t* on) {
  if (--on->closing == 0) finish(on);
}

static void on_closed(uv_handle_t* handle) {
  closed_one(handle->data);
}

static void find_own(uv_handle_t* handle, void* data) {
  uvb__on_loop_t* on = data;
  for (int i = 0; i < handles; i++) on->foreign |= handle == handle_of(on, i);
  on->foreign |= on->sentinel != NULL && handle == uvb__sentinel_handle(on->sentinel);
}

static void turn_over(uvb__closer_t* turn) {
  uvb__on_loop_t* on = uvb__of(turn, uvb__on_loop_t, turn);
  on->turning = false;
  if (!on->ended) {
    /* Pushed after the check phase: that of the next turn has it. */
    if (!ends(on) && on->due) start_turn_again(on);
    return;
  }
  /* libuv finishes with the handles that others have closed at its own time, and calls those others. */
  if (on->foreign) {
    on->foreign = false;
    uv_walk(on->loop, find_own, on);
  }
  if (on->foreign) start_turn_again(on);
  else closed_one(on);
}

static void end(uvb__core_t* core) {
  uvb__on_loop_t* on = of(core->host);
  bool over = is_over(on);
  uvb__core_remember(core);
  on->ended = true;
  if (over) {
    finish(on);
    return;
  }
  on->foreign = count_closing(on) > 0;
  for (int i = 0; i < handles; i++) {
    if (uv_is_closing(handle_of(on, i))) continue;
    uv_close(handle_of(on, i), on_closed);
    on->closing++;
  }
  if (on->sentinel != NULL && uvb__sentinel_end(on->sentinel)) on->sentinel = NULL;
  on->foreign |= on->sentinel != NULL;
  if (on->foreign && !on->turning) start_turn(on);
  on->closing += on->turning;
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
  uv_check_init(loop, &on->check);
  uv_timer_init(loop, &on->hold);
  uv_timer_init(loop, &on->expiry);
  for (int i = 0; i < handles; i++) handle_of(on, i)->data = on;
  uv_check_start(&on->check, on_check);
  uv_unref((uv_handle_t*)&on->check);
  uv_unref((uv_handle_t*)&on->async);
  uv_unref((uv_handle_t*)&on->expiry);
  on->core->end = end;
  on->core->gate = (uv_handle_t*)&on->check;
  batch->core_ = on->core;
  uvb__inbox_init(uvb__inbox_of(batch), &on->async);
  return 0;
}

void uvb__loop_ref(uvb__core_t* core, bool ref) {
  uvb__on_loop_t* on = of(core->host);
  if (ref) uv_ref((uv_handle_t*)&on->async);
  else uv_unref((uv_handle_t*)&on->async);
  on->ref = ref;
  keep_alive(on);
}
