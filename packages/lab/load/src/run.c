#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "frame.h"
#include "load.h"

enum {
  EVENTS = 256,
  DUE_A_TURN = 256, /* messages sent before the next look at what has come, and after each read: */
  DUE_A_READ = 4,   /* however much is due, what comes in is read */
  SECOND = 1000000,
  SPARE_DESCRIPTORS = 32,
  SETTLE_US = 100000,  /* after the last connection, so that the server has seen it too */
  LINGER_US = 100000,  /* after the last expected delivery: a repeated one may follow */
  CLOSING_US = 1000000, /* for the closing handshakes */
  OUT_ROOM = 64 * 1024,
  IN_ROOM = 256 * 1024,
};

static volatile sig_atomic_t stop_wanted;

void run_stop(int signal) {
  (void)signal;
  stop_wanted = 1;
}

static uint64_t cpu_us(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND +
         (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static uint64_t us(double seconds) { return (uint64_t)llround(seconds * SECOND); }

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Composes the parts of a socket.io event before and behind its text. */
static void compose_event(struct run *run) {
  static const char place[] = "{text}";
  const struct options *options = run->options;
  const char *text = strstr(options->data, place);
  snprintf(run->event_head, sizeof run->event_head, "42[\"%s\",%.*s", options->event,
           (int)(text - options->data), options->data);
  snprintf(run->event_tail, sizeof run->event_tail, "%s]", text + sizeof place - 1);
}

void run_start(struct run *run, const struct options *options) {
  memset(run, 0, sizeof *run);
  run->options = options;
  compose_event(run);
  run->streams =
      options->pattern == PATTERN_MIXED && options->protocol != PROTOCOL_CHAT ? PRIORITIES : 1;
  run->clients = memory_new(options->connections, sizeof *run->clients);
  run->rooms = memory_new(options->rooms, sizeof *run->rooms);
  run->sent = memory_new((size_t)options->senders * run->streams, sizeof *run->sent);
  run->out_room = OUT_ROOM > 2 * options->payload ? OUT_ROOM : 2 * options->payload;
  run->out = memory_new(run->out_room, 1);
  run->in_room = IN_ROOM > 2 * options->payload ? IN_ROOM : 2 * options->payload;
  run->in = memory_new(run->in_room, 1);
  run->quarters = (uint32_t)ceil(options->seconds * 4);
  run->per_quarter = memory_new(run->quarters, sizeof *run->per_quarter);
  run->gaps.limit = 32u * 1024 * 1024;
  run->until_check = options->check_every;
  run->next_due = UINT64_MAX;
  run->measure_from = us(options->warmup);
  run->measure_to = us(options->warmup + options->seconds);
  random_seed(&run->random, (uint64_t)options->seed + 1);

  const size_t sequences =
      (size_t)((options->senders + options->rooms - 1) / options->rooms) * run->streams;
  for (uint32_t i = 0; i < options->connections; i++) {
    struct client *client = &run->clients[i];
    client->index = i;
    client->room = i % options->rooms;
    client->fd = -1;
    client->slow = i >= options->connections - options->slow_readers;
    /* Never all zero: that would spare the server the work of unmasking. */
    const uint64_t mask = random_next(&run->random) | 1;
    memcpy(client->mask, &mask, sizeof client->mask);
    if (!client->slow) client->seen = memory_new(sequences, sizeof *client->seen);
  }
}

uint32_t run_receivers(const struct run *run, const struct client *client) {
  const uint32_t all = run->rooms[client->room].receivers;
  switch ((enum audience)run->options->to) {
    case TO_OTHERS: return all - 1;
    case TO_SENDER: return 1;
    default: return all;
  }
}

/* Messages per second over all senders, whichever way the user put it. */
static double wanted_rate(const struct run *run) {
  if (run->options->rate > 0) return run->options->rate;
  double receivers = 0; /* of the mean message */
  for (uint32_t i = 0; i < run->options->senders; i++) {
    receivers += schedule_share(run->options, i) * run_receivers(run, &run->clients[i]);
  }
  return run->options->deliveries_rate / (receivers > 0 ? receivers : 1);
}

static void cache_due(struct run *run) {
  const double due = schedule_due(&run->schedule);
  run->next_due = isfinite(due) ? (uint64_t)(due * SECOND) : UINT64_MAX;
  /* However late the loop wakes at the end: the same seed offers the same messages. */
  if (run->next_due >= run->measure_to) run->next_due = UINT64_MAX;
}

/* Puts messages that are due on their senders' way, at most so many. */
static void take_due(struct run *run, uint32_t most) {
  for (uint32_t taken = 0; taken < most && run->next_due <= run->now; taken++) {
    const uint64_t due = run->next_due;
    struct client *client = &run->clients[schedule_take(&run->schedule)];
    cache_due(run);
    if (due >= run->measure_from) histogram_add(&run->late, run->now - due);
    send_due(run, client, due);
    /* A full socket says when it has room. */
    if (client->state == CLIENT_READY && !client->awaits_write) send_flush(run, client);
  }
}

/* What has become due and could not even be begun: it counts as scheduled, and so as unsent. */
static void leave_due(struct run *run) {
  for (; run->next_due != UINT64_MAX; cache_due(run)) {
    schedule_take(&run->schedule);
    run->counts.scheduled++;
  }
}

/* Waits with microsecond resolution where the kernel can (5.11), else rounds up to milliseconds. */
static int wait_events(const struct run *run, struct epoll_event *events, uint64_t timeout_us) {
#ifdef SYS_epoll_pwait2
  static bool missing;
  if (!missing) {
    const struct timespec timeout = {(time_t)(timeout_us / SECOND),
                                     (long)(timeout_us % SECOND) * 1000};
    const long n = syscall(SYS_epoll_pwait2, run->epoll, events, EVENTS, &timeout, NULL, 0);
    if (n >= 0 || errno != ENOSYS) return (int)n;
    missing = true;
  }
#endif
  return epoll_wait(run->epoll, events, EVENTS, (int)((timeout_us + 999) / 1000));
}

static void handle(struct run *run, const struct epoll_event *event) {
  struct client *client = event->data.ptr;
  if (client->state == CLIENT_CLOSED) return;
  if (client->state == CLIENT_CONNECTING) {
    connect_writable(run, client);
    return;
  }
  if (event->events & EPOLLOUT) send_flush(run, client);
  if (client->state == CLIENT_CLOSED) return;
  if (client->slow && client->state == CLIENT_READY && run->phase != PHASE_CLOSE) {
    if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
      connect_closed(run, client, 1006, "the server gave a slow reader up");
    }
  } else if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    receive_ready(run, client);
  }
}

