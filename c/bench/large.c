/*
 * One arm of the bulk download: many clients in this process read from a server in another, each its downloads one
 * after the other over one connection. Prints one JSON object; every byte is checked.
 *
 *     large ARM [--clients N] [--downloads N] [--size BYTES] [--work dispatch|chunk|empty] [options of largesocket]
 *
 * ARM: default (64 KiB), large (uv_tcp_enable_largesocket), fixed-128k, fixed-256k, fixed-1m.
 *
 * What is done with a read: `chunk` allocates a buffer for each read and sums its bytes; `dispatch` also spends 10 us
 * a read, as handing it to a language runtime does (Node.js: about 20 us); `empty` counts the bytes, which are summed in
 * a round of their own after the clock has stopped.
 */
#if defined(__linux__)
#include <sched.h>
#endif
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "uv_batch.h"

#define MUST(call)                                                             \
  do {                                                                         \
    int must_status = (int)(call);                                             \
    if (must_status < 0) fail(#call, uv_strerror(must_status));                \
  } while (0)

static void fail(const char* what, const char* why) {
  fprintf(stderr, "large: %s: %s\n", what, why);
  exit(1);
}

/* ---- arguments ---- */

static const char* arm;
static size_t fixed_size; /* 0: as suggested */
static size_t client_count = 128;
static size_t downloads = 4;
static size_t download_size = 5 << 20;
static enum { DISPATCH, CHUNK, EMPTY } work;
static uv_largesocket_options_t large_options;

static void usage(void) {
  fail("usage", "large default|large|fixed-128k|fixed-256k|fixed-1m [--clients N] [--downloads N] [--size BYTES] "
                "[--work dispatch|chunk|empty] [--max-read BYTES] [--receive-buffer BYTES] [--grow-after N] "
                "[--raise-after N] [--max-turn BYTES]");
}

static size_t number(const char* text, size_t least, size_t most) {
  char* end;
  double value = strtod(text, &end);
  if (end == text || *end != 0 || !(value >= (double)least && value <= (double)most)) fail(text, "out of range");
  return (size_t)value;
}

static void read_arguments(int argc, char** argv) {
  static const struct {
    const char* name;
    size_t size;
  } arms[] = {
      {"default", 0}, {"large", 0}, {"fixed-128k", 128 << 10}, {"fixed-256k", 256 << 10}, {"fixed-1m", 1 << 20}};
  uv_largesocket_options_init(&large_options);
  for (size_t i = 0; argc > 1 && i < sizeof(arms) / sizeof(arms[0]); i++) {
    if (strcmp(argv[1], arms[i].name) != 0) continue;
    arm = arms[i].name;
    fixed_size = arms[i].size;
  }
  if (arm == NULL || argc % 2 != 0) usage();
  for (int i = 2; i < argc; i += 2) {
    const char* value = argv[i + 1];
    if (strcmp(argv[i], "--clients") == 0) client_count = number(value, 1, 10000);
    else if (strcmp(argv[i], "--downloads") == 0) downloads = number(value, 1, 1000000);
    else if (strcmp(argv[i], "--size") == 0) download_size = number(value, 1, 1 << 30);
    else if (strcmp(argv[i], "--work") == 0 && strcmp(value, "dispatch") == 0) work = DISPATCH;
    else if (strcmp(argv[i], "--work") == 0 && strcmp(value, "chunk") == 0) work = CHUNK;
    else if (strcmp(argv[i], "--work") == 0 && strcmp(value, "empty") == 0) work = EMPTY;
    else if (strcmp(argv[i], "--max-read") == 0) large_options.max_read = number(value, 65536, 16 << 20);
    else if (strcmp(argv[i], "--receive-buffer") == 0) large_options.receive_buffer = (int)number(value, 0, 1 << 30);
    else if (strcmp(argv[i], "--grow-after") == 0) large_options.grow_after = (uint32_t)number(value, 1, 1000);
    else if (strcmp(argv[i], "--raise-after") == 0) large_options.raise_after = (uint32_t)number(value, 1, 1000000);
    else if (strcmp(argv[i], "--max-turn") == 0) large_options.max_turn = number(value, 0, 1 << 30);
    else usage();
  }
}

/* ---- content ---- */

static char* content;

static void make_content(void) {
  uint64_t x = 0x9e3779b97f4a7c15u;
  content = malloc(download_size + 8);
  if (content == NULL) fail("content", "out of memory");
  for (size_t i = 0; i < download_size; i += 8) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    memcpy(content + i, &x, 8);
  }
}

/* A sum over the bytes in their order, however they are cut up; four words at a time, so that it costs little. */
enum { block = 32 };

typedef struct {
  uint64_t lanes[4];
  char held[block];
  size_t count; /* bytes held */
} checksum_t;

