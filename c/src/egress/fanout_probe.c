#include "egress/fanout.h"
#include "egress/fanout_ring.h"

#if UVB_FANOUT_HAS_RING
#include <sys/socket.h>
#include <unistd.h>

enum { pairs = 64, least_pairs = 16, message_size = 100, rounds = 11 };

/* The longest that a first init may take, not counting the opening of the sockets. */
static const uint64_t longest_ns = 4000000;

static uv_once_t once = UV_ONCE_INIT;
static int wins;

typedef struct {
  uvb__ring_t* ring;
  uvb__content_t content;
  uv_batch_target_t targets[pairs];
  int readers[pairs];
  int count;
} probe_t;

static void connect_pairs(probe_t* probe) {
  int fds[2];
  for (probe->count = 0; probe->count < pairs; probe->count++) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) return;
    probe->targets[probe->count] = (uv_batch_target_t){.fd = fds[0]};
    probe->readers[probe->count] = fds[1];
  }
}

static void close_pairs(probe_t* probe) {
  while (probe->count-- > 0) {
    close(probe->targets[probe->count].fd);
    close(probe->readers[probe->count]);
  }
}

/* Whether all arrived; also makes room for the next round. */
static int drain(const probe_t* probe) {
  char received[message_size];
  for (int i = 0; i < probe->count; i++) {
    if (recv(probe->readers[i], received, sizeof(received), MSG_DONTWAIT) != message_size) return 0;
  }
  return 1;
}

static int time_plain(probe_t* probe, uint64_t* time) {
  uint64_t start = uv_hrtime();
  for (int i = 0; i < probe->count; i++) {
    probe->targets[i].result = uvb__fanout_plain(&probe->targets[i], &probe->content);
  }
  *time = uv_hrtime() - start;
  return drain(probe);
}

static int time_ring(probe_t* probe, uint64_t* time) {
  uint64_t start = uv_hrtime();
  int status = uvb__ring_send(probe->ring, &probe->content, probe->targets, (size_t)probe->count);
  *time = uv_hrtime() - start;
  return status == 0 && drain(probe);
}

/* The two take turns, so that what disturbs one disturbs the other; a first round of each warms up. */
static int measure(probe_t* probe) {
  uint64_t plain[rounds], ring[rounds], end = uv_hrtime() + longest_ns;
  size_t done;
  if (!time_plain(probe, &plain[0]) || !time_ring(probe, &ring[0])) return 0;
  for (done = 0; done < rounds && uv_hrtime() < end; done++) {
    if (!time_plain(probe, &plain[done]) || !time_ring(probe, &ring[done])) return 0;
  }
  return uvb__fanout_ring_wins(plain, ring, done);
}

static void find_out(void) {
  static char message[message_size];
  uv_buf_t buf = uv_buf_init(message, message_size);
  probe_t probe;
  if (uvb__ring_open(&probe.ring) != 0) return;
  uvb__content_init(&probe.content, &buf, 1);
  connect_pairs(&probe);
  if (probe.count >= least_pairs) wins = measure(&probe);
  close_pairs(&probe);
  uvb__ring_close(probe.ring);
}

int uvb__fanout_prefers_ring(void) {
  uv_once(&once, find_out);
  return wins;
}
#else
int uvb__fanout_prefers_ring(void) {
  return 0;
}
#endif
