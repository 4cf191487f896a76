#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "frame.h"
#include "load.h"

enum { READ_ROOM = 64 * 1024 };

void receive_fault(struct run *run, const char *format, ...) {
  if (run->first_fault[0] != '\0') return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run->first_fault, sizeof run->first_fault, format, arguments);
  va_end(arguments);
}

static void corrupt(struct run *run, const struct client *client, const char *what,
                    const uint8_t *text, size_t length) {
  run->counts.corrupt++;
  receive_fault(run, "connection %u got a message %s: %.*s", client->index, what,
                (int)(length < 60 ? length : 60), (const char *)text);
}

/* A load message has arrived: whose is it, is it whole, is its number right, how old is it? */
static void deliver(struct run *run, struct client *client, const uint8_t *text, size_t length) {
  const struct options *options = run->options;
  struct marker marker;
  if (!marker_read(text, length, &marker)) {
    corrupt(run, client, "without a readable marker", text, length);
    return;
  }
  const uint32_t member = marker.sender / options->rooms; /* its place among the room's senders */
  const bool foreign =
      marker.sender >= options->senders || marker.sender - member * options->rooms != client->room;
  if (foreign) {
    corrupt(run, client, "from outside its room", text, length);
    return;
  }
  const bool is_own = marker.sender == client->index;
  if (options->to != TO_EVERYONE && is_own != (options->to == TO_SENDER)) {
    corrupt(run, client, is_own ? "of its own" : "that is for its sender alone", text, length);
    return;
  }
  const uint32_t stream = run->streams == 1 ? 0 : (uint32_t)marker.priority;
  if (marker.seq >= run->sent[marker.sender * run->streams + stream] ||
      (run->streams == 1 && marker.priority != PRIORITY_NORMAL) || marker.sched_us > run->now) {
    corrupt(run, client, "that was never sent", text, length);
    return;
  }
  if (length != options->payload || --run->until_check == 0) {
    if (run->until_check == 0) {
      run->until_check = options->check_every;
      run->counts.checked++;
    }
    const enum marker_state state = marker_check(text, length, options->payload, &marker);
    if (state != MARKER_INTACT) corrupt(run, client, "that was changed", text, length);
    if (state == MARKER_NUMBERS_DAMAGED) return;
  }

  struct sequence *seen = &client->seen[member * run->streams + stream];
  const enum sequence_verdict verdict = sequence_observe(&run->gaps, seen, marker.seq);
  if (verdict != SEQUENCE_NEW) {
    const bool late = verdict == SEQUENCE_REORDERED;
    receive_fault(run, "connection %u got sender %u's message %u %s", client->index, marker.sender,
                  marker.seq, late ? "after a later one" : "twice");
    if (!late) {
      run->counts.duplicated++;
      return;
    }
    run->counts.reordered++;
  }
  client->unique++;
  run->counts.delivered++;
  run->delivered_by[marker.priority]++;
  run->outstanding--;

  client->credit += is_own;
  if (marker.sched_us >= run->measure_from && marker.sched_us < run->measure_to) {
    const uint64_t age = run->now - marker.sched_us;
    histogram_add(&run->latency[stream], age);
    if (is_own) histogram_add(&run->echo, age);
  }
}

/* The end of the JSON string that begins here; the load's own texts hold no escapes. */
static size_t string_length(const uint8_t *text, size_t room, size_t likely) {
  if (likely < room && text[likely] == '"') return likely;
  const uint8_t *quote = memchr(text, '"', room);
  return quote == NULL ? room : (size_t)(quote - text);
}

static bool begins(const uint8_t *data, size_t length, const char *word) {
  const size_t n = strlen(word);
  return length >= n && memcmp(data, word, n) == 0;
}

static void chat_message(struct run *run, struct client *client, const uint8_t *data,
                         size_t length) {
  static const char key[] = "\"text\":\"";
  const size_t key_length = sizeof key - 1;
  const uint8_t *const end = data + length;
  const uint8_t *at = data;
  while ((at = memchr(at, '#', (size_t)(end - at))) != NULL) {
    if ((size_t)(at - data) >= key_length && memcmp(at - key_length, key, key_length) == 0) {
      const size_t room = (size_t)(end - at);
      deliver(run, client, at, string_length(at, room, run->options->payload));
      return;
    }
    at++;
  }
  corrupt(run, client, "without a marker in its text", data, length);
}

