/*
 * A listening socket whose connections are events of type NETWORK. libuv may give only one connection per turn, so
 * where the system allows it (everywhere but in Windows) this file takes the others of the backlog itself: all
 * connections of a turn are in one batch.
 *
 * The state lives from uv_batch_listen() until the callback of uv_batch_listen_stop(), which waits for every event that
 * was taken: `users` counts those, and calls that are at work here. When the queue is full the connection at hand is
 * `kept`; when the user gives no handle, or there is no memory, a timer waits ever longer. In both cases nothing else
 * is taken, and the rest stays in the backlog. A client that was asked for and got no connection is the `spare`, for
 * the next one. No connection is lost: each ends with a handler, or in the drop callback.
 */
#include "adapter.h"

#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

/* ---- what a system can do with a listening socket beside libuv */

#if !defined(_WIN32)
/* Reports whether it may have been listening before: then libuv may hold a connection that nobody has taken. */
static bool may_listen(const uv_stream_t* server) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  uv_os_fd_t fd;
  if (uv_fileno((const uv_handle_t*)server, &fd) != 0) return false;
  /* Where the system cannot say, the answer is yes. */
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens != 0;
}

/* Reports whether a connection is in the backlog, as far as can be seen. */
static bool connection_waits(const uv_stream_t* server) {
  struct pollfd listening = {0};
  if (uv_fileno((const uv_handle_t*)server, &listening.fd) != 0) return false;
  listening.events = POLLIN;
  return poll(&listening, 1, 0) == 1 && (listening.revents & POLLIN) != 0;
}

/* Takes one from the backlog. UV_EAGAIN: there is none. After an error the client is as it was. */
static int accept_beside(const uv_stream_t* server, uv_stream_t* client) {
  uv_os_fd_t listening;
  int fd;
  int status = uv_fileno((const uv_handle_t*)server, &listening);
  if (status != 0) return status;
  do {
#if defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
    fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    fd = accept(listening, NULL, NULL);
    if (fd != -1) fcntl(fd, F_SETFD, FD_CLOEXEC); /* uv_…_open() makes it non-blocking */
#endif
  } while (fd == -1 && errno == EINTR);
  if (fd == -1) return errno == EWOULDBLOCK ? UV_EAGAIN : uv_translate_sys_error(errno);
  status = client->type == UV_TCP ? uv_tcp_open((uv_tcp_t*)client, fd) : uv_pipe_open((uv_pipe_t*)client, fd);
  if (status != 0) close(fd);
  return status;
}
#else
/* TCP handles can be asked whether they hold a connection before they listen; pipes cannot, and listen only once. */
static bool may_listen(const uv_stream_t* server) {
  return server->type == UV_TCP;
}

static bool connection_waits(const uv_stream_t* server) {
  (void)server;
  return false;
}

static int accept_beside(const uv_stream_t* server, uv_stream_t* client) {
  (void)server, (void)client;
  return UV_EAGAIN;
}
#endif

/* ---- connections */

/* Connections taken without a pause: even in a flood of them, others get their share of the turn. */
enum { turn_limit = 64, longest_wait_ms = 64 };

typedef struct {
  uv_batch_event_t event;
  uv_batch_listener_t* listener;
} connection_t;

typedef struct {
  uv_timer_t timer; /* runs: nothing is taken before it ends */
  uvb__ending_t ending; /* of the timer */
  uvb__waiter_t waiter;
  uv_batch_listener_t* listener;
  uv_batch_client_cb client_cb;
  uv_batch_drop_cb drop_cb;
  uv_batch_listener_cb cb;
  uvb__pool_t pool;
  connection_t* kept; /* taken, and refused by the full queue: nothing is taken meanwhile */
  uv_stream_t* spare; /* a client that the user has given, without a connection yet */
  unsigned int held;  /* connections that libuv has accepted; it takes no other until uv_accept() has them */
  unsigned int wait_ms;
  size_t users; /* events that are not over, and calls that are at work here */
  bool shut;    /* the queue is closed */
  bool stopped;
} state_t;

static void end(uvb__ending_t* ending) {
  state_t* state = uvb__of(ending, state_t, ending);
  uv_batch_listener_t* listener = state->listener;
  uv_batch_listener_cb cb = state->cb;
  uvb__pool_free(&state->pool);
  uvb__give_up(listener->private_);
  uvb__free(state);
  if (cb != NULL) cb(listener);
}

