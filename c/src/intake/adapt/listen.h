/* What a system can do with a listening socket beside libuv, which may give only one connection a turn. */
#ifndef UVB_LISTEN_H
#define UVB_LISTEN_H

#include <stdbool.h>

#include "uv_batch.h"

/* Whether it may have been listening before: then libuv may hold a connection that nobody has taken. */
bool uvb__listens(const uv_stream_t* server);
/* Whether a connection is in the backlog, as far as can be seen. */
bool uvb__connection_waits(const uv_stream_t* server);
/* Takes one from the backlog. UV_EAGAIN: there is none. After an error the client is as it was. */
int uvb__accept(const uv_stream_t* server, uv_stream_t* client);

#endif
