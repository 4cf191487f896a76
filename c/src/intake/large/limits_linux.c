#if defined(__linux__)

#include <limits.h>
#include <stdio.h>

#include "intake/large/limits.h"

/* The last number of a file of one line. Inside a container it may be missing. */
static int last_number(const char* path) {
  long number = 0;
  FILE* file = fopen(path, "re");
  if (file == NULL) return 0;
  while (fscanf(file, "%ld", &number) == 1) continue;
  fclose(file);
  if (number < 0) return 0;
  return number > INT_MAX ? INT_MAX : (int)number;
}

void uvb__socket_limits(uvb__socket_limits_t* limits) {
  limits->receive = last_number("/proc/sys/net/core/rmem_max");
  limits->send = last_number("/proc/sys/net/core/wmem_max");
  /* This one counts the kernel's own overhead, as SO_RCVBUF does once it is doubled. */
  limits->automatic = last_number("/proc/sys/net/ipv4/tcp_rmem") / 2;
}

int uvb__socket_buffer_set(int reported) {
  return reported / 2;
}

#endif
