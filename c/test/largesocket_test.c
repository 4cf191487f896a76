#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"
#include "failing_allocator.h"
#include "largesocket.h"
#include "test.h"
#include "uv_batch.h"

/* A TCP connection: the test sends at one end, a uv_tcp_t of its loop reads at the other. */
typedef struct stream_s stream_t;
struct stream_s {
  uv_tcp_t tcp;
  int sender;
  size_t sent, received;
  size_t suggested; /* by the last alloc callback */
  size_t first_suggested;
  size_t room;   /* what alloc gives; 0: as suggested */
  int no_buffer; /* times that alloc gives none */
  int reads, allocs, no_buffers, closed;
  ssize_t ended; /* with which error */
  void (*in_read)(stream_t* stream);
  void (*in_alloc)(stream_t* stream);
};

static uv_loop_t loop;
static uv_largesocket_options_t options;
static char room[1 << 20];
static char data[1 << 20];
static stream_t* order[1000]; /* whose read came when */
static int order_count;

static void fill_data(void) {
  uint64_t x = 88172645463325252u;
  for (size_t i = 0; i < sizeof(data); i += 8) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    memcpy(data + i, &x, 8);
  }
}

static void begin(void) {
  fill_data();
  CHECK_EQ(uv_loop_init(&loop), 0);
  uv_largesocket_options_init(&options);
  options.min_read = 4096;
  options.max_read = 65536;
  options.shrink_after = 4;
  options.receive_buffer = 0;
  order_count = 0;
}

static void end(void) {
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK_EQ(uv_loop_close(&loop), 0);
}

static void alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  stream_t* stream = (stream_t*)handle;
  stream->suggested = suggested;
  if (stream->allocs++ == 0) stream->first_suggested = suggested;
  size_t size = stream->room > 0 ? stream->room : suggested;
  if (stream->no_buffer > 0) {
    stream->no_buffer--;
    *buf = uv_buf_init(NULL, 0);
    return;
  }
  *buf = uv_buf_init(room, (unsigned int)size);
  if (stream->in_alloc != NULL) stream->in_alloc(stream);
}

static void on_read(uv_stream_t* handle, ssize_t nread, const uv_buf_t* buf) {
  stream_t* stream = (stream_t*)handle;
  if (nread == UV_ENOBUFS) stream->no_buffers++;
  else if (nread < 0) stream->ended = nread;
  if (nread > 0) {
    /* Each byte is the one that was sent at its place. */
    for (ssize_t done = 0; done < nread;) {
      size_t at = (stream->received + (size_t)done) % sizeof(data);
      size_t piece = sizeof(data) - at;
      if (piece > (size_t)(nread - done)) piece = (size_t)(nread - done);
      CHECK(memcmp(buf->base + done, data + at, piece) == 0);
      done += (ssize_t)piece;
    }
    stream->received += (size_t)nread;
    stream->reads++;
    if (order_count < 1000) order[order_count++] = stream;
  }
  if (stream->in_read != NULL && nread != 0) stream->in_read(stream);
}

static void set_receive_buffer(int fd, int size) {
  CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
}

/* The receive buffer takes at least 64 KiB at once, wherever the tests run. */
static void connect_with(stream_t* stream, int receive_buffer) {
  struct sockaddr_in address;
  socklen_t length = sizeof(address);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  memset(stream, 0, sizeof(*stream));
  memset(&address, 0, sizeof(address));
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  set_receive_buffer(server, receive_buffer);
  CHECK_EQ(bind(server, (struct sockaddr*)&address, sizeof(address)), 0);
  CHECK_EQ(listen(server, 1), 0);
  CHECK_EQ(getsockname(server, (struct sockaddr*)&address, &length), 0);
  stream->sender = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_EQ(connect(stream->sender, (struct sockaddr*)&address, sizeof(address)), 0);
  int fd = accept(server, NULL, NULL);
  CHECK(fd >= 0);
  close(server);
  CHECK_EQ(uv_tcp_init(&loop, &stream->tcp), 0);
  CHECK_EQ(uv_tcp_open(&stream->tcp, fd), 0);
}

