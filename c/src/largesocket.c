/*
 * TCP streams whose read size follows what comes. libuv asks its user for a buffer before each read and suggests 64
 * KiB; on a stream that is enabled the suggestion grows while reads come back full, and shrinks while they do not.
 * After sustained full reads at the largest size the socket's buffers are raised, as far as the system allows.
 *
 * The stream belongs to its user, and so do its callbacks: this file puts its own in front of them, and a table by
 * address has the state. Only libuv's callbacks of that stream change it. It lives until the stream is disabled, or a
 * read has ended in an error after which libuv reads no more.
 */
#include "largesocket.h"

#include <string.h>

#if defined(__linux__)
#include <limits.h>
#include <stdio.h>
#elif defined(__APPLE__)
#include <sys/types.h>
#include <sys/sysctl.h>
#endif

/* ---- what the system allows */

#if defined(__linux__)
/* The last number of a file of one line. Inside a container it may be missing. */
static int last_number(const char* path) {
  long number = 0;
  FILE* file = fopen(path, "re");
  if (file == NULL) return 0;
  while (fscanf(file, "%ld", &number) == 1) continue;
  fclose(file);
  if (number < 0) return 0;
  return number > INT_MAX ? INT_MAX : (int)number;
}

void uvb__socket_limits(uvb__socket_limits_t* limits) {
  limits->receive = last_number("/proc/sys/net/core/rmem_max");
  limits->send = last_number("/proc/sys/net/core/wmem_max");
  /* This one counts the kernel's own overhead, as SO_RCVBUF does once it is doubled. */
  limits->automatic = last_number("/proc/sys/net/ipv4/tcp_rmem") / 2;
}

int uvb__socket_buffer_set(int reported) {
  return reported / 2;
}
#else
void uvb__socket_limits(uvb__socket_limits_t* limits) {
  *limits = (uvb__socket_limits_t){0, 0, 0};
#if defined(__APPLE__)
  int most = 0;
  size_t size = sizeof(most);
  if (sysctlbyname("kern.ipc.maxsockbuf", &most, &size, NULL, 0) != 0 || size != sizeof(most) || most <= 0) return;
  limits->receive = most;
  limits->send = most;
#endif
}

int uvb__socket_buffer_set(int reported) {
  return reported;
}
#endif

/* ---- the read size */

void uvb__read_size_limit(uvb__read_size_t* read_size, const uv_largesocket_options_t* options) {
  size_t size = read_size->size;
  if (size < options->min_read) size = options->min_read;
  if (size > options->max_read) size = options->max_read;
  *read_size = (uvb__read_size_t){.size = size};
}

static uvb__read_size_change_t change(uvb__read_size_t* read_size, size_t size) {
  uvb__read_size_change_t grew = size > read_size->size ? UVB__READ_SIZE_GREW : UVB__READ_SIZE_SHRANK;
  *read_size = (uvb__read_size_t){.size = size};
  return grew;
}

uvb__read_size_change_t uvb__read_size_observe(uvb__read_size_t* read_size, const uv_largesocket_options_t* options,
                                               size_t count, size_t room) {
  size_t size = read_size->size;
  int full = count >= room;
  int sparse = !full && count < room / 4;
  read_size->full = full ? read_size->full + 1 : 0;
  read_size->sparse = sparse ? read_size->sparse + 1 : 0;
  if (size < options->max_read) {
    if (read_size->full >= options->grow_after) {
      return change(read_size, size > options->max_read / 2 ? options->max_read : size * 2);
    }
  } else {
    /* Counted no further than it has to be, so that it never wraps around. */
    if (full && read_size->at_most < options->raise_after) read_size->at_most++;
    read_size->full = 0;
  }
  if (read_size->sparse >= options->shrink_after) {
    if (size > options->min_read) return change(read_size, size / 2 < options->min_read ? options->min_read : size / 2);
    read_size->sparse = 0;
  }
  return UVB__READ_SIZE_KEPT;
}

int uvb__read_size_sustained(const uvb__read_size_t* read_size, const uv_largesocket_options_t* options) {
  return read_size->at_most >= options->raise_after;
}

/* ---- streams */

typedef struct {
  uv_largesocket_options_t options;
  uv_alloc_cb alloc_cb; /* the user's; NULL until the stream has read */
  uv_read_cb read_cb;
  uvb__read_size_t size;
  int raised;   /* whether raising the buffers was tried */
  int yielding; /* whether the empty buffer was this library's */
  size_t turn;  /* bytes of full reads in a row */
  uv_largesocket_stats_t stats;
} large_t;

