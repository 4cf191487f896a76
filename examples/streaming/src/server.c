#include "server.h"

#include <sys/socket.h>
#include <unistd.h>

#include "content.h"
#include "must.h"
#include "network.h"

typedef struct {
  uv_tcp_t tcp;
  char request;
} peer_t;

static char* content;
static size_t content_size;

static void on_closed(uv_handle_t* handle) {
  free(handle->data);
}

static void on_written(uv_write_t* write, int status) {
  (void)status;
  free(write);
}

static void send_content(uv_stream_t* stream) {
  uv_buf_t whole = uv_buf_init(content, (unsigned int)content_size);
  /* One for each: the next request can come before libuv has called back for the last one. */
  uv_write_t* write = malloc(sizeof(*write));
  if (write == NULL) FAIL("no memory for a request");
  MUST(uv_write(write, stream, &whole, 1, on_written));
}

static void alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  peer_t* peer = handle->data;
  (void)suggested;
  *buf = uv_buf_init(&peer->request, 1);
}

static void on_request(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void)buf;
  if (nread > 0) send_content(stream);
  else if (nread < 0) uv_close((uv_handle_t*)stream, on_closed);
}

static void on_connection(uv_stream_t* server, int status) {
  MUST(status);
  peer_t* peer = calloc(1, sizeof(*peer));
  if (peer == NULL) FAIL("no memory for a connection");
  peer->tcp.data = peer;
  MUST(uv_tcp_init(server->loop, &peer->tcp));
  MUST(uv_accept(server, (uv_stream_t*)&peer->tcp));
  MUST(uv_read_start((uv_stream_t*)&peer->tcp, alloc, on_request));
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

/* `parent_fd` takes the address, and ends when the parent does. */
static void serve(const char* host, int parent_fd) {
  uv_loop_t* loop = uv_default_loop();
  uv_tcp_t server;
  uv_pipe_t parent;
  struct sockaddr_in address;
  int length = sizeof(address);
  MUST(uv_ip4_addr(host, 0, &address));
  MUST(uv_tcp_init(loop, &server));
  MUST(uv_tcp_bind(&server, (struct sockaddr*)&address, 0));
  MUST(uv_listen((uv_stream_t*)&server, 1024, on_connection));
  MUST(uv_tcp_getsockname(&server, (struct sockaddr*)&address, &length));
  if (write(parent_fd, &address, sizeof(address)) != (ssize_t)sizeof(address)) FAIL("the server lost its parent");
  MUST(uv_pipe_init(loop, &parent, 0));
  MUST(uv_pipe_open(&parent, parent_fd));
  MUST(uv_read_start((uv_stream_t*)&parent, alloc_parent, on_parent));
  uv_run(loop, UV_RUN_DEFAULT);
}

struct sockaddr_in server_start(const char* host, size_t size) {
  struct sockaddr_in address;
  int fds[2];
  content = content_make(size);
  content_size = size;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) FAIL("no socket pair");
  pid_t pid = fork();
  if (pid < 0) FAIL("no process for the server");
  if (pid == 0) {
    close(fds[0]);
    network_pin(1);
    serve(host, fds[1]);
    _exit(0);
  }
  close(fds[1]);
  free(content);
  /* Left open: its end is the server's. */
  if (read(fds[0], &address, sizeof(address)) != (ssize_t)sizeof(address)) FAIL("the server did not start");
  return address;
}
