#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "adapt_fixture.h"
#include "failing_allocator.h"

enum { most = 256 };

static uv_tcp_t server;
static uv_pipe_t pipe_server;
static uv_batch_listener_t listener;
static uv_batch_handler_t handler;
static int peers[most];
static int peer_count;

/* Findings of the callbacks. */
static int given, declined, decline, handled, dropped, drop_status, stopped, closed_clients, groups, largest;

static void on_client_closed(uv_handle_t* handle) {
  closed_clients++;
  free(handle);
}

static void close_client(uv_stream_t* client) {
  uv_close((uv_handle_t*)client, on_client_closed);
}

static uv_stream_t* give_client(uv_batch_listener_t* from) {
  if (decline > 0) {
    decline--;
    declined++;
    return NULL;
  }
  given++;
  if (from->server->type == UV_TCP) {
    uv_tcp_t* client = malloc(sizeof(*client));
    CHECK_EQ(uv_tcp_init(&loop, client), 0);
    return (uv_stream_t*)client;
  }
  uv_pipe_t* client = malloc(sizeof(*client));
  CHECK_EQ(uv_pipe_init(&loop, client, 0), 0);
  return (uv_stream_t*)client;
}

static void drop_client(uv_batch_listener_t* from, uv_stream_t* client, int status) {
  CHECK(from == &listener);
  dropped++;
  drop_status = status;
  close_client(client);
}

static int handle_one(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self;
  CHECK(uv_batch_event_listener(event) == &listener);
  CHECK_EQ(event->type, UV_BATCH_NETWORK);
  handled++;
  close_client(event->data);
  return 0;
}

static void handle_group(uv_batch_handler_t* self, uv_batch_event_t* first, size_t count) {
  groups++;
  if ((int)count > largest) largest = (int)count;
  for (; first != NULL; first = first->next) handle_one(self, first);
}

static void on_stopped(uv_batch_listener_t* which) {
  CHECK(which == &listener);
  stopped++;
}

/* Connections that wait to be accepted; -1 where the system does not say. */
static int backlog(void) {
#if defined(__linux__)
  struct tcp_info info = {0};
  socklen_t size = sizeof(info);
  uv_os_fd_t fd;
  CHECK_EQ(uv_fileno((uv_handle_t*)&server, &fd), 0);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) return (int)info.tcpi_unacked;
#endif
  return -1;
}

static void connect_peer(void) {
  static int is_told = 1;
  struct sockaddr_storage name;
  int size = sizeof(name);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0 && peer_count < most);
  CHECK_EQ(uv_tcp_getsockname(&server, (struct sockaddr*)&name, &size), 0);
  int before = backlog();
  CHECK_EQ(connect(fd, (struct sockaddr*)&name, (socklen_t)size), 0);
  peers[peer_count++] = fd;
  /* On a busy system the server may get it after that. */
  for (int ms = 0; is_told && backlog() <= before; ms++) {
    if (before < 0 || ms == 5000) is_told = 0;
    else uv_sleep(1);
  }
}

static void connect_peers(int count) {
  for (int i = 0; i < count; i++) connect_peer();
}

static void close_peers(void) {
  while (peer_count > 0) close(peers[--peer_count]);
}

static int listen_again(void) {
  return uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 512, give_client, drop_client);
}

static void open_server(void) {
  struct sockaddr_in any;
  uv_ip4_addr("127.0.0.1", 0, &any);
  given = declined = decline = handled = dropped = drop_status = stopped = closed_clients = groups = largest = 0;
  memset(&listener, 0, sizeof(listener));
  memset(&handler, 0, sizeof(handler));
  CHECK_EQ(uv_tcp_init(&loop, &server), 0);
  CHECK_EQ(uv_tcp_bind(&server, (struct sockaddr*)&any, 0), 0);
  CHECK_EQ(listen_again(), 0);
}

static void stop_server(void) {
  if (stopped == 0) CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  uv_close((uv_handle_t*)&server, NULL);
  run_until(&stopped, 1);
  CHECK_EQ(closed_clients, given);
  close_peers();
  close_queue();
}

