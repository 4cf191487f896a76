#include "egress/fanout.h"

#include <limits.h>

#include "egress/fanout_ring.h"

/* The slots of the caller's struct: one marks it as open, one holds the ring, if there is one. */
enum { is_open, its_ring };
static char opened;

static uvb__ring_t* ring_of(const uv_batch_fanout_t* fanout) {
  return fanout->private_[its_ring];
}

static int is_usable(const uv_batch_fanout_t* fanout) {
  return fanout != NULL && fanout->private_[is_open] == &opened;
}

int uv_batch_fanout_init(uv_batch_fanout_t* fanout, unsigned int flags) {
  uvb__ring_t* ring = NULL;
  if (fanout == NULL) return UV_EINVAL;
  fanout->private_[is_open] = NULL;
  if (flags > UV_BATCH_FANOUT_IO_URING) return UV_EINVAL;
  if (flags == UV_BATCH_FANOUT_IO_URING) {
    int status = uvb__ring_open(&ring);
    if (status != 0) return status;
  } else if (flags == UV_BATCH_FANOUT_AUTO && uvb__fanout_prefers_ring()) {
    /* Without a ring there is still a way to send. */
    (void)uvb__ring_open(&ring);
  }
  fanout->private_[is_open] = &opened;
  fanout->private_[its_ring] = ring;
  return 0;
}

const char* uv_batch_fanout_backend(const uv_batch_fanout_t* fanout) {
  if (!is_usable(fanout)) return NULL;
  return ring_of(fanout) != NULL && uvb__ring_is_own(ring_of(fanout)) ? "io_uring" : uvb__fanout_plain_name;
}

int uv_batch_fanout_send(uv_batch_fanout_t* fanout, const uv_buf_t bufs[], unsigned int nbufs,
                         uv_batch_target_t targets[], size_t ntargets) {
  uvb__content_t content;
  int complete = 0;
  if (!is_usable(fanout) || (bufs == NULL && nbufs > 0) || (targets == NULL && ntargets > 0) || ntargets > INT_MAX) {
    return UV_EINVAL;
  }
  uvb__content_init(&content, bufs, nbufs);
  if (ring_of(fanout) == NULL) {
    for (size_t i = 0; i < ntargets; i++) targets[i].result = uvb__fanout_plain(&targets[i], &content);
  } else if (uvb__ring_send(ring_of(fanout), &content, targets, ntargets) != 0) {
    uvb__ring_close(ring_of(fanout));
    fanout->private_[its_ring] = NULL;
  }
  if (!content.whole) return 0;
  for (size_t i = 0; i < ntargets; i++) complete += targets[i].result == (ssize_t)content.bytes;
  return complete;
}

void uv_batch_fanout_close(uv_batch_fanout_t* fanout) {
  if (!is_usable(fanout)) return;
  if (ring_of(fanout) != NULL) uvb__ring_close(ring_of(fanout));
  fanout->private_[is_open] = NULL;
  fanout->private_[its_ring] = NULL;
}
