#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "frame.h"
#include "load.h"

enum { MAX_BATCH = 256 };

struct draft {
  size_t end; /* in the shared buffer */
  enum frame_kind kind;
  enum priority priority;
};

void send_due(struct run *run, struct client *client, uint64_t due_us) {
  run->counts.scheduled++;
  if (client->state != CLIENT_READY) return;
  backlog_push(&client->backlog, due_us);
  run->waiting++;
}

static uint32_t stream_of(const struct run *run, enum priority priority) {
  return run->streams == 1 ? 0 : (uint32_t)priority;
}

/* The kernel has the whole frame: from here on the room's members are owed it. */
static void count_sent(struct run *run, struct client *client, enum frame_kind kind,
                       enum priority priority) {
  if (kind == FRAME_TYPING) run->counts.typing_sent++;
  if (kind != FRAME_MESSAGE) return;
  run->rooms[client->room].sent++;
  client->sent++;
  const uint32_t receivers = run_receivers(run, client);
  run->counts.sent++;
  run->sent_by[priority]++;
  run->counts.expected += receivers;
  run->expected_by[priority] += receivers;
  run->outstanding += receivers;
  if (run->now >= run->measure_from && run->now < run->measure_to) run->counts.sent_measured++;
}

/* Hands bytes to the kernel; returns how many it took. The client may be closed after. */
static size_t hand_over(struct run *run, struct client *client, const uint8_t *data, size_t length) {
  const ssize_t n = send(client->fd, data, length, MSG_NOSIGNAL);
  if (n >= 0) {
    run->counts.bytes_out += (uint64_t)n;
    return (size_t)n;
  }
  if (errno != EAGAIN && errno != EINTR) {
    connect_closed(run, client, 1006, strerror(errno));
  }
  return 0;
}

static void await_write(struct run *run, struct client *client, bool wanted) {
  if (client->awaits_write == wanted) return;
  client->awaits_write = wanted;
  connect_watch(run, client);
}

/* Writes what is left of earlier frames; true when nothing is. */
static bool flush_rest(struct run *run, struct client *client) {
  if (client->out_at == client->out.length) return true;
  client->out_at += hand_over(run, client, client->out.data + client->out_at,
                              client->out.length - client->out_at);
  if (client->state == CLIENT_CLOSED) return false;
  if (client->out_frame_end != 0 && client->out_at >= client->out_frame_end) {
    client->out_frame_end = 0;
    count_sent(run, client, client->out_kind, client->out_priority);
  }
  if (client->out_at < client->out.length) return false;
  client->out.length = client->out_at = 0;
  return true;
}

void send_frame(struct run *run, struct client *client, unsigned opcode, const uint8_t *payload,
                size_t length) {
  uint8_t frame[FRAME_MAX_HEADER + FRAME_MAX_CONTROL];
  memcpy(frame + frame_header_size(length), payload, length);
  const size_t size = frame_write(frame, (enum frame_opcode)opcode, length, client->mask);
  size_t taken = 0;
  if (client->out_at == client->out.length) taken = hand_over(run, client, frame, size);
  if (client->state == CLIENT_CLOSED || taken == size) return;
  bytes_append(&client->out, frame + taken, size - taken);
  await_write(run, client, true);
}

/* A message's text between what its protocol puts before and behind it. */
static size_t compose_text(struct run *run, struct client *client, uint8_t *at, const char *head,
                           const struct marker *marker, const char *tail) {
  const size_t head_length = strlen(head);
  const size_t tail_length = strlen(tail);
  const size_t payload = run->options->payload;
  const size_t length = head_length + payload + tail_length;
  uint8_t *text = at + frame_header_size(length);
  memcpy(text, head, head_length);
  marker_write(text + head_length, payload, marker);
  memcpy(text + head_length + payload, tail, tail_length);
  return frame_write(at, FRAME_TEXT, length, client->mask);
}

