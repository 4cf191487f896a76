#include "frame.h"

#include <string.h>

enum { FIN = 0x80, RESERVED = 0x70, MASKED = 0x80, LENGTH_16 = 126, LENGTH_64 = 127 };

static bool known_opcode(uint8_t opcode) {
  return opcode <= FRAME_BINARY || (opcode >= FRAME_CLOSE && opcode <= FRAME_PONG);
}

ptrdiff_t frame_read(const uint8_t *data, size_t length, struct frame *frame) {
  if (length < 1) return 0;
  const uint8_t opcode = data[0] & 0x0F;
  if (data[0] & RESERVED) return FRAME_ERROR_RESERVED;
  if (!known_opcode(opcode)) return FRAME_ERROR_OPCODE;
  if (length < 2) return 0;
  if (data[1] & MASKED) return FRAME_ERROR_MASKED;

  size_t header = 2;
  uint64_t payload = data[1] & 0x7F;
  if (opcode >= FRAME_CLOSE && (payload > FRAME_MAX_CONTROL || !(data[0] & FIN))) {
    return FRAME_ERROR_CONTROL;
  }
  if (payload == LENGTH_16) {
    header = 4;
    if (length < header) return 0;
    payload = (uint64_t)data[2] << 8 | data[3];
    if (payload < LENGTH_16) return FRAME_ERROR_LENGTH;
  } else if (payload == LENGTH_64) {
    header = 10;
    if (length < header) return 0;
    payload = 0;
    for (size_t i = 2; i < header; i++) payload = payload << 8 | data[i];
    if (payload <= 0xFFFF || payload > FRAME_MAX_PAYLOAD) return FRAME_ERROR_LENGTH;
  }
  if (length - header < payload) return 0;

  frame->opcode = opcode;
  frame->fin = (data[0] & FIN) != 0;
  frame->payload = data + header;
  frame->length = (size_t)payload;
  return (ptrdiff_t)(header + payload);
}

const char *frame_error_text(ptrdiff_t error) {
  switch (error) {
    case FRAME_ERROR_RESERVED: return "a reserved bit is set in a frame header";
    case FRAME_ERROR_OPCODE: return "a frame has an unknown opcode";
    case FRAME_ERROR_MASKED: return "a frame from the server is masked";
    case FRAME_ERROR_CONTROL: return "a control frame is fragmented or longer than 125 bytes";
    case FRAME_ERROR_LENGTH: return "a frame's length is not in its shortest form or above 64 MiB";
    default: return "a frame is malformed";
  }
}

size_t frame_header_size(size_t length) {
  const size_t mask = 4;
  if (length < LENGTH_16) return 2 + mask;
  return (length <= 0xFFFF ? 4 : 10) + mask;
}

static void apply_mask(uint8_t *payload, size_t length, const uint8_t mask[4]) {
  uint64_t wide;
  memcpy(&wide, mask, 4);
  memcpy((uint8_t *)&wide + 4, mask, 4);
  size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    uint64_t word;
    memcpy(&word, payload + i, 8);
    word ^= wide;
    memcpy(payload + i, &word, 8);
  }
  for (; i < length; i++) payload[i] ^= mask[i & 3];
}

size_t frame_write(uint8_t *frame, enum frame_opcode opcode, size_t length, const uint8_t mask[4]) {
  const size_t header = frame_header_size(length);
  frame[0] = (uint8_t)(FIN | (unsigned)opcode);
  if (length < LENGTH_16) {
    frame[1] = (uint8_t)(MASKED | length);
  } else if (length <= 0xFFFF) {
    frame[1] = MASKED | LENGTH_16;
    frame[2] = (uint8_t)(length >> 8);
    frame[3] = (uint8_t)length;
  } else {
    frame[1] = MASKED | LENGTH_64;
    for (size_t i = 0; i < 8; i++) frame[2 + i] = (uint8_t)((uint64_t)length >> (56 - 8 * i));
  }
  memcpy(frame + header - 4, mask, 4);
  apply_mask(frame + header, length, mask);
  return header + length;
}