static void connect_stream(stream_t* stream) {
  connect_with(stream, 200000);
}

static void start(stream_t* stream) {
  CHECK_EQ(uv_tcp_enable_largesocket(&stream->tcp, &options), 0);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream->tcp, alloc, on_read), 0);
}

/* Sends what goes through of `count` bytes. */
static size_t send_some(stream_t* stream, size_t count) {
  size_t before = stream->sent;
  while (count > 0) {
    size_t at = stream->sent % sizeof(data);
    size_t piece = sizeof(data) - at < count ? sizeof(data) - at : count;
    ssize_t sent = send(stream->sender, data + at, piece, MSG_DONTWAIT);
    if (sent < 0) {
      CHECK(errno == EAGAIN);
      break;
    }
    stream->sent += (size_t)sent;
    count -= (size_t)sent;
  }
  return stream->sent - before;
}

static void receive(stream_t* stream) {
  while (stream->received < stream->sent) uv_run(&loop, UV_RUN_NOWAIT);
}

/* As fast as it goes: the receiver always has more to read than fits its buffer. */
static void send_fast(stream_t* stream, size_t count) {
  while (count > 0) {
    count -= send_some(stream, count);
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  receive(stream);
}

/* Waits until it has so much to read: a busy system may deliver it after the call that sent it. */
static void wait_for(const stream_t* stream, int size) {
  uv_os_fd_t fd;
  int there = 0;
  CHECK_EQ(uv_fileno((const uv_handle_t*)&stream->tcp, &fd), 0);
  for (int ms = 0; there < size && ms < 60000; ms++) {
    if (ms > 0) uv_sleep(1);
    CHECK_EQ(ioctl(fd, FIONREAD, &there), 0);
  }
  CHECK_EQ(there, size);
}

static void send_messages(stream_t* stream, int count) {
  for (int i = 0; i < count; i++) {
    CHECK_EQ(send_some(stream, 100), 100);
    receive(stream);
  }
}

static void on_close(uv_handle_t* handle) {
  ((stream_t*)handle)->closed = 1;
}

static void close_stream(stream_t* stream) {
  CHECK_EQ(uv_tcp_disable_largesocket(&stream->tcp), 0);
  close(stream->sender);
  uv_close((uv_handle_t*)&stream->tcp, on_close);
  while (!stream->closed) uv_run(&loop, UV_RUN_NOWAIT);
}

static uv_largesocket_stats_t stats_of(const stream_t* stream) {
  uv_largesocket_stats_t stats;
  CHECK_EQ(uv_tcp_largesocket_stats(&stream->tcp, &stats), 0);
  return stats;
}

/* Until its reads are as large as they may be: a busy system may deliver in pieces that fill none. */
static void grow(stream_t* stream) {
  int times = 0;
  do {
    CHECK(times++ < 50);
    send_fast(stream, 4 << 20);
  } while (stats_of(stream).read_size < options.max_read);
}

static int is_enabled(const stream_t* stream) {
  uv_largesocket_stats_t stats;
  return uv_tcp_largesocket_stats(&stream->tcp, &stats) == 0;
}

TEST(grows_while_a_fast_sender_fills_its_reads) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  grow(&stream);
  CHECK_EQ(stream.first_suggested, 4096);
  CHECK_EQ(stream.received, stream.sent);
  uv_largesocket_stats_t stats = stats_of(&stream);
  CHECK_EQ(stats.read_size, 65536);
  CHECK_EQ(stats.grown - stats.shrunk, 4);
  CHECK_EQ(stats.bytes, stream.sent);
  CHECK_EQ(stats.reads, stream.reads);
  CHECK(stats.full_reads >= 8 && stats.full_reads <= stats.reads);
  close_stream(&stream);
  end();
}

TEST(shrinks_on_small_messages) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  grow(&stream);
  CHECK_EQ(stats_of(&stream).read_size, 65536);
  send_messages(&stream, 20);
  uv_largesocket_stats_t stats = stats_of(&stream);
  CHECK_EQ(stats.read_size, 4096);
  CHECK_EQ(stream.suggested, 4096);
  CHECK_EQ(stats.shrunk, stats.grown);
  close_stream(&stream);
  end();
}

