#include "frame.h"

#include <stdlib.h>

#include "check.h"

/* A server's frame: not masked. Returns its size. */
static size_t server_frame(uint8_t *out, uint8_t first, size_t length, uint8_t fill) {
  size_t header = 2;
  out[0] = first;
  if (length < 126) {
    out[1] = (uint8_t)length;
  } else if (length <= 0xFFFF) {
    out[1] = 126;
    out[2] = (uint8_t)(length >> 8);
    out[3] = (uint8_t)length;
    header = 4;
  } else {
    out[1] = 127;
    for (size_t i = 0; i < 8; i++) out[2 + i] = (uint8_t)((uint64_t)length >> (56 - 8 * i));
    header = 10;
  }
  memset(out + header, fill, length);
  return header + length;
}

static void reads_every_length_form(void) {
  static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 300000};
  uint8_t *data = malloc(300100);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const size_t size = server_frame(data, 0x81, lengths[i], 'x');
    struct frame frame;
    CHECK_EQUAL(frame_read(data, size + 50, &frame), size);
    CHECK_EQUAL(frame.length, lengths[i]);
    CHECK_EQUAL(frame.opcode, FRAME_TEXT);
    CHECK(frame.fin);
    CHECK(frame.payload + frame.length == data + size);
  }
  free(data);
}

static void asks_for_more_at_every_split(void) {
  static const size_t lengths[] = {0, 5, 126, 65536};
  uint8_t *data = malloc(70000);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const size_t size = server_frame(data, 0x82, lengths[i], 'y');
    for (size_t split = 0; split < size; split++) {
      /* An exact copy, so that a read past the end is one that a sanitizer sees. */
      uint8_t *part = malloc(split + 1);
      memcpy(part, data, split);
      struct frame frame;
      CHECK_EQUAL(frame_read(part, split, &frame), 0);
      free(part);
    }
  }
  free(data);
}

static void refuses(const uint8_t *data, size_t length, ptrdiff_t error) {
  struct frame frame;
  CHECK_EQUAL(frame_read(data, length, &frame), error);
  CHECK(strlen(frame_error_text(error)) > 10);
}

static void refuses_malformed_headers(void) {
  for (unsigned bit = 0x10; bit <= 0x40; bit <<= 1) {
    refuses((uint8_t[]){(uint8_t)(0x81 | bit)}, 1, FRAME_ERROR_RESERVED);
  }
  for (unsigned opcode = 0; opcode < 16; opcode++) {
    struct frame frame;
    const uint8_t data[] = {(uint8_t)(0x80 | opcode), 0};
    const bool known = opcode <= 2 || (opcode >= 8 && opcode <= 10);
    CHECK_EQUAL(frame_read(data, 2, &frame), known ? 2 : FRAME_ERROR_OPCODE);
  }
  refuses((uint8_t[]){0x81, 0x85}, 2, FRAME_ERROR_MASKED);
  refuses((uint8_t[]){0x89, 126}, 2, FRAME_ERROR_CONTROL);
  refuses((uint8_t[]){0x08, 2}, 2, FRAME_ERROR_CONTROL);
  refuses((uint8_t[]){0x81, 126, 0, 125}, 4, FRAME_ERROR_LENGTH);
  refuses((uint8_t[]){0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, 10, FRAME_ERROR_LENGTH);
  refuses((uint8_t[]){0x81, 127, 0, 0, 0, 0, 4, 0, 0, 1}, 10, FRAME_ERROR_LENGTH);
  refuses((uint8_t[]){0x81, 127, 0x80, 0, 0, 0, 0, 1, 0, 0}, 10, FRAME_ERROR_LENGTH);
}

static void tells_fragments_apart(void) {
  struct frame frame;
  CHECK_EQUAL(frame_read((uint8_t[]){0x01, 1, 'a'}, 3, &frame), 3);
  CHECK(!frame.fin);
  CHECK_EQUAL(frame.opcode, FRAME_TEXT);
  CHECK_EQUAL(frame_read((uint8_t[]){0x80, 1, 'b'}, 3, &frame), 3);
  CHECK(frame.fin);
  CHECK_EQUAL(frame.opcode, FRAME_CONTINUATION);
}

static void writes_masked_frames(void) {
  static const size_t lengths[] = {0, 3, 125, 126, 65535, 65536};
  static const uint8_t mask[4] = {0x11, 0xA2, 0x03, 0xF4};
  uint8_t *data = malloc(66000);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const size_t length = lengths[i];
    const size_t header = frame_header_size(length);
    memset(data + header, 'z', length);
    CHECK_EQUAL(frame_write(data, FRAME_TEXT, length, mask), header + length);
    CHECK_EQUAL(data[0], 0x81);
    CHECK(data[1] & 0x80);
    CHECK(memcmp(data + header - 4, mask, 4) == 0);
    size_t wrong = 0;
    for (size_t k = 0; k < length; k++) wrong += (data[header + k] ^ mask[k & 3]) != 'z';
    CHECK_EQUAL(wrong, 0);
    /* Without its mask it is what a server would send. */
    memmove(data + header - 4, data + header, length);
    data[1] &= 0x7F;
    struct frame frame;
    CHECK_EQUAL(frame_read(data, header - 4 + length, &frame), header - 4 + length);
    CHECK_EQUAL(frame.length, length);
  }
  free(data);
}

int main(void) {
  reads_every_length_form();
  asks_for_more_at_every_split();
  refuses_malformed_headers();
  tells_fragments_apart();
  writes_masked_frames();
  return check_result();
}
