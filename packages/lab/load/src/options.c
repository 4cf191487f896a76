#include "options.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "marker.h"
#include "random.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_NUMBER, KIND_CHOICE, KIND_FLAG };

struct spec {
  const char *name;
  enum kind kind;
  size_t offset;
  double low;
  double high;
  const char *fallback; /* the default, as it would be typed; NULL: worked out */
  const char *choices;  /* of a KIND_CHOICE, in the order of its enum */
  const char *unit;
  const char *help;
};

#define AT(field) offsetof(struct options, field)

static const struct spec specs[] = {
    {"host", KIND_TEXT, AT(host), 0, 0, "127.0.0.1", NULL, "", "server; this machine only"},
    {"port", KIND_COUNT, AT(port), 1, 65535, "8080", NULL, "", "server's port"},
    {"path", KIND_TEXT, AT(path), 0, 0, NULL, NULL, "", 
     "request path (raw: /, chat: /ws, socket.io: /socket.io/)"},
    {"protocol", KIND_CHOICE, AT(protocol), 0, 0, "raw", "raw|chat|socket.io", "",
     "what the server speaks"},
    {"event", KIND_TEXT, AT(event), 0, 0, "m", NULL, "", "socket.io: the event that is sent"},
    {"reply", KIND_TEXT, AT(reply), 0, 0, NULL, NULL, "",
     "socket.io: the event that comes back (the same)"},
    {"data", KIND_TEXT, AT(data), 0, 0, "\"{text}\"", NULL, "",
     "socket.io: the event's arguments as JSON; {text} is the message's text"},
    {"to", KIND_CHOICE, AT(to), 0, 0, "everyone", "everyone|others|sender", "",
     "whom of a room the server sends a message to"},
    {"mode", KIND_CHOICE, AT(mode), 0, 0, "closed", "closed|open", "",
     "closed: next message when the echo is back; open: by the clock"},
    {"connections", KIND_COUNT, AT(connections), 1, 60000, "100", NULL, "", "connections"},
    {"rooms", KIND_COUNT, AT(rooms), 1, 60000, "1", NULL, "",
     "rooms; connection i is in room i % rooms"},
    {"senders", KIND_COUNT, AT(senders), 1, 60000, NULL, NULL, "",
     "only the first so many connections send (all that read)"},
    {"slow-readers", KIND_COUNT, AT(slow_readers), 0, 59999, "0", NULL, "",
     "the last so many connections never read"},
    {"payload", KIND_COUNT, AT(payload), MARKER_MIN_PAYLOAD, MARKER_MAX_PAYLOAD, "100", NULL,
     "bytes", "length of a message's text"},
    {"inflight", KIND_COUNT, AT(inflight), 1, 1024, "1", NULL, "messages",
     "closed mode: messages a sender keeps outstanding"},
    {"rate", KIND_NUMBER, AT(rate), 0.001, 10e6, NULL, NULL, "messages/s",
     "open mode: messages sent, over all senders"},
    {"deliveries-rate", KIND_NUMBER, AT(deliveries_rate), 0.001, 100e6, NULL, NULL, "deliveries/s",
     "open mode, in place of rate: deliveries offered"},
    {"pattern", KIND_CHOICE, AT(pattern), 0, 0, "steady", "steady|spikes|ramp|sustained|mixed", "",
     "open mode: the rate over time"},
    {"users", KIND_CHOICE, AT(users), 0, 0, "uniform", "uniform|casual|active|blend", "",
     "open mode: who sends"},
    {"spacing", KIND_CHOICE, AT(spacing), 0, 0, "poisson", "poisson|uniform", "",
     "open mode: gaps between messages"},
    {"seconds", KIND_NUMBER, AT(seconds), 0.1, 86400, "10", NULL, "s", "measured time"},
    {"warmup", KIND_NUMBER, AT(warmup), 0, 3600, "2", NULL, "s",
     "time before it, in no statistics"},
    {"drain", KIND_NUMBER, AT(drain), 0, 3600, "10", NULL, "s",
     "at most so long for what is under way at the end"},
    {"check-every", KIND_COUNT, AT(check_every), 1, 1000000, "64", NULL, "deliveries",
     "compare every letter of each so manieth delivery"},
    {"connect-concurrency", KIND_COUNT, AT(connect_concurrency), 1, 4096, "64", NULL, "",
     "connections being opened at once"},
    {"connect-timeout", KIND_NUMBER, AT(connect_timeout), 0.1, 3600, "10", NULL, "s",
     "give up when no further connection opens for so long"},
    {"seed", KIND_COUNT, AT(seed), 0, 4294967295.0, NULL, NULL, "", "of all randomness (random)"},
    {"progress", KIND_CHOICE, AT(progress), 0, 0, "text", "text|json|none", "",
     "a line a second on stderr"},
    {"no-acks", KIND_FLAG, AT(no_acks), 0, 0, NULL, NULL, "", "chat: ask for no acknowledgements"},
};

