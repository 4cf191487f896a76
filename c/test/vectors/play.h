/* Plays a vector: compares what an engine does with what the vector says, or prints what it does. */
#ifndef VECTOR_PLAY_H
#define VECTOR_PLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "vectors/reader.h"

/* True when everything is as the vector says. Otherwise the first difference is printed:
 * "file:line: expected '…', got '…'". */
bool vector_play(const vector_t* vector, bool frees_events, FILE* to);

/* Ignores what the vector says, and prints what its operations cause: "LINE outcome" for each outcome, and with `stats`
 * "LINE stats key=value …" after each operation, with the keys that are not 0. */
void vector_trace(const vector_t* vector, bool stats, FILE* to);

#endif
