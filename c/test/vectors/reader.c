#include "vectors/reader.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All memory of a vector: freed together. */
typedef struct block_s block_t;
struct block_s {
  block_t* next;
  max_align_t bytes[];
};

typedef struct {
  char** at;
  size_t count;
} words_t;

/* Names in the order of their first mention. */
typedef struct {
  char** names;
  int* lines;   /* where each was mentioned first */
  bool* pushed; /* of events */
  size_t count, room;
} names_t;

typedef struct {
  const char* file;
  char* message;
  size_t message_size;
  int line;
  double clock;
  bool saw_operation;
  vector_t* vector;
  size_t room; /* for statements */
  names_t ids, types;
} reader_t;

static const char usage_at[] = "at T [OPERATION]";
static const char usage_push[] = "push TYPE ID [high|normal|low] [bytes=N] [key=K]";
static const char usage_expect[] = "expect TIME TRIGGER ID…";

static void* checked(void* memory) {
  if (memory == NULL) {
    fputs("out of memory\n", stderr);
    exit(2);
  }
  return memory;
}

static void* allocate(vector_t* vector, size_t size) {
  block_t* block = checked(calloc(1, sizeof(block_t) + size));
  block->next = vector->memory_;
  vector->memory_ = block;
  return block->bytes;
}

static char* copy(vector_t* vector, const char* text, size_t size) {
  return memcpy(allocate(vector, size + 1), text, size);
}

/* Notes what is wrong; false, so that callers can return it. */
__attribute__((format(printf, 2, 3))) static bool fail(reader_t* reader, const char* sentence, ...) {
  int used = snprintf(reader->message, reader->message_size, "%s:%d: ", reader->file, reader->line);
  if (used < 0 || (size_t)used >= reader->message_size) return false;
  va_list values;
  va_start(values, sentence);
  vsnprintf(reader->message + used, reader->message_size - (size_t)used, sentence, values);
  va_end(values);
  return false;
}

static const char* joined(char* text, size_t size, const char* const* list) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; list[i] != NULL && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", list[i]);
  }
  return text;
}

static const char* joined_keys(char* text, size_t size, const vector_key_t* keys) {
  const char* names[STATS + 1];
  size_t count = 0;
  for (; keys[count].name != NULL; count++) names[count] = keys[count].name;
  names[count] = NULL;
  return joined(text, size, names);
}

/* ---- words ---- */

static words_t after(words_t words, size_t count) {
  words_t rest = {words.at + count, words.count - count};
  return rest;
}

/* Checks how many words there are; `usage` is what the line should look like. */
static bool count(reader_t* reader, words_t words, size_t least, size_t most, const char* usage) {
  if (words.count < least) return fail(reader, "a word is missing: write '%s'", usage);
  if (words.count > most) return fail(reader, "'%s' is one word too many: write '%s'", words.at[most], usage);
  return true;
}

static bool is_digit(char one) {
  return one >= '0' && one <= '9';
}

static bool is_name(const char* word) {
  if (*word == '\0') return false;
  for (; *word != '\0'; word++) {
    bool letter = (*word >= 'a' && *word <= 'z') || (*word >= 'A' && *word <= 'Z');
    if (!letter && !is_digit(*word) && strchr("_.-", *word) == NULL) return false;
  }
  return true;
}

static bool read_name(reader_t* reader, const char* word, const char* what) {
  return is_name(word) || fail(reader, "'%s' is no %s: letters, digits, '_', '.' and '-' only", word, what);
}

/* The number of a name, which is new or not. */
static int number_of(reader_t* reader, names_t* names, const char* name) {
  for (size_t i = 0; i < names->count; i++) {
    if (strcmp(names->names[i], name) == 0) return (int)i;
  }
  if (names->count == names->room) {
    names->room = names->room * 2 + 16;
    names->names = checked(realloc(names->names, names->room * sizeof(*names->names)));
    names->lines = checked(realloc(names->lines, names->room * sizeof(*names->lines)));
    names->pushed = checked(realloc(names->pushed, names->room * sizeof(*names->pushed)));
  }
  names->names[names->count] = copy(reader->vector, name, strlen(name));
  names->lines[names->count] = reader->line;
  names->pushed[names->count] = false;
  return (int)names->count++;
}

static bool read_id(reader_t* reader, const char* word, int* id) {
  if (!read_name(reader, word, "ID")) return false;
  *id = number_of(reader, &reader->ids, word);
  return true;
}

