#include "handshake.h"

#include "check.h"
#include "sha1.h"

/* The key and the answer of RFC 6455, section 1.3. */
static const char key[] = "dGhlIHNhbXBsZSBub25jZQ==";
static const char good[] =
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

static void digests_are_those_of_the_standard(void) {
  uint8_t digest[20];
  sha1((const uint8_t *)"abc", 3, digest);
  CHECK(memcmp(digest,
               "\xA9\x99\x3E\x36\x47\x06\x81\x6A\xBA\x3E\x25\x71\x78\x50\xC2\x6C\x9C\xD0\xD8\x9D",
               20) == 0);
  sha1((const uint8_t *)"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, digest);
  CHECK(memcmp(digest,
               "\x84\x98\x3E\x44\x1C\x3B\xD2\x6E\xBA\xAE\x4A\xA1\xF9\x51\x29\xE5\xE5\x46\x70\xF1",
               20) == 0);
  sha1((const uint8_t *)"", 0, digest);
  CHECK(digest[0] == 0xDA && digest[19] == 0x09);
}

static void keys_and_accepts_are_those_of_the_rfc(void) {
  char text[HANDSHAKE_KEY_SIZE];
  handshake_key((const uint8_t *)"the sample nonce", text);
  CHECK(strcmp(text, key) == 0);
  char accept[HANDSHAKE_ACCEPT_SIZE];
  handshake_accept(key, accept);
  CHECK(strcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") == 0);
}

static ptrdiff_t read_text(const char *text, char why[200]) {
  return handshake_read((const uint8_t *)text, strlen(text), key, why, 200);
}

static void a_good_answer_is_taken_whole_and_no_more(void) {
  char why[200];
  char with_frame[400];
  snprintf(with_frame, sizeof with_frame, "%s%s", good, "frame");
  CHECK_EQUAL(read_text(with_frame, why), strlen(good));
  for (size_t split = 0; split < strlen(good); split++) {
    CHECK_EQUAL(handshake_read((const uint8_t *)good, split, key, why, sizeof why), 0);
  }
}

static void refuses(const char *answer, const char *word) {
  char why[200] = "";
  CHECK_EQUAL(read_text(answer, why), -1);
  if (strstr(why, word) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", why, word);
    CHECK(false);
  }
}

static void other_answers_are_refused_by_name(void) {
  refuses("HTTP/1.1 503 Service Unavailable\r\n\r\n", "503");
  refuses("SSH-2.0-server\r\n\r\n", "SSH-2.0");
  refuses("HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n", "Upgrade: websocket");
  refuses("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: close\r\n\r\n",
          "Connection: Upgrade");
  refuses("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO=\r\n\r\n",
          "Accept");
  refuses("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "Accept");
  refuses("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
          "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
          "permessage-deflate");
}

static void an_endless_answer_is_refused(void) {
  static char endless[HANDSHAKE_MAX_ANSWER + 1];
  memset(endless, 'x', HANDSHAKE_MAX_ANSWER);
  refuses(endless, "16 KiB");
}

static void requests_carry_what_was_asked_for(void) {
  char request[400];
  CHECK(handshake_request(request, sizeof request, "127.0.0.1", 8080, "/?room=3", key) > 0);
  CHECK(strstr(request, "GET /?room=3 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n") == request);
  CHECK(strstr(request, key) != NULL);
  CHECK(handshake_request(request, sizeof request, "::1", 80, "/", key) > 0);
  CHECK(strstr(request, "Host: [::1]:80\r\n") != NULL);
  CHECK_EQUAL(handshake_request(request, 50, "127.0.0.1", 8080, "/", key), 0);
}

int main(void) {
  digests_are_those_of_the_standard();
  keys_and_accepts_are_those_of_the_rfc();
  a_good_answer_is_taken_whole_and_no_more();
  other_answers_are_refused_by_name();
  an_endless_answer_is_refused();
  requests_carry_what_was_asked_for();
  return check_result();
}
