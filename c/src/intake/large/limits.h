/* What the system allows socket buffers to be. */
#ifndef UVB_LARGE_LIMITS_H
#define UVB_LARGE_LIMITS_H

typedef struct {
  int receive;   /* the largest SO_RCVBUF; 0: not known */
  int send;      /* the largest SO_SNDBUF; 0: not known */
  int automatic; /* how far the system enlarges a receive buffer by itself, in terms of SO_RCVBUF; 0: not known */
} uvb__socket_limits_t;

void uvb__socket_limits(uvb__socket_limits_t* limits);

/* The size that was set, from the size that the system reports: Linux reports twice as much. */
int uvb__socket_buffer_set(int reported);

#endif
