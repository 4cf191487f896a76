/* Fan-out: what its back-ends share. A back-end leaves a result in every target it is given, whatever fails. See
 * fanout.c and fanout-uring.c. */
#ifndef UVB_FANOUT_H
#define UVB_FANOUT_H

#include "common.h"

/* With UVB_FANOUT_PORTABLE a build uses libuv's calls alone, as on a platform without sends that do not block. */
#if defined(MSG_DONTWAIT) && !defined(UVB_FANOUT_PORTABLE)
#define UVB_FANOUT_SENDS 1
#else
#define UVB_FANOUT_SENDS 0
#endif

/* This much is sent: as much of the caller's buffers as one system call takes, at least one buffer. */
typedef struct {
  const uv_buf_t* bufs;
  unsigned int count;
  size_t bytes;
  int whole;     /* it is all that the caller gave */
  uv_buf_t only; /* where the one buffer is not as the caller gave it */
} uvb__content_t;

void uvb__content_init(uvb__content_t* content, const uv_buf_t bufs[], unsigned int nbufs);

extern const char uvb__fanout_plain_name[]; /* "send" or "try_write" */
/* Sends to one target: bytes, or a negative code. */
ssize_t uvb__fanout_plain(const uv_batch_target_t* target, const uvb__content_t* content);
void uvb__fanout_plain_all(uv_batch_target_t targets[], size_t count, const uvb__content_t* content);

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
  /* An int by POSIX and a size_t in glibc: a short is both, and there are at most IOV_MAX buffers. */
  message.msg_iovlen = (unsigned short)content->count;
  return message;
}

/* The descriptor of a target that may be sent to now, or a negative code. */
int uvb__fanout_fd(const uv_batch_target_t* target);
/* A target's result, from a system call's negative errno. */
int uvb__fanout_error(int error);
#endif

/* ---- sends by io_uring: one submission for each target, one system call for as many as the ring holds */

#if defined(__linux__) && UVB_FANOUT_SENDS
#include <linux/io_uring.h>
#include <sys/syscall.h>
#endif

/* Kernels have had the second since the release that can send (5.6). */
#if defined(SYS_io_uring_setup) && defined(IO_URING_OP_SUPPORTED)
#define UVB_FANOUT_HAS_RING 1
#else
#define UVB_FANOUT_HAS_RING 0
#endif

typedef struct uvb__ring_s uvb__ring_t;

/* UV_ENOSYS or UV_EPERM where io_uring is not to be had; UV_ENOMEM, UV_EMFILE. */
int uvb__ring_open(uvb__ring_t** ring);
/* Every target gets its result. When it does not return 0, the ring must not be used again: it failed, or it was opened
 * by the process that this one was forked from, which goes on using it. */
int uvb__ring_send(uvb__ring_t* ring, const uvb__content_t* content, uv_batch_target_t targets[], size_t count);
int uvb__ring_is_own(const uvb__ring_t* ring); /* this process has opened it, and not one that it was forked from */
void uvb__ring_close(uvb__ring_t* ring);
int uvb__fanout_prefers_ring(void); /* whether the ring wins on this machine; the first call measures it */
/* The rule behind it: decides from the times of rounds that took turns, and sorts them. */
int uvb__fanout_ring_wins(uint64_t plain[], uint64_t ring[], size_t count);

#if UVB_FANOUT_HAS_RING
struct uvb__ring_s {
  int fd;
  uv_pid_t process; /* that opened it: a child shares the kernel's end of it, and would take the other's completions */
  uint32_t entries;
  uint32_t sq_mask, cq_mask;
  uint32_t tail; /* of submissions; the kernel's copy follows */
  _Atomic uint32_t* sq_head;
  _Atomic uint32_t* sq_tail;
  _Atomic uint32_t* cq_head;
  _Atomic uint32_t* cq_tail;
  struct io_uring_sqe* sqes;
  struct io_uring_cqe* cqes;
  void* rings;
  size_t rings_size;
  size_t sqes_size;
  /* The system call, in which tests inject faults. Negative: an errno. */
  int (*enter)(uvb__ring_t* ring, uint32_t submit, uint32_t wait);
};
#endif

#endif
