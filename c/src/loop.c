/*
 * The host that lives on a libuv loop. Where a queue is in a turn of the loop:
 *
 *   poll      reads, connections and their callbacks, which push; `async`: a thread has posted
 *   check     takes in what was posted, then the dispatch point: everything that this turn has brought is there
 *   closing   `turn`, which a push has closed, is over
 *
 * `check` is active all the time, and unref'd, so that an idle loop ends as it would without it.
 *
 * `turn` is a handle that does nothing but close. As long as one is closing, libuv in each of its releases goes on,
 * does not block in the poll, and tells embedders so (uv_backend_timeout() is 0), wherever in the turn it runs its
 * timers. And nobody else can close it: when a program ends its loop by uv_walk() and uv_close(), the callback of
 * `turn` still comes, and finds that the other handles are gone. Events that wait longer, for the end of a hold, have a
 * sentinel for that, and so has a queue that waits for posts. A queue that keeps no loop alive cannot learn of it from
 * libuv: it finds out at the next call.
 *
 * Only the loop's thread comes here. The host is freed with its queue, once libuv has finished with every handle.
 */
#include "engine.h"

#include <errno.h>
#include <math.h>

#if defined(__linux__)
#include <sys/eventfd.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "inbox.h"

/* ---- the sentinel: learns that somebody closes the handles of a loop. libuv tells nobody but the caller of
 * uv_close(); but it cancels the requests of a stream that is closed, whoever closes it, and calls them back. So a
 * sentinel is a stream with a write that cannot complete. Like every request it keeps the loop alive, and it lets the
 * poll wait. It costs a descriptor and a few system calls. */

typedef struct {
  uv_pipe_t pipe;
  uv_write_t write;
  uv_file other;            /* has to stay open as long as the pipe, or -1 */
  void (*lost)(void* data); /* NULL once it was taken back */
  void* data;
} sentinel_t;

/* A descriptor that never becomes writable, or an error. */
#if defined(__linux__)
static uv_file open_full(uv_file* other) {
  const uint64_t most = UINT64_MAX - 1;
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  *other = -1;
  if (fd < 0) return uv_translate_sys_error(errno);
  if (write(fd, &most, sizeof(most)) == (ssize_t)sizeof(most)) return fd;
  close(fd);
  return UV_EIO;
}
#elif !defined(_WIN32)
/* A pipe that is full. */
static uv_file open_full(uv_file* other) {
  static const char filling[4096];
  uv_file ends[2];
  *other = -1;
  int status = uv_pipe(ends, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE);
  if (status != 0) return status;
  while (write(ends[1], filling, sizeof(filling)) > 0) continue;
  while (write(ends[1], filling, 1) > 0) continue;
  *other = ends[0];
  return ends[1];
}
#else
/* A write is with the kernel at once, and closing its handle cancels it in its own time. */
static uv_file open_full(uv_file* other) {
  *other = -1;
  return UV_ENOSYS;
}
#endif

static void close_file(uv_file fd) {
  uv_fs_t req;
  uv_fs_close(NULL, &req, fd, NULL);
  uv_fs_req_cleanup(&req);
}

static void free_sentinel(sentinel_t* sentinel) {
  if (sentinel->other >= 0) close_file(sentinel->other);
  uvb__free(sentinel);
}

static void on_sentinel_closed(uv_handle_t* handle) {
  free_sentinel(handle->data);
}

static void on_sentinel_write(uv_write_t* write, int status) {
  sentinel_t* sentinel = write->data;
  void (*lost)(void*) = sentinel->lost;
  (void)status;
  sentinel->lost = NULL;
  if (lost != NULL) lost(sentinel->data);
}

/* `lost` runs once if somebody else closes its handle: in the closing phase of that turn. NULL: there is no memory or
 * no descriptor, or the system has none of the kind. */
