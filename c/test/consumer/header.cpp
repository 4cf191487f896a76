#include <uv_batch.h>

int main() {
  uv_batch_event_t event{};
  return event.type;
}