static void leave(state_t* state) {
  if (--state->users == 0 && state->stopped) uvb__end_handle(&state->ending, (uv_handle_t*)&state->timer, end);
}

static void drop(state_t* state, connection_t* connection, int status) {
  uv_stream_t* client = connection->event.data;
  uvb__pool_put(&state->pool, connection);
  state->drop_cb(state->listener, client, status);
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  connection_t* connection = uvb__of(event, connection_t, event);
  state_t* state = uvb__claimed(connection->listener->private_);
  (void)batch;
  /* A handler that failed has had the client, and closing it is up to the handler. */
  if (status == 0 || event->status == UV_BATCH_STATUS_FAILED) uvb__pool_put(&state->pool, connection);
  else drop(state, connection, status);
  leave(state);
}

/* False: the queue is full, and the connection is kept. */
static bool push(state_t* state, connection_t* connection) {
  int status = uvb__adapt_push(state->listener->batch, &connection->event);
  if (status == 0) return true;
  if (status == UV_ENOBUFS) {
    state->kept = connection;
    uvb__wait_for_room(state->listener->batch, &state->waiter);
    return false;
  }
  state->shut = true;
  drop(state, connection, status);
  leave(state);
  return false;
}

static void take_held(state_t* state);

static void on_timer(uv_timer_t* timer) {
  take_held(uvb__of(timer, state_t, timer));
}

static void pause_for(state_t* state, unsigned int wait_ms) {
  uv_timer_start(&state->timer, on_timer, wait_ms, 0);
  uv_unref((uv_handle_t*)&state->timer);
}

/* Something is missing that only the user, or time, can provide. */
static void pause_longer(state_t* state) {
  pause_for(state, state->wait_ms);
  state->wait_ms = state->wait_ms == 0 ? 1 : state->wait_ms < longest_wait_ms ? state->wait_ms * 2 : longest_wait_ms;
}

static int check_client(const uv_stream_t* server, const uv_stream_t* client) {
  uv_os_fd_t fd;
  if (client->type != server->type || client->loop != server->loop) return UV_EINVAL;
  if (uv_is_closing((const uv_handle_t*)client)) return UV_EINVAL;
  return uv_fileno((const uv_handle_t*)client, &fd) == 0 ? UV_EBUSY : 0;
}

/* A client to accept into, or NULL: none now. */
static uv_stream_t* get_client(state_t* state) {
  uv_batch_listener_t* listener = state->listener;
  uv_stream_t* client = state->spare;
  state->spare = NULL;
  if (client == NULL) client = state->client_cb(listener);
  if (client == NULL) return NULL;
  int status = state->stopped ? UV_ECANCELED : check_client(listener->server, client);
  if (status == 0) return client;
  if (!state->stopped) listener->last_error = status;
  state->drop_cb(listener, client, status);
  return NULL;
}

static int accept_into(state_t* state, uv_stream_t* client) {
  uv_stream_t* server = state->listener->server;
  if (state->held == 0) return accept_beside(server, client);
  int status = uv_accept(server, client);
  state->held = status == UV_EAGAIN ? 0 : state->held - 1;
  return status;
}

static void fill(state_t* state, connection_t* connection, uv_stream_t* client) {
  uv_batch_event_init(&connection->event, UV_BATCH_NETWORK, client);
  connection->event.callback = on_over;
  connection->listener = state->listener;
  state->users++;
}

/* Reports whether the next one may be taken at once. */
static bool take_one(state_t* state) {
  uv_batch_listener_t* listener = state->listener;
  connection_t* connection = uvb__pool_get(&state->pool);
  if (connection == NULL) {
    listener->last_error = UV_ENOMEM;
    pause_longer(state);
    return false;
  }
  uv_stream_t* client = get_client(state);
  if (client == NULL) {
    uvb__pool_put(&state->pool, connection);
    if (!state->stopped) pause_longer(state);
    return false;
  }
  state->wait_ms = 0;
  int status = accept_into(state, client);
  if (status != 0) {
    uvb__pool_put(&state->pool, connection);
    state->spare = client;
    if (status == UV_EAGAIN) return false;
    listener->last_error = status;
    /* Without descriptors it is left to libuv, which closes what is in the backlog. */
    return status != UV_EMFILE && status != UV_ENFILE;
  }
  fill(state, connection, client);
  return push(state, connection);
}

static bool may_take(const state_t* state) {
  return !state->stopped && !state->shut && state->kept == NULL &&
         !uv_is_active((const uv_handle_t*)&state->timer) &&
         !uv_is_closing((const uv_handle_t*)state->listener->server);
}