static sentinel_t* start_sentinel(uv_loop_t* loop, void (*lost)(void* data), void* data) {
  /* As much as an eventfd takes at once; it is never read. */
  static char counter[8] = {1};
  uv_buf_t buf = uv_buf_init(counter, sizeof(counter));
  sentinel_t* sentinel = uvb__calloc(1, sizeof(*sentinel));
  uv_file fd = sentinel == NULL ? UV_ENOMEM : open_full(&sentinel->other);
  if (fd < 0) {
    uvb__free(sentinel);
    return NULL;
  }
  uv_pipe_init(loop, &sentinel->pipe, 0);
  sentinel->pipe.data = sentinel;
  sentinel->write.data = sentinel;
  sentinel->data = data;
  int status = uv_pipe_open(&sentinel->pipe, fd);
  if (status != 0) close_file(fd);
  else status = uv_write(&sentinel->write, (uv_stream_t*)&sentinel->pipe, &buf, 1, on_sentinel_write);
  if (status != 0) {
    uv_close((uv_handle_t*)&sentinel->pipe, on_sentinel_closed);
    return NULL;
  }
  sentinel->lost = lost;
  return sentinel;
}

/* Takes it back; it frees itself when its handle is closed, and keeps the loop alive until then. False, and nothing is
 * done, when somebody else has closed it. */
static bool end_sentinel(sentinel_t* sentinel) {
  if (uv_is_closing((uv_handle_t*)&sentinel->pipe)) return false;
  sentinel->lost = NULL;
  uv_close((uv_handle_t*)&sentinel->pipe, on_sentinel_closed);
  return true;
}

/* ---- the host */

enum { handles = 4 };

typedef struct {
  uvb__host_t host;
  uvb__core_t* core;
  uv_loop_t* loop;
  uv_check_t check;
  uv_async_t async;
  uv_timer_t hold;   /* keeps the loop alive: events are waiting for it. Ref'd from first to last, see is_over() */
  uv_timer_t expiry; /* keeps nothing alive */
  uv_handle_t* all[handles]; /* the four above */
  uvb__closer_t turn;
  sentinel_t* sentinel; /* while events are held, or posts are waited for */
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
  /* During a hold pushes ask for no dispatch point. The time that one reads is kept as long as the loop's own, which stands
   * still from poll to poll. */
  double held_now;
  uint64_t held_at; /* that of the loop; UINT64_MAX: it has to be read */
  /* Of the loop; sampled when a policy asks, never by a timer. */
  uvb__utilization_t utilization;
  double observed_from;
  double sampled_at;
  double idle; /* from the beginning of the loop to the last sample */
  double idle_before; /* the first one */
  bool observed;
} loop_host_t;

static loop_host_t* of(uvb__host_t* host) {
  return (loop_host_t*)host;
}

/* The timer of a hold, its turn of the loop, and the sentinel: CPU time by getrusage() of 5,000 holds of 1 ms one after
 * the other on an otherwise idle loop, less that of the same batches without a hold. A uv_timer_t of 1 ms that does
 * nothing takes nearly all of it (0.019 of 0.024 ms, libuv 1.44 on a server of two busy cores). */
static const double hold_cost_ms = 0.02;

static double clock_ms(void) {
  return (double)uv_hrtime() / 1e6;
}

static double read_clock(uvb__host_t* host) {
  (void)host;
  return clock_ms();
}

static double read_now(uvb__host_t* host) {
  loop_host_t* on = of(host);
  if (on->now >= 0) return on->now;
  /* Once it is closing, the loop may be gone. */
  bool keeps = on->held && !uv_is_closing((uv_handle_t*)&on->check);
  uint64_t at = keeps ? uv_now(on->loop) : UINT64_MAX;
  if (keeps && at == on->held_at) return on->held_now;
  double now = clock_ms();
  if (on->due) on->now = now;
  on->held_now = now;
  on->held_at = at;
  return now;
}

