/* Reads conformance vectors. The grammar is the one of conformance/README.md and is frozen: what this reader does not
 * know is an error of the vector, never something to skip. */
#ifndef VECTOR_READER_H
#define VECTOR_READER_H

#include <stddef.h>

#include "vectors/words.h"

typedef struct {
  int key; /* index in the list of keys that the statement takes */
  double value;
} vector_pair_t;

typedef struct vector_statement_s vector_statement_t;
struct vector_statement_s {
  vector_word_t word;
  int line;
  int type;        /* index, or -1 */
  int id;          /* index, or -1 */
  int choice;      /* push: the class, or -1; expect: the trigger; refused: the code; close: 1 to discard */
  double time;     /* at, expect, and hold: the ms */
  double bytes;    /* push */
  const char* key; /* push (or NULL); refused KEY invalid */
  vector_pair_t* pairs; /* config, set, signal, estimate, stats */
  size_t pair_count;
  int* ids; /* expect; the other outcomes have a statement for each ID */
  size_t id_count;
  vector_statement_t* inner; /* at (or NULL), from */
};

typedef struct {
  const char* name; /* the sentence of the first line */
  const char* file;
  vector_statement_t* statements;
  size_t count;
  /* Events and types are numbered in the order in which they are first mentioned. */
  char** ids;
  size_t id_count;
  char** types;
  size_t type_count;
  void* memory_;
} vector_t;

/* Reads one vector. NULL when the grammar does not allow it: then `message` is "file:line: sentence". */
vector_t* vector_read(const char* text, size_t size, const char* file, char* message, size_t message_size);
void vector_free(vector_t* vector);

#endif
