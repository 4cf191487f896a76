/* Nothing beside libuv: its connection callback comes for each connection that is complete. */
#if defined(_WIN32)

#include "intake/adapt/listen.h"

/* TCP handles can be asked whether they hold a connection before they listen; pipes cannot, and listen only once. */
bool uvb__listens(const uv_stream_t* server) {
  return server->type == UV_TCP;
}

bool uvb__connection_waits(const uv_stream_t* server) {
  (void)server;
  return false;
}

int uvb__accept(const uv_stream_t* server, uv_stream_t* client) {
  (void)server;
  (void)client;
  return UV_EAGAIN;
}

#endif