TEST(connections_of_a_turn_are_few_batches_and_none_is_lost) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on_group(&batch, &handler, UV_BATCH_NETWORK, handle_group), 0);
  connect_peers(200);
  run_until(&handled, 200);
  CHECK_EQ(handled, 200);
  CHECK(largest >= 64);
  CHECK(groups <= 4);
  CHECK_EQ(listener.last_error, 0);
  stop_server();
  CHECK_EQ(dropped, 0);
}

TEST(a_flood_of_connections_leaves_something_of_the_turn) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  connect_peers(200);
  for (int taken = 0; handled < 200; taken = handled) {
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK(handled - taken <= 64 + 1);
  }
  stop_server();
}

TEST(connections_are_not_lost_when_the_queue_has_room_for_one) {
  open_queue(1, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on_group(&batch, &handler, UV_BATCH_NETWORK, handle_group), 0);
  connect_peers(100);
  run_until(&handled, 100);
  CHECK_EQ(largest, 1);
  connect_peer();
  run_until(&handled, 101);
  stop_server();
  CHECK_EQ(given, 101);
  CHECK_EQ(dropped, 0);
}

TEST(what_a_full_queue_refuses_waits_in_the_backlog) {
  uv_batch_event_t other;
  open_queue(1, UV_BATCH_POLICY_FIXED);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  uv_batch_event_init(&other, UV_BATCH_TIMER, NULL);
  CHECK_EQ(uv_batch_push(&batch, &other), 0);
  connect_peers(20);
  run_turns(5);
  CHECK_EQ(given, 1);
  CHECK_EQ(handled, 0);
  while (handled < 20) {
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_EQ(uv_batch_flush(&batch), 0);
  }
  stop_server();
  CHECK_EQ(given, 20);
}

TEST(direct_handlers_get_connections_inside_the_turn) {
  open_queue(65536, UV_BATCH_POLICY_DIRECT);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  connect_peers(100);
  run_until(&handled, 100);
  stop_server();
}

TEST(without_a_client_handle_a_connection_waits_and_the_loop_does_not_spin) {
  int turns = 0;
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  decline = 8;
  connect_peers(2);
  uint64_t begin = uv_hrtime();
  for (; decline > 0; turns++) uv_run(&loop, UV_RUN_ONCE);
  /* It has waited for 0, 1, 2, 4, 8, 16 and 32 ms, but for what the loop's clock leaves out of each. */
  CHECK(uv_hrtime() - begin > 50 * 1000 * 1000u);
  CHECK(turns < 100);
  run_until(&handled, 2);
  stop_server();
  CHECK_EQ(given, 2);
}

TEST(a_client_handle_is_asked_for_again_in_the_next_turn) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  decline = 1;
  connect_peer();
  run_until(&declined, 1);
  run_turns(2);
  CHECK_EQ(handled, 1);
  stop_server();
}

TEST(a_connection_without_a_handler_is_dropped) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  connect_peers(3);
  run_until(&dropped, 3);
  CHECK_EQ(drop_status, UV_ENOENT);
  stop_server();
}

static int fail_one(uv_batch_handler_t* self, uv_batch_event_t* event) {
  handle_one(self, event);
  return UV_EIO;
}

TEST(a_handler_that_fails_keeps_its_client) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, fail_one), 0);
  connect_peers(3);
  run_until(&handled, 3);
  stop_server();
  CHECK_EQ(dropped, 0);
}

static int stop_in_handler(uv_batch_handler_t* self, uv_batch_event_t* event) {
  if (handled == 0) {
    CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
    CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), UV_EALREADY);
  }
  CHECK_EQ(stopped, 0);
  return handle_one(self, event);
}

TEST(stopped_by_a_handler_it_still_delivers_what_it_has_taken) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, stop_in_handler), 0);
  connect_peers(5);
  run_until(&stopped, 1);
  CHECK_EQ(handled, 5);
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), UV_EINVAL);
  uv_close((uv_handle_t*)&server, NULL);
  close_peers();
  close_queue();
  CHECK_EQ(stopped, 1);
}

