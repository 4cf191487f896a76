#if !defined(__linux__)

#include "intake/large/limits.h"

#if defined(__APPLE__)
#include <sys/types.h>
#include <sys/sysctl.h>
#endif

void uvb__socket_limits(uvb__socket_limits_t* limits) {
  *limits = (uvb__socket_limits_t){0, 0, 0};
#if defined(__APPLE__)
  int most = 0;
  size_t size = sizeof(most);
  if (sysctlbyname("kern.ipc.maxsockbuf", &most, &size, NULL, 0) != 0 || size != sizeof(most) || most <= 0) return;
  limits->receive = most;
  limits->send = most;
#endif
}

int uvb__socket_buffer_set(int reported) {
  return reported;
}

#endif