static void sum_block(checksum_t* sum, const char* bytes) {
  uint64_t words[4];
  memcpy(words, bytes, block);
  for (int i = 0; i < 4; i++) sum->lanes[i] = (sum->lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
}

static void sum_bytes(checksum_t* sum, const char* bytes, size_t count) {
  if (sum->count > 0) {
    size_t missing = block - sum->count;
    size_t taken = count < missing ? count : missing;
    memcpy(sum->held + sum->count, bytes, taken);
    sum->count += taken;
    bytes += taken;
    count -= taken;
    if (sum->count < block) return;
    sum_block(sum, sum->held);
    sum->count = 0;
  }
  for (; count >= block; bytes += block, count -= block) sum_block(sum, bytes);
  memcpy(sum->held, bytes, count);
  sum->count = count;
}

static uint64_t sum_end(checksum_t* sum) {
  memset(sum->held + sum->count, 0, block - sum->count);
  sum_block(sum, sum->held);
  return sum->lanes[0] ^ (sum->lanes[1] >> 1) ^ (sum->lanes[2] >> 2) ^ (sum->lanes[3] >> 3);
}

/* ---- server ---- */

typedef struct {
  uv_tcp_t tcp;
  char request;
} peer_t;

static void on_peer_closed(uv_handle_t* handle) {
  free(handle->data);
}

static void alloc_request(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void)suggested;
  *buf = uv_buf_init(&((peer_t*)handle->data)->request, 1);
}

static void on_written(uv_write_t* write, int status) {
  (void)status;
  free(write);
}

static void send_content(uv_stream_t* stream) {
  uv_buf_t whole = uv_buf_init(content, (unsigned int)download_size);
  /* One for each: the next request can come before libuv has called back for the last one. */
  uv_write_t* write = malloc(sizeof(*write));
  if (write == NULL) fail("request", "out of memory");
  MUST(uv_write(write, stream, &whole, 1, on_written));
}

static void on_request(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void)buf;
  if (nread < 0) uv_close((uv_handle_t*)stream, on_peer_closed);
  else if (nread > 0) send_content(stream);
}

static void on_connection(uv_stream_t* server, int status) {
  MUST(status);
  peer_t* peer = calloc(1, sizeof(*peer));
  if (peer == NULL) fail("connection", "out of memory");
  peer->tcp.data = peer;
  MUST(uv_tcp_init(server->loop, &peer->tcp));
  MUST(uv_accept(server, (uv_stream_t*)&peer->tcp));
  MUST(uv_read_start((uv_stream_t*)&peer->tcp, alloc_request, on_request));
}

static void alloc_parent(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  static char room[16];
  (void)handle;
  (void)suggested;
  *buf = uv_buf_init(room, sizeof(room));
}

static void on_parent(uv_stream_t* parent, ssize_t nread, const uv_buf_t* buf) {
  (void)parent;
  (void)buf;
  if (nread < 0) _exit(0);
}

/* `parent_fd` takes the port, and ends when the parent does. */
static void serve(int parent_fd) {
  uv_pipe_t parent;
  uv_tcp_t server;
  struct sockaddr_in address;
  int length = sizeof(address);
  MUST(uv_ip4_addr("127.0.0.1", 0, &address));
  MUST(uv_tcp_init(uv_default_loop(), &server));
  MUST(uv_tcp_bind(&server, (struct sockaddr*)&address, 0));
  MUST(uv_listen((uv_stream_t*)&server, 1024, on_connection));
  MUST(uv_tcp_getsockname(&server, (struct sockaddr*)&address, &length));
  if (write(parent_fd, &address.sin_port, sizeof(address.sin_port)) < 0) fail("port", "not written");
  MUST(uv_pipe_init(uv_default_loop(), &parent, 0));
  MUST(uv_pipe_open(&parent, parent_fd));
  MUST(uv_read_start((uv_stream_t*)&parent, alloc_parent, on_parent));
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static void pin(unsigned int core) {
#if defined(__linux__)
  cpu_set_t set;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
#else
  (void)core;
#endif
}

static in_port_t start_server(void) {
  in_port_t port;
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) fail("socketpair", "not made");
  pid_t child = fork();
  if (child < 0) fail("fork", "failed");
  if (child == 0) {
    close(fds[0]);
    pin(1);
    serve(fds[1]);
    _exit(0);
  }
  close(fds[1]);
  /* fds[0] stays open: its end is the server's. */
  if (read(fds[0], &port, sizeof(port)) != (ssize_t)sizeof(port)) fail("server", "did not start");
  pin(0);
  return port;
}

/* ---- loop delay: how late a timer is; a long delay counts once for every tick that it swallowed ---- */

enum { tick = 2, most_ticks = 1 << 20 };

static uv_timer_t ticker;
static double ticked;
static double* late;
static size_t late_count;

static double now_ms(void) {
  return (double)uv_hrtime() / 1e6;
}

