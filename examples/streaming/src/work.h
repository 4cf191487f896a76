/* What is done with a read. */
#ifndef WORK_H
#define WORK_H

#include <uv.h>

#include "content.h"

typedef enum {
  WORK_EMPTY,    /* one buffer for all; bytes are counted only */
  WORK_SUM,      /* one buffer for all; bytes are summed */
  WORK_CHUNK,    /* a buffer for each read; bytes are summed */
  WORK_DISPATCH, /* the same, and 10 us a read: what handing it to a language runtime costs */
  WORKS
} work_t;

const char* work_name(work_t work);
uv_buf_t work_alloc(work_t work, size_t size);
void work_do(work_t work, checksum_t* sum, const uv_buf_t* buf, size_t count);

#endif
