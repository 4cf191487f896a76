/* Bytes are a vector or an error with its place, and nothing else. */
#include "vectors/reader.h"

#include <string.h>

#include "fuzz.h"

static void check_id(const vector_t* vector, int id) {
  HOLDS(id >= -1 && id < (int)vector->id_count, "an ID has a number");
}

static void check(const vector_t* vector, const vector_statement_t* statement) {
  HOLDS(statement->line >= 1, "a statement has a line");
  HOLDS(statement->type >= -1 && statement->type < (int)vector->type_count, "a type has a number");
  check_id(vector, statement->id);
  for (size_t i = 0; i < statement->id_count; i++) check_id(vector, statement->ids[i]);
  for (size_t i = 0; i < statement->pair_count; i++) HOLDS(statement->pairs[i].key >= 0, "a key is known");
  HOLDS(statement->time >= 0, "a time is a number of at least 0");
  if (statement->inner != NULL) check(vector, statement->inner);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char message[256] = "";
  vector_t* vector = vector_read((const char*)data, size, "f", message, sizeof(message));
  if (vector == NULL) {
    HOLDS(strncmp(message, "f:", 2) == 0 && strchr(message, ' ') != NULL, "an error says where and what");
    return 0;
  }
  HOLDS(message[0] == '\0', "what was read has no error");
  HOLDS(vector->name[0] != '\0', "a vector has a name");
  for (size_t i = 0; i < vector->count; i++) check(vector, &vector->statements[i]);
  vector_free(vector);
  return 0;
}
