/*
 * One content to many destinations, now and without blocking. Plain sends go to each target by one system call;
 * io_uring (fanout-uring.c) submits many at once, where it is to be had and quicker. Where a system cannot send without
 * blocking, libuv's uv_try_write() is all there is.
 *
 * Nothing is kept between two calls but the ring: each target has its result when a call returns, and what is left of
 * it is the caller's to write. A fan-out that is open marks its struct. Its ring is closed for good when it fails, or
 * when the process has forked; then the plain sends go on.
 */
#include "fanout.h"

#include <limits.h>

#if UVB_FANOUT_SENDS
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#endif

/* ---- what is sent */

#ifdef IOV_MAX
enum { most_buffers = IOV_MAX };
#else
enum { most_buffers = 1024 };
#endif

/* Systems differ in what they do with more: some cut it off here, some refuse it. */
static const size_t most_bytes = 0x7ffff000;

void uvb__content_init(uvb__content_t* content, const uv_buf_t bufs[], unsigned int nbufs) {
  unsigned int count = 0;
  size_t bytes = 0;
  while (count < nbufs && count < most_buffers && bufs[count].len <= most_bytes - bytes) bytes += bufs[count++].len;
  content->whole = count == nbufs;
  if (count == 0) {
    /* Nothing to send, or a first buffer that is too large. */
    bytes = nbufs == 0 ? 0 : most_bytes;
    content->only = uv_buf_init(nbufs == 0 ? "" : bufs[0].base, (unsigned int)bytes);
    bufs = &content->only;
    count = 1;
  }
  content->bufs = bufs;
  content->count = count;
  content->bytes = bytes;
}

/* ---- one target */

#if UVB_FANOUT_SENDS
const char uvb__fanout_plain_name[] = "send";

/* Answers as uv_try_write() does, except that a handle which is closing is UV_EBADF even when it has writes queued. */
int uvb__fanout_fd(const uv_batch_target_t* target) {
  uv_os_fd_t fd;
  uv_stream_t* stream = target->stream;
  if (stream == NULL) return target->fd < 0 ? UV_EBADF : target->fd;
  int status = uv_fileno((const uv_handle_t*)stream, &fd);
  if (status != 0) return status;
  if (uv_stream_get_write_queue_size(stream) != 0) return UV_EAGAIN;
  return uv_is_writable(stream) ? fd : UV_EPIPE;
}

int uvb__fanout_error(int error) {
  if (error == -EAGAIN || error == -EWOULDBLOCK || error == -ENOBUFS) return UV_EAGAIN;
  return uv_translate_sys_error(-error);
}

static int is_to_repeat(int error) {
#ifdef __APPLE__
  /* A socket that is being torn down can answer this once; the next answer is the true one. */
  if (error == EPROTOTYPE) return 1;
#endif
  return error == EINTR;
}

/* Where no flag says that there shall be no SIGPIPE, as for a write to a pipe: one that this thread gets is taken back,
 * unless one was pending before. */
typedef struct {
  sigset_t signals, mask;
  int was_pending;
} guard_t;

