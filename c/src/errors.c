/*
 * The codes to which this library gives a meaning of its own, each with the way out. Every function returns one of
 * these, or what libuv or the system said. docs/reference/c-reference.md lists the codes of each function.
 */
#include "uv_batch.h"

const char* uv_batch_strerror(int code) {
  switch (code) {
    case 0: return "it went well";
    case UV_EINVAL: return "an argument is NULL, unknown, or out of its range; the options' check functions say which";
    case UV_ENOMEM: return "there is no memory; nothing has changed";
    case UV_ENOBUFS: return "the queue, or what it may retain, is full; retry later, push less, or raise the bound";
    case UV_ESHUTDOWN: return "the queue is closed; push before uv_batch_close()";
    case UV_EBUSY: return "it is in use already; wait until its callback has run";
    case UV_EALREADY: return "too late: it has left, is over, or is closing";
    case UV_ECANCELED: return "it was cancelled before it was done, a newer event of its key superseded it, or its queue was closed";
    case UV_ETIMEDOUT: return "no handler came before the retained event reached retain_max_age";
    case UV_ENOENT: return "no such file; of an event: its type had no handler, so register one, or retain the type";
    case UV_EAGAIN: return "the destination takes nothing now; write the rest with uv_write()";
    case UV_EFBIG: return "the file is larger than max_file_size";
    default: return uv_strerror(code);
  }
}
