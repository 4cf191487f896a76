/* Sends by io_uring: one submission for each target, one system call for as many as the ring holds. */
#ifndef UVB_FANOUT_RING_H
#define UVB_FANOUT_RING_H

#include "egress/fanout.h"

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
/* Whether this process has opened it, and not one that it was forked from. */
int uvb__ring_is_own(const uvb__ring_t* ring);
void uvb__ring_close(uvb__ring_t* ring);

#if UVB_FANOUT_HAS_RING
#include "platform/atomic.h"

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
