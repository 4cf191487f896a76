#include "handshake.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sha1.h"

static void base64(const uint8_t *data, size_t length, char *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < length; i += 3) {
    const size_t have = length - i;
    const uint32_t group = (uint32_t)data[i] << 16 | (have > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                           (have > 2 ? data[i + 2] : 0u);
    *out++ = digits[group >> 18 & 63];
    *out++ = digits[group >> 12 & 63];
    *out++ = have > 1 ? digits[group >> 6 & 63] : '=';
    *out++ = have > 2 ? digits[group & 63] : '=';
  }
  *out = '\0';
}

void handshake_key(const uint8_t nonce[16], char key[HANDSHAKE_KEY_SIZE]) { base64(nonce, 16, key); }

void handshake_accept(const char *key, char accept[HANDSHAKE_ACCEPT_SIZE]) {
  char text[SHA1_MAX_INPUT + 1];
  const int length = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
  uint8_t digest[20];
  sha1((const uint8_t *)text, (size_t)length, digest);
  base64(digest, sizeof digest, accept);
}

size_t handshake_request(char *out, size_t room, const char *host, unsigned port, const char *path,
                         const char *key) {
  const bool v6 = strchr(host, ':') != NULL;
  const int length = snprintf(out, room,
                              "GET %s HTTP/1.1\r\n"
                              "Host: %s%s%s:%u\r\n"
                              "Upgrade: websocket\r\n"
                              "Connection: Upgrade\r\n"
                              "Sec-WebSocket-Key: %s\r\n"
                              "Sec-WebSocket-Version: 13\r\n\r\n",
                              path, v6 ? "[" : "", host, v6 ? "]" : "", port, key);
  return length < 0 || (size_t)length >= room ? 0 : (size_t)length;
}

/* Copies the value of a header field, without the blanks around it; false when it is not there. */
static bool header_value(const char *head, const char *name, char *out, size_t room) {
  const size_t name_length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, name_length) != 0 || line[name_length] != ':') continue;
    const char *value = line + name_length + 1;
    value += strspn(value, " \t");
    size_t length = strcspn(value, "\r\n");
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t')) length--;
    if (length >= room) length = room - 1;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
  }
  return false;
}

/* True when a comma separated list holds the word, in whatever case. */
static bool has_token(const char *list, const char *word) {
  const size_t length = strlen(word);
  while (*list != '\0') {
    list += strspn(list, ", \t");
    const size_t n = strcspn(list, ", \t");
    if (n == length && strncasecmp(list, word, n) == 0) return true;
    list += n;
  }
  return false;
}

ptrdiff_t handshake_read(const uint8_t *data, size_t length, const char *key, char *why,
                         size_t why_room) {
  const uint8_t *const end = memmem(data, length, "\r\n\r\n", 4);
  if (end == NULL) {
    if (length < HANDSHAKE_MAX_ANSWER) return 0;
    snprintf(why, why_room, "the answer to the handshake has no end within 16 KiB");
    return -1;
  }
  const size_t head_length = (size_t)(end - data) + 2;
  if (head_length > HANDSHAKE_MAX_ANSWER) {
    snprintf(why, why_room, "the answer to the handshake is longer than 16 KiB");
    return -1;
  }
  char head[HANDSHAKE_MAX_ANSWER + 1];
  memcpy(head, data, head_length);
  head[head_length] = '\0';

  if (strncmp(head, "HTTP/1.1 101", 12) != 0) {
    snprintf(why, why_room, "the server answered \"%.*s\" instead of HTTP/1.1 101",
             (int)(strcspn(head, "\r\n") > 100 ? 100 : strcspn(head, "\r\n")), head);
    return -1;
  }
  char value[256];
  if (!header_value(head, "Upgrade", value, sizeof value) || strcasecmp(value, "websocket") != 0) {
    snprintf(why, why_room, "the server's answer has no \"Upgrade: websocket\"");
    return -1;
  }
  if (!header_value(head, "Connection", value, sizeof value) || !has_token(value, "upgrade")) {
    snprintf(why, why_room, "the server's answer has no \"Connection: Upgrade\"");
    return -1;
  }
  char accept[HANDSHAKE_ACCEPT_SIZE];
  handshake_accept(key, accept);
  if (!header_value(head, "Sec-WebSocket-Accept", value, sizeof value) ||
      strcmp(value, accept) != 0) {
    snprintf(why, why_room, "the server's Sec-WebSocket-Accept does not fit the key");
    return -1;
  }
  if (header_value(head, "Sec-WebSocket-Extensions", value, sizeof value) && value[0] != '\0') {
    snprintf(why, why_room, "the server uses the extension \"%.100s\", which was not asked for",
             value);
    return -1;
  }
  return (ptrdiff_t)head_length + 2;
}