enum { SPECS = sizeof specs / sizeof specs[0] };

static void *field(const struct spec *spec, struct options *options) {
  return (char *)options + spec->offset;
}

static const void *const_field(const struct spec *spec, const struct options *options) {
  return (const char *)options + spec->offset;
}

static const struct spec *find(const char *name, size_t length) {
  for (size_t i = 0; i < SPECS; i++) {
    if (strlen(specs[i].name) == length && memcmp(specs[i].name, name, length) == 0) {
      return &specs[i];
    }
  }
  return NULL;
}

/* The place of a word in a list "a|b|c", or -1. */
static int choice_index(const char *choices, const char *word) {
  int index = 0;
  while (*choices != '\0') {
    const size_t length = strcspn(choices, "|");
    if (strlen(word) == length && memcmp(choices, word, length) == 0) return index;
    choices += length + (choices[length] == '|');
    index++;
  }
  return -1;
}

static void choice_word(const char *choices, uint32_t index, char *out, size_t room) {
  for (; index > 0; index--) choices += strcspn(choices, "|") + 1;
  snprintf(out, room, "%.*s", (int)strcspn(choices, "|"), choices);
}

static bool assign(const struct spec *spec, const char *value, struct options *options, char *why,
                   size_t room) {
  char *end;
  double number = 0;
  if (spec->kind == KIND_COUNT || spec->kind == KIND_NUMBER) {
    number = strtod(value, &end);
    const bool whole = spec->kind == KIND_COUNT;
    if (end == value || *end != '\0' || !(number >= spec->low && number <= spec->high) ||
        (whole && number != floor(number))) {
      snprintf(why, room, "--%s %s: must be a %s from %.10g to %.10g%s%s", spec->name, value,
               whole ? "whole number" : "number", spec->low, spec->high,
               spec->unit[0] == '\0' ? "" : " ", spec->unit);
      return false;
    }
  }
  switch (spec->kind) {
    case KIND_TEXT: memcpy(field(spec, options), &value, sizeof value); break;
    case KIND_NUMBER: *(double *)field(spec, options) = number; break;
    case KIND_COUNT: *(uint32_t *)field(spec, options) = (uint32_t)number; break;
    case KIND_CHOICE: {
      const int index = choice_index(spec->choices, value);
      if (index < 0) {
        snprintf(why, room, "--%s %s: must be one of %s", spec->name, value, spec->choices);
        return false;
      }
      *(uint32_t *)field(spec, options) = (uint32_t)index;
      break;
    }
    case KIND_FLAG: *(bool *)field(spec, options) = true; break;
  }
  return true;
}

