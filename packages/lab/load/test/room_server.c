/*
 * A bare server of the raw protocol, to see what the generator itself can count: one thread, no
 * checks worth the name, and one write per member for all that a turn of its loop gathered.
 *
 *   room-server PORT        ends on SIGTERM or SIGINT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "handshake.h"

enum { EVENTS = 512, READ_ROOM = 256 * 1024, MAX_ROOMS = 65536 };

struct member {
  int fd;
  bool upgraded;
  bool blocked; /* the kernel would take no more */
  struct bytes in;
  struct bytes out; /* what the kernel did not take */
  struct room *room;
  struct member *next;
};

struct room {
  struct member *members;
  struct bytes turn; /* the frames of this turn */
  bool dirty;
};

static struct room rooms[MAX_ROOMS];
static struct room *dirty[MAX_ROOMS];
static size_t dirty_count;
static volatile sig_atomic_t stopped;

static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

static void drop(struct member *member) {
  if (member->room != NULL) {
    struct member **at = &member->room->members;
    while (*at != member) at = &(*at)->next;
    *at = member->next;
  }
  close(member->fd);
  bytes_free(&member->in);
  bytes_free(&member->out);
  free(member);
}

static void watch(int epoll, struct member *member, bool blocked) {
  struct epoll_event event = {.events = EPOLLIN | (blocked ? EPOLLOUT : 0u), .data.ptr = member};
  epoll_ctl(epoll, EPOLL_CTL_MOD, member->fd, &event);
  member->blocked = blocked;
}

/* Errors are left to the next read. */
static void give(int epoll, struct member *member, const uint8_t *data, size_t length) {
  if (!member->blocked) {
    const ssize_t n = send(member->fd, data, length, MSG_NOSIGNAL);
    if (n == (ssize_t)length) return;
    if (n > 0) {
      data += n;
      length -= (size_t)n;
    }
    watch(epoll, member, true);
  }
  bytes_append(&member->out, data, length);
}

static void writable(int epoll, struct member *member) {
  const ssize_t n = send(member->fd, member->out.data, member->out.length, MSG_NOSIGNAL);
  if (n <= 0) return;
  member->out.length -= (size_t)n;
  memmove(member->out.data, member->out.data + n, member->out.length);
  if (member->out.length == 0) watch(epoll, member, false);
}

static bool upgrade(int epoll, struct member *member) {
  bytes_append(&member->in, (const uint8_t *)"", 1); /* terminated */
  const char *request = (const char *)member->in.data;
  member->in.length--;
  const char *end = strstr(request, "\r\n\r\n");
  if (end == NULL) return true;
  const char *key = strstr(request, "Sec-WebSocket-Key: ");
  const char *room = strstr(request, "?room=");
  if (key == NULL || room == NULL) return false;
  char value[HANDSHAKE_KEY_SIZE];
  char accept[HANDSHAKE_ACCEPT_SIZE];
  snprintf(value, sizeof value, "%s", key + 19);
  handshake_accept(value, accept);
  char answer[200];
  const int n = snprintf(answer, sizeof answer,
                         "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                         "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
                         accept);
  member->room = &rooms[strtoul(room + 6, NULL, 10) % MAX_ROOMS];
  member->next = member->room->members;
  member->room->members = member;
  member->upgraded = true;
  const size_t used = (size_t)(end - request) + 4;
  member->in.length -= used;
  memmove(member->in.data, member->in.data + used, member->in.length);
  give(epoll, member, (const uint8_t *)answer, (size_t)n);
  return true;
}

/* Moves a text frame's payload to the room's turn; 0: more data is needed; -1: goodbye. */
static ptrdiff_t take(struct member *member, uint8_t *data, size_t length) {
  if (length < 6) return 0;
  size_t payload = data[1] & 0x7F;
  size_t header = 6;
  if (payload == 126) {
    header = 8;
    payload = (size_t)data[2] << 8 | data[3];
  } else if (payload == 127) {
    header = 14;
    if (length < header) return 0;
    payload = 0;
    for (size_t i = 2; i < 10; i++) payload = payload << 8 | data[i];
  }
  if (length < header + payload) return 0;
  if ((data[0] & 0x0F) == 8) return -1;
  const uint8_t *mask = data + header - 4;
  uint8_t *text = data + header;
  for (size_t i = 0; i < payload; i++) text[i] ^= mask[i & 3];
  uint8_t *front = text - (header - 4); /* the same header without its mask */
  memmove(front, data, header - 4);
  front[1] &= 0x7F;
  struct room *room = member->room;
  bytes_append(&room->turn, front, header - 4 + payload);
  if (!room->dirty) {
    room->dirty = true;
    dirty[dirty_count++] = room;
  }
  return (ptrdiff_t)(header + payload);
}

static void readable(int epoll, struct member *member) {
  static uint8_t data[READ_ROOM];
  const ssize_t n = recv(member->fd, data, sizeof data, 0);
  if (n <= 0) {
    if (n == 0 || errno != EAGAIN) drop(member);
    return;
  }
  bytes_append(&member->in, data, (size_t)n);
  if (!member->upgraded && !upgrade(epoll, member)) {
    drop(member);
    return;
  }
  if (!member->upgraded) return;
  size_t used = 0;
  for (;;) {
    const ptrdiff_t taken = take(member, member->in.data + used, member->in.length - used);
    if (taken < 0) {
      static const uint8_t goodbye[] = {0x88, 0};
      give(epoll, member, goodbye, sizeof goodbye);
      drop(member);
      return;
    }
    if (taken == 0) break;
    used += (size_t)taken;
  }
  member->in.length -= used;
  memmove(member->in.data, member->in.data + used, member->in.length);
}

static void end_turn(int epoll) {
  for (size_t i = 0; i < dirty_count; i++) {
    struct room *room = dirty[i];
    room->dirty = false;
    for (struct member *member = room->members; member != NULL; member = member->next) {
      give(epoll, member, room->turn.data, room->turn.length);
    }
    room->turn.length = 0;
  }
  dirty_count = 0;
}

int main(int argc, char **argv) {
  const long port = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
  if (port < 1 || port > 65535) {
    fprintf(stderr, "usage: room-server PORT (1 to 65535)\n");
    return 2;
  }
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);

  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 4096) != 0) {
    perror("room-server");
    return 1;
  }
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  puts("listening");
  fflush(stdout);

  static struct epoll_event events[EVENTS];
  while (!stopped) {
    const int n = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
      struct member *member = events[i].data.ptr;
      if (member == NULL) {
        const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        member = memory_new(1, sizeof *member);
        member->fd = fd;
        event = (struct epoll_event){.events = EPOLLIN, .data.ptr = member};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        continue;
      }
      if (events[i].events & EPOLLOUT) writable(epoll, member);
      if (events[i].events & ~(uint32_t)EPOLLOUT) readable(epoll, member);
    }
    end_turn(epoll);
  }
  return 0;
}
