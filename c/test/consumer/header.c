#include <uv_batch.h>

int main(void) {
  uv_batch_event_t event = {0};
  return event.type;
}
