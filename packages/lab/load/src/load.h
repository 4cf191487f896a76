#ifndef MILLRACE_LOAD_H
#define MILLRACE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backlog.h"
#include "bytes.h"
#include "histogram.h"
#include "marker.h"
#include "options.h"
#include "random.h"
#include "schedule.h"
#include "sequence.h"

/* The state of a run, which connecting, sending, receiving and reporting share. */

enum client_state {
  CLIENT_UNOPENED,
  CLIENT_CONNECTING,
  CLIENT_HANDSHAKING,
  CLIENT_JOINING, /* chat, socket.io: until the server confirms the room or the namespace */
  CLIENT_READY,
  CLIENT_CLOSED,
};

/* Content of a frame being written. Tracked messages have a sequence number. */
enum frame_kind { FRAME_MESSAGE, FRAME_TYPING, FRAME_OTHER };

struct client {
  int fd;
  uint32_t index;
  uint32_t room;
  enum client_state state;
  bool slow;          /* never reads */
  bool awaits_write;  /* the kernel has no room for what is to be written */
  bool typing;        /* what it last told the others */
  uint8_t mask[4];
  uint8_t fragments_opcode; /* of the fragmented message being gathered; 0: none */
  uint32_t credit;          /* echoes back since the last write, closed mode */

  struct sequence *seen; /* [sender of the room][stream] */
  uint64_t unique;       /* deliveries, each counted once */
  uint64_t sent;         /* its own messages that the kernel has */
  struct bytes carry;    /* the start of a frame whose rest is to come */
  struct bytes fragments;

  struct backlog backlog;
  struct bytes out; /* what is left of frames the kernel took in part */
  size_t out_at;
  size_t out_frame_end; /* end of the message in `out`; 0: it holds none */
  enum frame_kind out_kind;
  enum priority out_priority;
};

struct room {
  uint32_t receivers; /* connections that are open and read */
  uint64_t sent;      /* messages */
};

enum phase { PHASE_CONNECT, PHASE_WARMUP, PHASE_MEASURE, PHASE_DRAIN, PHASE_CLOSE };

struct counts {
  uint64_t scheduled; /* messages due so far */
  uint64_t sent;
  uint64_t sent_measured; /* in the measured window */
  uint64_t expected;      /* deliveries */
  uint64_t delivered;     /* each counted once */
  uint64_t delivered_measured;
  uint64_t duplicated;
  uint64_t reordered;
  uint64_t corrupt;
  uint64_t checked;
  uint64_t acks;
  uint64_t errors;
  uint64_t refused;            /* messages a server answered with an error */
  uint64_t refused_deliveries; /* and the deliveries they would have made */
  uint64_t typing_sent;
  uint64_t typing_delivered;
  uint64_t closed_early;
  uint64_t slow_closed;
  uint64_t lost_on_closed; /* deliveries still owed to connections when they closed early */
  uint64_t frames;
  uint64_t binary; /* messages that came as binary frames */
  uint64_t other;  /* frames that are no part of the load: presence, notices… */
  uint64_t reads;
  uint64_t bytes_in;
  uint64_t bytes_out;
};

enum { MAX_CLOSE_CODES = 16 };

struct close_code {
  uint32_t code; /* 1006: without a close frame */
  uint64_t count;
};

struct run {
  const struct options *options;
  struct client *clients;
  struct room *rooms;
  uint32_t streams; /* sequences per sender: 3 where priorities may overtake each other, else 1 */
  uint32_t *sent;   /* [sender][stream]: the next sequence number */
  char event_head[1200]; /* what socket.io has before and behind the text of a message */
  char event_tail[1100];

  int epoll;
  enum phase phase;
  uint64_t origin; /* clock at the run's start, µs; the times below count from it */
  uint64_t now;
  uint64_t measure_from;
  uint64_t measure_to;
  struct schedule schedule;
  struct random random;

  uint64_t next_due;  /* of the schedule; UINT64_MAX: none */
  uint64_t next_tick; /* of the progress */

  uint32_t opened; /* connections begun */
  uint32_t opening;
  uint32_t ready;
  uint32_t open; /* ready and not closed since */
  uint32_t source; /* 127.0.0.x to connect from; 0: as the kernel likes */

  uint64_t waiting;     /* messages in backlogs */
  uint64_t outstanding; /* deliveries expected and not yet seen */
  uint32_t until_check;
  uint8_t *in; /* shared by all reads */
  size_t in_room;
  uint8_t *out; /* shared by all writes */
  size_t out_room;

  struct counts counts;
  struct sequence_store gaps;
  uint64_t sent_by[PRIORITIES];
  uint64_t expected_by[PRIORITIES];
  uint64_t delivered_by[PRIORITIES];
  struct histogram latency[PRIORITIES]; /* by stream */
  struct histogram echo;                /* a sender's own messages */
  struct histogram late;                /* how late the generator itself took up a due message */
  uint64_t *per_quarter; /* deliveries in each quarter of a second of the window */
  uint32_t quarters;

  uint64_t cpu_from;
  uint64_t cpu_to;
  uint64_t stopped_at;
  bool partial;
  bool failed; /* could not connect */
  struct close_code close_codes[MAX_CLOSE_CODES];
  char why[256];         /* of a failure */
  char first_fault[256]; /* the first delivery fault, in words */
  char first_error[256]; /* the first error frame */
};

/* connect.c: opening and closing. */
void connect_more(struct run *run);
void connect_writable(struct run *run, struct client *client);
/* Takes the answer to the handshake at the start of the data; returns the bytes used, 0: more. */
size_t connect_answer(struct run *run, struct client *client, const uint8_t *data, size_t length);
void connect_joined(struct run *run, struct client *client);
void connect_fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The connection has ended, `code` from the close frame or 1006. */
void connect_closed(struct run *run, struct client *client, uint32_t code, const char *why);
void connect_watch(struct run *run, struct client *client);

/* send.c */
/* A message has become due: it is written at the next flush, unless its sender is closed. */
void send_due(struct run *run, struct client *client, uint64_t due_us);
void send_flush(struct run *run, struct client *client);
/* Sends any frame but a message; the payload at most FRAME_MAX_CONTROL bytes. */
void send_frame(struct run *run, struct client *client, unsigned opcode, const uint8_t *payload,
                size_t length);

/* receive.c: one read, and everything in it. */
void receive_ready(struct run *run, struct client *client);
void receive_fault(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* run.c */
void run_start(struct run *run, const struct options *options);

/* Number of connections that get a message of this client. */
uint32_t run_receivers(const struct run *run, const struct client *client);
void run_all(struct run *run);
void run_stop(int signal);
void run_free(struct run *run);

/* progress.c */
void progress_line(const struct run *run, uint32_t second);
/* Reports the beginning or end of the measured window, for a driver that reads the server's costs. */
void progress_mark(const struct run *run, const char *mark);

/* report.c */
/* Deliveries expected and never seen. */
uint64_t report_lost(const struct run *run);
bool report_faults(const struct run *run);
void report_json(const struct run *run);

#endif
