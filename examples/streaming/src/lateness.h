/* How late a repeating timer is: what any other work of the loop would have to wait. A long wait counts once for each
 * tick that it swallowed, or else the worst times would be seen least. */
#ifndef LATENESS_H
#define LATENESS_H

#include <uv.h>

void lateness_start(uv_loop_t* loop);
void lateness_stop(void);
/* ms, by share: 0.5 is the median. */
double lateness_at(double share);

#endif
