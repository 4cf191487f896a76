/* One event through a queue, and the version: that the library is the one that was built. */
#include <stdio.h>
#include <string.h>
#include <uv_batch.h>

static int handled;

static int handle(uv_batch_handler_t* handler, uv_batch_event_t* event) {
  (void)event;
  handled++;
  return uv_batch_close(handler->batch, 0, NULL);
}

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();
  uv_batch_t batch;
  uv_batch_handler_t handler;
  uv_batch_event_t event;
  memset(&batch, 0, sizeof(batch));
  memset(&handler, 0, sizeof(handler));
  if (uv_batch_init(loop, &batch, NULL) != 0 || uv_batch_on(&batch, &handler, UV_BATCH_NETWORK, handle) != 0) return 1;
  uv_batch_event_init(&event, UV_BATCH_NETWORK, NULL);
  if (uv_batch_push(&batch, &event) != 0) return 1;
  uv_run(loop, UV_RUN_DEFAULT);
  uv_loop_close(loop);

  printf("%s\n", uv_batch_version_string());
  return handled != 1 || argc != 2 || strcmp(argv[1], uv_batch_version_string()) != 0 ||
         uv_batch_version() != UV_BATCH_VERSION_HEX;
}