TEST(small_messages_alone_change_nothing) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  send_messages(&stream, 50);
  uv_largesocket_stats_t stats = stats_of(&stream);
  CHECK_EQ(stats.grown + stats.shrunk + stats.full_reads, 0);
  CHECK_EQ(stats.reads, 50);
  CHECK_EQ(stats.read_size, 4096);
  close_stream(&stream);
  end();
}

TEST(stopping_and_starting_keeps_what_was_learned) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  grow(&stream);
  CHECK_EQ(uv_read_stop((uv_stream_t*)&stream.tcp), 0);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream.tcp, alloc, on_read), 0);
  stream.allocs = 0;
  send_messages(&stream, 1);
  CHECK_EQ(stream.first_suggested, 65536);
  close_stream(&stream);
  end();
}

TEST(starting_twice_is_an_error_and_changes_nothing) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream.tcp, alloc, (uv_read_cb)abort), UV_EALREADY);
  send_messages(&stream, 1);
  CHECK_EQ(stream.received, 100);
  close_stream(&stream);
  end();
}

TEST(takes_effect_at_once_on_a_stream_that_reads) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  CHECK_EQ(uv_read_start((uv_stream_t*)&stream.tcp, alloc, on_read), 0);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 65536);
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &options), 0);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 4096);
  CHECK_EQ(stats_of(&stream).reads, 1);
  CHECK_EQ(stream.received, 200);
  close_stream(&stream);
  end();
}

TEST(does_not_start_a_stream_that_is_stopped) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  CHECK_EQ(uv_read_start((uv_stream_t*)&stream.tcp, alloc, on_read), 0);
  CHECK_EQ(uv_read_stop((uv_stream_t*)&stream.tcp), 0);
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &options), 0);
  CHECK(!uv_is_active((uv_handle_t*)&stream.tcp));
  CHECK_EQ(uv_tcp_disable_largesocket(&stream.tcp), 0);
  CHECK(!uv_is_active((uv_handle_t*)&stream.tcp));
  close_stream(&stream);
  end();
}

TEST(a_plain_start_drops_it_and_enabling_brings_it_back) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  grow(&stream);
  CHECK_EQ(uv_read_stop((uv_stream_t*)&stream.tcp), 0);
  CHECK_EQ(uv_read_start((uv_stream_t*)&stream.tcp, alloc, on_read), 0);
  options.max_read = 32768;
  uint64_t reads = stats_of(&stream).reads;
  send_messages(&stream, 1);
  CHECK_EQ(stats_of(&stream).reads, reads);
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &options), 0);
  send_messages(&stream, 1);
  CHECK_EQ(stats_of(&stream).reads, reads + 1);
  CHECK_EQ(stream.suggested, 32768);
  close_stream(&stream);
  end();
}

TEST(enabling_again_replaces_the_options_only) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  grow(&stream);
  options.max_read = 131072;
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &options), 0);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 65536);
  options.min_read = options.max_read = 8192;
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &options), 0);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 8192);
  close_stream(&stream);
  end();
}

static void disable(stream_t* stream) {
  CHECK_EQ(uv_tcp_disable_largesocket(&stream->tcp), 0);
}

TEST(disabling_gives_the_stream_its_own_callbacks_back) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 4096);
  disable(&stream);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 65536);
  CHECK(stream.tcp.read_cb == on_read && stream.tcp.alloc_cb == alloc);
  CHECK(!is_enabled(&stream));
  disable(&stream);
  close_stream(&stream);
  end();
}

TEST(disables_inside_the_read_callback) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_read = disable;
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stream.received, 1 << 20);
  CHECK_EQ(stream.suggested, 65536);
  close_stream(&stream);
  end();
}

TEST(disables_inside_the_alloc_callback) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_alloc = disable;
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stream.received, 1 << 20);
  CHECK_EQ(stream.suggested, 65536);
  close_stream(&stream);
  end();
}

