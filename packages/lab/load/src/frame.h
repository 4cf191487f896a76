#ifndef MILLRACE_FRAME_H
#define MILLRACE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* WebSocket frames, RFC 6455 section 5: reading a server's, writing a client's. */

enum frame_opcode {
  FRAME_CONTINUATION = 0x0,
  FRAME_TEXT = 0x1,
  FRAME_BINARY = 0x2,
  FRAME_CLOSE = 0x8,
  FRAME_PING = 0x9,
  FRAME_PONG = 0xA,
};

enum {
  FRAME_MAX_PAYLOAD = 64 * 1024 * 1024, /* a longer frame from a server is taken for garbage */
  FRAME_MAX_CONTROL = 125,
  FRAME_MAX_HEADER = 14,
};

struct frame {
  uint8_t opcode;
  bool fin;
  const uint8_t *payload; /* points into the data that was read */
  size_t length;
};

enum frame_error {
  FRAME_ERROR_RESERVED = -1, /* a reserved bit is set though no extension was agreed on */
  FRAME_ERROR_OPCODE = -2,
  FRAME_ERROR_MASKED = -3, /* a server must not mask */
  FRAME_ERROR_CONTROL = -4, /* a control frame that is fragmented or over 125 bytes */
  FRAME_ERROR_LENGTH = -5, /* not the shortest form of the length, or over FRAME_MAX_PAYLOAD */
};

/*
 * Reads the frame at the start of `data`. Returns the bytes it takes (header and payload), 0 when
 * more data is needed, or a frame_error. An error is reported as soon as the header shows it.
 */
ptrdiff_t frame_read(const uint8_t *data, size_t length, struct frame *frame);

/* A frame_error in words. */
const char *frame_error_text(ptrdiff_t error);

/* Bytes that frame_write puts in front of a payload of `length`. */
size_t frame_header_size(size_t length);

/*
 * Turns a payload into a whole masked frame, in place: `frame` holds frame_header_size(length)
 * free bytes followed by the payload. Returns the size of the frame.
 */
size_t frame_write(uint8_t *frame, enum frame_opcode opcode, size_t length, const uint8_t mask[4]);

#endif
