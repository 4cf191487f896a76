#include "egress/fanout_ring.h"

#if UVB_FANOUT_HAS_RING
#include <errno.h>
#include <string.h>

#include "egress/fanout_unix.h"

/* One call of uvb__ring_send(). */
typedef struct {
  uvb__ring_t* ring;
  const uvb__content_t* content;
  struct msghdr message;
  uv_batch_target_t* targets;
  uint32_t queued; /* submissions of this chunk */
  uint32_t done;   /* completions of it */
} pass_t;

static void put(pass_t* pass, size_t target, int fd) {
  struct io_uring_sqe* sqe = &pass->ring->sqes[(pass->ring->tail + pass->queued++) & pass->ring->sq_mask];
  memset(sqe, 0, sizeof(*sqe));
  sqe->fd = fd;
  sqe->msg_flags = uvb__send_flags;
  sqe->user_data = target;
  if (pass->content->count == 1) {
    sqe->opcode = IORING_OP_SEND;
    sqe->addr = (uintptr_t)pass->content->bufs->base;
    sqe->len = (uint32_t)pass->content->bufs->len;
  } else {
    sqe->opcode = IORING_OP_SENDMSG;
    sqe->addr = (uintptr_t)&pass->message;
    sqe->len = 1;
  }
  /* What it stays at if the kernel takes it and never answers: it may have been sent, so it must not be sent again. */
  pass->targets[target].result = UV_EIO;
}

static ssize_t result_of(const pass_t* pass, const uv_batch_target_t* target, int code) {
  if (code >= 0) return code;
  /* Nothing was sent: the caller may try again, or write it instead. */
  if (code == -EINTR || code == -ENOTSOCK) return uvb__fanout_plain(target, pass->content);
  return uvb__fanout_error(code);
}

static void reap(pass_t* pass) {
  uvb__ring_t* ring = pass->ring;
  uint32_t head = atomic_load_explicit(ring->cq_head, memory_order_relaxed);
  uint32_t tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
  for (; head != tail; head++, pass->done++) {
    const struct io_uring_cqe* cqe = &ring->cqes[head & ring->cq_mask];
    uv_batch_target_t* target = &pass->targets[cqe->user_data];
    target->result = result_of(pass, target, cqe->res);
  }
  atomic_store_explicit(ring->cq_head, head, memory_order_release);
}

/* Submissions that the kernel has not taken. It moves the head over each that it takes, even if the call then fails. */
static uint32_t untaken(const pass_t* pass) {
  return pass->ring->tail - atomic_load_explicit(pass->ring->sq_head, memory_order_acquire);
}

/* 0 when every submission is complete, else what the system call failed with. A send that must not wait is complete
 * when the call that submits it returns; the loop is for calls that take only some, or are interrupted. */
static int submit(pass_t* pass) {
  for (;;) {
    uint32_t left = untaken(pass), done = pass->done;
    int status = pass->ring->enter(pass->ring, left, pass->queued - done);
    reap(pass);
    if (pass->done == pass->queued) return 0;
    if (status < 0 && status != -EINTR) return status;
    if (status >= 0 && untaken(pass) == left && pass->done == done) return -EIO;
  }
}

static int is_passing(int error) {
  return error == -EAGAIN || error == -EBUSY || error == -ENOMEM;
}

/* After a failed call: what was not taken was not sent, and is taken back and sent the plain way. What was taken and
 * has no completion keeps its UV_EIO; its completion could yet come, so the ring must go. */
static int recover(pass_t* pass, int error) {
  uvb__ring_t* ring = pass->ring;
  uint32_t left = untaken(pass);
  int lost = pass->done + left != pass->queued;
  ring->tail -= left;
  atomic_store_explicit(ring->sq_tail, ring->tail, memory_order_release);
  for (uint32_t i = 0; i < left; i++) {
    uv_batch_target_t* target = &pass->targets[ring->sqes[(ring->tail + i) & ring->sq_mask].user_data];
    target->result = uvb__fanout_plain(target, pass->content);
  }
  return lost || !is_passing(error) ? error : 0;
}

static int flush(pass_t* pass) {
  uvb__ring_t* ring = pass->ring;
  if (pass->queued == 0) return 0;
  ring->tail += pass->queued;
  atomic_store_explicit(ring->sq_tail, ring->tail, memory_order_release);
  int status = submit(pass);
  if (status != 0) status = recover(pass, status);
  pass->queued = 0;
  pass->done = 0;
  return status;
}

int uvb__ring_is_own(const uvb__ring_t* ring) {
  return ring->process == uv_os_getpid();
}

int uvb__ring_send(uvb__ring_t* ring, const uvb__content_t* content, uv_batch_target_t targets[], size_t count) {
  pass_t pass = {.ring = ring, .content = content, .message = uvb__message(content), .targets = targets};
  int status = uvb__ring_is_own(ring) ? 0 : UV_EINVAL;
  for (size_t i = 0; i < count; i++) {
    if (status != 0) {
      targets[i].result = uvb__fanout_plain(&targets[i], content);
      continue;
    }
    int fd = uvb__fanout_fd(&targets[i]);
    if (fd < 0) {
      targets[i].result = fd;
      continue;
    }
    put(&pass, i, fd);
    if (pass.queued == ring->entries) status = flush(&pass);
  }
  int last = flush(&pass);
  return status != 0 ? status : last;
}
#endif
