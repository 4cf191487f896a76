/* How a message goes to a socket: never blocking, and without SIGPIPE where a flag can say so. */
#ifndef UVB_FANOUT_UNIX_H
#define UVB_FANOUT_UNIX_H

#include "egress/fanout.h"

#if UVB_FANOUT_SENDS
#include <string.h>
#include <sys/socket.h>

/* Apple's headers have the flag from a release on, its older kernels do not. */
#if defined(MSG_NOSIGNAL) && !defined(__APPLE__)
#define UVB_FANOUT_NO_SIGPIPE 1
enum { uvb__send_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
#else
#define UVB_FANOUT_NO_SIGPIPE 0
enum { uvb__send_flags = MSG_DONTWAIT };
#endif

/* libuv promises that a uv_buf_t can be taken for a struct iovec. */
static inline struct msghdr uvb__message(const uvb__content_t* content) {
  struct msghdr message;
  memset(&message, 0, sizeof(message));
  message.msg_iov = (struct iovec*)(uintptr_t)content->bufs;
  message.msg_iovlen = content->count;
  return message;
}
#endif

#endif
