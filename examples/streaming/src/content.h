/* What is downloaded, and a sum by which its bytes are checked. */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t lanes[4];
  char held[32];
  size_t count; /* bytes held */
} checksum_t;

/* Random bytes, the same in every process. */
char* content_make(size_t size);

void checksum_init(checksum_t* sum);
/* Takes in more bytes, however they are cut up. */
void checksum_add(checksum_t* sum, const char* bytes, size_t count);
uint64_t checksum_end(checksum_t* sum);

#endif