/* An error that names one of the sender's messages takes back what its room was owed. */
static void chat_error(struct run *run, struct client *client, const uint8_t *data, size_t length) {
  run->counts.errors++;
  if (run->first_error[0] == '\0') {
    snprintf(run->first_error, sizeof run->first_error, "%.*s", (int)(length < 255 ? length : 255),
             (const char *)data);
  }
  if (client->state == CLIENT_JOINING) {
    connect_fail(run, "the server does not let connection %u join: %.*s", client->index,
                 (int)(length < 150 ? length : 150), (const char *)data);
    return;
  }
  const uint8_t *ref = memmem(data, length, "\"ref\":\"", 7);
  if (ref == NULL || ref[7] < '0' || ref[7] > '9') return;
  struct room *room = &run->rooms[client->room];
  room->sent--;
  run->counts.refused++;
  run->counts.refused_deliveries += room->receivers;
  run->counts.expected -= room->receivers;
  run->expected_by[PRIORITY_NORMAL] -= room->receivers;
  run->outstanding -= room->receivers;
  client->credit++;
}

static void chat_frame(struct run *run, struct client *client, const uint8_t *data, size_t length) {
  static const char start[] = "{\"t\":\"";
  const size_t start_length = sizeof start - 1;
  if (!begins(data, length, start)) {
    run->counts.other++;
    return;
  }
  const uint8_t *type = data + start_length;
  const size_t rest = length - start_length;
  if (begins(type, rest, "msg\"")) {
    if (run->phase != PHASE_CONNECT) chat_message(run, client, data, length);
  } else if (begins(type, rest, "ack\"")) {
    run->counts.acks++;
  } else if (begins(type, rest, "typing\"")) {
    run->counts.typing_delivered++;
  } else if (begins(type, rest, "error\"")) {
    chat_error(run, client, data, length);
  } else if (begins(type, rest, "joined\"") && client->state == CLIENT_JOINING) {
    connect_joined(run, client);
  } else {
    run->counts.other++;
  }
}

/* Offset of the name of an event, after `42["`, or `421["` when the server asks for an answer; 0 when it is none. */
static size_t event_name(const uint8_t *data, size_t length) {
  if (!begins(data, length, "42")) return 0;
  size_t at = 2;
  while (at < length && data[at] >= '0' && data[at] <= '9') at++;
  return begins(data + at, length - at, "[\"") ? at + 2 : 0;
}

/* A marker at the start of a string anywhere among the arguments; other events are not the load's. */
static void socket_io_event(struct run *run, struct client *client, const uint8_t *data,
                            size_t length) {
  const char *reply = run->options->reply;
  const size_t name_length = strlen(reply);
  if (!begins(data, length, reply) || !begins(data + name_length, length - name_length, "\",")) {
    run->counts.other++;
    return;
  }
  if (run->phase == PHASE_CONNECT) return;
  const uint8_t *const end = data + length;
  const uint8_t *at = data + name_length + 1;
  while ((at = memchr(at, '#', (size_t)(end - at))) != NULL) {
    const uint8_t *text = at[-1] == '!' || at[-1] == '~' ? at - 1 : at;
    const size_t room = (size_t)(end - text);
    struct marker marker;
    if (text[-1] == '"' && marker_read(text, room, &marker)) {
      deliver(run, client, text, string_length(text, room, run->options->payload));
      return;
    }
    at++;
  }
  /* Such as the greeting of a chat, which has the same name. */
  run->counts.other++;
}

/*
 * The first digit is Engine.IO's: 0 open, 2 ping, 3 pong, 4 message. The second, of a message, is
 * Socket.IO's: 0 connect, 1 disconnect, 2 event, 4 refused.
 */
static void socket_io_frame(struct run *run, struct client *client, const uint8_t *data,
                            size_t length) {
  const size_t name_at = event_name(data, length);
  if (name_at > 0) {
    socket_io_event(run, client, data + name_at, length - name_at);
  } else if (begins(data, length, "2")) {
    send_frame(run, client, FRAME_TEXT, (const uint8_t *)"3", 1);
    run->counts.other++;
  } else if (begins(data, length, "0{") && client->state == CLIENT_JOINING) {
    send_frame(run, client, FRAME_TEXT, (const uint8_t *)"40", 2);
  } else if (begins(data, length, "40") && client->state == CLIENT_JOINING) {
    connect_joined(run, client);
  } else if (begins(data, length, "44") && client->state == CLIENT_JOINING) {
    connect_fail(run, "the server does not let connection %u join: %.*s", client->index,
                 (int)(length < 150 ? length : 150), (const char *)data);
  } else if (begins(data, length, "41")) {
    connect_closed(run, client, 1005, "the server disconnected it from the namespace");
  } else {
    run->counts.other++;
  }
}

static void message(struct run *run, struct client *client, uint8_t opcode, const uint8_t *data,
                    size_t length) {
  if (opcode == FRAME_BINARY) run->counts.binary++;
  switch ((enum protocol)run->options->protocol) {
    case PROTOCOL_RAW:
      if (run->phase != PHASE_CONNECT) deliver(run, client, data, length);
      break;
    case PROTOCOL_CHAT: chat_frame(run, client, data, length); break;
    case PROTOCOL_SOCKET_IO: socket_io_frame(run, client, data, length); break;
  }
}