static void look_at_clock(loop_host_t* on) {
  on->now = -1;
  on->held_at = UINT64_MAX;
}

void uvb__loop_look_at_clock(uvb__core_t* core) {
  if (core->gate != NULL) look_at_clock(of(core->host));
}

/* ---- handles that others have closed */

static int count_closing(loop_host_t* on) {
  int count = 0;
  for (int i = 0; i < handles; i++) count += uv_is_closing(on->all[i]) != 0;
  return count;
}

static bool was_closed_by_others(loop_host_t* on) {
  if (on->ended) return false;
  if (on->sentinel != NULL && uv_is_closing((uv_handle_t*)&on->sentinel->pipe)) return true;
  return count_closing(on) > 0;
}

/* Others have closed everything, and libuv has finished with it: the loop is not needed any more, and may be gone.
 * libuv takes the mark of a ref'd handle away when it is closed for good. Windows leaves it. */
static bool is_over(loop_host_t* on) {
  return !on->ended && uv_is_closing((uv_handle_t*)&on->check) && count_closing(on) == handles &&
         !uv_has_ref((uv_handle_t*)&on->hold) && !on->turning &&
         (on->sentinel == NULL || !uv_has_ref((uv_handle_t*)&on->sentinel->pipe));
}

static void turn_over(uvb__closer_t* turn);

static void start_turn(loop_host_t* on) {
  if (is_over(on)) return;
  on->turning = true;
  uvb__closer_start(&on->turn, on->loop, turn_over);
}

static void start_turn_again(loop_host_t* on) {
  on->turning = true;
  uvb__closer_again(&on->turn);
}

/* In the middle of anything: if others have closed handles, sees to it that the queue ends in this turn. */
static void look(loop_host_t* on) {
  if (!on->turning && was_closed_by_others(on)) start_turn(on);
}

bool uvb__loop_gone(uvb__core_t* core) {
  loop_host_t* on = of(core->host);
  if (!was_closed_by_others(on)) return false;
  core->closed = true;
  if (is_over(on)) uv_batch_close(core->batch, UV_BATCH_DISCARD, NULL);
  else look(on);
  return true;
}

/* True: others have closed handles, and the queue is over. What is queued is cancelled, as libuv cancels requests. */
static bool ends(loop_host_t* on) {
  if (!was_closed_by_others(on)) return false;
  uv_batch_close(on->core->batch, UV_BATCH_DISCARD, NULL);
  return true;
}

static void sentinel_lost(void* data) {
  ends(data);
}

static void keep_alive(loop_host_t* on) {
  bool wanted = on->held || on->ref;
  if (wanted && on->sentinel == NULL) on->sentinel = start_sentinel(on->loop, sentinel_lost, on);
  else if (!wanted && on->sentinel != NULL && end_sentinel(on->sentinel)) on->sentinel = NULL;
}

/* ---- asking for calls */

static void ask_for_turn(uvb__host_t* host) {
  loop_host_t* on = of(host);
  on->due = true;
  if (!on->turning) start_turn(on);
}

static void arm_timer(loop_host_t* on, uv_timer_t* timer, bool* armed, uv_timer_cb cb, double deadline) {
  if (was_closed_by_others(on)) {
    look(on);
    return;
  }
  *armed = deadline >= 0;
  if (*armed) {
    /* libuv counts from its own idea of now, which may be behind: then the timer comes early, and is armed again. */
    double left = ceil(deadline - clock_ms());
    uv_timer_start(timer, cb, left > 0 ? (uint64_t)left : 0, 0);
  } else {
    uv_timer_stop(timer);
  }
  keep_alive(on);
}

static void hold_ended(uv_timer_t* timer) {
  loop_host_t* on = timer->data;
  uvb__core_t* core = on->core;
  if (ends(on)) return;
  look_at_clock(on);
  on->held = false;
  uvb__enter(core);
  uvb__hold_ended(core->batch);
  keep_alive(on);
  look(on);
  uvb__leave(core);
}

