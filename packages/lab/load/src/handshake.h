#ifndef MILLRACE_HANDSHAKE_H
#define MILLRACE_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

/* The opening handshake of RFC 6455 section 4, from the client's side. */

enum { HANDSHAKE_KEY_SIZE = 25, HANDSHAKE_ACCEPT_SIZE = 29, HANDSHAKE_MAX_ANSWER = 16 * 1024 };

/* Base64 of 16 random bytes, terminated. */
void handshake_key(const uint8_t nonce[16], char key[HANDSHAKE_KEY_SIZE]);

/* Computes the server's answer to a key, terminated. */
void handshake_accept(const char *key, char accept[HANDSHAKE_ACCEPT_SIZE]);

/* Writes the request, terminated; returns its length, or 0 when it does not fit. */
size_t handshake_request(char *out, size_t room, const char *host, unsigned port, const char *path,
                         const char *key);

/*
 * Reads the answer. Returns the bytes it takes (frames may follow at once), 0 when more are
 * needed, -1 when it is not an upgrade; then `why` is a sentence.
 */
ptrdiff_t handshake_read(const uint8_t *data, size_t length, const char *key, char *why,
                         size_t why_room);

#endif
