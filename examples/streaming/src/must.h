/* A program that measures has nothing to save when something fails: it says what, and ends. */
#ifndef MUST_H
#define MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define FAIL(...)                  \
  do {                             \
    fprintf(stderr, "streaming: "); \
    fprintf(stderr, __VA_ARGS__);  \
    fputc('\n', stderr);           \
    exit(1);                       \
  } while (0)

/* For calls that return a negative UV_E… code. */
#define MUST(call)                                                                         \
  do {                                                                                     \
    int must_status = (int)(call);                                                         \
    if (must_status < 0) FAIL("%s: %s", #call, uv_strerror(must_status));                  \
  } while (0)

#endif
