/* Connected sockets for the fan-out tests: a target side, and a side that reads. */
#ifndef FANOUT_SOCKETS_H
#define FANOUT_SOCKETS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "uv_batch.h"

enum { most_pairs = 600 };

typedef struct {
  size_t count;
  int readers[most_pairs];
  uv_tcp_t streams[most_pairs];
  uv_batch_target_t targets[most_pairs];
} pairs_t;

static inline void allow_many_files(void) {
  struct rlimit limit;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static inline int open_files(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == NULL) return 0;
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

/* As on a network: segments as large as loopback's do not fit into a small window, and wait for timers. */
static inline int open_tcp(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), segment = 1400;
  CHECK(fd >= 0);
  CHECK_EQ(setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment)), 0);
  return fd;
}

static inline int listen_on_loopback(struct sockaddr_in* address, int backlog) {
  socklen_t size = sizeof(*address);
  int fd = open_tcp();
  memset(address, 0, sizeof(*address));
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK_EQ(bind(fd, (struct sockaddr*)address, sizeof(*address)), 0);
  CHECK_EQ(listen(fd, backlog), 0);
  CHECK_EQ(getsockname(fd, (struct sockaddr*)address, &size), 0);
  return fd;
}

static inline int accept_tcp(int listener, const struct sockaddr_in* address, int* reader) {
  *reader = open_tcp();
  CHECK_EQ(connect(*reader, (const struct sockaddr*)address, sizeof(*address)), 0);
  int fd = accept(listener, NULL, NULL);
  CHECK(fd >= 0);
  return fd;
}

/* Streams of the loop over TCP connections. */
static inline void open_streams(pairs_t* pairs, uv_loop_t* loop, size_t count) {
  struct sockaddr_in address;
  int listener = listen_on_loopback(&address, 16);
  memset(pairs, 0, sizeof(*pairs));
  pairs->count = count;
  for (size_t i = 0; i < count; i++) {
    int fd = accept_tcp(listener, &address, &pairs->readers[i]);
    CHECK_EQ(uv_tcp_init(loop, &pairs->streams[i]), 0);
    CHECK_EQ(uv_tcp_open(&pairs->streams[i], fd), 0);
    pairs->targets[i].stream = (uv_stream_t*)&pairs->streams[i];
    pairs->targets[i].fd = -1;
  }
  close(listener);
}

static inline void close_streams(pairs_t* pairs, uv_loop_t* loop) {
  for (size_t i = 0; i < pairs->count; i++) {
    if (!uv_is_closing((uv_handle_t*)&pairs->streams[i])) uv_close((uv_handle_t*)&pairs->streams[i], NULL);
    if (pairs->readers[i] >= 0) close(pairs->readers[i]);
  }
  CHECK_EQ(uv_run(loop, UV_RUN_DEFAULT), 0);
  CHECK_EQ(uv_loop_close(loop), 0);
}

/* Descriptors of UNIX sockets, which block. */
static inline void open_descriptors(pairs_t* pairs, size_t count) {
  memset(pairs, 0, sizeof(*pairs));
  pairs->count = count;
  for (size_t i = 0; i < count; i++) {
    int fds[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pairs->targets[i].fd = fds[0];
    pairs->readers[i] = fds[1];
  }
}

static inline void close_descriptors(pairs_t* pairs) {
  for (size_t i = 0; i < pairs->count; i++) {
    if (pairs->targets[i].fd >= 0) close(pairs->targets[i].fd);
    if (pairs->readers[i] >= 0) close(pairs->readers[i]);
  }
}

static inline void set_buffer(int fd, int option, int bytes) {
  CHECK_EQ(setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes)), 0);
}

/* Reads what is there; the bytes. */
static inline size_t read_available(int fd, char* to, size_t room) {
  size_t total = 0;
  while (total < room) {
    ssize_t n = recv(fd, to + total, room - total, MSG_DONTWAIT);
    if (n <= 0) break;
    total += (size_t)n;
  }
  return total;
}

/* A busy system may deliver what was sent over TCP after the call that sent it. */
static inline void wait_for(int fd, short events) {
  struct pollfd state = {.fd = fd, .events = events};
  int ready;
  while ((ready = poll(&state, 1, 120000)) < 0) CHECK_EQ(errno, EINTR);
  CHECK_EQ(ready, 1);
}

/* Waits for what is on its way. */
static inline void read_all(int fd, char* to, size_t size) {
  for (size_t total = 0; total < size;) {
    wait_for(fd, POLLIN);
    ssize_t n = recv(fd, to + total, size - total, 0);
    CHECK(n > 0);
    total += (size_t)n;
  }
}

/* The reader has `text` once, and nothing more. */
static inline void check_received(int fd, const char* text) {
  char received[256];
  size_t size = strlen(text);
  CHECK(size < sizeof(received));
  read_all(fd, received, size);
  CHECK(memcmp(received, text, size) == 0);
  CHECK_EQ(read_available(fd, received, sizeof(received)), 0);
}

static inline uv_buf_t buffer(const char* text) {
  return uv_buf_init((char*)(uintptr_t) text, (unsigned int)strlen(text));
}

#endif
