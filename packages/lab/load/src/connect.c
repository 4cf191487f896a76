#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "handshake.h"
#include "load.h"

enum { LAST_SOURCE = 254, SLOW_READER_BUFFER = 4096 };

void connect_fail(struct run *run, const char *format, ...) {
  if (run->failed) return;
  run->failed = true;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run->why, sizeof run->why, format, arguments);
  va_end(arguments);
}

static void fail_with(struct run *run, const char *what, int error) {
  connect_fail(run, "%s at %s:%u: %s; %u of %u connections were open", what, run->options->host,
               run->options->port, strerror(error), run->ready, run->options->connections);
}

void connect_watch(struct run *run, struct client *client) {
  uint32_t events = EPOLLIN;
  if (client->state == CLIENT_READY && client->slow && run->phase != PHASE_CLOSE) events = EPOLLRDHUP;
  if (client->awaits_write) events |= EPOLLOUT;
  struct epoll_event event = {.events = events, .data.ptr = client};
  epoll_ctl(run->epoll, EPOLL_CTL_MOD, client->fd, &event);
}

/* A wanted key per connection, from the run's seed; nothing here is secret. */
static void connection_key(const struct run *run, const struct client *client,
                           char key[HANDSHAKE_KEY_SIZE]) {
  struct random random;
  random_seed(&random, (uint64_t)run->options->seed << 32 | client->index);
  const uint64_t nonce[2] = {random_next(&random), random_next(&random)};
  handshake_key((const uint8_t *)nonce, key);
}

static socklen_t server_address(const struct options *options, struct sockaddr_storage *address) {
  memset(address, 0, sizeof *address);
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options->port)};
  if (inet_pton(AF_INET, options->host, &v4.sin_addr) == 1) {
    memcpy(address, &v4, sizeof v4);
    return sizeof v4;
  }
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)options->port)};
  v6.sin6_addr = in6addr_loopback;
  memcpy(address, &v6, sizeof v6);
  return sizeof v6;
}

/* Connects from 127.0.0.x, so that another 28,000 ports or so are there. */
static int bind_source(int fd, uint32_t source) {
  const int on = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const struct sockaddr_in v4 = {.sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + source)};
  return bind(fd, (const struct sockaddr *)&v4, sizeof v4);
}

static void begin(struct run *run, struct client *client) {
  struct sockaddr_storage address;
  const socklen_t length = server_address(run->options, &address);
  for (;;) {
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      fail_with(run, "no further socket for a connection", errno);
      return;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (client->slow) {
      const int small = SLOW_READER_BUFFER;
      setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    }
    const bool bound = run->source == 0 || bind_source(fd, run->source) == 0;
    if (bound && (connect(fd, (struct sockaddr *)&address, length) == 0 || errno == EINPROGRESS)) {
      client->fd = fd;
      client->state = CLIENT_CONNECTING;
      client->awaits_write = true;
      run->opening++;
      struct epoll_event event = {.events = EPOLLOUT, .data.ptr = client};
      epoll_ctl(run->epoll, EPOLL_CTL_ADD, fd, &event);
      return;
    }
    const int error = errno;
    close(fd);
    if (error == EADDRNOTAVAIL && address.ss_family == AF_INET && run->source < LAST_SOURCE) {
      run->source = run->source == 0 ? 2 : run->source + 1;
      continue;
    }
    fail_with(run, "could not connect", error);
    return;
  }
}

void connect_more(struct run *run) {
  while (!run->failed && run->opened < run->options->connections &&
         run->opening < run->options->connect_concurrency) {
    begin(run, &run->clients[run->opened++]);
  }
}

void connect_writable(struct run *run, struct client *client) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    fail_with(run, "could not connect", error);
    return;
  }
  const struct options *options = run->options;
  char path[512];
  const char *sign = strchr(options->path, '?') == NULL ? "?" : "&";
  static const char *const queries[] = {"room=", "name=load-", "EIO=4&transport=websocket&room="};
  const bool chat = options->protocol == PROTOCOL_CHAT;
  snprintf(path, sizeof path, "%s%s%s%u", options->path, sign, queries[options->protocol],
           chat ? client->index : client->room);
  char key[HANDSHAKE_KEY_SIZE];
  connection_key(run, client, key);
  char request[1024];
  const size_t length =
      handshake_request(request, sizeof request, options->host, options->port, path, key);
  if (length == 0) {
    connect_fail(run, "--path %.40s…: is too long for a request", options->path);
    return;
  }
  /* A fresh socket's buffer always has room for this. */
  if (send(client->fd, request, length, MSG_NOSIGNAL) != (ssize_t)length) {
    fail_with(run, "could not send the handshake", errno);
    return;
  }
  client->state = CLIENT_HANDSHAKING;
  client->awaits_write = false;
  connect_watch(run, client);
}

static void is_ready(struct run *run, struct client *client) {
  client->state = CLIENT_READY;
  run->opening--;
  run->ready++;
  run->open++;
  if (client->slow) {
    connect_watch(run, client);
  } else {
    run->rooms[client->room].receivers++;
  }
}

size_t connect_answer(struct run *run, struct client *client, const uint8_t *data, size_t length) {
  char key[HANDSHAKE_KEY_SIZE];
  connection_key(run, client, key);
  char why[200];
  const ptrdiff_t used = handshake_read(data, length, key, why, sizeof why);
  if (used < 0) {
    connect_fail(run, "no WebSocket at %s:%u%s: %s", run->options->host, run->options->port,
                 run->options->path, why);
    return 0;
  }
  if (used == 0) return 0;
  switch ((enum protocol)run->options->protocol) {
    case PROTOCOL_RAW: is_ready(run, client); break;
    case PROTOCOL_CHAT: {
      client->state = CLIENT_JOINING;
      char join[64];
      const int n =
          snprintf(join, sizeof join, "{\"t\":\"join\",\"room\":\"load-%u\"}", client->room);
      send_frame(run, client, FRAME_TEXT, (const uint8_t *)join, (size_t)n);
      break;
    }
    case PROTOCOL_SOCKET_IO: client->state = CLIENT_JOINING; break; /* the server speaks first */
  }
  return (size_t)used;
}

void connect_joined(struct run *run, struct client *client) { is_ready(run, client); }

static void count_close_code(struct run *run, uint32_t code) {
  for (int i = 0; i < MAX_CLOSE_CODES; i++) {
    struct close_code *entry = &run->close_codes[i];
    if (entry->count == 0) entry->code = code;
    if (entry->code == code) {
      entry->count++;
      return;
    }
  }
}

void connect_closed(struct run *run, struct client *client, uint32_t code, const char *why) {
  const bool was_ready = client->state == CLIENT_READY;
  if (client->state == CLIENT_CLOSED) return;
  close(client->fd);
  client->fd = -1;
  client->state = CLIENT_CLOSED;
  run->waiting -= client->backlog.count;
  if (!was_ready) {
    connect_fail(run, "connection %u to %s:%u was closed before it was usable: %s", client->index,
                 run->options->host, run->options->port, why);
    return;
  }
  run->open--;
  if (run->phase == PHASE_CLOSE) return;

  count_close_code(run, code);
  if (client->slow) {
    run->counts.slow_closed++;
    return;
  }
  run->counts.closed_early++;
  receive_fault(run, "connection %u ended early: %s (code %u)", client->index, why, code);
  struct room *room = &run->rooms[client->room];
  const uint64_t meant[] = {room->sent, room->sent - client->sent, client->sent};
  const uint64_t owed = meant[run->options->to] - client->unique;
  room->receivers--;
  run->outstanding -= owed;
  run->counts.lost_on_closed += owed;
}