static void arm_hold(uvb__host_t* host, double deadline) {
  loop_host_t* on = of(host);
  arm_timer(on, &on->hold, &on->held, hold_ended, deadline);
}

static void age_reached(uv_timer_t* timer) {
  loop_host_t* on = timer->data;
  uvb__core_t* core = on->core;
  if (ends(on)) return;
  uvb__enter(core);
  uvb__expire(core->batch);
  look(on);
  uvb__leave(core);
}

static void arm_expiry(uvb__host_t* host, double deadline) {
  loop_host_t* on = of(host);
  arm_timer(on, &on->expiry, &on->aging, age_reached, deadline);
}

/* ---- utilization, from libuv's own count of the time it was idle in the poll */

static double idle_ms(const loop_host_t* on) {
  return (double)uv_metrics_idle_time(on->loop) / 1e6;
}

static void begin_observing(loop_host_t* on, double now) {
  /* It makes the loop read the clock twice a turn, so it is turned on only when a policy wants to know. */
  uv_loop_configure(on->loop, UV_METRICS_IDLE_TIME);
  on->observed = true;
  on->observed_from = on->sampled_at = now;
  on->idle = on->idle_before = idle_ms(on);
  uvb__utilization_init(&on->utilization, now);
}

static void sample(loop_host_t* on, double now) {
  double idle = idle_ms(on);
  uvb__utilization_observe(&on->utilization, on->sampled_at, now, fmax(0, now - on->sampled_at - (idle - on->idle)));
  on->sampled_at = now;
  on->idle = idle;
}

static uvb__load_t read_load(uvb__host_t* host, double now) {
  loop_host_t* on = of(host);
  /* The loop may be gone. */
  bool gone = uv_is_closing((uv_handle_t*)&on->check);
  if (gone && !on->observed) return (uvb__load_t){0, 0};
  if (!on->observed) begin_observing(on, now);
  else if (!gone) sample(on, now);
  double busy = on->sampled_at - on->observed_from - (on->idle - on->idle_before);
  return (uvb__load_t){uvb__utilization_read(&on->utilization, now), busy};
}

/* ---- the phases of a turn */

void uvb__loop_let_sleep(uvb__core_t* core) {
  if (core->gate != NULL) look(of(core->host));
  if (uvb__inbox_sleep(uvb__inbox_of(core->batch))) return;
  /* What has come meanwhile did not wake the loop, as it was awake. */
  uvb__take_in(core);
  /* Nobody is going to wake the loop, so it has to come round again; under `direct` nothing else has asked for that. */
  uvb__wake(core);
}

static void on_async(uv_async_t* async) {
  loop_host_t* on = async->data;
  uvb__core_t* core = on->core;
  if (ends(on)) return;
  uvb__enter(core);
  uvb__take_in(core);
  look(on);
  uvb__leave(core);
}

static void on_check(uv_check_t* check) {
  loop_host_t* on = check->data;
  uvb__core_t* core = on->core;
  /* Timers that are not in use are looked at when they are started. */
  if ((on->held || on->aging || uv_is_closing((uv_handle_t*)&on->async)) && ends(on)) return;
  uvb__enter(core);
  uvb__take_in(core);
  if (on->due) {
    on->due = false;
    on->now = clock_ms();
    uvb__turn(core->batch);
  }
  look_at_clock(on);
  uvb__loop_let_sleep(core);
  uvb__leave(core);
}

/* ---- start and end */

static void release(loop_host_t* on) {
  if (on->sentinel != NULL) free_sentinel(on->sentinel);
  uvb__free(on);
}

static void finish(loop_host_t* on) {
  /* The last counters come from here, too. */
  uvb__end(on->core);
  release(on);
}

