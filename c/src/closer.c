#include "closer.h"

static void on_closed(uv_handle_t* handle) {
  uvb__closer_t* closer = handle->data;
  closer->over(closer);
}

void uvb__closer_start(uvb__closer_t* closer, uv_loop_t* loop, void (*over)(uvb__closer_t* closer)) {
  uv_idle_init(loop, &closer->handle);
  closer->handle.data = closer;
  closer->over = over;
  uv_close((uv_handle_t*)&closer->handle, on_closed);
}

#if defined(_WIN32)
/* A handle that is closed in a close callback has its turn at once there, before those that were closed earlier. */
static void on_idle(uv_idle_t* handle) {
  uv_close((uv_handle_t*)handle, on_closed);
}

void uvb__closer_again(uvb__closer_t* closer) {
  uv_idle_init(closer->handle.loop, &closer->handle);
  uv_idle_start(&closer->handle, on_idle);
}
#else
void uvb__closer_again(uvb__closer_t* closer) {
  uvb__closer_start(closer, closer->handle.loop, closer->over);
}
#endif

static void find(uv_handle_t* handle, void* data) {
  uvb__await_t* await = data;
  await->found |= handle == await->handle;
}

static void look_again(uvb__closer_t* closer) {
  uvb__await_t* await = (uvb__await_t*)closer;
  await->found = false;
  uv_walk(closer->handle.loop, find, await);
  if (await->found) uvb__closer_again(closer);
  else await->over(await);
}

void uvb__await(uvb__await_t* await, const uv_handle_t* handle, void (*over)(uvb__await_t* await)) {
  await->handle = handle;
  await->over = over;
  uvb__closer_start(&await->closer, handle->loop, look_again);
}