/* Load goes to this machine alone: the generator is no weapon. */
static bool is_loopback(const struct options *options) {
  struct in_addr v4;
  if (inet_pton(AF_INET, options->host, &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return strcmp(options->host, "::1") == 0;
}

/* Each receiver follows each sender of its room: 8 bytes a pair, 2 GB at most. */
static const double MAX_SEQUENCES = 250e6;

static double sequences(const struct options *options) {
  const double senders = ceil((double)options->senders / options->rooms);
  const double streams = options->pattern == PATTERN_MIXED ? 3 : 1;
  return senders * streams * (options->connections - options->slow_readers);
}

/* Within the quotes of JSON as it is. */
static bool is_plain(const char *text) {
  if (*text == '\0') return false;
  for (; *text != '\0'; text++) {
    if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\') return false;
  }
  return true;
}

enum { MAX_NAME = 100, MAX_DATA = 1000 };

static bool protocol_fits(const struct options *options, const bool given[SPECS], char *why,
                          size_t room) {
  static const char *const names[] = {"event", "reply", "data"};
  for (size_t i = 0; options->protocol != PROTOCOL_SOCKET_IO && i < 3; i++) {
    if (given[find(names[i], strlen(names[i])) - specs]) {
      snprintf(why, room, "--%s: belongs to --protocol socket.io", names[i]);
      return false;
    }
  }
  const char *const events[] = {options->event, options->reply};
  for (size_t i = 0; i < 2; i++) {
    if (strlen(events[i]) <= MAX_NAME && is_plain(events[i])) continue;
    snprintf(why, room,
             "--%s %.40s: must be a name of 1 to %d bytes without \" and \\ and control characters",
             names[i], events[i], MAX_NAME);
    return false;
  }
  const char *const text = strstr(options->data, "\"{text}\"");
  if (text == NULL || strstr(text + 1, "\"{text}\"") != NULL || strlen(options->data) > MAX_DATA) {
    snprintf(why, room, "--data %.40s: must have \"{text}\" once, in at most %d bytes of JSON",
             options->data, MAX_DATA);
    return false;
  }
  if (options->protocol == PROTOCOL_CHAT && options->to != TO_EVERYONE) {
    snprintf(why, room, "--to: must be everyone with --protocol chat");
    return false;
  }
  if (options->to == TO_OTHERS && options->mode == MODE_CLOSED) {
    snprintf(why, room,
             "--to others: belongs to --mode open; in closed mode a sender waits for its own message");
    return false;
  }
  return true;
}

static bool fits_together(struct options *options, const bool given[SPECS], char *why,
                          size_t room) {
  const bool rate = options->rate > 0;
  const bool deliveries_rate = options->deliveries_rate > 0;
  if (!is_loopback(options)) {
    snprintf(why, room,
             "--host %s: must be this machine (127.0.0.0/8, localhost or ::1); "
             "no other one is ever loaded",
             options->host);
  } else if (options->path != NULL &&
             (options->path[0] != '/' || strpbrk(options->path, " \r\n#") != NULL)) {
    snprintf(why, room, "--path %s: must begin with / and hold no blank, line end or #",
             options->path);
  } else if (options->rooms > options->connections) {
    snprintf(why, room, "--rooms %u: must be from 1 to the number of connections, %u",
             options->rooms, options->connections);
  } else if (options->slow_readers >= options->connections) {
    snprintf(why, room, "--slow-readers %u: must be from 0 to %u, one less than the connections",
             options->slow_readers, options->connections - 1);
  } else if (options->senders > options->connections - options->slow_readers) {
    snprintf(why, room, "--senders %u: must be from 1 to %u, the connections that read",
             options->senders, options->connections - options->slow_readers);
  } else if (sequences(options) > MAX_SEQUENCES) {
    snprintf(why, room,
             "--rooms %u: rooms of %u senders and %u receivers in all make %.3g sequences to "
             "follow, more than %g; use more rooms, or fewer --senders",
             options->rooms, (options->senders + options->rooms - 1) / options->rooms,
             options->connections - options->slow_readers, sequences(options), MAX_SEQUENCES);
  } else if (options->mode == MODE_OPEN && rate == deliveries_rate) {
    snprintf(why, room,
             "--mode open: needs either --rate (messages/s sent) or --deliveries-rate "
             "(deliveries/s offered)%s",
             rate ? ", not both" : "");
  } else if (options->mode == MODE_OPEN && given[find("inflight", 8) - specs]) {
    snprintf(why, room, "--inflight %u: belongs to --mode closed; open mode sends by the clock",
             options->inflight);
  } else if (options->pattern == PATTERN_SUSTAINED && given[find("warmup", 6) - specs] &&
             options->warmup > 0) {
    snprintf(why, room, "--warmup %g: must be 0 with --pattern sustained, which has none",
             options->warmup);
  } else if (!protocol_fits(options, given, why, room)) {
    return false;
  } else {
    static const char *const open_only[] = {"rate", "deliveries-rate", "pattern", "users",
                                            "spacing"};
    for (size_t i = 0; options->mode == MODE_CLOSED && i < 5; i++) {
      if (given[find(open_only[i], strlen(open_only[i])) - specs]) {
        snprintf(why, room, "--%s: belongs to --mode open; in closed mode the answers set the pace",
                 open_only[i]);
        return false;
      }
    }
    return true;
  }
  return false;
}

enum options_outcome options_parse(int argc, char **argv, struct options *options, char *why,
                                   size_t why_room) {
  bool given[SPECS] = {false};
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < SPECS; i++) {
    if (specs[i].fallback != NULL) assign(&specs[i], specs[i].fallback, options, why, why_room);
  }
  for (int i = 1; i < argc; i++) {
    const char *argument = argv[i];
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) return OPTIONS_HELP;
    if (strcmp(argument, "--quiet") == 0) {
      options->progress = PROGRESS_NONE;
      continue;
    }
    if (strncmp(argument, "--", 2) != 0) {
      snprintf(why, why_room, "%s: every option begins with --; --help lists them", argument);
      return OPTIONS_BAD;
    }
    const size_t length = strcspn(argument + 2, "=");
    const struct spec *spec = find(argument + 2, length);
    if (spec == NULL) {
      snprintf(why, why_room, "--%.*s: there is no such option; --help lists them", (int)length,
               argument + 2);
      return OPTIONS_BAD;
    }
    const char *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
    if (spec->kind == KIND_FLAG && value != NULL) {
      snprintf(why, why_room, "--%s: takes no value, it is on when given", spec->name);
      return OPTIONS_BAD;
    }
    if (spec->kind != KIND_FLAG && value == NULL && ++i < argc) value = argv[i];
    if (spec->kind != KIND_FLAG && value == NULL) {
      snprintf(why, why_room, "--%s: needs a value", spec->name);
      return OPTIONS_BAD;
    }
    if (!assign(spec, value, options, why, why_room)) return OPTIONS_BAD;
    given[spec - specs] = true;
  }

  if (strcmp(options->host, "localhost") == 0) options->host = "127.0.0.1";
  if (strcmp(options->host, "[::1]") == 0) options->host = "::1";
  static const char *const paths[] = {"/", "/ws", "/socket.io/"};
  if (options->path == NULL) options->path = paths[options->protocol];
  if (options->reply == NULL) options->reply = options->event;
  if (!given[find("senders", 7) - specs] && options->connections > options->slow_readers) {
    options->senders = options->connections - options->slow_readers;
  }
  if (!given[find("seed", 4) - specs]) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    struct random random;
    random_seed(&random, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
    options->seed = (uint32_t)random_next(&random);
  }
  if (!fits_together(options, given, why, why_room)) return OPTIONS_BAD;
  if (options->pattern == PATTERN_SUSTAINED) options->warmup = 0;
  return OPTIONS_GOOD;
}