/* Runs until a time, or until `done` says so. */
static void loop(struct run *run, uint64_t until, bool (*done)(struct run *run)) {
  struct epoll_event events[EVENTS];
  while (!stop_wanted && !run->failed) {
    run->now = clock_us() - run->origin;
    take_due(run, DUE_A_TURN);
    if (run->now >= run->next_tick) {
      progress_line(run, (uint32_t)(run->next_tick / SECOND));
      run->next_tick += SECOND;
    }
    if (run->now >= until || (done != NULL && done(run))) return;
    const uint64_t wake = earlier(earlier(until, run->next_tick), run->next_due);
    const int n = wait_events(run, events, wake > run->now ? wake - run->now : 0);
    run->now = clock_us() - run->origin;
    for (int i = 0; i < n && !run->failed; i++) {
      handle(run, &events[i]);
      take_due(run, DUE_A_READ);
    }
  }
}

static bool all_ready(struct run *run) {
  connect_more(run);
  return run->ready == run->options->connections;
}

/* A server may acknowledge a message after it has delivered it, on a busy machine seconds later. */
static bool all_acknowledged(const struct run *run) {
  const struct counts *counts = &run->counts;
  if (run->options->protocol != PROTOCOL_CHAT || run->options->no_acks) return true;
  return counts->acks + counts->errors >= counts->sent || counts->closed_early > 0;
}

static bool all_arrived(struct run *run) {
  return run->outstanding == 0 && run->waiting == 0 && run->next_due == UINT64_MAX &&
         all_acknowledged(run);
}

static bool all_closed(struct run *run) { return run->open == 0; }

/* Enough descriptors for the connections, or a sentence. */
static void raise_limit(struct run *run) {
  const rlim_t need = (rlim_t)run->options->connections + SPARE_DESCRIPTORS;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= need) return;
  const rlim_t allowed = limit.rlim_max;
  limit.rlim_cur = need;
  if (limit.rlim_max < need) limit.rlim_max = need; /* only a privileged process may */
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  connect_fail(run,
               "--connections %u: needs %llu file descriptors and this process may have %llu; "
               "raise the limit (ulimit -Hn) or open fewer connections",
               run->options->connections, (unsigned long long)need, (unsigned long long)allowed);
}

