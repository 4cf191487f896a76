/*
 * Reads of a stream as events of type STREAM, one per read.
 *
 * The state lives from uv_batch_read_start() until the callback of uv_batch_read_stop(), which waits for every read
 * that was queued: `users` counts those, and calls that are at work here. When the queue is full the read at hand is
 * `kept`, and the stream is not read meanwhile; it is read again once that one has been queued. The same happens when
 * memory runs out: while a stream is read, the piece for its next read is there already, so nothing that was read is
 * lost.
 *
 * Each buffer that the user's alloc callback gave comes back in the release callback, unless a handler has kept it.
 */
#include "adapter.h"

typedef struct {
  uvb__closer_t closer; /* the callback of a stop never runs inside it */
  uvb__waiter_t waiter;
  uv_batch_reader_t* reader;
  uv_loop_t* loop;
  uv_alloc_cb alloc_cb;
  uv_batch_release_cb release_cb;
  uv_batch_reader_cb cb;
  uvb__pool_t pool;      /* while the stream is read, it has a piece for the next read */
  uv_batch_read_t* kept; /* refused by the full queue; the stream is not read meanwhile */
  size_t users;          /* events that are not over, and calls that are at work here */
  bool paused;           /* until a push succeeds, or there is memory again */
  bool over;             /* EOF, an error, or the queue is closed: nothing more is read */
  bool stopped;
} state_t;

static void end(uvb__closer_t* closer) {
  state_t* state = uvb__of(closer, state_t, closer);
  uv_batch_reader_t* reader = state->reader;
  uv_batch_reader_cb cb = state->cb;
  uvb__pool_free(&state->pool);
  uvb__give_up(reader->private_);
  uvb__free(state);
  if (cb != NULL) cb(reader);
}

static void leave(state_t* state) {
  if (--state->users == 0 && state->stopped) uvb__closer_start(&state->closer, state->loop, end);
}

static void release(state_t* state, const uv_buf_t* buf) {
  if (buf->base != NULL) state->release_cb(state->reader, buf);
}

static void end_read(state_t* state, uv_batch_read_t* read) {
  uv_buf_t buf = read->buf;
  uvb__pool_put(&state->pool, read);
  release(state, &buf);
}

static void pause_reading(state_t* state) {
  uv_stream_t* stream = state->reader->stream;
  state->paused = true;
  if (!uv_is_closing((uv_handle_t*)stream)) uv_read_stop(stream);
}

/* False: it is kept, or the queue is closed. */
static bool push(state_t* state, uv_batch_read_t* read) {
  uv_batch_t* batch = state->reader->batch;
  int status = uvb__adapt_push(batch, &read->event);
  if (status == 0) return true;
  if (!state->stopped) pause_reading(state);
  if (status == UV_ENOBUFS) {
    /* A read larger than the whole queue may be waits until it is alone. */
    uint64_t most = uvb__core(batch)->given.max_queue_bytes;
    if (read->event.size > most) read->event.size = most;
    state->kept = read;
    uvb__wait_for_room(batch, &state->waiter);
    return false;
  }
  state->over = true;
  end_read(state, read);
  leave(state);
  return false;
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status);

static void deliver(state_t* state, ssize_t nread, const uv_buf_t* buf) {
  uv_batch_read_t* read = uvb__pool_get(&state->pool);
  uv_batch_event_init(&read->event, UV_BATCH_STREAM, state->reader);
  read->event.callback = on_over;
  read->event.size = nread > 0 ? (uint64_t)nread : 0;
  read->reader = state->reader;
  read->nread = nread;
  read->buf = nread > 0 ? *buf : uv_buf_init(NULL, 0);
  state->users++;
  push(state, read);
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  state_t* state = uvb__attached(stream, UVB__ATTACH_READER);
  if (state == NULL) return;
  state->users++;
  if (nread <= 0) release(state, buf);
  if (nread < 0 && nread != UV_ENOBUFS) state->over = true;
  if (nread != 0 && !state->stopped) deliver(state, nread, buf);
  if (!state->stopped && !state->paused && !uvb__pool_reserve(&state->pool)) pause_reading(state);
  leave(state);
}

/* A stream whose read size adapts has callbacks of its own below these. */
static int start_reading(state_t* state) {
  uv_stream_t* stream = state->reader->stream;
  if (uvb__attached(stream, UVB__ATTACH_LARGESOCKET) != NULL) {
    return uv_tcp_largesocket_read_start((uv_tcp_t*)stream, state->alloc_cb, on_read);
  }
  return uv_read_start(stream, state->alloc_cb, on_read);
}

static void resume(state_t* state) {
  if (!state->paused || state->kept != NULL || state->over || state->stopped) return;
  if (uv_is_closing((uv_handle_t*)state->reader->stream) || !uvb__pool_reserve(&state->pool)) return;
  state->paused = false;
  int status = start_reading(state);
  if (status == 0) return;
  state->over = true;
  deliver(state, status, NULL);
}

static void on_over(uv_batch_t* batch, uv_batch_event_t* event, int status) {
  uv_batch_read_t* read = uvb__of(event, uv_batch_read_t, event);
  state_t* state = uvb__claimed(read->reader->private_);
  (void)batch, (void)status;
  end_read(state, read);
  resume(state);
  leave(state);
}

static void retry(uvb__waiter_t* waiter) {
  state_t* state = uvb__of(waiter, state_t, waiter);
  uv_batch_read_t* read = state->kept;
  state->users++;
  state->kept = NULL;
  if (push(state, read)) resume(state);
  leave(state);
}

int uv_batch_read_start(uv_batch_t* batch, uv_batch_reader_t* reader, uv_stream_t* stream, uv_alloc_cb alloc_cb,
                        uv_batch_release_cb release_cb) {
  if (batch == NULL || reader == NULL || stream == NULL || alloc_cb == NULL || release_cb == NULL) return UV_EINVAL;
  int status = uvb__adapt_check(batch, reader->private_);
  if (status != 0) return status;
  if (stream->type != UV_TCP && stream->type != UV_NAMED_PIPE && stream->type != UV_TTY) return UV_EINVAL;
  if (stream->loop != batch->loop || uv_is_closing((uv_handle_t*)stream)) return UV_EINVAL;
  state_t* state = uvb__calloc(1, sizeof(*state));
  if (state == NULL) return UV_ENOMEM;
  *state = (state_t){.waiter.retry = retry, .reader = reader, .loop = batch->loop, .alloc_cb = alloc_cb,
                     .release_cb = release_cb, .pool.size = sizeof(uv_batch_read_t)};
  reader->batch = batch;
  reader->stream = stream;
  status = uvb__attach(stream, UVB__ATTACH_READER, state);
  if (status == 0) {
    status = uvb__pool_reserve(&state->pool) ? start_reading(state) : UV_ENOMEM;
    if (status != 0) uvb__detach(stream, UVB__ATTACH_READER);
  }
  if (status != 0) {
    uvb__pool_free(&state->pool);
    uvb__free(state);
    return status;
  }
  uvb__claim(reader->private_, state);
  return 0;
}

int uv_batch_read_stop(uv_batch_reader_t* reader, uv_batch_reader_cb cb) {
  state_t* state = reader == NULL ? NULL : uvb__claimed(reader->private_);
  if (state == NULL) return UV_EINVAL;
  if (state->stopped) return UV_EALREADY;
  state->users++;
  pause_reading(state);
  state->stopped = true;
  state->cb = cb;
  uvb__detach(reader->stream, UVB__ATTACH_READER);
  leave(state);
  return 0;
}