static void on_tick(uv_timer_t* timer) {
  (void)timer;
  double now = now_ms();
  for (double by = fmax(0, now - ticked - tick); late_count < most_ticks; by -= tick) {
    late[late_count++] = by;
    if (by <= tick) break;
  }
  ticked = now;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double late_at(double share) {
  if (late_count == 0) return 0;
  qsort(late, late_count, sizeof(*late), ascending);
  return late[(size_t)(share * (double)(late_count - 1))];
}

/* ---- clients ---- */

typedef struct {
  uv_tcp_t tcp;
  uv_connect_t connect;
  size_t left; /* downloads */
  size_t got;  /* bytes of this one */
  checksum_t sum;
} client_t;

static client_t* clients;
static char* shared; /* what `empty` reads into */
static size_t shared_size;
static size_t waiting; /* clients that have not connected, or not finished */
static int summing;    /* whether this round sums the bytes */
static uint64_t expected;
static uint64_t bytes, reads;

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void request(client_t* client) {
  uv_buf_t one = uv_buf_init("g", 1);
  client->got = 0;
  memset(&client->sum, 0, sizeof(client->sum));
  MUST(uv_try_write((uv_stream_t*)&client->tcp, &one, 1));
}

static void alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  size_t size = fixed_size > 0 ? fixed_size : suggested;
  (void)handle;
  if (work != EMPTY) {
    *buf = uv_buf_init(malloc(size), (unsigned int)size);
    return;
  }
  if (size > shared_size) {
    shared = realloc(shared, size);
    shared_size = size;
  }
  *buf = uv_buf_init(shared, (unsigned int)size);
}

static void finished(client_t* client) {
  if (client->got != download_size) fail("download", "too many bytes");
  if (summing && sum_end(&client->sum) != expected) fail("download", "wrong bytes");
  if (--client->left > 0) {
    request(client);
    return;
  }
  if (--waiting == 0) uv_stop(client->tcp.loop);
}

static void spend(uint64_t ns) {
  uint64_t end = uv_hrtime() + ns;
  while (uv_hrtime() < end) continue;
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  client_t* client = stream->data;
  MUST(nread);
  if (summing) sum_bytes(&client->sum, buf->base, (size_t)nread);
  if (work != EMPTY) free(buf->base);
  if (work == DISPATCH) spend(10000);
  client->got += (size_t)nread;
  bytes += (size_t)nread;
  reads++;
  if (nread > 0 && client->got >= download_size) finished(client);
}

static void on_connect(uv_connect_t* connect, int status) {
  client_t* client = connect->data;
  MUST(status);
  if (strcmp(arm, "large") == 0) MUST(uv_tcp_enable_largesocket(&client->tcp, &large_options));
  if (--waiting == 0) uv_stop(client->tcp.loop);
}

static void connect_clients(uv_loop_t* loop, in_port_t port) {
  struct sockaddr_in address;
  MUST(uv_ip4_addr("127.0.0.1", 0, &address));
  address.sin_port = port;
  clients = calloc(client_count, sizeof(*clients));
  if (clients == NULL) fail("clients", "out of memory");
  waiting = client_count;
  for (size_t i = 0; i < client_count; i++) {
    client_t* client = &clients[i];
    client->tcp.data = client->connect.data = client;
    MUST(uv_tcp_init(loop, &client->tcp));
    MUST(uv_tcp_connect(&client->connect, &client->tcp, (struct sockaddr*)&address, on_connect));
  }
  uv_run(loop, UV_RUN_DEFAULT);
}

static void download(uv_loop_t* loop, size_t times) {
  waiting = client_count;
  for (size_t i = 0; i < client_count; i++) {
    clients[i].left = times;
    request(&clients[i]);
  }
  uv_run(loop, UV_RUN_DEFAULT);
}

static void start_reading(void) {
  for (size_t i = 0; i < client_count; i++) {
    if (strcmp(arm, "large") == 0) MUST(uv_tcp_largesocket_read_start(&clients[i].tcp, alloc, on_read));
    else MUST(uv_read_start((uv_stream_t*)&clients[i].tcp, alloc, on_read));
  }
}

int main(int argc, char** argv) {
  uv_loop_t* loop;
  checksum_t sum = {{0}, {0}, 0};
  read_arguments(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  make_content();
  sum_bytes(&sum, content, download_size);
  expected = sum_end(&sum);
  late = calloc(most_ticks, sizeof(*late));
  if (late == NULL) fail("ticks", "out of memory");
  in_port_t port = start_server();
  loop = uv_default_loop();
  connect_clients(loop, port);
  start_reading();

  summing = work != EMPTY;
  MUST(uv_timer_init(loop, &ticker));
  MUST(uv_timer_start(&ticker, on_tick, tick, tick));
  double cpu = cpu_seconds();
  double start = ticked = now_ms();
  download(loop, downloads);
  double seconds = (now_ms() - start) / 1e3;
  cpu = cpu_seconds() - cpu;
  MUST(uv_timer_stop(&ticker));
  uint64_t timed_bytes = bytes, timed_reads = reads;
  if (work == EMPTY) {
    summing = 1;
    download(loop, 1);
  }
  printf("{\"bytes_per_s\":%.0f,\"cpu_s\":%.4f,\"loop_p99_ms\":%.2f,\"bytes\":%llu,\"reads\":%llu,"
         "\"checksum_ok\":true}\n",
         (double)timed_bytes / seconds, cpu / ((double)timed_bytes / 1e9), late_at(0.99),
         (unsigned long long)timed_bytes, (unsigned long long)timed_reads);
  return 0;
}
