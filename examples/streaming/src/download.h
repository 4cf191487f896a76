/* The receiver: many clients on one loop, each downloads the content several times over its connection. */
#ifndef DOWNLOAD_H
#define DOWNLOAD_H

#include <netinet/in.h>

#include "work.h"

typedef struct {
  const char* name;
  size_t fixed; /* the size of every read; 0: what the alloc callback is asked for */
  int large;    /* uv_tcp_enable_largesocket() */
  int raise;    /* whether that may raise the receive buffer */
} arm_t;

typedef struct {
  size_t clients, downloads, size;
  work_t work;
} download_t;

typedef struct {
  double bytes_per_s, cpu_s_per_gb;
  double kernel_s_per_gb; /* CPU time of the kernel for this process: in system calls, nearly all of it in read() */
  double late_p50, late_p99;
  double reads, callbacks;
  double kernel_us_per_read;
  double raised; /* share of the clients whose receive buffer was raised */
} result_t;

const arm_t* arm_named(const char* name);
const arm_t* arm_number(size_t number); /* NULL: there are no more */

/* Runs one arm in this process. A wrong byte ends the program. */
result_t download_run(const download_t* download, const arm_t* arm, const struct sockaddr_in* server);

#endif