TEST(stopped_by_a_direct_handler_it_takes_no_more) {
  open_queue(65536, UV_BATCH_POLICY_DIRECT);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, stop_in_handler), 0);
  connect_peers(5);
  run_until(&stopped, 1);
  CHECK_EQ(handled, 1);
  uv_close((uv_handle_t*)&server, NULL);
  close_peers();
  close_queue();
}

TEST(connections_made_while_it_is_stopped_are_there_for_the_next_start) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  CHECK_EQ(stopped, 0);
  run_until(&stopped, 1);
  connect_peers(10);
  run_turns(3);
  CHECK_EQ(given, 0);
  decline = 1;
  CHECK_EQ(listen_again(), UV_EAGAIN);
  CHECK_EQ(listen_again(), 0);
  run_until(&handled, 10);
  stopped = 0;
  stop_server();
  CHECK_EQ(dropped, 0);
}

TEST(a_handle_asked_for_in_vain_is_given_back) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  run_until(&stopped, 1);
  stopped = 0;
  CHECK_EQ(listen_again(), 0);
  CHECK_EQ(given, 1);
  stop_server();
  CHECK_EQ(dropped, 1);
  CHECK_EQ(drop_status, UV_ECANCELED);
}

static uv_stream_t* stop_and_give_client(uv_batch_listener_t* from) {
  CHECK_EQ(uv_batch_listen_stop(from, on_stopped), 0);
  return give_client(from);
}

TEST(stopped_by_the_client_callback_it_gives_the_handle_back) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  run_until(&stopped, 1);
  uv_close((uv_handle_t*)&server, NULL);
  run_turns(1);
  stopped = 0;
  struct sockaddr_in any;
  uv_ip4_addr("127.0.0.1", 0, &any);
  CHECK_EQ(uv_tcp_init(&loop, &server), 0);
  CHECK_EQ(uv_tcp_bind(&server, (struct sockaddr*)&any, 0), 0);
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 8, stop_and_give_client, drop_client), 0);
  connect_peers(3);
  run_until(&dropped, 1);
  CHECK_EQ(drop_status, UV_ECANCELED);
  run_until(&stopped, 1);
  stop_server();
  CHECK_EQ(given, 1);
}

static int close_in_handler(uv_batch_handler_t* self, uv_batch_event_t* event) {
  if (handled == 0) CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  return handle_one(self, event);
}

TEST(when_the_queue_closes_what_was_kept_is_dropped_and_no_more_is_taken) {
  open_queue(1, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, close_in_handler), 0);
  connect_peers(10);
  run_until(&dropped, 1);
  CHECK_EQ(handled, 1);
  CHECK_EQ(drop_status, UV_ESHUTDOWN);
  run_turns(5);
  CHECK_EQ(given, 2);
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  uv_close((uv_handle_t*)&server, NULL);
  close_peers();
  close_loop();
  CHECK_EQ(stopped, 1);
  CHECK_EQ(closed_clients, 2);
}

TEST(a_queue_that_is_over_takes_no_connection) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_close(&batch, 0, NULL), 0);
  connect_peers(2);
  while (!uv_batch_is_closing(&batch) || dropped == 0) uv_run(&loop, UV_RUN_ONCE);
  CHECK_EQ(drop_status, UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 8, give_client, drop_client), UV_ESHUTDOWN);
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  uv_close((uv_handle_t*)&server, NULL);
  close_peers();
  close_loop();
  CHECK_EQ(dropped, 1);
  CHECK_EQ(stopped, 1);
}