static bool read_type_name(reader_t* reader, const char* word, int* type) {
  if (!read_name(reader, word, "type")) return false;
  *type = number_of(reader, &reader->types, word);
  return true;
}

static bool read_word(reader_t* reader, const char* word, const char* what, const char* const* allowed, int* index) {
  char list[1024];
  *index = vector_find_word(allowed, word);
  return *index >= 0 ||
         fail(reader, "unknown %s '%s': allowed are %s", what, word, joined(list, sizeof(list), allowed));
}

/* An optional minus, up to 16 digits, and perhaps a point with up to 9 more. */
static bool is_number(const char* word) {
  size_t digits = 0;
  if (*word == '-') word++;
  for (; is_digit(*word); word++) digits++;
  if (digits < 1 || digits > 16) return false;
  if (*word == '\0') return true;
  if (*word++ != '.') return false;
  for (digits = 0; is_digit(*word); word++) digits++;
  return *word == '\0' && digits >= 1 && digits <= 9;
}

static bool read_number(reader_t* reader, const char* word, vector_kind_t kind, const char* what, double* value) {
  static const char* const needs[] = {
      [VECTOR_A_NUMBER] = "a decimal number",
      [VECTOR_AN_AMOUNT] = "a decimal number of at least 0",
      [VECTOR_A_SHARE] = "a decimal number within 0 and 1",
      [VECTOR_AN_INTEGER] = "a whole number",
      [VECTOR_A_COUNT] = "a whole number of at least 0",
  };
  *value = is_number(word) ? strtod(word, NULL) : NAN;
  bool whole = kind == VECTOR_AN_INTEGER || kind == VECTOR_A_COUNT;
  bool signed_ = kind == VECTOR_AN_INTEGER || kind == VECTOR_A_NUMBER;
  bool good = fabs(*value) <= 9007199254740992.0 && (!whole || floor(*value) == *value) && (signed_ || *value >= 0) &&
              (kind != VECTOR_A_SHARE || *value <= 1);
  return good || fail(reader, "%s '%s' must be %s", what, word, needs[kind]);
}

static bool read_time(reader_t* reader, words_t words, const char* usage, double* time) {
  return count(reader, words, 1, 1, usage) && read_number(reader, words.at[0], VECTOR_AN_AMOUNT, "the time", time);
}

/* Splits key=value in place; false when it is not of that form. */
static bool split_pair(char* word, char** value) {
  char* equals = strchr(word, '=');
  if (equals == NULL || equals == word || equals[1] == '\0' || strchr(equals + 1, '=') != NULL) return false;
  *equals = '\0';
  *value = equals + 1;
  return true;
}

static bool read_value(reader_t* reader, const char* value, const vector_key_t* key, vector_statement_t* statement,
                       double* to) {
  if (key->kind == VECTOR_A_NAME) {
    statement->key = copy(reader->vector, value, strlen(value));
    return read_name(reader, value, key->name);
  }
  if (key->kind != VECTOR_A_WORD) return read_number(reader, value, key->kind, key->name, to);
  int index;
  bool read = read_word(reader, value, key->name, key->words, &index);
  *to = index;
  return read;
}

static bool read_pairs(reader_t* reader, words_t words, const vector_key_t* keys, vector_statement_t* statement) {
  char list[1024];
  if (words.count == 0) {
    return fail(reader, "a key=value is missing: allowed keys are %s", joined_keys(list, sizeof(list), keys));
  }
  statement->pairs = allocate(reader->vector, words.count * sizeof(*statement->pairs));
  for (size_t i = 0; i < words.count; i++) {
    char* value;
    if (!split_pair(words.at[i], &value)) return fail(reader, "'%s' is not of the form key=value", words.at[i]);
    vector_pair_t pair = {vector_find_key(keys, words.at[i]), 0};
    if (pair.key < 0) {
      return fail(reader, "unknown key '%s': allowed are %s", words.at[i], joined_keys(list, sizeof(list), keys));
    }
    for (size_t before = 0; before < i; before++) {
      if (statement->pairs[before].key == pair.key) {
        return fail(reader, "the key '%s' stands twice on the line: write it once", words.at[i]);
      }
    }
    if (!read_value(reader, value, &keys[pair.key], statement, &pair.value)) return false;
    statement->pairs[statement->pair_count++] = pair;
  }
  return true;
}

