#include "backlog.h"

#include "check.h"

/* First in, first out, through every position of the ring and every growth. */
static void keeps_the_order_while_it_grows(void) {
  for (uint64_t turn = 0; turn < 20; turn++) {
    struct backlog backlog = {0};
    uint64_t in = 0;
    uint64_t out = 0;
    for (; in < turn; in++) backlog_push(&backlog, in);
    for (int round = 0; round < 200; round++) {
      for (int i = 0; i < 3; i++) backlog_push(&backlog, in++);
      CHECK_EQUAL(backlog_at(&backlog, 0), out);
      CHECK_EQUAL(backlog_at(&backlog, backlog.count - 1), in - 1);
      const uint32_t drop = round % 2 == 0 ? 2 : 3;
      backlog_drop(&backlog, drop);
      out += drop;
    }
    CHECK_EQUAL(backlog.count, in - out);
    while (backlog.count > 0) {
      if (backlog_at(&backlog, 0) != out++) CHECK(false);
      backlog_drop(&backlog, 1);
    }
    CHECK_EQUAL(in, out);
    backlog_free(&backlog);
  }
}

int main(void) {
  keeps_the_order_while_it_grows();
  return check_result();
}
