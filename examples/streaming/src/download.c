#include "download.h"

#include <string.h>
#include <sys/resource.h>

#include "lateness.h"
#include "must.h"
#include "uv_batch.h"

typedef struct {
  uv_tcp_t tcp;
  uv_connect_t connect;
  size_t left; /* downloads */
  size_t got;  /* bytes of this one */
  checksum_t sum;
} client_t;

static const arm_t arms[] = {
    {"default", 0, 0, 0},           {"fixed-128k", 128 << 10, 0, 0}, {"fixed-256k", 256 << 10, 0, 0},
    {"fixed-1m", 1 << 20, 0, 0},    {"large", 0, 1, 1},              {"large-no-raise", 0, 1, 0},
};

static const download_t* now;
static const arm_t* arm;
static work_t work; /* of this round */
static client_t* clients;
static size_t waiting; /* clients that have not connected, or not finished */
static uint64_t expected;
static double bytes, reads, callbacks;

const arm_t* arm_number(size_t number) {
  return number < sizeof(arms) / sizeof(arms[0]) ? &arms[number] : NULL;
}

const arm_t* arm_named(const char* name) {
  for (size_t i = 0; arm_number(i) != NULL; i++) {
    if (strcmp(arms[i].name, name) == 0) return &arms[i];
  }
  return NULL;
}

typedef struct {
  double user, kernel;
} cpu_t;

static cpu_t cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (cpu_t){(double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6,
                 (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6};
}

static void one_less(uv_loop_t* loop) {
  if (--waiting == 0) uv_stop(loop);
}

static void request(client_t* client) {
  uv_buf_t one = uv_buf_init("g", 1);
  client->got = 0;
  checksum_init(&client->sum);
  MUST(uv_try_write((uv_stream_t*)&client->tcp, &one, 1));
}

static void alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void)handle;
  *buf = work_alloc(work, arm->fixed > 0 ? arm->fixed : suggested);
}

static void finished(client_t* client) {
  if (client->got != now->size) FAIL("%s: too many bytes", arm->name);
  if (work != WORK_EMPTY && checksum_end(&client->sum) != expected) FAIL("%s: wrong bytes", arm->name);
  if (--client->left > 0) request(client);
  else one_less(client->tcp.loop);
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  client_t* client = stream->data;
  MUST(nread);
  callbacks++;
  reads += nread > 0;
  bytes += (double)nread;
  client->got += (size_t)nread;
  work_do(work, &client->sum, buf, (size_t)nread);
  if (nread > 0 && client->got >= now->size) finished(client);
}

static void start_reading(client_t* client) {
  if (!arm->large) {
    MUST(uv_read_start((uv_stream_t*)&client->tcp, alloc, on_read));
    return;
  }
  uv_largesocket_options_t options;
  uv_largesocket_options_init(&options);
  if (!arm->raise) options.receive_buffer = 0;
  MUST(uv_tcp_enable_largesocket(&client->tcp, &options));
  MUST(uv_tcp_largesocket_read_start(&client->tcp, alloc, on_read));
}

static void on_connect(uv_connect_t* connect, int status) {
  client_t* client = connect->data;
  MUST(status);
  start_reading(client);
  one_less(client->tcp.loop);
}

static void connect_all(uv_loop_t* loop, const struct sockaddr_in* server) {
  clients = calloc(now->clients, sizeof(*clients));
  if (clients == NULL) FAIL("no memory for the clients");
  waiting = now->clients;
  for (size_t i = 0; i < now->clients; i++) {
    client_t* client = &clients[i];
    client->tcp.data = client->connect.data = client;
    MUST(uv_tcp_init(loop, &client->tcp));
    MUST(uv_tcp_connect(&client->connect, &client->tcp, (const struct sockaddr*)server, on_connect));
  }
  uv_run(loop, UV_RUN_DEFAULT);
}

static void download_all(uv_loop_t* loop, size_t times) {
  waiting = now->clients;
  for (size_t i = 0; i < now->clients; i++) {
    clients[i].left = times;
    request(&clients[i]);
  }
  uv_run(loop, UV_RUN_DEFAULT);
}

static double raised_share(void) {
  size_t raised = 0;
  uv_largesocket_stats_t stats;
  for (size_t i = 0; i < now->clients; i++) {
    if (uv_tcp_largesocket_stats(&clients[i].tcp, &stats) == 0) raised += stats.receive_buffer > 0;
  }
  return (double)raised / (double)now->clients;
}

static uint64_t checksum_of_content(void) {
  checksum_t sum;
  char* content = content_make(now->size);
  checksum_init(&sum);
  checksum_add(&sum, content, now->size);
  free(content);
  return checksum_end(&sum);
}

static void close_all(uv_loop_t* loop) {
  for (size_t i = 0; i < now->clients; i++) {
    MUST(uv_tcp_disable_largesocket(&clients[i].tcp));
    uv_close((uv_handle_t*)&clients[i].tcp, NULL);
  }
  uv_run(loop, UV_RUN_DEFAULT);
  free(clients);
}

result_t download_run(const download_t* download, const arm_t* chosen, const struct sockaddr_in* server) {
  uv_loop_t* loop = uv_default_loop();
  result_t result;
  now = download;
  arm = chosen;
  work = now->work;
  expected = checksum_of_content();
  connect_all(loop, server);

  bytes = reads = callbacks = 0;
  lateness_start(loop);
  cpu_t before = cpu_seconds();
  double start = (double)uv_hrtime();
  download_all(loop, now->downloads);
  double seconds = ((double)uv_hrtime() - start) / 1e9;
  cpu_t after = cpu_seconds();
  lateness_stop();

  double gigabytes = bytes / 1e9, kernel = after.kernel - before.kernel;
  result = (result_t){.bytes_per_s = bytes / seconds,
                      .cpu_s_per_gb = (after.user - before.user + kernel) / gigabytes,
                      .kernel_s_per_gb = kernel / gigabytes,
                      .late_p50 = lateness_at(0.5),
                      .late_p99 = lateness_at(0.99),
                      .reads = reads,
                      .callbacks = callbacks,
                      .kernel_us_per_read = kernel * 1e6 / reads,
                      .raised = raised_share()};
  /* What the clock must not see. */
  if (work == WORK_EMPTY) {
    work = WORK_SUM;
    download_all(loop, 1);
  }
  close_all(loop);
  return result;
}