/* Pairs after an optional type, which is a first word without '='. */
static bool read_type_and_pairs(reader_t* reader, words_t words, const vector_key_t* of_queue,
                                const vector_key_t* of_type, vector_statement_t* statement) {
  bool typed = words.count > 0 && strchr(words.at[0], '=') == NULL;
  if (!typed) return read_pairs(reader, words, of_queue, statement);
  return read_type_name(reader, words.at[0], &statement->type) &&
         read_pairs(reader, after(words, 1), of_type, statement);
}

/* ---- operations ---- */

static bool read_operation(reader_t* reader, vector_word_t word, words_t words, vector_statement_t* statement);

static void blank(reader_t* reader, vector_statement_t* statement, vector_word_t word) {
  memset(statement, 0, sizeof(*statement));
  statement->word = word;
  statement->line = reader->line;
  statement->type = statement->id = statement->choice = -1;
}

/* An operation inside another one, one of `allowed`. */
static bool read_inner(reader_t* reader, words_t words, const char* outer, const char* const* allowed,
                       vector_statement_t* statement) {
  char list[1024];
  if (words.count == 0 || vector_find_word(allowed, words.at[0]) < 0) {
    bool none = words.count == 0;
    return fail(reader, "'%s' is followed by %s%s%s: it takes one of %s", outer, none ? "" : "'",
                none ? "no operation" : words.at[0], none ? "" : "'", joined(list, sizeof(list), allowed));
  }
  statement->inner = allocate(reader->vector, sizeof(*statement->inner));
  vector_word_t word = (vector_word_t)vector_find_word(vector_words, words.at[0]);
  blank(reader, statement->inner, word);
  return read_operation(reader, word, after(words, 1), statement->inner);
}

static bool read_at(reader_t* reader, words_t words, vector_statement_t* statement) {
  if (!count(reader, words, 1, SIZE_MAX, usage_at)) return false;
  words_t first = {words.at, 1};
  if (!read_time(reader, first, usage_at, &statement->time)) return false;
  /* Sums of decimal fractions may be off by a rounding error; that is not running backwards. */
  if (statement->time < reader->clock - 1e-6) {
    return fail(reader, "time runs backwards: 'at %s', but it is %.10g already", words.at[0], reader->clock);
  }
  reader->clock = fmax(reader->clock, statement->time);
  if (words.count == 1) return true;
  const char* operations[VECTOR_EXPECT];
  size_t last = 0;
  for (int word = VECTOR_ADVANCE; word < VECTOR_EXPECT; word++) operations[last++] = vector_words[word];
  operations[last] = NULL;
  return read_inner(reader, after(words, 1), "at T", operations, statement);
}

static bool read_push(reader_t* reader, words_t words, vector_statement_t* statement) {
  if (!count(reader, words, 2, 5, usage_push) || !read_type_name(reader, words.at[0], &statement->type) ||
      !read_id(reader, words.at[1], &statement->id)) {
    return false;
  }
  bool* pushed = &reader->ids.pushed[statement->id];
  if (*pushed) return fail(reader, "the ID '%s' is pushed twice: an ID names one event", words.at[1]);
  *pushed = true;
  words = after(words, 2);
  if (words.count > 0 && strchr(words.at[0], '=') == NULL) {
    if (!read_word(reader, words.at[0], "class", vector_classes, &statement->choice)) return false;
    words = after(words, 1);
  }
  if (words.count == 0) return true;
  if (!read_pairs(reader, words, vector_push_keys, statement)) return false;
  for (size_t i = 0; i < statement->pair_count; i++) {
    if (statement->pairs[i].key == PUSH_BYTES) statement->bytes = statement->pairs[i].value;
  }
  return true;
}

static bool read_from(reader_t* reader, words_t words, vector_statement_t* statement) {
  double clock = reader->clock;
  bool read = count(reader, words, 1, SIZE_MAX, "from ID OPERATION") &&
              read_id(reader, words.at[0], &statement->id) &&
              read_inner(reader, after(words, 1), "from ID", vector_from_words, statement);
  /* When a handler takes its time, the reader cannot know. */
  reader->clock = clock;
  return read;
}

