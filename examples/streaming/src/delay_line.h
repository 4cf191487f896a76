/* Carries packets between two descriptors, in both directions, each a while after it came. */
#ifndef DELAY_LINE_H
#define DELAY_LINE_H

/* In a process of its own, which ends with this one. Takes both descriptors. */
void delay_line_start(int a, int b, double delay_ms);

#endif
