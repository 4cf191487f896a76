#include "lateness.h"

#include <math.h>

#include "must.h"

enum { tick = 2, most = 1 << 20 };

static uv_timer_t timer;
static double ticked;
static double samples[most];
static size_t count;

static double now_ms(void) {
  return (double)uv_hrtime() / 1e6;
}

static void on_tick(uv_timer_t* handle) {
  double now = now_ms();
  (void)handle;
  for (double late = fmax(0, now - ticked - tick); count < most; late -= tick) {
    samples[count++] = late;
    if (late <= tick) break;
  }
  ticked = now;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

void lateness_start(uv_loop_t* loop) {
  count = 0;
  ticked = now_ms();
  MUST(uv_timer_init(loop, &timer));
  MUST(uv_timer_start(&timer, on_tick, tick, tick));
}

void lateness_stop(void) {
  MUST(uv_timer_stop(&timer));
  qsort(samples, count, sizeof(*samples), ascending);
}

double lateness_at(double share) {
  return count == 0 ? 0 : samples[(size_t)(share * (double)(count - 1))];
}
