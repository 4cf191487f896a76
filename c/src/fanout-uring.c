/*
 * Fan-out by io_uring, and the decision whether it pays.
 *
 * A ring belongs to one fan-out and to the process that opened it: a child shares the kernel's end of it, and would
 * take the other's completions, so it falls back to plain sends. Each call fills the ring, submits, and reaps every
 * completion before it returns, so nothing is in flight between two calls. After a failed call, what the kernel has not
 * taken is taken back and sent the plain way; what it has taken and not answered is UV_EIO, and the ring must go.
 *
 * Whether a ring is quicker than plain sends depends on kernel, processor and sandbox. So the first fan-out of a
 * process that leaves the choice to us measures both, in turns, over socket pairs of its own, for at most 4 ms.
 */
#include "fanout.h"

#include <stdlib.h>

#if UVB_FANOUT_HAS_RING
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- opening */

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

static void* at(const uvb__ring_t* ring, uint32_t offset) {
  return (char*)ring->rings + offset;
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
  return 0;
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
  *opened = ring;
  return 0;
}

void uvb__ring_close(uvb__ring_t* ring) {
  if (ring->sqes != NULL) munmap(ring->sqes, ring->sqes_size);
  if (ring->rings != NULL) munmap(ring->rings, ring->rings_size);
  if (ring->fd >= 0) close(ring->fd);
  uvb__free(ring);
}

/* ---- sending */

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
  /* It stays at this if the kernel takes it and never answers: it may have been sent, so it must not be sent again. */
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

/* After a failed call: what was not taken was not sent, and is taken back and sent the plain way. What was taken and
 * has no completion keeps its UV_EIO; its completion could yet come, so the ring must go. */
static int recover(pass_t* pass, int error) {
  uvb__ring_t* ring = pass->ring;
  uint32_t left = untaken(pass);
  int lost = pass->done + left != pass->queued;
  int passes = error == -EAGAIN || error == -EBUSY || error == -ENOMEM;
  ring->tail -= left;
  atomic_store_explicit(ring->sq_tail, ring->tail, memory_order_release);
  for (uint32_t i = 0; i < left; i++) {
    uv_batch_target_t* target = &pass->targets[ring->sqes[(ring->tail + i) & ring->sq_mask].user_data];
    target->result = uvb__fanout_plain(target, pass->content);
  }
  return lost || !passes ? error : 0;
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

/* ---- the probe */

enum { pairs = 64, least_pairs = 16, message_size = 100, rounds = 11 };

/* The longest that a first init may take, not counting the opening of the sockets. */
static const uint64_t longest_ns = 4000000;

static uv_once_t once = UV_ONCE_INIT;
static int wins;

typedef struct {
  uvb__ring_t* ring;
  uvb__content_t content;
  uv_batch_target_t targets[pairs];
  int readers[pairs];
  int count;
} probe_t;

static void connect_pairs(probe_t* probe) {
  int fds[2];
  for (probe->count = 0; probe->count < pairs; probe->count++) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) return;
    probe->targets[probe->count] = (uv_batch_target_t){.fd = fds[0]};
    probe->readers[probe->count] = fds[1];
  }
}

static void close_pairs(probe_t* probe) {
  while (probe->count-- > 0) {
    close(probe->targets[probe->count].fd);
    close(probe->readers[probe->count]);
  }
}

/* Reports whether all arrived; also makes room for the next round. */
static int drain(const probe_t* probe) {
  char received[message_size];
  for (int i = 0; i < probe->count; i++) {
    if (recv(probe->readers[i], received, sizeof(received), MSG_DONTWAIT) != message_size) return 0;
  }
  return 1;
}

/* Times one send of each kind; 0: not all arrived. */
static int measure(probe_t* probe, uint64_t* plain, uint64_t* ring) {
  size_t count = (size_t)probe->count;
  uint64_t start = uv_hrtime();
  uvb__fanout_plain_all(probe->targets, count, &probe->content);
  *plain = uv_hrtime() - start;
  if (!drain(probe)) return 0;
  start = uv_hrtime();
  int status = uvb__ring_send(probe->ring, &probe->content, probe->targets, count);
  *ring = uv_hrtime() - start;
  return status == 0 && drain(probe);
}

/* The two take turns, so that what disturbs one disturbs the other; a first round of each warms up. */
static int compare_both(probe_t* probe) {
  uint64_t plain[rounds], ring[rounds], end = uv_hrtime() + longest_ns;
  size_t done = 0;
  if (!measure(probe, &plain[0], &ring[0])) return 0;
  for (; done < rounds && uv_hrtime() < end; done++) {
    if (!measure(probe, &plain[done], &ring[done])) return 0;
  }
  return uvb__fanout_ring_wins(plain, ring, done);
}

static void find_out(void) {
  static char message[message_size];
  uv_buf_t buf = uv_buf_init(message, message_size);
  probe_t probe;
  if (uvb__ring_open(&probe.ring) != 0) return;
  uvb__content_init(&probe.content, &buf, 1);
  connect_pairs(&probe);
  if (probe.count >= least_pairs) wins = compare_both(&probe);
  close_pairs(&probe);
  uvb__ring_close(probe.ring);
}

int uvb__fanout_prefers_ring(void) {
  uv_once(&once, find_out);
  return wins;
}
#else
int uvb__ring_open(uvb__ring_t** ring) {
  (void)ring;
  return UV_ENOSYS;
}

int uvb__ring_is_own(const uvb__ring_t* ring) {
  (void)ring;
  return 0;
}

int uvb__ring_send(uvb__ring_t* ring, const uvb__content_t* content, uv_batch_target_t targets[], size_t count) {
  (void)ring;
  uvb__fanout_plain_all(targets, count, content);
  return UV_ENOSYS;
}

void uvb__ring_close(uvb__ring_t* ring) {
  (void)ring;
}

int uvb__fanout_prefers_ring(void) {
  return 0;
}
#endif

enum { least_rounds = 5 };

static int compare(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static uint64_t median(uint64_t times[], size_t count) {
  qsort(times, count, sizeof(times[0]), compare);
  return times[count / 2];
}

/* A tenth quicker: a measurement this short may be wrong by less than that. */
int uvb__fanout_ring_wins(uint64_t plain[], uint64_t ring[], size_t count) {
  if (count < least_rounds) return 0;
  uint64_t plain_time = median(plain, count), ring_time = median(ring, count);
  return plain_time > ring_time && plain_time - ring_time >= plain_time / 10 + (plain_time % 10 != 0);
}
