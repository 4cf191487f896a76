#include "sha1.h"

#include <string.h>

static uint32_t rotate_left(uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }

static void add_block(uint32_t h[5], const uint8_t block[64]) {
  uint32_t w[80];
  for (size_t i = 0; i < 16; i++) {
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  }
  for (size_t i = 16; i < 80; i++) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (size_t i = 0; i < 80; i++) {
    uint32_t f, k;
    if (i < 20) {
      f = (b & c) | (~b & d);
      k = 0x5A827999;
    } else if (i < 40) {
      f = b ^ c ^ d;
      k = 0x6ED9EBA1;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8F1BBCDC;
    } else {
      f = b ^ c ^ d;
      k = 0xCA62C1D6;
    }
    const uint32_t next = rotate_left(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = rotate_left(b, 30);
    b = a;
    a = next;
  }
  h[0] += a;
  h[1] += b;
  h[2] += c;
  h[3] += d;
  h[4] += e;
}

void sha1(const uint8_t *data, size_t length, uint8_t digest[20]) {
  uint8_t padded[128] = {0};
  memcpy(padded, data, length);
  padded[length] = 0x80;
  const size_t total = length < 56 ? 64 : 128;
  const uint64_t bits = (uint64_t)length * 8;
  for (size_t i = 0; i < 8; i++) padded[total - 1 - i] = (uint8_t)(bits >> (8 * i));

  uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (size_t i = 0; i < total; i += 64) add_block(h, padded + i);
  for (size_t i = 0; i < 20; i++) digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
