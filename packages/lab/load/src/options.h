#ifndef MILLRACE_OPTIONS_H
#define MILLRACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum protocol { PROTOCOL_RAW, PROTOCOL_CHAT, PROTOCOL_SOCKET_IO };
enum audience { TO_EVERYONE, TO_OTHERS, TO_SENDER };
enum mode { MODE_CLOSED, MODE_OPEN };
enum pattern { PATTERN_STEADY, PATTERN_SPIKES, PATTERN_RAMP, PATTERN_SUSTAINED, PATTERN_MIXED };
enum users { USERS_UNIFORM, USERS_CASUAL, USERS_ACTIVE, USERS_BLEND };
enum spacing { SPACING_POISSON, SPACING_UNIFORM };
enum progress { PROGRESS_TEXT, PROGRESS_JSON, PROGRESS_NONE };

/* Options of the command line. The README's table explains each. */
struct options {
  const char *host;
  const char *path; /* NULL: the protocol's own */
  uint32_t port;
  uint32_t protocol;
  const char *event; /* socket.io: its name, as JSON has it between quotes */
  const char *reply; /* the event that comes back; NULL: the same */
  const char *data;  /* the arguments, with {text} for the message's text */
  uint32_t to;       /* enum audience */
  uint32_t mode;
  uint32_t connections;
  uint32_t rooms;
  uint32_t senders;
  uint32_t slow_readers;
  uint32_t payload;
  uint32_t inflight;
  double rate;
  double deliveries_rate;
  uint32_t pattern;
  uint32_t users;
  uint32_t spacing;
  double seconds;
  double warmup;
  double drain;
  uint32_t check_every;
  uint32_t connect_concurrency;
  double connect_timeout;
  uint32_t seed;
  uint32_t progress;
  bool no_acks;
};

enum options_outcome { OPTIONS_GOOD, OPTIONS_HELP, OPTIONS_BAD };

/*
 * Fills `options` from the arguments and the defaults. When it returns OPTIONS_BAD, `why` is a
 * sentence that names the option, the value and what is allowed.
 */
enum options_outcome options_parse(int argc, char **argv, struct options *options, char *why,
                                   size_t why_room);

void options_help(FILE *out);

/* Writes all options as the members of a JSON object, without the braces. */
void options_json(const struct options *options, FILE *out);

#endif