TEST(connections_that_were_reset_are_events_like_the_others) {
  struct linger reset = {1, 0};
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  connect_peers(20);
  for (int i = 0; i < 20; i += 2) {
    CHECK_EQ(setsockopt(peers[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    close(peers[i]);
    peers[i] = socket(AF_INET, SOCK_STREAM, 0);
  }
  run_until(&handled, 20);
  stop_server();
}

TEST(pipes_are_served_as_well) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  run_until(&stopped, 1);
  stopped = 0;
  CHECK_EQ(uv_batch_on_group(&batch, &handler, UV_BATCH_NETWORK, handle_group), 0);
  snprintf(name.sun_path, sizeof(name.sun_path), "/tmp/uv_batch_listen_test_%d", (int)getpid());
  CHECK_EQ(uv_pipe_init(&loop, &pipe_server, 0), 0);
  CHECK_EQ(uv_pipe_bind(&pipe_server, name.sun_path), 0);
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&pipe_server, 64, give_client, drop_client), 0);
  for (int i = 0; i < 30; i++) {
    peers[peer_count] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(connect(peers[peer_count++], (struct sockaddr*)&name, sizeof(name)), 0);
  }
  run_until(&handled, 30);
  CHECK_EQ(largest, 30);
  uv_close((uv_handle_t*)&server, NULL);
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  uv_close((uv_handle_t*)&pipe_server, NULL);
  close_peers();
  close_queue();
  CHECK_EQ(stopped, 1);
}

static uv_stream_t* open_clients[most];

static int keep_open(uv_batch_handler_t* self, uv_batch_event_t* event) {
  (void)self;
  open_clients[handled++] = event->data;
  return 0;
}

/* Every peer's connection is handled, or closed by libuv for the shortage; none is forgotten. */
TEST(without_descriptors_connections_are_shed_and_later_ones_are_handled) {
  struct rlimit limit, lower;
  int spare;
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, keep_open), 0);
  connect_peers(40);
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  spare = dup(0);
  close(spare);
  lower = limit;
  lower.rlim_cur = (rlim_t)spare + 10;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  run_turns(20);
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  CHECK_EQ(handled, 10);
  CHECK_EQ(listener.last_error, UV_EMFILE);
  for (int i = 0; i < 10; i++) close_client(open_clients[i]);
  for (int i = 0; i < 40; i++) {
    char byte;
    CHECK(recv(peers[i], &byte, 1, 0) <= 0);
  }
  close_peers();
  connect_peers(5);
  run_until(&handled, 15);
  for (int i = 10; i < 15; i++) close_client(open_clients[i]);
  stop_server();
}

static uv_tcp_t used;

static uv_stream_t* give_used_client(uv_batch_listener_t* from) {
  if (dropped == 0) return (uv_stream_t*)&used;
  if (dropped == 1) return (uv_stream_t*)&pipe_server;
  return give_client(from);
}

static void keep_client(uv_batch_listener_t* from, uv_stream_t* client, int status) {
  CHECK(from == &listener);
  CHECK(client == (dropped == 0 ? (uv_stream_t*)&used : (uv_stream_t*)&pipe_server));
  CHECK_EQ(status, dropped == 0 ? UV_EBUSY : UV_EINVAL);
  dropped++;
}

TEST(a_handle_that_cannot_be_accepted_into_costs_no_connection) {
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  CHECK_EQ(uv_tcp_init(&loop, &used), 0);
  CHECK_EQ(uv_tcp_open(&used, socket(AF_INET, SOCK_STREAM, 0)), 0);
  CHECK_EQ(uv_pipe_init(&loop, &pipe_server, 0), 0);
  CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
  run_until(&stopped, 1);
  stopped = 0;
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 8, give_used_client, keep_client), UV_EAGAIN);
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 8, give_used_client, keep_client), UV_EAGAIN);
  dropped = 2;
  CHECK_EQ(uv_batch_listen(&batch, &listener, (uv_stream_t*)&server, 8, give_used_client, keep_client), 0);
  connect_peers(1);
  run_until(&handled, 1);
  dropped = 0;
  connect_peers(3);
  run_until(&handled, 4);
  CHECK_EQ(dropped, 2);
  CHECK_EQ(listener.last_error, UV_EINVAL);
  uv_close((uv_handle_t*)&used, NULL);
  uv_close((uv_handle_t*)&pipe_server, NULL);
  stop_server();
}