static void disable_and_enable(stream_t* stream) {
  CHECK_EQ(uv_tcp_disable_largesocket(&stream->tcp), 0);
  CHECK_EQ(uv_tcp_enable_largesocket(&stream->tcp, &options), 0);
}

TEST(enables_again_inside_the_callbacks) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_read = stream.in_alloc = disable_and_enable;
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stream.received, 1 << 20);
  CHECK_EQ(stream.suggested, 4096);
  close_stream(&stream);
  end();
}

static void restart(stream_t* stream) {
  CHECK_EQ(uv_read_stop((uv_stream_t*)&stream->tcp), 0);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream->tcp, alloc, on_read), 0);
}

TEST(stops_and_starts_inside_the_read_callback) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_read = restart;
  grow(&stream);
  CHECK_EQ(stream.received, stream.sent);
  CHECK_EQ(stats_of(&stream).read_size, 65536);
  close_stream(&stream);
  end();
}

static void free_stream(uv_handle_t* handle) {
  free(handle);
}

static void close_inside(stream_t* stream) {
  disable(stream);
  close(stream->sender);
  uv_close((uv_handle_t*)&stream->tcp, free_stream);
}

TEST(closes_inside_the_read_callback) {
  stream_t* stream = malloc(sizeof(*stream));
  CHECK(stream != NULL);
  begin();
  connect_stream(stream);
  start(stream);
  stream->in_read = close_inside;
  CHECK_EQ(send_some(stream, 100000), 100000);
  CHECK_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  end();
}

TEST(two_streams_learn_apart) {
  stream_t fast, slow;
  begin();
  connect_stream(&fast);
  connect_stream(&slow);
  start(&fast);
  start(&slow);
  for (int i = 0; i < 20; i++) {
    send_fast(&fast, 200000);
    send_messages(&slow, 1);
  }
  if (stats_of(&fast).read_size < 65536) grow(&fast);
  CHECK_EQ(stats_of(&fast).read_size, 65536);
  CHECK_EQ(stats_of(&slow).read_size, 4096);
  CHECK_EQ(fast.received, fast.sent);
  CHECK_EQ(slow.received, 2000);
  disable(&fast);
  CHECK(is_enabled(&slow));
  close_stream(&fast);
  close_stream(&slow);
  end();
}

TEST(leaves_the_data_of_the_handle_alone) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  stream.tcp.data = &order;
  start(&stream);
  send_fast(&stream, 1 << 20);
  CHECK(stream.tcp.data == &order);
  close_stream(&stream);
  CHECK(stream.tcp.data == &order);
  end();
}

TEST(an_alloc_that_takes_no_advice_breaks_nothing_and_shows) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  stream.room = 1000;
  start(&stream);
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stream.received, 1 << 20);
  uv_largesocket_stats_t stats = stats_of(&stream);
  CHECK_EQ(stats.read_size, 65536);
  CHECK(stats.bytes <= stats.reads * 1000);
  close_stream(&stream);
  end();
}

TEST(no_buffer_reaches_the_user_and_reading_goes_on) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.no_buffer = 3;
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stream.no_buffers, 3);
  CHECK_EQ(stream.received, 1 << 20);
  CHECK(is_enabled(&stream));
  close_stream(&stream);
  end();
}

static void look_at_end(stream_t* stream) {
  if (stream->ended != 0) CHECK(!is_enabled(stream));
}

TEST(the_end_forgets_before_the_user_hears_of_it) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_read = look_at_end;
  send_messages(&stream, 3);
  shutdown(stream.sender, SHUT_WR);
  while (stream.ended == 0) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(stream.ended, UV_EOF);
  CHECK(!is_enabled(&stream));
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream.tcp, alloc, on_read), UV_EINVAL);
  close_stream(&stream);
  end();
}

