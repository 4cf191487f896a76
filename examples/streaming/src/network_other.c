#if !defined(__linux__)

#include "must.h"
#include "network.h"
#include "server.h"

void network_pin(unsigned int core) {
  (void)core;
}

struct sockaddr_in network_start(double rtt_ms, size_t size) {
  if (rtt_ms > 0) FAIL("--rtt needs the network namespaces of Linux");
  return server_start("127.0.0.1", size);
}

#endif