static bool read_operation(reader_t* reader, vector_word_t word, words_t words, vector_statement_t* statement) {
  char usage[32];
  switch (word) {
    case VECTOR_AT:
      return read_at(reader, words, statement);
    case VECTOR_ADVANCE:
    case VECTOR_BUSY:
      snprintf(usage, sizeof(usage), "%s T", vector_words[word]);
      if (!read_time(reader, words, usage, &statement->time)) return false;
      reader->clock += statement->time;
      return true;
    case VECTOR_PUSH:
      return read_push(reader, words, statement);
    case VECTOR_TURN:
    case VECTOR_FLUSH:
      return count(reader, words, 0, 0, vector_words[word]);
    case VECTOR_HANDLE:
    case VECTOR_UNHANDLE:
      snprintf(usage, sizeof(usage), "%s TYPE", vector_words[word]);
      return count(reader, words, 1, 1, usage) && read_type_name(reader, words.at[0], &statement->type);
    case VECTOR_CANCEL:
    case VECTOR_FAIL:
      snprintf(usage, sizeof(usage), "%s ID", vector_words[word]);
      return count(reader, words, 1, 1, usage) && read_id(reader, words.at[0], &statement->id);
    case VECTOR_FROM:
      return read_from(reader, words, statement);
    case VECTOR_SIGNAL:
      return read_type_and_pairs(reader, words, vector_signals, vector_type_signals, statement);
    case VECTOR_SET:
      return read_type_and_pairs(reader, words, vector_options, vector_type_options, statement);
    default: /* VECTOR_CLOSE */
      if (!count(reader, words, 0, 1, "close [discard]")) return false;
      statement->choice = words.count == 1;
      int index;
      static const char* const ways[] = {"discard", NULL};
      return words.count == 0 || read_word(reader, words.at[0], "way to close", ways, &index);
  }
}

/* ---- statements ---- */

static vector_statement_t* add(reader_t* reader, vector_word_t word) {
  vector_t* vector = reader->vector;
  if (vector->count == reader->room) {
    reader->room = reader->room * 2 + 16;
    vector->statements = checked(realloc(vector->statements, reader->room * sizeof(*vector->statements)));
  }
  vector_statement_t* statement = &vector->statements[vector->count++];
  blank(reader, statement, word);
  return statement;
}

static bool read_expect(reader_t* reader, words_t words) {
  vector_statement_t* statement = add(reader, VECTOR_EXPECT);
  words_t first = {words.at, 1};
  if (!count(reader, words, 3, SIZE_MAX, usage_expect) || !read_time(reader, first, usage_expect, &statement->time) ||
      !read_word(reader, words.at[1], "trigger", vector_triggers, &statement->choice)) {
    return false;
  }
  words = after(words, 2);
  statement->ids = allocate(reader->vector, words.count * sizeof(*statement->ids));
  for (; statement->id_count < words.count; statement->id_count++) {
    if (!read_id(reader, words.at[statement->id_count], &statement->ids[statement->id_count])) return false;
  }
  return true;
}

static bool read_refused(reader_t* reader, words_t words) {
  vector_statement_t* statement = add(reader, VECTOR_REFUSED);
  if (!count(reader, words, 2, 2, "refused ID CODE") ||
      !read_word(reader, words.at[1], "code", vector_codes, &statement->choice)) {
    return false;
  }
  if (statement->choice != VECTOR_INVALID) return read_id(reader, words.at[0], &statement->id);
  int key = vector_find_key(vector_options, words.at[0]);
  if (key >= 0) {
    statement->key = vector_options[key].name;
    return true;
  }
  key = vector_find_key(vector_type_options, words.at[0]);
  if (key >= 0) {
    statement->key = vector_type_options[key].name;
    return true;
  }
  char list[512], more[512];
  return fail(reader, "unknown key '%s': allowed are %s, %s", words.at[0],
              joined_keys(list, sizeof(list), vector_options), joined_keys(more, sizeof(more), vector_type_options));
}

static bool read_outcome(reader_t* reader, vector_word_t word, words_t words) {
  char usage[32];
  if (!reader->saw_operation) {
    return fail(reader, "'%s' has no operation before it to be caused by", vector_words[word]);
  }
  switch (word) {
    case VECTOR_EXPECT:
      return read_expect(reader, words);
    case VECTOR_HOLD:
      return read_time(reader, words, "hold T", &add(reader, word)->time);
    case VECTOR_ERROR:
      return count(reader, words, 1, 1, "error ID") && read_id(reader, words.at[0], &add(reader, word)->id);
    case VECTOR_REFUSED:
      return read_refused(reader, words);
    default:
      snprintf(usage, sizeof(usage), "%s ID…", vector_words[word]);
      if (!count(reader, words, 1, SIZE_MAX, usage)) return false;
      for (size_t i = 0; i < words.count; i++) {
        if (!read_id(reader, words.at[i], &add(reader, word)->id)) return false;
      }
      return true;
  }
}

