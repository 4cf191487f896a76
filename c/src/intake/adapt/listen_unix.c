#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "intake/adapt/listen.h"

bool uvb__listens(const uv_stream_t* server) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  uv_os_fd_t fd;
  if (uv_fileno((const uv_handle_t*)server, &fd) != 0) return false;
  /* Where the system cannot say, the answer is yes. */
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens != 0;
}

bool uvb__connection_waits(const uv_stream_t* server) {
  struct pollfd listening = {0};
  if (uv_fileno((const uv_handle_t*)server, &listening.fd) != 0) return false;
  listening.events = POLLIN;
  return poll(&listening, 1, 0) == 1 && (listening.revents & POLLIN) != 0;
}

static int accept_one(int listening) {
  int fd;
  do {
#if defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
    fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    fd = accept(listening, NULL, NULL);
    if (fd != -1) fcntl(fd, F_SETFD, FD_CLOEXEC); /* uv_…_open() makes it non-blocking */
#endif
  } while (fd == -1 && errno == EINTR);
  if (fd == -1) return errno == EWOULDBLOCK ? UV_EAGAIN : uv_translate_sys_error(errno);
  return fd;
}

int uvb__accept(const uv_stream_t* server, uv_stream_t* client) {
  uv_os_fd_t listening;
  int fd;
  int status = uv_fileno((const uv_handle_t*)server, &listening);
  if (status != 0) return status;
  fd = accept_one(listening);
  if (fd < 0) return fd;
  if (client->type == UV_TCP) {
    status = uv_tcp_open((uv_tcp_t*)client, fd);
  } else {
    status = uv_pipe_open((uv_pipe_t*)client, fd);
  }
  if (status != 0) close(fd);
  return status;
}

#endif
