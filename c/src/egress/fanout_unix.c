#include "egress/fanout.h"

#if UVB_FANOUT_SENDS
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "egress/fanout_unix.h"

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

ssize_t uvb__fanout_try_write(uv_stream_t* stream, const uvb__content_t* content) {
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
  if (errno == ENOTSOCK && target->stream != NULL) return uvb__fanout_try_write(target->stream, content);
  return uvb__fanout_error(-errno);
}
#endif