TEST(bad_input_is_refused) {
  uv_tcp_t closing;
  uv_udp_t datagrams;
  uv_batch_listener_t second = {0};
  uv_batch_event_t event;
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_tcp_init(&loop, &closing), 0);
  CHECK_EQ(uv_udp_init(&loop, &datagrams), 0);
  uv_close((uv_handle_t*)&closing, NULL);
  uv_stream_t* stream = (uv_stream_t*)&server;
  CHECK_EQ(uv_batch_listen(NULL, &second, stream, 8, give_client, drop_client), UV_EINVAL);
  CHECK_EQ(uv_batch_listen(&batch, NULL, stream, 8, give_client, drop_client), UV_EINVAL);
  CHECK_EQ(uv_batch_listen(&batch, &second, NULL, 8, give_client, drop_client), UV_EINVAL);
  CHECK_EQ(uv_batch_listen(&batch, &second, stream, 8, NULL, drop_client), UV_EINVAL);
  CHECK_EQ(uv_batch_listen(&batch, &second, stream, 8, give_client, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_listen(&batch, &second, stream, 8, give_client, drop_client), UV_EBUSY);
  CHECK_EQ(uv_batch_listen(&batch, &listener, stream, 8, give_client, drop_client), UV_EBUSY);
  CHECK_EQ(uv_batch_listen(&batch, &second, (uv_stream_t*)&closing, 8, give_client, drop_client), UV_EINVAL);
  CHECK_EQ(uv_batch_listen(&batch, &second, (uv_stream_t*)&datagrams, 8, give_client, drop_client), UV_EINVAL);
  CHECK_EQ(uv_batch_listen_stop(NULL, NULL), UV_EINVAL);
  CHECK_EQ(uv_batch_listen_stop(&second, NULL), UV_EINVAL);
  uv_batch_event_init(&event, UV_BATCH_NETWORK, NULL);
  CHECK(uv_batch_event_listener(&event) == NULL);
  CHECK(uv_batch_event_listener(NULL) == NULL);
  uv_close((uv_handle_t*)&datagrams, NULL);
  stop_server();
}

TEST(a_server_that_cannot_listen_leaves_nothing_behind) {
  struct sockaddr_storage name;
  int size = sizeof(name);
  uv_tcp_t second;
  uv_batch_listener_t other = {0};
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_tcp_getsockname(&server, (struct sockaddr*)&name, &size), 0);
  CHECK_EQ(uv_tcp_init(&loop, &second), 0);
  CHECK_EQ(uv_tcp_bind(&second, (struct sockaddr*)&name, 0), 0);
  CHECK_EQ(uv_batch_listen(&batch, &other, (uv_stream_t*)&second, 8, give_client, drop_client), UV_EADDRINUSE);
  CHECK_EQ(uv_batch_listen_stop(&other, NULL), UV_EINVAL);
  uv_close((uv_handle_t*)&second, NULL);
  stop_server();
}

TEST(a_connection_that_there_is_no_memory_for_waits) {
  failing_allocator_install();
  open_queue(65536, UV_BATCH_POLICY_ADAPTIVE);
  open_server();
  CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
  failing_allocator_after(0);
  connect_peer();
  run_until(&handled, 1);
  CHECK_EQ(listener.last_error, UV_ENOMEM);
  failing_allocator_after(-1);
  stop_server();
  CHECK_EQ(failing_allocator_live(), 0);
}

TEST(no_connection_is_lost_whichever_allocation_of_a_second_start_fails) {
  failing_allocator_install();
  for (long n = 0; n < 40; n++) {
    int status;
    open_queue(4, UV_BATCH_POLICY_ADAPTIVE);
    open_server();
    CHECK_EQ(uv_batch_listen_stop(&listener, on_stopped), 0);
    run_until(&stopped, 1);
    stopped = 0;
    CHECK_EQ(uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle_one), 0);
    failing_allocator_after(n);
    status = listen_again();
    if (status != 0) {
      CHECK_EQ(status, UV_ENOMEM);
      CHECK_EQ(listen_again(), 0);
    }
    connect_peers(20);
    run_until(&handled, 20);
    failing_allocator_after(-1);
    CHECK_EQ(handled, 20);
    stop_server();
    CHECK_EQ(failing_allocator_live(), 0);
  }
}

TEST_MAIN
