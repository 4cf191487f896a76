#include "egress/fanout_ring.h"

#if UVB_FANOUT_HAS_RING
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

/* 24 KiB: within what an unprivileged process of an older kernel may lock. */
enum { ring_entries = 256, probed_ops = 64 };

#ifndef IORING_SETUP_SUBMIT_ALL
#define IORING_SETUP_SUBMIT_ALL (1U << 7)
#endif

static int enter(uvb__ring_t* ring, uint32_t submit, uint32_t wait) {
  long result = syscall(SYS_io_uring_enter, ring->fd, submit, wait, IORING_ENTER_GETEVENTS, NULL, 0);
  return result < 0 ? -errno : (int)result;
}

static int setup(struct io_uring_params* params) {
  memset(params, 0, sizeof(*params));
  params->flags = IORING_SETUP_SUBMIT_ALL;
  long fd = syscall(SYS_io_uring_setup, ring_entries, params);
  if (fd < 0 && errno == EINVAL) {
    memset(params, 0, sizeof(*params));
    fd = syscall(SYS_io_uring_setup, ring_entries, params);
  }
  return fd < 0 ? -errno : (int)fd;
}

static int can_send(int fd) {
  union {
    struct io_uring_probe probe;
    char space[sizeof(struct io_uring_probe) + probed_ops * sizeof(struct io_uring_probe_op)];
  } answer;
  memset(&answer, 0, sizeof(answer));
  if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_PROBE, &answer, probed_ops) < 0) return 0;
  return answer.probe.ops_len > IORING_OP_SEND && (answer.probe.ops[IORING_OP_SEND].flags & IO_URING_OP_SUPPORTED) &&
         (answer.probe.ops[IORING_OP_SENDMSG].flags & IO_URING_OP_SUPPORTED);
}

static int map(uvb__ring_t* ring, const struct io_uring_params* params) {
  const unsigned int needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP;
  size_t sq_size = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
  size_t cq_size = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
  if ((params->features & needed) != needed) return -ENOSYS;
  ring->entries = params->sq_entries;
  ring->rings_size = sq_size > cq_size ? sq_size : cq_size;
  ring->sqes_size = params->sq_entries * sizeof(struct io_uring_sqe);
  void* rings = mmap(NULL, ring->rings_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
  if (rings == MAP_FAILED) return -errno;
  ring->rings = rings;
  void* sqes = mmap(NULL, ring->sqes_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
  if (sqes == MAP_FAILED) return -errno;
  ring->sqes = sqes;
  return 0;
}

static void* at(const uvb__ring_t* ring, uint32_t offset) {
  return (char*)ring->rings + offset;
}

static void find_parts(uvb__ring_t* ring, const struct io_uring_params* params) {
  uint32_t* order = at(ring, params->sq_off.array);
  for (uint32_t i = 0; i < ring->entries; i++) order[i] = i;
  ring->sq_head = at(ring, params->sq_off.head);
  ring->sq_tail = at(ring, params->sq_off.tail);
  ring->cq_head = at(ring, params->cq_off.head);
  ring->cq_tail = at(ring, params->cq_off.tail);
  ring->cqes = at(ring, params->cq_off.cqes);
  ring->sq_mask = *(uint32_t*)at(ring, params->sq_off.ring_mask);
  ring->cq_mask = *(uint32_t*)at(ring, params->cq_off.ring_mask);
  ring->tail = atomic_load_explicit(ring->sq_tail, memory_order_relaxed);
}

int uvb__ring_open(uvb__ring_t** opened) {
  struct io_uring_params params;
  uvb__ring_t* ring = uvb__calloc(1, sizeof(*ring));
  if (ring == NULL) return UV_ENOMEM;
  ring->enter = enter;
  ring->process = uv_os_getpid();
  ring->fd = setup(&params);
  int status = ring->fd;
  if (status >= 0) status = can_send(ring->fd) ? map(ring, &params) : -ENOSYS;
  if (status < 0) {
    uvb__ring_close(ring);
    return uv_translate_sys_error(-status);
  }
  find_parts(ring, &params);
  *opened = ring;
  return 0;
}

void uvb__ring_close(uvb__ring_t* ring) {
  if (ring->sqes != NULL) munmap(ring->sqes, ring->sqes_size);
  if (ring->rings != NULL) munmap(ring->rings, ring->rings_size);
  if (ring->fd >= 0) close(ring->fd);
  uvb__free(ring);
}
#endif