static void protocol_error(struct run *run, struct client *client, const char *what) {
  run->counts.corrupt++;
  receive_fault(run, "connection %u got malformed data: %s", client->index, what);
  connect_closed(run, client, 1002, what);
}

static void data_frame(struct run *run, struct client *client, const struct frame *frame) {
  const bool continuation = frame->opcode == FRAME_CONTINUATION;
  if (continuation != (client->fragments_opcode != 0)) {
    protocol_error(run, client, continuation ? "a continuation of nothing"
                                             : "a new message within a fragmented one");
    return;
  }
  if (!continuation && frame->fin) {
    message(run, client, frame->opcode, frame->payload, frame->length);
    return;
  }
  if (!continuation) client->fragments_opcode = frame->opcode;
  bytes_append(&client->fragments, frame->payload, frame->length);
  if (client->fragments.length > FRAME_MAX_PAYLOAD) {
    protocol_error(run, client, "a message of more than 64 MiB");
  } else if (frame->fin) {
    const uint8_t opcode = client->fragments_opcode;
    client->fragments_opcode = 0;
    message(run, client, opcode, client->fragments.data, client->fragments.length);
    client->fragments.length = 0;
  }
}

static void control_frame(struct run *run, struct client *client, const struct frame *frame) {
  if (frame->opcode == FRAME_PING) {
    send_frame(run, client, FRAME_PONG, frame->payload, frame->length);
  } else if (frame->opcode == FRAME_CLOSE) {
    const uint32_t code =
        frame->length >= 2 ? (uint32_t)(frame->payload[0] << 8 | frame->payload[1]) : 1005;
    char why[160];
    snprintf(why, sizeof why, "closed by the server%s%.*s", frame->length > 2 ? ": " : "",
             frame->length > 2 ? (int)frame->length - 2 : 0, (const char *)frame->payload + 2);
    send_frame(run, client, FRAME_CLOSE, frame->payload, frame->length < 2 ? 0 : 2);
    connect_closed(run, client, code, why);
  }
}

/* Takes all whole frames off the data; returns the bytes used. */
static size_t take_frames(struct run *run, struct client *client, const uint8_t *data,
                          size_t length) {
  size_t used = 0;
  while (client->state != CLIENT_CLOSED && !run->failed) {
    struct frame frame;
    const ptrdiff_t n = frame_read(data + used, length - used, &frame);
    if (n == 0) break;
    if (n < 0) {
      protocol_error(run, client, frame_error_text(n));
      break;
    }
    used += (size_t)n;
    run->counts.frames++;
    if (frame.opcode <= FRAME_BINARY) {
      data_frame(run, client, &frame);
    } else {
      control_frame(run, client, &frame);
    }
  }
  return used;
}

static void count_batch(struct run *run, uint64_t before) {
  if (run->now < run->measure_from || run->now >= run->measure_to) return;
  const uint64_t n = run->counts.delivered - before;
  const uint64_t quarter = (run->now - run->measure_from) / 250000;
  run->counts.delivered_measured += n;
  if (quarter < run->quarters) run->per_quarter[quarter] += n;
}

void receive_ready(struct run *run, struct client *client) {
  /* Reads go behind the start of the frame that an earlier one left over. */
  size_t length = client->carry.length;
  if (run->in_room - length < READ_ROOM) {
    run->in_room = length * 2 + READ_ROOM;
    run->in = memory_resize(run->in, run->in_room, 1);
  }
  const ssize_t n = recv(client->fd, run->in + length, run->in_room - length, 0);
  if (n <= 0) {
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    connect_closed(run, client, 1006, n == 0 ? "the server ended it without a close frame"
                                             : strerror(errno));
    return;
  }
  if (run->phase == PHASE_CLOSE) return;
  run->now = clock_us() - run->origin;
  run->counts.reads++;
  run->counts.bytes_in += (uint64_t)n;
  if (length > 0) memcpy(run->in, client->carry.data, length);
  client->carry.length = 0;
  length += (size_t)n;

  size_t used = 0;
  if (client->state == CLIENT_HANDSHAKING) {
    used = connect_answer(run, client, run->in, length);
    if (run->failed) return;
  }
  const uint64_t before = run->counts.delivered;
  if (client->state != CLIENT_HANDSHAKING) {
    used += take_frames(run, client, run->in + used, length - used);
  }
  count_batch(run, before);
  if (client->state == CLIENT_CLOSED) return;
  if (length > used) bytes_append(&client->carry, run->in + used, length - used);

  if (client->credit > 0) {
    const bool again = run->options->mode == MODE_CLOSED && run->phase < PHASE_DRAIN &&
                       run->phase != PHASE_CONNECT;
    for (; again && client->credit > 0; client->credit--) send_due(run, client, run->now);
    client->credit = 0;
    if (again) send_flush(run, client);
  }
}