static size_t compose_typing(struct client *client, uint8_t *at) {
  client->typing = !client->typing;
  char text[96];
  const int length = snprintf(text, sizeof text, "{\"t\":\"typing\",\"room\":\"load-%u\",\"on\":%s}",
                              client->room, client->typing ? "true" : "false");
  memcpy(at + frame_header_size((size_t)length), text, (size_t)length);
  return frame_write(at, FRAME_TEXT, (size_t)length, client->mask);
}

static size_t compose_chat(struct run *run, struct client *client, uint8_t *at,
                           enum priority priority, const struct marker *marker) {
  char head[64];
  snprintf(head, sizeof head, "{\"t\":\"msg\",\"room\":\"load-%u\",\"text\":\"", client->room);
  char ref[24] = "";
  if (!run->options->no_acks) snprintf(ref, sizeof ref, ",\"ref\":\"%u\"", marker->seq);
  char tail[64];
  snprintf(tail, sizeof tail, "\"%s%s}",
           priority == PRIORITY_HIGH ? ",\"priority\":\"high\"" : "", ref);
  return compose_text(run, client, at, head, marker, tail);
}

/* Composes as many waiting messages as the shared buffer holds. Nothing is decided yet. */
static uint32_t compose(struct run *run, struct client *client, struct draft *drafts) {
  const size_t largest = run->options->payload + 256 + strlen(run->event_head) + strlen(run->event_tail);
  const uint32_t first = client->index * run->streams;
  uint32_t next[PRIORITIES];
  memcpy(next, run->sent + first, run->streams * sizeof *next);
  size_t used = 0;
  uint32_t n = 0;
  while (n < MAX_BATCH && n < client->backlog.count && run->out_room - used >= largest) {
    const enum priority priority = schedule_priority(run->options, &run->random);
    struct draft *draft = &drafts[n];
    *draft = (struct draft){.kind = FRAME_MESSAGE, .priority = priority};
    const uint32_t stream = stream_of(run, priority);
    struct marker marker = {
        .priority = priority,
        .sender = client->index,
        .seq = next[stream],
        .sched_us = backlog_at(&client->backlog, n),
    };
    if (run->options->protocol == PROTOCOL_RAW) {
      used += compose_text(run, client, run->out + used, "", &marker, "");
    } else if (run->options->protocol == PROTOCOL_SOCKET_IO) {
      used += compose_text(run, client, run->out + used, run->event_head, &marker,
                           run->event_tail);
    } else if (priority == PRIORITY_LOW) {
      draft->kind = FRAME_TYPING;
      used += compose_typing(client, run->out + used);
    } else {
      marker.priority = PRIORITY_NORMAL; /* the text of a chat message begins with # in any case */
      used += compose_chat(run, client, run->out + used, priority, &marker);
    }
    draft->end = used;
    if (draft->kind == FRAME_MESSAGE) next[stream]++;
    n++;
  }
  return n;
}

void send_flush(struct run *run, struct client *client) {
  if (!flush_rest(run, client)) {
    if (client->state != CLIENT_CLOSED) await_write(run, client, true);
    return;
  }
  struct draft drafts[MAX_BATCH];
  while (client->backlog.count > 0) {
    const uint32_t n = compose(run, client, drafts);
    const size_t taken = hand_over(run, client, run->out, drafts[n - 1].end);
    if (client->state == CLIENT_CLOSED) return;

    /* Only what the kernel took, even in part, is off the backlog and has used its number. */
    size_t start = 0;
    uint32_t begun = 0;
    for (; begun < n && start < taken; start = drafts[begun++].end) {
      const struct draft *draft = &drafts[begun];
      if (draft->kind == FRAME_MESSAGE) {
        run->sent[client->index * run->streams + stream_of(run, draft->priority)]++;
      }
      if (draft->end <= taken) {
        count_sent(run, client, draft->kind, draft->priority);
      } else {
        bytes_append(&client->out, run->out + taken, draft->end - taken);
        client->out_frame_end = client->out.length;
        client->out_kind = draft->kind;
        client->out_priority = draft->priority;
      }
    }
    backlog_drop(&client->backlog, begun);
    run->waiting -= begun;
    if (taken < drafts[n - 1].end) {
      await_write(run, client, true);
      return;
    }
  }
  await_write(run, client, false);
}