static void connect_all(struct run *run) {
  run->origin = clock_us();
  run->next_tick = SECOND;
  const uint64_t patience = us(run->options->connect_timeout);
  uint32_t before = UINT32_MAX;
  while (!stop_wanted && !run->failed && !all_ready(run)) {
    if (run->ready == before) {
      connect_fail(run, "%u of %u connections to %s:%u were open, then none for %g s", run->ready,
                   run->options->connections, run->options->host, run->options->port,
                   run->options->connect_timeout);
      return;
    }
    before = run->ready;
    loop(run, run->now + patience, all_ready);
  }
  loop(run, run->now + SETTLE_US, NULL);
}

static void start_closed(struct run *run) {
  for (uint32_t i = 0; i < run->options->senders; i++) {
    struct client *client = &run->clients[i];
    for (uint32_t k = 0; k < run->options->inflight; k++) send_due(run, client, 0);
    if (client->state == CLIENT_READY) send_flush(run, client);
  }
}

static void load_and_drain(struct run *run) {
  /* What the set-up cost is no part of the run; what it broke is. */
  run->counts = (struct counts){.closed_early = run->counts.closed_early,
                                .slow_closed = run->counts.slow_closed};
  if (run->options->mode == MODE_OPEN) {
    schedule_start(&run->schedule, run->options, wanted_rate(run));
    cache_due(run);
  }
  run->origin = clock_us();
  run->now = 0;
  run->next_tick = SECOND;
  run->phase = PHASE_WARMUP;
  if (run->options->mode == MODE_CLOSED) start_closed(run);
  loop(run, run->measure_from, all_closed);
  run->phase = PHASE_MEASURE;
  progress_mark(run, "begin");
  run->cpu_from = cpu_us();
  loop(run, run->measure_to, all_closed);
  run->cpu_to = cpu_us();
  progress_mark(run, "end");
  run->stopped_at = run->now;
  if (run->now < run->measure_to) run->next_due = UINT64_MAX; /* cut short: the rest is not due */
  run->phase = PHASE_DRAIN;
  loop(run, run->now + us(run->options->drain), all_arrived);
  leave_due(run);
  if (all_arrived(run)) loop(run, run->now + LINGER_US, NULL);
}

/* Says goodbye, so that the server sees clients that leave and not a network that fails. */
static void close_all(struct run *run) {
  run->phase = PHASE_CLOSE;
  stop_wanted = 0;
  for (uint32_t i = 0; i < run->opened; i++) {
    struct client *client = &run->clients[i];
    if (client->state != CLIENT_READY) continue;
    run->waiting -= client->backlog.count;
    backlog_drop(&client->backlog, client->backlog.count);
    static const uint8_t normal[2] = {1000 >> 8, 1000 & 0xFF};
    send_frame(run, client, FRAME_CLOSE, normal, sizeof normal);
    if (client->state == CLIENT_READY) connect_watch(run, client);
  }
  run->next_tick = UINT64_MAX;
  /* A server that is behind would answer after all that it has yet to do. */
  const bool behind = run->outstanding > 0 && !run->partial;
  loop(run, run->now + (behind ? LINGER_US : CLOSING_US), all_closed);
}

void run_all(struct run *run) {
  prctl(PR_SET_TIMERSLACK, 1000); /* ns: wake when a message is due, not up to 50 µs after */
  raise_limit(run);
  run->epoll = epoll_create1(EPOLL_CLOEXEC);
  connect_all(run);
  if (run->failed) return;
  if (!stop_wanted) load_and_drain(run);
  run->partial = stop_wanted != 0;
  close_all(run);
}

void run_free(struct run *run) {
  for (uint32_t i = 0; i < run->options->connections; i++) {
    struct client *client = &run->clients[i];
    if (client->fd >= 0) close(client->fd);
    free(client->seen);
    bytes_free(&client->carry);
    bytes_free(&client->fragments);
    bytes_free(&client->out);
    backlog_free(&client->backlog);
  }
  close(run->epoll);
  sequence_store_free(&run->gaps);
  free(run->clients);
  free(run->rooms);
  free(run->sent);
  free(run->in);
  free(run->out);
  free(run->per_quarter);
}
