/* accept ARM CONNECTIONS ROUNDS: what it costs to accept connections that come at once.
 *
 *   uv_listen        a callback for each connection
 *   uv_batch_listen  a handler for all connections of a turn
 *   fixed            the same under the policy FIXED, as in the paper on event batching: 3 connections, or 50 ms
 *
 * In each round a thread opens CONNECTIONS connections as fast as it can, and waits until each has got one byte and then the end. Any
 * other answer, and none, ends the program. Latency counts from connect() to the byte. Handlers, turns, CPU time and system calls are
 * those of the loop, which is the main thread; system calls are null where the kernel does not let us count them. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "uv_batch.h"

static uv_loop_t loop;
static uv_tcp_t server;
static uv_check_t check;
static struct sockaddr_in address;
static size_t connections, rounds, total, accepted, handlers, turns;
static bool ours, fixed;

/* ---- the server: greets each connection and closes it */

static uv_batch_t batch;
static uv_batch_listener_t listener;
static uv_batch_handler_t handler;

static void end_server(void) {
  uv_close((uv_handle_t*)&check, NULL);
  if (ours) {
    MUST(uv_batch_listen_stop(&listener, NULL));
    MUST(uv_batch_close(&batch, 0, NULL));
  }
  uv_close((uv_handle_t*)&server, NULL);
}

static void on_closed(uv_handle_t* client) {
  free(client);
}

static void greet(uv_stream_t* client) {
  uv_buf_t greeting = uv_buf_init("h", 1);
  MUST(uv_try_write(client, &greeting, 1));
  uv_close((uv_handle_t*)client, on_closed);
  if (++accepted == total) end_server();
}

static uv_stream_t* new_client(void) {
  uv_tcp_t* client = malloc(sizeof(*client));
  if (client == NULL) bench_die("there is no memory");
  MUST(uv_tcp_init(&loop, client));
  return (uv_stream_t*)client;
}

static void on_connection(uv_stream_t* from, int status) {
  MUST(status);
  uv_stream_t* client = new_client();
  MUST(uv_accept(from, client));
  handlers++;
  greet(client);
}

static uv_stream_t* give_client(uv_batch_listener_t* from) {
  (void)from;
  return new_client();
}

/* The handle that was given ahead, for a connection after the last one. */
static void drop_client(uv_batch_listener_t* from, uv_stream_t* client, int status) {
  (void)from;
  if (status != UV_ECANCELED) MUST(status);
  uv_close((uv_handle_t*)client, on_closed);
}

static void on_connections(uv_batch_handler_t* from, uv_batch_event_t* first, size_t count) {
  (void)from, (void)count;
  handlers++;
  for (uv_batch_event_t* event = first; event != NULL; event = event->next) greet(event->data);
}

static void on_turn(uv_check_t* from) {
  (void)from;
  turns++;
}

static void start_server(void) {
  enum { backlog = 4096 };
  int length = sizeof(address);
  MUST(uv_loop_init(&loop));
  MUST(uv_check_init(&loop, &check));
  MUST(uv_check_start(&check, on_turn));
  MUST(uv_ip4_addr("127.0.0.1", 0, &address));
  MUST(uv_tcp_init(&loop, &server));
  MUST(uv_tcp_bind(&server, (struct sockaddr*)&address, 0));
  if (ours) {
    uv_batch_options_t options;
    uv_batch_options_init(&options);
    if (fixed) {
      options.policy = UV_BATCH_POLICY_FIXED;
      options.max_batch = 3;
      options.max_delay = 50;
    }
    MUST(uv_batch_init(&loop, &batch, &options));
    MUST(uv_batch_on_group(&batch, &handler, UV_BATCH_NETWORK, on_connections));
    MUST(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, backlog, give_client, drop_client));
  } else {
    MUST(uv_listen((uv_stream_t*)&server, backlog, on_connection));
  }
  MUST(uv_tcp_getsockname(&server, (struct sockaddr*)&address, &length));
}

/* ---- the clients, without libuv */

typedef struct {
  int fd;
  bool greeted;
  uint64_t start;
} client_t;

static client_t* clients;
static double* took;
static size_t greeted;
static int poller;

