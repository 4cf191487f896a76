#include "egress/fanout.h"

#if !UVB_FANOUT_SENDS
const char uvb__fanout_plain_name[] = "try_write";

/* A descriptor alone could block here: it is not for this back-end. */
ssize_t uvb__fanout_plain(const uv_batch_target_t* target, const uvb__content_t* content) {
  if (target->stream == NULL) return UV_ENOTSUP;
  if (uv_is_closing((const uv_handle_t*)target->stream)) return UV_EBADF;
  return uv_try_write(target->stream, content->bufs, content->count);
}
#endif