static const size_t least_read = 4096;
static const size_t most_read = 16 << 20;
static const size_t most_turn = 1 << 30;

static uv_once_t once = UV_ONCE_INIT;
static uvb__socket_limits_t limits;

static void read_limits(void) {
  uvb__socket_limits(&limits);
}

static int is_tcp(const uv_tcp_t* tcp) {
  return tcp != NULL && tcp->type == UV_TCP;
}

/* NULL: it is not enabled, or no TCP stream. */
static large_t* large_of(const uv_tcp_t* tcp) {
  return is_tcp(tcp) ? uvb__attached(tcp, UVB__ATTACH_LARGESOCKET) : NULL;
}

void uv_largesocket_options_init(uv_largesocket_options_t* options) {
  if (options == NULL) return;
  uv_once(&once, read_limits);
  /* Measured: less does not help. If the system allows less than the kernel's own tuning reaches, leave it to that. */
  int usual = 4 << 20;
  if (limits.receive < usual) usual = limits.receive > limits.automatic ? limits.receive : 0;
  *options = (uv_largesocket_options_t){.min_read = 65536, .max_read = 262144, .grow_after = 2, .shrink_after = 64,
                                        .raise_after = 8, .max_turn = 524288, .receive_buffer = usual};
}

static int check(const uv_largesocket_options_t* options) {
  int sizes = options->min_read >= least_read && options->min_read <= options->max_read &&
              options->max_read <= most_read;
  int counts = options->grow_after >= 1 && options->grow_after <= 1000 && options->shrink_after >= 1 &&
               options->shrink_after <= 1000000 && options->raise_after >= 1 && options->raise_after <= 1000000;
  int buffers = options->receive_buffer >= 0 && options->send_buffer >= 0;
  int turn = options->max_turn == 0 || (options->max_turn >= options->max_read && options->max_turn <= most_turn);
  return sizes && counts && buffers && turn ? 0 : UV_EINVAL;
}

/* Returns the size that the buffer got, or 0 when it was left as it was: it is never made smaller. */
static int raise_buffer(uv_handle_t* handle, int (*buffer_size)(uv_handle_t*, int*), int wanted, int limit) {
  int now = 0;
  if (limit > 0 && wanted > limit) wanted = limit;
  if (wanted == 0) return 0;
  if (buffer_size(handle, &now) != 0 || uvb__socket_buffer_set(now) >= wanted) return 0;
  if (buffer_size(handle, &wanted) != 0) return 0;
  now = 0;
  if (buffer_size(handle, &now) != 0) return wanted;
  return uvb__socket_buffer_set(now);
}

static void raise_buffers(large_t* large, uv_handle_t* handle) {
  uv_once(&once, read_limits);
  large->raised = 1;
  int size = raise_buffer(handle, uv_recv_buffer_size, large->options.receive_buffer, limits.receive);
  if (size > 0) large->stats.receive_buffer = size;
  size = raise_buffer(handle, uv_send_buffer_size, large->options.send_buffer, limits.send);
  if (size > 0) large->stats.send_buffer = size;
}

static void observe(large_t* large, uv_handle_t* handle, size_t count, size_t room) {
  uvb__read_size_change_t change = uvb__read_size_observe(&large->size, &large->options, count, room);
  large->stats.reads++;
  large->stats.bytes += count;
  if (count >= room) large->stats.full_reads++;
  large->turn = count >= room ? large->turn + count : 0;
  if (change == UVB__READ_SIZE_GREW) large->stats.grown++;
  if (change == UVB__READ_SIZE_SHRANK) large->stats.shrunk++;
  if (!large->raised && uvb__read_size_sustained(&large->size, &large->options)) raise_buffers(large, handle);
}

/* libuv reads a stream up to 32 times before it looks at others. An empty buffer ends that, and libuv comes back to the
 * stream in its next turn. */
static void on_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  large_t* large = large_of((uv_tcp_t*)handle);
  (void)suggested_size;
  if (large != NULL) large->yielding = large->options.max_turn > 0 && large->turn >= large->options.max_turn;
  if (large == NULL || large->yielding) *buf = uv_buf_init(NULL, 0);
  else large->alloc_cb(handle, large->size.size, buf);
}

