/* fanout ARM SOCKETS BUFFERS ROUNDS: what it costs to send one content to many TCP connections on loopback.
 *
 *   fanout        uv_batch_fanout_send(), as AUTO chooses
 *   uv_try_write  a loop over the streams
 *   uv_write      the same, with a request for each that is ready beforehand
 *
 * Each round has BUFFERS messages of 100 bytes for every connection. The fan-out gets them as one content; the loops,
 * which have nothing that gathers, send each message by itself. A thread of its own reads what arrives, and the bytes
 * are counted. */
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "uv_batch.h"

enum { message_bytes = 100, most_buffers = 64 };

static uv_loop_t loop;
static uv_tcp_t server;
static uv_tcp_t* accepted;
static uv_tcp_t* clients;
static uv_connect_t* connects;
static size_t sockets, ready, buffers, rounds;
static uint64_t sent_messages, wanted_bytes;

static void on_accept(uv_stream_t* from, int status) {
  MUST(status);
  MUST(uv_tcp_init(&loop, &accepted[ready]));
  MUST(uv_accept(from, (uv_stream_t*)&accepted[ready]));
  MUST(uv_tcp_nodelay(&accepted[ready], 1));
  ready++;
}

static void on_connect(uv_connect_t* connect, int status) {
  (void)connect;
  MUST(status);
}

static void connect_all(void) {
  struct sockaddr_in address;
  int length = sizeof(address);
  MUST(uv_ip4_addr("127.0.0.1", 0, &address));
  MUST(uv_tcp_init(&loop, &server));
  MUST(uv_tcp_bind(&server, (struct sockaddr*)&address, 0));
  MUST(uv_listen((uv_stream_t*)&server, 4096, on_accept));
  MUST(uv_tcp_getsockname(&server, (struct sockaddr*)&address, &length));
  for (size_t i = 0; i < sockets; i++) {
    MUST(uv_tcp_init(&loop, &clients[i]));
    MUST(uv_tcp_connect(&connects[i], &clients[i], (struct sockaddr*)&address, on_connect));
    while (ready < i + 1) uv_run(&loop, UV_RUN_ONCE);
  }
}

/* ---- the reader */

static void* read_all(void* argument) {
  int epoll = *(int*)argument;
  static char scratch[1 << 16];
  struct epoll_event events[256];
  for (uint64_t got = 0; got < wanted_bytes;) {
    int count = epoll_wait(epoll, events, 256, 10000);
    if (count <= 0) bench_die("what was sent did not arrive");
    for (int i = 0; i < count; i++) {
      ssize_t n = read(events[i].data.fd, scratch, sizeof(scratch));
      if (n > 0) got += (uint64_t)n;
    }
  }
  return NULL;
}

static pthread_t start_reader(int* epoll) {
  pthread_t thread;
  *epoll = epoll_create1(0);
  for (size_t i = 0; i < sockets; i++) {
    uv_os_fd_t fd;
    MUST(uv_fileno((uv_handle_t*)&clients[i], &fd));
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    MUST(epoll_ctl(*epoll, EPOLL_CTL_ADD, fd, &event));
  }
  MUST(-pthread_create(&thread, NULL, read_all, epoll));
  return thread;
}

/* ---- the arms */

static char content[message_bytes];
static uv_buf_t bufs[most_buffers];
static uv_write_t* writes;
static size_t writing;

static void on_write(uv_write_t* write, int status) {
  (void)write;
  MUST(status);
  writing--;
}

/* A full socket is a slow reader, which is not what is measured: it is waited for. */
static void send_rest(uv_stream_t* stream, size_t from, size_t all) {
  for (size_t at = from; at < all;) {
    uv_buf_t rest = uv_buf_init(content + at % message_bytes, (unsigned int)(message_bytes - at % message_bytes));
    int n = uv_try_write(stream, &rest, 1);
    if (n == UV_EAGAIN) uv_sleep(0);
    else MUST(n);
    if (n > 0) at += (size_t)n;
  }
}

static void round_of_fanout(uv_batch_fanout_t* fanout, uv_batch_target_t* targets) {
  size_t all = buffers * message_bytes;
  MUST(uv_batch_fanout_send(fanout, bufs, (unsigned int)buffers, targets, sockets));
  for (size_t i = 0; i < sockets; i++) {
    ssize_t sent = targets[i].result;
    if (sent < 0 && sent != UV_EAGAIN) MUST(sent);
    if (sent < (ssize_t)all) send_rest(targets[i].stream, sent < 0 ? 0 : (size_t)sent, all);
  }
}

static void round_of_try_write(void) {
  for (size_t m = 0; m < buffers; m++) {
    for (size_t i = 0; i < sockets; i++) {
      int sent = uv_try_write((uv_stream_t*)&accepted[i], bufs, 1);
      if (sent < 0 && sent != UV_EAGAIN) MUST(sent);
      if (sent < message_bytes) send_rest((uv_stream_t*)&accepted[i], sent < 0 ? 0 : (size_t)sent, message_bytes);
    }
  }
}

static void round_of_write(void) {
  for (size_t m = 0; m < buffers; m++) {
    for (size_t i = 0; i < sockets; i++) {
      MUST(uv_write(&writes[m * sockets + i], (uv_stream_t*)&accepted[i], bufs, 1, on_write));
      writing++;
    }
  }
  while (writing > 0) uv_run(&loop, UV_RUN_ONCE);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  if (argc != 5) bench_die("usage: fanout fanout|uv_try_write|uv_write SOCKETS BUFFERS ROUNDS");
  bool ours = strcmp(argv[1], "fanout") == 0, tries = strcmp(argv[1], "uv_try_write") == 0;
  sockets = bench_count(argv[2]);
  buffers = bench_count(argv[3]);
  rounds = bench_count(argv[4]);
  if (buffers > most_buffers) bench_die("at most 64 buffers");
  accepted = calloc(sockets, sizeof(*accepted));
  clients = calloc(sockets, sizeof(*clients));
  connects = calloc(sockets, sizeof(*connects));
  writes = calloc(sockets * buffers, sizeof(*writes));
  uv_batch_target_t* targets = calloc(sockets, sizeof(*targets));
  MUST(uv_loop_init(&loop));
  connect_all();
  for (size_t i = 0; i < buffers; i++) bufs[i] = uv_buf_init(content, message_bytes);
  for (size_t i = 0; i < sockets; i++) targets[i].stream = (uv_stream_t*)&accepted[i];
  uv_batch_fanout_t fanout;
  if (ours) MUST(uv_batch_fanout_init(&fanout, UV_BATCH_FANOUT_AUTO));
  sent_messages = (uint64_t)sockets * buffers * rounds;
  wanted_bytes = sent_messages * message_bytes;
  int epoll;
  pthread_t reader = start_reader(&epoll);
  uint64_t start = uv_hrtime();
  double cpu = cpu_seconds();
  for (size_t round = 0; round < rounds; round++) {
    if (ours) round_of_fanout(&fanout, targets);
    else if (tries) round_of_try_write();
    else round_of_write();
  }
  cpu = cpu_seconds() - cpu;
  double seconds = (double)(uv_hrtime() - start) / 1e9;
  pthread_join(reader, NULL);
  printf("{\"sends_per_s\":%.0f,\"cpu_ns_per_send\":%.1f,\"backend\":\"%s\"}\n", (double)sent_messages / seconds,
         cpu * 1e9 / (double)sent_messages, ours ? uv_batch_fanout_backend(&fanout) : "");
  if (ours) uv_batch_fanout_close(&fanout);
  return 0;
}