bool uvb__loop_forget(uvb__core_t* core) {
  if (core->gate == NULL) return false;
  loop_host_t* on = of(core->host);
  if (!was_closed_by_others(on) || !is_over(on)) return false;
  if (core->batch->core_ == core) return uv_batch_close(core->batch, UV_BATCH_DISCARD, NULL) == 0;
  /* The memory was used for something else since: nothing of the old queue is there any more. */
  uvb__detach(core->batch, UVB__ATTACH_BATCH);
  release(on);
  uvb__forget(core);
  return true;
}

static void closed_one(loop_host_t* on) {
  if (--on->closing == 0) finish(on);
}

static void on_closed(uv_handle_t* handle) {
  closed_one(handle->data);
}

static void find_own(uv_handle_t* handle, void* data) {
  loop_host_t* on = data;
  for (int i = 0; i < handles; i++) on->foreign |= handle == on->all[i];
  on->foreign |= on->sentinel != NULL && handle == (uv_handle_t*)&on->sentinel->pipe;
}

static void turn_over(uvb__closer_t* turn) {
  loop_host_t* on = uvb__of(turn, loop_host_t, turn);
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
  loop_host_t* on = of(core->host);
  bool over = is_over(on);
  on->ended = true;
  if (over) {
    finish(on);
    return;
  }
  on->foreign = count_closing(on) > 0;
  for (int i = 0; i < handles; i++) {
    if (uv_is_closing(on->all[i])) continue;
    uv_close(on->all[i], on_closed);
    on->closing++;
  }
  if (on->sentinel != NULL && end_sentinel(on->sentinel)) on->sentinel = NULL;
  on->foreign |= on->sentinel != NULL;
  if (on->foreign && !on->turning) start_turn(on);
  on->closing += on->turning;
}

int uvb__loop_start(uvb__core_t* core, uv_loop_t* loop) {
  loop_host_t* on = uvb__calloc(1, sizeof(*on));
  if (on == NULL) return UV_ENOMEM;
  /* The only one of libuv's calls here that can fail: it may need a descriptor. */
  int status = uv_async_init(loop, &on->async, on_async);
  if (status != 0) {
    uvb__free(on);
    return status;
  }
  on->host = (uvb__host_t){read_now, read_clock, ask_for_turn, arm_hold, arm_expiry, read_load, hold_cost_ms};
  on->core = core;
  on->loop = loop;
  look_at_clock(on);
  uv_check_init(loop, &on->check);
  uv_timer_init(loop, &on->hold);
  uv_timer_init(loop, &on->expiry);
  on->all[0] = (uv_handle_t*)&on->check;
  on->all[1] = (uv_handle_t*)&on->async;
  on->all[2] = (uv_handle_t*)&on->hold;
  on->all[3] = (uv_handle_t*)&on->expiry;
  for (int i = 0; i < handles; i++) on->all[i]->data = on;
  uv_check_start(&on->check, on_check);
  uv_unref((uv_handle_t*)&on->check);
  uv_unref((uv_handle_t*)&on->async);
  uv_unref((uv_handle_t*)&on->expiry);
  core->host = &on->host;
  core->end = end;
  core->gate = (uv_handle_t*)&on->check;
  uvb__inbox_init(uvb__inbox_of(core->batch), &on->async);
  return 0;
}

static int set_ref(uv_batch_t* batch, bool ref) {
  if (batch == NULL || batch->loop == NULL) return UV_EINVAL;
  if (uv_batch_is_closing(batch)) return UV_ESHUTDOWN;
  loop_host_t* on = of(uvb__core(batch)->host);
  if (ref) uv_ref((uv_handle_t*)&on->async);
  else uv_unref((uv_handle_t*)&on->async);
  on->ref = ref;
  keep_alive(on);
  return 0;
}

int uv_batch_ref(uv_batch_t* batch) {
  return set_ref(batch, true);
}

int uv_batch_unref(uv_batch_t* batch) {
  return set_ref(batch, false);
}