TEST(an_error_forgets_too) {
  stream_t stream;
  struct linger reset = {1, 0};
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_read = look_at_end;
  send_messages(&stream, 3);
  CHECK_EQ(setsockopt(stream.sender, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
  close(stream.sender);
  while (stream.ended == 0) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK_EQ(stream.ended, UV_ECONNRESET);
  CHECK(!is_enabled(&stream));
  stream.sender = -1;
  close_stream(&stream);
  end();
}

static void enable_at_end(stream_t* stream) {
  if (stream->ended != 0) CHECK_EQ(uv_tcp_enable_largesocket(&stream->tcp, &options), 0);
}

TEST(enabling_after_the_end_is_harmless) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  stream.in_read = enable_at_end;
  shutdown(stream.sender, SHUT_WR);
  while (stream.ended == 0) uv_run(&loop, UV_RUN_NOWAIT);
  CHECK(is_enabled(&stream));
  close_stream(&stream);
  end();
}

TEST(what_a_closed_handle_left_behind_harms_no_other_at_its_place) {
  stream_t stream;
  begin();
  connect_stream(&stream);
  start(&stream);
  send_fast(&stream, 1 << 20);
  /* Closed without disabling it. */
  close(stream.sender);
  uv_close((uv_handle_t*)&stream.tcp, on_close);
  while (!stream.closed) uv_run(&loop, UV_RUN_NOWAIT);
  connect_stream(&stream);
  CHECK_EQ(uv_read_start((uv_stream_t*)&stream.tcp, alloc, on_read), 0);
  send_messages(&stream, 1);
  CHECK_EQ(stream.suggested, 65536);
  options.max_read = 16384;
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &options), 0);
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stats_of(&stream).read_size, 16384);
  close_stream(&stream);
  end();
}

TEST(raises_the_receive_buffer_after_sustained_full_reads) {
  stream_t stream;
  int size = 0;
  begin();
  connect_with(&stream, 60000);
  options.max_read = 16384;
  options.raise_after = 8;
  options.receive_buffer = 150000;
  start(&stream);
  send_messages(&stream, 20);
  CHECK_EQ(stats_of(&stream).receive_buffer, 0);
  for (int i = 0; i < 50 && stats_of(&stream).receive_buffer == 0; i++) grow(&stream);
  CHECK_EQ(stats_of(&stream).read_size, 16384);
  CHECK_EQ(stats_of(&stream).receive_buffer, 150000);
  CHECK_EQ(stats_of(&stream).send_buffer, 0);
  CHECK_EQ(uv_recv_buffer_size((uv_handle_t*)&stream.tcp, &size), 0);
  CHECK_EQ(uvb__socket_buffer_set(size), 150000);
  close_stream(&stream);
  end();
}

TEST(raises_no_further_than_the_system_allows) {
  stream_t stream;
  uvb__socket_limits_t limits;
  begin();
  uvb__socket_limits(&limits);
  connect_with(&stream, 60000);
  options.max_read = 16384;
  options.receive_buffer = 1 << 30;
  start(&stream);
  for (int i = 0; i < 50 && stats_of(&stream).receive_buffer == 0; i++) grow(&stream);
  int raised = stats_of(&stream).receive_buffer;
  CHECK(raised > 60000);
  if (limits.receive > 0) CHECK(raised <= limits.receive);
  close_stream(&stream);
  end();
}

TEST(the_usual_receive_buffer_is_one_that_the_system_allows) {
  uvb__socket_limits_t limits;
  uvb__socket_limits(&limits);
  uv_largesocket_options_init(&options);
  CHECK(options.receive_buffer <= limits.receive);
  CHECK(options.receive_buffer == 0 || options.receive_buffer == 4 << 20 || options.receive_buffer > limits.automatic);
  CHECK_EQ(options.send_buffer, 0);
}

TEST(makes_no_buffer_smaller) {
  stream_t stream;
  int before = 0, after = 0;
  begin();
  connect_with(&stream, 150000);
  options.max_read = 16384;
  options.receive_buffer = 100000;
  start(&stream);
  CHECK_EQ(uv_recv_buffer_size((uv_handle_t*)&stream.tcp, &before), 0);
  send_fast(&stream, 4 << 20);
  CHECK_EQ(uv_recv_buffer_size((uv_handle_t*)&stream.tcp, &after), 0);
  CHECK_EQ(stats_of(&stream).receive_buffer, 0);
  CHECK_EQ(after, before);
  close_stream(&stream);
  end();
}

