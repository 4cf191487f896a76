#include <stdio.h>
#include <uv_batch.h>

static void on_lines(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count) {
  printf("%zu of type %s\n", count, uv_batch_type_name(handler->batch, handler->type));
  for (uv_batch_event_t* event = first; event != NULL; event = event->next) puts(event->data);
}

int main(void) {
  char* texts[] = {"one", "two", "three"};
  uv_batch_event_t lines[3]; /* events are yours; the library allocates none */
  uv_batch_handler_t handler = {0};
  uv_batch_t batch;
  uv_loop_t* loop = uv_default_loop();
  if (uv_batch_init(loop, &batch, NULL) != 0) return 1;
  int type = uv_batch_type(&batch, "line");
  if (type < 0 || uv_batch_on_group(&batch, &handler, type, on_lines) != 0) return 1;
  for (int i = 0; i < 3; i++) {
    uv_batch_event_init(&lines[i], type, texts[i]);
    if (uv_batch_push(&batch, &lines[i]) != 0) return 1; /* not taken: the event is still yours */
  }
  uv_run(loop, UV_RUN_DEFAULT); /* the batch leaves at the end of the first turn */
  uv_batch_close(&batch, 0, NULL);
  uv_run(loop, UV_RUN_DEFAULT); /* closing takes a turn, as with any handle of libuv */
  return uv_loop_close(loop) != 0;
}
