/* A large download with and without uv_tcp_enable_largesocket(): on such a stream the read size follows what comes, so
 * that a fast sender costs fewer reads. Server and client share one process and one loop.
 *
 *   download [MEGABYTES] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv_batch.h>

/* The content at offset i is i % period, so that any piece of it can be compared with a part of one block. */
enum { megabyte = 1 << 20, period = 251, block_size = period * 4096 };
static char block[block_size + period];

typedef struct {
  uv_tcp_t listener;
  uv_tcp_t sender;
  uv_write_t write;
  uint64_t left; /* to send */

  uv_tcp_t receiver;
  uv_connect_t connect;
  int large;
  char* buffer;
  size_t buffer_size;
  uint64_t size, received, reads, started, ended;
  size_t largest_read;
  int error;
} download_t;

static void close_all(download_t* download) {
  uv_tcp_t* handles[] = {&download->listener, &download->sender, &download->receiver};
  /* libuv needs its own callbacks back before the handle closes; a no-op on a stream that was never enabled. */
  uv_tcp_disable_largesocket(&download->receiver);
  for (int i = 0; i < 3; i++) {
    if (!uv_is_closing((uv_handle_t*)handles[i])) uv_close((uv_handle_t*)handles[i], NULL);
  }
}

static void fail(download_t* download, int status) {
  if (download->error == 0) download->error = status;
  close_all(download);
}

/* ---- the server: one block after the other, as fast as the socket takes them */

static void send_block(download_t* download);

static void on_written(uv_write_t* write, int status) {
  download_t* download = write->data;
  if (status == UV_ECANCELED) return;
  if (status != 0) fail(download, status);
  else send_block(download);
}

static void send_block(download_t* download) {
  if (download->left == 0) {
    uv_close((uv_handle_t*)&download->sender, NULL);
    return;
  }
  uint64_t offset = download->size - download->left;
  uint64_t length = download->left < block_size ? download->left : block_size;
  uv_buf_t buf = uv_buf_init(block + offset % period, (unsigned int)length);
  download->left -= length;
  download->write.data = download;
  int status = uv_write(&download->write, (uv_stream_t*)&download->sender, &buf, 1, on_written);
  if (status != 0) fail(download, status);
}

static void on_connection(uv_stream_t* listener, int status) {
  download_t* download = listener->data;
  if (status == 0) status = uv_accept(listener, (uv_stream_t*)&download->sender);
  if (status != 0) fail(download, status);
  else send_block(download);
}

/* ---- the client */

/* The suggested size is what changes: 64 KiB always without large sockets. */
static void on_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  download_t* download = handle->data;
  if (suggested_size > download->buffer_size) {
    char* larger = realloc(download->buffer, suggested_size);
    if (larger != NULL) {
      download->buffer = larger;
      download->buffer_size = suggested_size;
    }
  }
  /* Without memory this is less than was asked for; an empty buffer would end in UV_ENOBUFS. */
  size_t size = suggested_size < download->buffer_size ? suggested_size : download->buffer_size;
  *buf = uv_buf_init(download->buffer, (unsigned int)size);
}

static int is_right(uint64_t offset, const char* bytes, size_t count) {
  while (count > 0) {
    size_t part = count < block_size ? count : block_size;
    if (memcmp(bytes, block + offset % period, part) != 0) return 0;
    bytes += part;
    offset += part;
    count -= part;
  }
  return 1;
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  download_t* download = stream->data;
  if (nread > 0) {
    if (!is_right(download->received, buf->base, (size_t)nread)) fail(download, UV_EIO);
    download->received += (uint64_t)nread;
    download->reads++;
    if ((size_t)nread > download->largest_read) download->largest_read = (size_t)nread;
  } else if (nread == UV_EOF) {
    download->ended = uv_hrtime();
    close_all(download);
  } else if (nread < 0) {
    fail(download, (int)nread);
  }
}

static void on_connected(uv_connect_t* connect, int status) {
  download_t* download = connect->data;
  uv_stream_t* stream = (uv_stream_t*)&download->receiver;
  if (status == UV_ECANCELED) return;
  if (status == 0 && download->large) status = uv_tcp_enable_largesocket(&download->receiver, NULL);
  download->started = uv_hrtime();
  if (status == 0) {
    status = download->large ? uv_tcp_largesocket_read_start(&download->receiver, on_alloc, on_read)
                             : uv_read_start(stream, on_alloc, on_read);
  }
  if (status != 0) fail(download, status);
}

/* ---- */

static int start(download_t* download) {
  struct sockaddr_storage bound;
  struct sockaddr_in address;
  int length = sizeof(bound);
  int status = uv_ip4_addr("127.0.0.1", 0, &address);
  if (status == 0) status = uv_tcp_bind(&download->listener, (const struct sockaddr*)&address, 0);
  if (status == 0) status = uv_listen((uv_stream_t*)&download->listener, 1, on_connection);
  if (status == 0) status = uv_tcp_getsockname(&download->listener, (struct sockaddr*)&bound, &length);
  if (status != 0) return status;
  return uv_tcp_connect(&download->connect, &download->receiver, (const struct sockaddr*)&bound, on_connected);
}

static int run(uv_loop_t* loop, uint64_t size, int large) {
  download_t* download = calloc(1, sizeof(*download));
  if (download == NULL) return UV_ENOMEM;
  download->size = download->left = size;
  download->large = large;
  /* Without an address family these make no socket yet, and cannot fail. */
  uv_tcp_init(loop, &download->listener);
  uv_tcp_init(loop, &download->sender);
  uv_tcp_init(loop, &download->receiver);
  download->listener.data = download->sender.data = download->receiver.data = download->connect.data = download;
  int status = start(download);
  if (status != 0) fail(download, status);
  uv_run(loop, UV_RUN_DEFAULT);
  status = download->error;
  if (status == 0 && download->received != size) status = UV_EOF;
  if (status == 0) {
    double seconds = (double)(download->ended - download->started) / 1e9;
    printf("%-6s %8llu reads, largest %7zu bytes, %8.1f MB/s\n", large ? "large" : "plain",
           (unsigned long long)download->reads, download->largest_read, (double)size / 1e6 / seconds);
  }
  free(download->buffer);
  free(download);
  return status;
}

int main(int argc, char** argv) {
  long megabytes = argc > 1 ? strtol(argv[1], NULL, 10) : 256;
  if (argc > 2 || megabytes < 1 || megabytes > 1 << 20) {
    fprintf(stderr, "usage: %s [MEGABYTES]\n", argv[0]);
    return 2;
  }
  for (size_t i = 0; i < sizeof(block); i++) block[i] = (char)(i % period);
  uv_loop_t* loop = uv_default_loop();
  int status = 0;
  for (int large = 0; large < 2 && status == 0; large++) status = run(loop, (uint64_t)megabytes * megabyte, large);
  if (status != 0) fprintf(stderr, "download: %s\n", uv_strerror(status));
  uv_loop_close(loop);
  return status != 0;
}
