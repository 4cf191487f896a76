/* Fan-out: what its back-ends share. A back-end leaves a result in every target it is given, whatever fails. */
#ifndef UVB_FANOUT_H
#define UVB_FANOUT_H

#include "uv_batch.h"

/* With UVB_FANOUT_PORTABLE a build uses libuv's calls alone, as on a platform without sends that do not block. */
#if defined(MSG_DONTWAIT) && !defined(UVB_FANOUT_PORTABLE)
#define UVB_FANOUT_SENDS 1
#else
#define UVB_FANOUT_SENDS 0
#endif

/* What is sent: as much of the caller's buffers as one system call takes, at least one buffer. */
typedef struct {
  const uv_buf_t* bufs;
  unsigned int count;
  size_t bytes;
  int whole;     /* it is all that the caller gave */
  uv_buf_t only; /* where the one buffer is not as the caller gave it */
} uvb__content_t;

void uvb__content_init(uvb__content_t* content, const uv_buf_t bufs[], unsigned int nbufs);

/* "send" or "try_write". */
extern const char uvb__fanout_plain_name[];
/* Sends to one target: bytes, or a negative code. */
ssize_t uvb__fanout_plain(const uv_batch_target_t* target, const uvb__content_t* content);

#if UVB_FANOUT_SENDS
/* The descriptor of a target that may be sent to now, or a negative code. */
int uvb__fanout_fd(const uv_batch_target_t* target);
/* A target's result, from a system call's negative errno. */
int uvb__fanout_error(int error);
/* For a stream that is not a socket. */
ssize_t uvb__fanout_try_write(uv_stream_t* stream, const uvb__content_t* content);
#endif

/* Whether the ring wins on this machine; the first call measures it. */
int uvb__fanout_prefers_ring(void);
/* The rule behind it: decides from the times of rounds that took turns, and sorts them. */
int uvb__fanout_ring_wins(uint64_t plain[], uint64_t ring[], size_t rounds);

#endif