/* Accepts connections, at most `limit`; returns their number. */
static int take(state_t* state, int limit) {
  int taken = 0;
  state->users++;
  while (taken < limit && may_take(state) && (state->held > 0 || connection_waits(state->listener->server))) {
    if (!take_one(state)) break;
    taken++;
  }
  leave(state);
  return taken;
}

/* The one that libuv holds; taking it sets libuv going again, and it brings the others. */
static void take_held(state_t* state) {
  if (state->held > 0) take(state, 1);
}

/* libuv has accepted one and holds it, and keeps all others back, until uv_accept(). */
static void on_connection(uv_stream_t* server, int status) {
  state_t* state = uvb__attached(server, UVB__ATTACH_LISTENER);
  if (state == NULL) return;
  if (status != 0) {
    state->listener->last_error = status;
    return;
  }
  state->held++;
  if (take(state, turn_limit) == turn_limit && may_take(state)) pause_for(state, 0);
}

static void retry(uvb__waiter_t* waiter) {
  state_t* state = uvb__of(waiter, state_t, waiter);
  connection_t* connection = state->kept;
  state->users++;
  state->kept = NULL;
  if (push(state, connection)) take_held(state);
  leave(state);
}

/* libuv must not be asked to listen again while it holds a connection: that one is kept for the first push. */
static int keep_held(state_t* state) {
  connection_t* connection = uvb__pool_get(&state->pool);
  if (connection == NULL) return UV_ENOMEM;
  uv_stream_t* client = get_client(state);
  if (client != NULL && uv_accept(state->listener->server, client) == 0) {
    fill(state, connection, client);
    state->kept = connection;
    return 0;
  }
  uvb__pool_put(&state->pool, connection);
  state->spare = client;
  return client == NULL ? UV_EAGAIN : 0;
}

static void drop_spare(state_t* state, int status) {
  uv_stream_t* client = state->spare;
  state->spare = NULL;
  if (client != NULL) state->drop_cb(state->listener, client, status);
}

int uv_batch_listen(uv_batch_t* batch, uv_batch_listener_t* listener, uv_stream_t* server, int backlog,
                    uv_batch_client_cb client_cb, uv_batch_drop_cb drop_cb) {
  if (batch == NULL || listener == NULL || server == NULL || client_cb == NULL || drop_cb == NULL) return UV_EINVAL;
  int status = uvb__adapt_check(batch, listener->private_);
  if (status != 0) return status;
  if (server->type != UV_TCP && server->type != UV_NAMED_PIPE) return UV_EINVAL;
  if (server->loop != batch->loop || uv_is_closing((uv_handle_t*)server)) return UV_EINVAL;
  state_t* state = uvb__calloc(1, sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  *state = (state_t){.waiter.retry = retry, .listener = listener, .client_cb = client_cb, .drop_cb = drop_cb,
                     .pool.size = sizeof(connection_t)};
  listener->batch = batch;
  listener->server = server;
  listener->last_error = 0;
  status = uvb__attach(server, UVB__ATTACH_LISTENER, state);
  if (status == 0) {
    if (may_listen(server)) status = keep_held(state);
    if (status == 0) status = uv_listen(server, backlog, on_connection);
    if (status != 0) uvb__detach(server, UVB__ATTACH_LISTENER);
  }
  if (status != 0) {
    if (state->kept != NULL) drop(state, state->kept, status);
    drop_spare(state, status);
    uvb__pool_free(&state->pool);
    uvb__free(state);
    return status;
  }
  uvb__claim(listener->private_, state);
  uv_timer_init(batch->loop, &state->timer);
  if (state->kept != NULL) retry(&state->waiter);
  return 0;
}

uv_batch_listener_t* uv_batch_event_listener(const uv_batch_event_t* event) {
  if (event == NULL || event->callback != on_over) return NULL;
  return uvb__of(event, const connection_t, event)->listener;
}

int uv_batch_listen_stop(uv_batch_listener_t* listener, uv_batch_listener_cb cb) {
  state_t* state = listener == NULL ? NULL : uvb__claimed(listener->private_);
  if (state == NULL) return UV_EINVAL;
  if (state->stopped) return UV_EALREADY;
  state->users++;
  state->stopped = true;
  state->cb = cb;
  uvb__detach(listener->server, UVB__ATTACH_LISTENER);
  uv_timer_stop(&state->timer);
  drop_spare(state, UV_ECANCELED);
  leave(state);
  return 0;
}
