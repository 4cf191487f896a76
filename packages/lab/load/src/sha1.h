#ifndef MILLRACE_SHA1_H
#define MILLRACE_SHA1_H

#include <stddef.h>
#include <stdint.h>

/* SHA-1 of up to 119 bytes: enough for the WebSocket handshake, its only use here. */
enum { SHA1_MAX_INPUT = 119 };

void sha1(const uint8_t *data, size_t length, uint8_t digest[20]);

#endif