static void open_client(client_t* client) {
  *client = (client_t){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (client->fd < 0) MUST(-errno);
  client->start = uv_hrtime();
  if (connect(client->fd, (struct sockaddr*)&address, sizeof(address)) < 0 && errno != EINPROGRESS) MUST(-errno);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, client->fd, &event) < 0) MUST(-errno);
}

/* Without a state that would keep its port. */
static void close_client(client_t* client) {
  struct linger reset = {1, 0};
  if (setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0) MUST(-errno);
  close(client->fd);
}

/* Reports whether the client has got everything. */
static bool read_client(client_t* client) {
  char bytes[2];
  ssize_t n = recv(client->fd, bytes, sizeof(bytes), 0);
  if (n < 0) MUST(-errno);
  if (n == 0 && client->greeted) {
    close_client(client);
    return true;
  }
  if (n != 1 || client->greeted) bench_die("a connection was not answered by exactly one byte");
  client->greeted = true;
  took[greeted++] = (double)(uv_hrtime() - client->start) / 1000;
  return false;
}

/* Reads what clients have got; returns the number of those that are done. */
static size_t read_clients(int timeout_ms) {
  struct epoll_event events[256];
  size_t done = 0;
  int count = epoll_wait(poller, events, 256, timeout_ms);
  if (count == 0 && timeout_ms > 0) bench_die("a connection was not answered");
  for (int i = 0; i < count; i++) done += read_client(events[i].data.ptr);
  return done;
}

static void* run_clients(void* argument) {
  (void)argument;
  for (size_t round = 0; round < rounds; round++) {
    size_t done = 0;
    for (size_t i = 0; i < connections; i++) {
      open_client(&clients[i]);
      if (i % 16 == 15) done += read_clients(0);
    }
    while (done < connections) done += read_clients(60000);
  }
  return NULL;
}

/* ---- */

static int by_size(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return difference < 0 ? -1 : difference > 0;
}

static double cpu_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* A counter of this thread's system calls, by the kernel's tracepoint; -1: there is none here, or it is not for this user. */
static int count_syscalls(void) {
  FILE* file = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
  struct perf_event_attr about = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(about)};
  unsigned long long id;
  if (file == NULL) return -1;
  int found = fscanf(file, "%llu", &id);
  fclose(file);
  if (found != 1) return -1;
  about.config = id;
  return (int)syscall(SYS_perf_event_open, &about, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void raise_descriptors(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char** argv) {
  pthread_t thread;
  fixed = argc == 4 && strcmp(argv[1], "fixed") == 0;
  ours = fixed || (argc == 4 && strcmp(argv[1], "uv_batch_listen") == 0);
  if (argc != 4 || (!ours && strcmp(argv[1], "uv_listen") != 0)) {
    bench_die("usage: accept uv_listen|uv_batch_listen|fixed CONNECTIONS ROUNDS");
  }
  connections = bench_count(argv[2]);
  rounds = bench_count(argv[3]);
  total = connections * rounds;
  clients = calloc(connections, sizeof(*clients));
  took = calloc(total, sizeof(*took));
  if (clients == NULL || took == NULL) bench_die("there is no memory for so many");
  raise_descriptors();
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) MUST(-errno);
  start_server();
  int counter = count_syscalls();
  double cpu = cpu_us();
  MUST(-pthread_create(&thread, NULL, run_clients, NULL));
  MUST(uv_run(&loop, UV_RUN_DEFAULT));
  cpu = cpu_us() - cpu;
  uint64_t syscalls = 0;
  bool counted = counter >= 0 && read(counter, &syscalls, sizeof(syscalls)) == sizeof(syscalls);
  pthread_join(thread, NULL);
  MUST(uv_loop_close(&loop));
  if (accepted != total || greeted != total) bench_die("a connection was lost, or answered twice");
  qsort(took, total, sizeof(*took), by_size);
  double all = (double)total;
  printf("{\"cpu_us_per_connection\":%.3f,\"handlers_per_connection\":%.4f,\"turns_per_connection\":%.4f,", cpu / all,
         (double)handlers / all, (double)turns / all);
  if (counted) printf("\"syscalls_per_connection\":%.3f,", (double)syscalls / all);
  else printf("\"syscalls_per_connection\":null,");
  printf("\"p50_us\":%.1f,\"p99_us\":%.1f,\"libuv\":\"%s\"}\n", took[total / 2], took[total * 99 / 100],
         uv_version_string());
  return 0;
}
