#include "egress/fanout.h"

#include <limits.h>

#ifdef IOV_MAX
enum { most_buffers = IOV_MAX };
#else
enum { most_buffers = 1024 };
#endif

/* Systems differ in what they do with more: some cut it off here, some refuse it. */
static const size_t most_bytes = 0x7ffff000;

void uvb__content_init(uvb__content_t* content, const uv_buf_t bufs[], unsigned int nbufs) {
  unsigned int count = 0;
  size_t bytes = 0;
  while (count < nbufs && count < most_buffers && bufs[count].len <= most_bytes - bytes) bytes += bufs[count++].len;
  content->whole = count == nbufs;
  if (count == 0) {
    /* Nothing to send, or a first buffer that is too large. */
    bytes = nbufs == 0 ? 0 : most_bytes;
    content->only = uv_buf_init(nbufs == 0 ? "" : bufs[0].base, (unsigned int)bytes);
    bufs = &content->only;
    count = 1;
  }
  content->bufs = bufs;
  content->count = count;
  content->bytes = bytes;
}
