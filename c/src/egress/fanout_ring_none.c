#include "egress/fanout_ring.h"

#if !UVB_FANOUT_HAS_RING
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
  for (size_t i = 0; i < count; i++) targets[i].result = uvb__fanout_plain(&targets[i], content);
  return UV_ENOSYS;
}

void uvb__ring_close(uvb__ring_t* ring) {
  (void)ring;
}
#endif