void options_help(FILE *out) {
  fputs("usage: millrace-load [--option value]…\n\n"
        "Loads a WebSocket server on this machine and checks every delivery.\n"
        "Progress goes to stderr, one JSON object to stdout.\n\n",
        out);
  for (size_t i = 0; i < SPECS; i++) {
    const struct spec *spec = &specs[i];
    char allowed[80] = "";
    if (spec->kind == KIND_CHOICE) snprintf(allowed, sizeof allowed, "%s", spec->choices);
    if (spec->kind == KIND_COUNT || spec->kind == KIND_NUMBER) {
      snprintf(allowed, sizeof allowed, "%.10g..%.10g%s%s", spec->low, spec->high,
               spec->unit[0] == '\0' ? "" : " ", spec->unit);
    }
    fprintf(out, "  --%-20s %s", spec->name, spec->help);
    if (allowed[0] != '\0') fprintf(out, "; %s", allowed);
    if (spec->fallback != NULL) fprintf(out, " [%s]", spec->fallback);
    fputc('\n', out);
  }
  fputs("  --quiet                the same as --progress none\n"
        "  --help                 this\n\n"
        "exit: 0 all arrived; 1 a delivery fault (lost, duplicated, reordered, corrupt, connection\n"
        "      closed early); 2 bad usage; 3 could not connect; 4 could not write the report\n",
        out);
}

void options_json(const struct options *options, FILE *out) {
  const char *comma = "";
  for (size_t i = 0; i < SPECS; i++) {
    const struct spec *spec = &specs[i];
    const void *value = const_field(spec, options);
    char key[32];
    snprintf(key, sizeof key, "%s", spec->name);
    for (char *c = key; *c != '\0'; c++) {
      if (*c == '-') *c = '_';
    }
    fprintf(out, "%s\"%s\":", comma, key);
    comma = ",";
    switch (spec->kind) {
      case KIND_TEXT: {
        const char *text;
        memcpy(&text, value, sizeof text);
        fputc('"', out);
        for (; *text != '\0'; text++) {
          if (*text == '"' || *text == '\\') fputc('\\', out);
          if ((unsigned char)*text >= ' ') fputc(*text, out);
        }
        fputc('"', out);
        break;
      }
      case KIND_COUNT: fprintf(out, "%u", *(const uint32_t *)value); break;
      case KIND_NUMBER: fprintf(out, "%.10g", *(const double *)value); break;
      case KIND_CHOICE: {
        char word[32];
        choice_word(spec->choices, *(const uint32_t *)value, word, sizeof word);
        fprintf(out, "\"%s\"", word);
        break;
      }
      case KIND_FLAG: fputs(*(const bool *)value ? "true" : "false", out); break;
    }
  }
}