TEST(raises_the_send_buffer_when_asked) {
  stream_t stream;
  int size = 20000;
  begin();
  connect_stream(&stream);
  CHECK_EQ(uv_send_buffer_size((uv_handle_t*)&stream.tcp, &size), 0);
  options.max_read = 16384;
  options.send_buffer = 150000;
  start(&stream);
  for (int i = 0; i < 50 && stats_of(&stream).send_buffer == 0; i++) grow(&stream);
  CHECK_EQ(stats_of(&stream).send_buffer, 150000);
  CHECK_EQ(stats_of(&stream).receive_buffer, 0);
  close_stream(&stream);
  end();
}

TEST(a_stream_with_much_to_read_lets_others_read) {
  stream_t one, other;
  begin();
  options.min_read = options.max_read = 4096;
  options.max_turn = 8192;
  connect_stream(&one);
  connect_stream(&other);
  start(&one);
  start(&other);
  CHECK_EQ(send_some(&one, 65536), 65536);
  CHECK_EQ(send_some(&other, 65536), 65536);
  wait_for(&one, 65536);
  wait_for(&other, 65536);
  while (one.received < 65536 || other.received < 65536) uv_run(&loop, UV_RUN_NOWAIT);
  /* Two reads are a turn. */
  CHECK_EQ(order_count, 32);
  for (int i = 2; i < order_count; i++) CHECK(order[i] != order[i - 2]);
  CHECK(stats_of(&one).yielded >= 7);
  CHECK_EQ(one.no_buffers + other.no_buffers, 0);
  close_stream(&one);
  close_stream(&other);
  end();
}

TEST(a_turn_that_libuv_ends_is_not_cut_short) {
  stream_t stream;
  begin();
  options.min_read = options.max_read = 4096;
  options.max_turn = 8192;
  connect_stream(&stream);
  start(&stream);
  for (int i = 0; i < 20; i++) {
    CHECK_EQ(send_some(&stream, 5000), 5000);
    receive(&stream);
  }
  CHECK_EQ(stats_of(&stream).full_reads, 20);
  CHECK_EQ(stats_of(&stream).yielded, 0);
  close_stream(&stream);
  end();
}

TEST(without_a_limit_a_turn_is_libuv_s) {
  stream_t one, other;
  begin();
  options.min_read = options.max_read = 4096;
  options.max_turn = 0;
  connect_stream(&one);
  connect_stream(&other);
  start(&one);
  start(&other);
  CHECK_EQ(send_some(&one, 65536), 65536);
  CHECK_EQ(send_some(&other, 65536), 65536);
  wait_for(&one, 65536);
  wait_for(&other, 65536);
  while (one.received < 65536 || other.received < 65536) uv_run(&loop, UV_RUN_NOWAIT);
  for (int i = 1; i < 16; i++) CHECK(order[i] == order[0]);
  CHECK_EQ(stats_of(&one).yielded, 0);
  close_stream(&one);
  close_stream(&other);
  end();
}

TEST(bytes_are_intact_while_sizes_change) {
  stream_t stream;
  uint32_t x = 12345;
  begin();
  options.grow_after = 1;
  options.max_turn = 100000;
  connect_stream(&stream);
  start(&stream);
  while (stream.sent < 20000000) {
    x = x * 1664525u + 1013904223u;
    if ((x >> 28) < 2) send_fast(&stream, x >> 12);
    else send_some(&stream, (x >> 16) % 2000);
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  receive(&stream);
  uv_largesocket_stats_t stats = stats_of(&stream);
  CHECK(stats.grown > 5 && stats.shrunk > 5);
  CHECK_EQ(stats.bytes, stream.sent);
  close_stream(&stream);
  end();
}

TEST(refuses_options_out_of_range) {
  stream_t stream;
  uv_largesocket_options_t bad[13];
  begin();
  connect_stream(&stream);
  for (int i = 0; i < 13; i++) bad[i] = options;
  bad[0].min_read = 4095;
  bad[1].min_read = options.max_read + 1;
  bad[2].max_read = (16 << 20) + 1;
  bad[3].grow_after = 0;
  bad[4].grow_after = 1001;
  bad[5].shrink_after = 0;
  bad[6].shrink_after = 1000001;
  bad[7].raise_after = 0;
  bad[8].raise_after = 1000001;
  bad[9].receive_buffer = -1;
  bad[10].send_buffer = -1;
  bad[11].max_turn = options.max_read - 1;
  bad[12].max_turn = (size_t)(1 << 30) + 1;
  for (int i = 0; i < 13; i++) CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, &bad[i]), UV_EINVAL);
  CHECK(!is_enabled(&stream));
  close_stream(&stream);
  end();
}

