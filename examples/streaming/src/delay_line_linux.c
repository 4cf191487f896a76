#if defined(__linux__)

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "delay_line.h"
#include "must.h"

typedef struct packet_s packet_t;
struct packet_s {
  packet_t* next;
  uint64_t due; /* ns */
  size_t size;
  char bytes[];
};

typedef struct {
  int from, to;
  packet_t* first;
  packet_t** last;
} lane_t;

static uint64_t delay;
static char room[1 << 16];

/* At most as many as keep the other direction from waiting. */
static int take(lane_t* lane) {
  for (int i = 0; i < 64; i++) {
    ssize_t size = read(lane->from, room, sizeof(room));
    if (size <= 0) return i;
    packet_t* packet = malloc(sizeof(*packet) + (size_t)size);
    if (packet == NULL) FAIL("no memory for a packet");
    memcpy(packet->bytes, room, (size_t)size);
    packet->size = (size_t)size;
    packet->due = uv_hrtime() + delay;
    packet->next = NULL;
    *lane->last = packet;
    lane->last = &packet->next;
  }
  return 64;
}

static void give(lane_t* lane) {
  uint64_t now = uv_hrtime();
  while (lane->first != NULL && lane->first->due <= now) {
    packet_t* packet = lane->first;
    /* A device that takes no more loses the packet, as a network does. */
    if (write(lane->to, packet->bytes, packet->size) < 0) { /* TCP sends it again. */
    }
    lane->first = packet->next;
    if (lane->first == NULL) lane->last = &lane->first;
    free(packet);
  }
}

static uint64_t until_due(const lane_t* lane, uint64_t now) {
  if (lane->first == NULL) return 1000000000;
  return lane->first->due > now ? lane->first->due - now : 0;
}

static void carry(int a, int b) {
  lane_t there = {a, b, NULL, NULL}, back = {b, a, NULL, NULL};
  there.last = &there.first;
  back.last = &back.first;
  for (;;) {
    struct pollfd fds[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    int took = take(&there) + take(&back);
    give(&there);
    give(&back);
    if (took > 0) continue;
    uint64_t now = uv_hrtime();
    uint64_t first = until_due(&there, now), second = until_due(&back, now);
    uint64_t wait = first < second ? first : second;
    struct timespec time = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
    ppoll(fds, 2, &time, NULL);
  }
}

void delay_line_start(int a, int b, double delay_ms) {
  pid_t pid = fork();
  if (pid < 0) FAIL("no process for the delay line");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    delay = (uint64_t)(delay_ms * 1e6);
    carry(a, b);
  }
  close(a);
  close(b);
}

#endif