static bool read_statement(reader_t* reader, words_t words) {
  int word = vector_find_word(vector_words, words.at[0]);
  words_t rest = after(words, 1);
  if (word < 0) {
    char list[1024];
    return fail(reader, "unknown word '%s': a line starts with one of %s", words.at[0],
                joined(list, sizeof(list), vector_words));
  }
  if (vector_is_outcome((vector_word_t)word)) return read_outcome(reader, (vector_word_t)word, rest);
  vector_statement_t* statement = add(reader, (vector_word_t)word);
  if (word == VECTOR_ESTIMATE) {
    return read_type_and_pairs(reader, rest, vector_estimates, vector_type_signals, statement);
  }
  if (word == VECTOR_STATS) return read_pairs(reader, rest, vector_stats, statement);
  bool again = reader->saw_operation;
  reader->saw_operation = true;
  if (word != VECTOR_CONFIG) return read_operation(reader, (vector_word_t)word, rest, statement);
  if (again) return fail(reader, "'config' must come before every other operation, and only once");
  return read_pairs(reader, rest, vector_options, statement);
}

/* ---- the file ---- */

static bool is_blank(char one) {
  return one == ' ' || (one >= '\t' && one <= '\r');
}

static bool read_title(reader_t* reader, const char* line) {
  const char* text = line + (*line == '#');
  while (is_blank(*text)) text++;
  size_t size = strlen(text);
  while (size > 0 && is_blank(text[size - 1])) size--;
  if (*line != '#' || size == 0) {
    return fail(reader, "the first line must be a comment that names the behaviour: # one sentence");
  }
  reader->vector->name = copy(reader->vector, text, size);
  return true;
}

static words_t split(char* line, char** room) {
  words_t words = {room, 0};
  while (*line != '\0') {
    line += strspn(line, " \t");
    if (*line == '\0') break;
    words.at[words.count++] = line;
    line += strcspn(line, " \t");
    if (*line != '\0') *line++ = '\0';
  }
  return words;
}

/* `text` is changed; `room` is for as many words as a line can have. */
static bool read_lines(reader_t* reader, char* text, char** room) {
  for (char* line = text; line != NULL; reader->line++) {
    char* end = strchr(line, '\n');
    char* next = end == NULL ? NULL : end + 1;
    if (end != NULL) {
      if (end > line && end[-1] == '\r') end--;
      *end = '\0';
    }
    if (reader->line == INT_MAX) return fail(reader, "too many lines");
    if (reader->line == 1 && !read_title(reader, line)) return false;
    if (*line != '#') {
      words_t words = split(line, room);
      if (words.count > 0 && !read_statement(reader, words)) return false;
    }
    line = next;
  }
  for (size_t i = 0; i < reader->ids.count; i++) {
    reader->line = reader->ids.lines[i];
    if (!reader->ids.pushed[i]) {
      return fail(reader, "unknown ID '%s': no push of this file has it", reader->ids.names[i]);
    }
  }
  return true;
}

/* The text as a string. Zero bytes become a character that no name, key or number has, so that each is an error. */
static char* as_string(const char* text, size_t size) {
  char* string = checked(malloc(size + 1));
  for (size_t i = 0; i < size; i++) string[i] = text[i] == '\0' ? '?' : text[i];
  string[size] = '\0';
  return string;
}

vector_t* vector_read(const char* text, size_t size, const char* file, char* message, size_t message_size) {
  reader_t reader = {.file = file, .message = message, .message_size = message_size, .line = 1};
  vector_t* vector = reader.vector = checked(calloc(1, sizeof(*vector)));
  vector->file = copy(vector, file, strlen(file));
  char* string = as_string(text, size);
  char** room = checked(malloc((size / 2 + 1) * sizeof(*room)));
  bool read = read_lines(&reader, string, room);
  free(room);
  free(string);
  free(reader.ids.lines);
  free(reader.ids.pushed);
  free(reader.types.lines);
  free(reader.types.pushed);
  vector->ids = reader.ids.names;
  vector->id_count = reader.ids.count;
  vector->types = reader.types.names;
  vector->type_count = reader.types.count;
  if (read) return vector;
  vector_free(vector);
  return NULL;
}

void vector_free(vector_t* vector) {
  if (vector == NULL) return;
  for (block_t* block = vector->memory_; block != NULL;) {
    block_t* next = block->next;
    free(block);
    block = next;
  }
  free(vector->statements);
  free(vector->ids);
  free(vector->types);
  free(vector);
}