/* The user's callback comes last: it may disable, close and free what it likes. */
static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  uv_tcp_t* tcp = (uv_tcp_t*)stream;
  large_t* large = large_of(tcp);
  if (large == NULL) {
    uv_read_stop(stream);
    return;
  }
  uv_read_cb read_cb = large->read_cb;
  if (nread == UV_ENOBUFS && large->yielding) {
    large->yielding = 0;
    large->turn = 0;
    large->stats.yielded++;
    return;
  }
  if (nread > 0) observe(large, (uv_handle_t*)stream, (size_t)nread, buf->len);
  /* libuv goes on reading after UV_ENOBUFS, and after no other error. */
  if (nread < 0 && nread != UV_ENOBUFS) uvb__free(uvb__detach(tcp, UVB__ATTACH_LARGESOCKET));
  read_cb(stream, nread, buf);
}

/* uv_is_active() says it on Unix; on Windows a handle that only writes is active too, and its callbacks outlive
 * uv_read_stop(), so that libuv has to be asked. */
static int is_reading(uv_stream_t* stream) {
  if (stream->alloc_cb == NULL || stream->read_cb == NULL || !uv_is_active((uv_handle_t*)stream)) return 0;
  int status = uv_read_start(stream, stream->alloc_cb, stream->read_cb);
  if (status == 0) uv_read_stop(stream);
  return status == UV_EALREADY;
}

/* Gives the stream other callbacks; if it is reading, it goes on. */
static void swap(uv_stream_t* stream, uv_alloc_cb alloc_cb, uv_read_cb read_cb) {
  int reading = is_reading(stream);
  uv_read_stop(stream);
  if (uv_read_start(stream, alloc_cb, read_cb) == 0 && !reading) uv_read_stop(stream);
}

int uv_tcp_enable_largesocket(uv_tcp_t* tcp, const uv_largesocket_options_t* options) {
  uv_largesocket_options_t usual;
  uv_stream_t* stream = (uv_stream_t*)tcp;
  if (!is_tcp(tcp) || uv_is_closing((uv_handle_t*)tcp)) return UV_EINVAL;
  if (options == NULL) {
    uv_largesocket_options_init(&usual);
    options = &usual;
  }
  if (check(options) != 0) return UV_EINVAL;
  large_t* large = large_of(tcp);
  if (large == NULL) {
    large = uvb__calloc(1, sizeof(*large));
    int status = large == NULL ? UV_ENOMEM : uvb__attach(tcp, UVB__ATTACH_LARGESOCKET, large);
    if (status != 0) {
      uvb__free(large);
      return status;
    }
  }
  uvb__read_size_limit(&large->size, options);
  large->options = *options;
  large->raised = 0;
  if (stream->read_cb != on_read && is_reading(stream)) {
    large->alloc_cb = stream->alloc_cb;
    large->read_cb = stream->read_cb;
    swap(stream, on_alloc, on_read);
  }
  return 0;
}

int uv_tcp_largesocket_read_start(uv_tcp_t* tcp, uv_alloc_cb alloc_cb, uv_read_cb read_cb) {
  large_t* large = large_of(tcp);
  if (large == NULL || alloc_cb == NULL || read_cb == NULL) return UV_EINVAL;
  const large_t before = *large;
  /* First, because on Windows starting asks for a buffer. */
  large->alloc_cb = alloc_cb;
  large->read_cb = read_cb;
  int status = uv_read_start((uv_stream_t*)tcp, on_alloc, on_read);
  if (status != 0) {
    large->alloc_cb = before.alloc_cb;
    large->read_cb = before.read_cb;
  }
  return status;
}

int uv_tcp_disable_largesocket(uv_tcp_t* tcp) {
  uv_stream_t* stream = (uv_stream_t*)tcp;
  if (!is_tcp(tcp)) return UV_EINVAL;
  large_t* large = large_of(tcp);
  if (large == NULL) return 0;
  if (stream->read_cb == on_read) swap(stream, large->alloc_cb, large->read_cb);
  uvb__free(uvb__detach(tcp, UVB__ATTACH_LARGESOCKET));
  return 0;
}

int uv_tcp_largesocket_stats(const uv_tcp_t* tcp, uv_largesocket_stats_t* stats) {
  const large_t* large = large_of(tcp);
  if (large == NULL || stats == NULL) return UV_EINVAL;
  *stats = large->stats;
  stats->read_size = large->size.size;
  return 0;
}