TEST(refuses_what_is_no_open_tcp_handle) {
  stream_t stream;
  uv_pipe_t pipe;
  uv_largesocket_stats_t stats;
  begin();
  CHECK_EQ(uv_tcp_enable_largesocket(NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_tcp_disable_largesocket(NULL), UV_EINVAL);
  CHECK_EQ(uv_tcp_largesocket_stats(NULL, &stats), UV_EINVAL);
  CHECK_EQ(uv_tcp_largesocket_read_start(NULL, alloc, on_read), UV_EINVAL);
  CHECK_EQ(uv_pipe_init(&loop, &pipe, 0), 0);
  CHECK_EQ(uv_tcp_enable_largesocket((uv_tcp_t*)&pipe, NULL), UV_EINVAL);
  uv_close((uv_handle_t*)&pipe, NULL);
  connect_stream(&stream);
  CHECK_EQ(uv_tcp_largesocket_stats(&stream.tcp, &stats), UV_EINVAL);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream.tcp, alloc, on_read), UV_EINVAL);
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, NULL), 0);
  CHECK_EQ(uv_tcp_largesocket_stats(&stream.tcp, NULL), UV_EINVAL);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream.tcp, NULL, on_read), UV_EINVAL);
  CHECK_EQ(uv_tcp_largesocket_read_start(&stream.tcp, alloc, NULL), UV_EINVAL);
  close(stream.sender);
  disable(&stream);
  uv_close((uv_handle_t*)&stream.tcp, on_close);
  CHECK_EQ(uv_tcp_enable_largesocket(&stream.tcp, NULL), UV_EINVAL);
  end();
}

TEST(a_handle_that_cannot_read_yet_can_be_enabled) {
  uv_tcp_t tcp;
  begin();
  CHECK_EQ(uv_tcp_init(&loop, &tcp), 0);
  CHECK_EQ(uv_tcp_enable_largesocket(&tcp, &options), 0);
  CHECK(uv_tcp_largesocket_read_start(&tcp, alloc, on_read) < 0);
  CHECK_EQ(uv_tcp_disable_largesocket(&tcp), 0);
  uv_close((uv_handle_t*)&tcp, NULL);
  end();
}

TEST(a_failed_allocation_leaves_the_stream_as_it_was) {
  stream_t stream;
  long n = 0;
  int status;
  failing_allocator_install();
  begin();
  connect_stream(&stream);
  CHECK_EQ(uv_read_start((uv_stream_t*)&stream.tcp, alloc, on_read), 0);
  do {
    failing_allocator_after(n++);
    status = uv_tcp_enable_largesocket(&stream.tcp, &options);
    failing_allocator_after(-1);
    if (status != 0) {
      CHECK_EQ(status, UV_ENOMEM);
      CHECK_EQ(failing_allocator_live(), 0);
      CHECK(!is_enabled(&stream));
    }
    send_messages(&stream, 1);
    CHECK_EQ(stream.suggested, status == 0 ? 4096 : 65536);
  } while (status != 0);
  CHECK(n >= 3);
  send_fast(&stream, 1 << 20);
  CHECK_EQ(stream.received, stream.sent);
  close_stream(&stream);
  CHECK_EQ(failing_allocator_live(), 0);
  end();
}

TEST_MAIN