static int sigpipe_is_pending(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static void guard_begin(guard_t* guard) {
  sigemptyset(&guard->signals);
  sigaddset(&guard->signals, SIGPIPE);
  guard->was_pending = sigpipe_is_pending();
  pthread_sigmask(SIG_BLOCK, &guard->signals, &guard->mask);
}

static void guard_end(const guard_t* guard, int broken) {
  int signum;
  if (broken && !guard->was_pending && sigpipe_is_pending()) sigwait(&guard->signals, &signum);
  pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
}

#if UVB_FANOUT_NO_SIGPIPE
static ssize_t send_once(int fd, const uvb__content_t* content) {
  if (content->count == 1) return send(fd, content->bufs->base, content->bufs->len, uvb__send_flags);
  struct msghdr message = uvb__message(content);
  return sendmsg(fd, &message, uvb__send_flags);
}
#else
static ssize_t send_once(int fd, const uvb__content_t* content) {
  guard_t guard;
  struct msghdr message = uvb__message(content);
  guard_begin(&guard);
  ssize_t sent = sendmsg(fd, &message, uvb__send_flags);
  int error = errno;
  guard_end(&guard, sent < 0 && error == EPIPE);
  errno = error;
  return sent;
}
#endif

static ssize_t try_write(uv_stream_t* stream, const uvb__content_t* content) {
  guard_t guard;
  guard_begin(&guard);
  int status = uv_try_write(stream, content->bufs, content->count);
  guard_end(&guard, status == UV_EPIPE);
  return status;
}

ssize_t uvb__fanout_plain(const uv_batch_target_t* target, const uvb__content_t* content) {
  ssize_t sent;
  int fd = uvb__fanout_fd(target);
  if (fd < 0) return fd;
  do {
    sent = send_once(fd, content);
  } while (sent < 0 && is_to_repeat(errno));
  if (sent >= 0) return sent;
  if (errno == ENOTSOCK && target->stream != NULL) return try_write(target->stream, content);
  return uvb__fanout_error(-errno);
}
#else
const char uvb__fanout_plain_name[] = "try_write";

/* A descriptor alone could block here: it is not for this back-end. */
ssize_t uvb__fanout_plain(const uv_batch_target_t* target, const uvb__content_t* content) {
  if (target->stream == NULL) return UV_ENOTSUP;
  if (uv_is_closing((const uv_handle_t*)target->stream)) return UV_EBADF;
  return uv_try_write(target->stream, content->bufs, content->count);
}
#endif

/* ---- all of them */

void uvb__fanout_plain_all(uv_batch_target_t targets[], size_t count, const uvb__content_t* content) {
  for (size_t i = 0; i < count; i++) targets[i].result = uvb__fanout_plain(&targets[i], content);
}

static bool is_open(const uv_batch_fanout_t* fanout) {
  return fanout != NULL && uvb__in_use(fanout->private_);
}

int uv_batch_fanout_init(uv_batch_fanout_t* fanout, unsigned int flags) {
  uvb__ring_t* ring = NULL;
  if (fanout == NULL) return UV_EINVAL;
  uvb__give_up(fanout->private_);
  if (flags > UV_BATCH_FANOUT_IO_URING) return UV_EINVAL;
  if (flags == UV_BATCH_FANOUT_IO_URING) {
    int status = uvb__ring_open(&ring);
    if (status != 0) return status;
  } else if (flags == UV_BATCH_FANOUT_AUTO && uvb__fanout_prefers_ring()) {
    /* Without a ring there is still a way to send. */
    (void)uvb__ring_open(&ring);
  }
  uvb__claim(fanout->private_, ring);
  return 0;
}

const char* uv_batch_fanout_backend(const uv_batch_fanout_t* fanout) {
  if (!is_open(fanout)) return NULL;
  uvb__ring_t* ring = uvb__claimed(fanout->private_);
  return ring != NULL && uvb__ring_is_own(ring) ? "io_uring" : uvb__fanout_plain_name;
}

int uv_batch_fanout_send(uv_batch_fanout_t* fanout, const uv_buf_t bufs[], unsigned int nbufs,
                         uv_batch_target_t targets[], size_t ntargets) {
  uvb__content_t content;
  int complete = 0;
  if (!is_open(fanout) || (bufs == NULL && nbufs > 0) || (targets == NULL && ntargets > 0) || ntargets > INT_MAX) {
    return UV_EINVAL;
  }
  uvb__content_init(&content, bufs, nbufs);
  uvb__ring_t* ring = uvb__claimed(fanout->private_);
  if (ring == NULL) {
    uvb__fanout_plain_all(targets, ntargets, &content);
  } else if (uvb__ring_send(ring, &content, targets, ntargets) != 0) {
    uvb__ring_close(ring);
    uvb__claim(fanout->private_, NULL);
  }
  if (!content.whole) return 0;
  for (size_t i = 0; i < ntargets; i++) complete += targets[i].result == (ssize_t)content.bytes;
  return complete;
}

void uv_batch_fanout_close(uv_batch_fanout_t* fanout) {
  if (!is_open(fanout)) return;
  uvb__ring_t* ring = uvb__claimed(fanout->private_);
  if (ring != NULL) uvb__ring_close(ring);
  uvb__give_up(fanout->private_);
}
