/* Large sockets: what largesocket.c consists of, for its tests. */
#ifndef UVB_LARGESOCKET_H
#define UVB_LARGESOCKET_H

#include "common.h"

/* Sizes of socket buffers that the system allows. */
typedef struct {
  int receive;   /* the largest SO_RCVBUF; 0: not known */
  int send;      /* the largest SO_SNDBUF; 0: not known */
  int automatic; /* how far the system enlarges a receive buffer by itself, in terms of SO_RCVBUF; 0: not known */
} uvb__socket_limits_t;

void uvb__socket_limits(uvb__socket_limits_t* limits);

/* The size that was set, from the size that the system reports: Linux reports twice as much. */
int uvb__socket_buffer_set(int reported);

/* Adapts the read size of a stream to its reads: doubles while they come back full, halves while they stay sparse. */
typedef struct {
  size_t size;       /* to ask for next */
  uint32_t full;     /* full reads in a row */
  uint32_t sparse;   /* reads in a row that filled less than a quarter */
  uint32_t at_most;  /* full reads since the size reached max_read, up to raise_after */
} uvb__read_size_t;

typedef enum { UVB__READ_SIZE_KEPT, UVB__READ_SIZE_GREW, UVB__READ_SIZE_SHRANK } uvb__read_size_change_t;

/* New limits: the size stays as it is, as far as they allow; 0 becomes min_read. */
void uvb__read_size_limit(uvb__read_size_t* read_size, const uv_largesocket_options_t* options);
/* A read gave `count` bytes, at least 1, for a buffer of `room`. */
uvb__read_size_change_t uvb__read_size_observe(uvb__read_size_t* read_size, const uv_largesocket_options_t* options,
                                               size_t count, size_t room);
/* Reports whether full reads at max_read have gone on for so long that larger socket buffers may help. */
int uvb__read_size_sustained(const uvb__read_size_t* read_size, const uv_largesocket_options_t* options);

#endif
