#include "vectors/play.h"

#include <math.h>
#include <string.h>

#include "vectors/run.h"

/* Numbers of vectors agree within 0.001 or one thousandth, whichever is larger. */
static bool near(double expected, double actual) {
  return fabs(expected - actual) <= fmax(0.001, fabs(expected) / 1000);
}

static bool same(const vector_statement_t* expected, const vector_statement_t* actual) {
  if (expected->word != actual->word) return false;
  if (expected->word == VECTOR_HOLD) return near(expected->time, actual->time);
  if (expected->word != VECTOR_EXPECT) {
    bool keys = expected->key == actual->key ||
                (expected->key != NULL && actual->key != NULL && strcmp(expected->key, actual->key) == 0);
    return keys && expected->id == actual->id && expected->choice == actual->choice;
  }
  return near(expected->time, actual->time) && expected->choice == actual->choice &&
         expected->id_count == actual->id_count &&
         memcmp(expected->ids, actual->ids, expected->id_count * sizeof(*expected->ids)) == 0;
}

static void print_outcome(FILE* to, const vector_t* vector, const vector_statement_t* outcome) {
  if (outcome == NULL) {
    fputs("nothing", to);
    return;
  }
  fputs(vector_words[outcome->word], to);
  if (outcome->word == VECTOR_HOLD || outcome->word == VECTOR_EXPECT) fprintf(to, " %.10g", outcome->time);
  if (outcome->word == VECTOR_EXPECT) fprintf(to, " %s", vector_triggers[outcome->choice]);
  for (size_t i = 0; i < outcome->id_count; i++) fprintf(to, " %s", vector->ids[outcome->ids[i]]);
  if (outcome->id >= 0) fprintf(to, " %s", vector->ids[outcome->id]);
  if (outcome->key != NULL) fprintf(to, " %s", outcome->key);
  if (outcome->word == VECTOR_REFUSED) fprintf(to, " %s", vector_codes[outcome->choice]);
}

static bool differ(FILE* to, const vector_t* vector, int line, const vector_statement_t* expected,
                   const vector_statement_t* actual) {
  fprintf(to, "%s:%d: expected '", vector->file, line);
  print_outcome(to, vector, expected);
  fputs("', got '", to);
  print_outcome(to, vector, actual);
  fputs("'\n", to);
  return false;
}

static bool query(vector_run_t* run, const vector_statement_t* statement, FILE* to) {
  double state[STATS]; /* enough for the estimates, too */
  const vector_key_t* keys = vector_stats;
  if (statement->word == VECTOR_STATS) {
    vector_run_stats(run, state);
  } else {
    vector_run_estimate(run, statement->type, state);
    keys = statement->type < 0 ? vector_estimates : vector_type_signals;
  }
  for (size_t i = 0; i < statement->pair_count; i++) {
    const vector_pair_t* pair = &statement->pairs[i];
    if (near(pair->value, state[pair->key])) continue;
    const char* name = keys[pair->key].name;
    fprintf(to, "%s:%d: expected '%s=%.10g', got '%s=%.10g'\n", run->vector->file, statement->line, name, pair->value,
            name, state[pair->key]);
    return false;
  }
  return true;
}

static bool play(vector_run_t* run, FILE* to) {
  const vector_t* vector = run->vector;
  size_t seen = 0;
  int line = 1;
  for (size_t i = 0; i < vector->count; i++) {
    const vector_statement_t* statement = &vector->statements[i];
    const vector_statement_t* next = seen < run->log.count ? &run->log.all[seen] : NULL;
    if (vector_is_outcome(statement->word)) {
      line = statement->line;
      if (next == NULL || !same(statement, next)) return differ(to, vector, line, statement, next);
      seen++;
    } else if (vector_is_query(statement->word)) {
      if (!query(run, statement, to)) return false;
    } else {
      if (next != NULL) return differ(to, vector, line, NULL, next);
      vector_log_clear(&run->log);
      seen = 0;
      line = statement->line;
      vector_run_do(run, statement);
    }
  }
  return seen == run->log.count || differ(to, vector, line, NULL, &run->log.all[seen]);
}

bool vector_play(const vector_t* vector, bool frees_events, FILE* to) {
  vector_run_t run;
  vector_run_init(&run, vector, frees_events);
  bool passed = play(&run, to);
  vector_run_end(&run);
  if (passed && run.fault != NULL) {
    fprintf(to, "%s:1: %s\n", vector->file, run.fault);
    passed = false;
  }
  vector_run_free(&run);
  return passed;
}

static void print_stats(FILE* to, vector_run_t* run, int line) {
  double stats[STATS];
  vector_run_stats(run, stats);
  fprintf(to, "%d stats", line);
  for (int i = 0; i < STATS; i++) {
    if (stats[i] != 0) fprintf(to, " %s=%.10g", vector_stats[i].name, stats[i]);
  }
  fputc('\n', to);
}

void vector_trace(const vector_t* vector, bool stats, FILE* to) {
  vector_run_t run;
  vector_run_init(&run, vector, true);
  for (size_t i = 0; i < vector->count; i++) {
    const vector_statement_t* statement = &vector->statements[i];
    if (vector_is_outcome(statement->word) || vector_is_query(statement->word)) continue;
    vector_run_do(&run, statement);
    for (size_t one = 0; one < run.log.count; one++) {
      fprintf(to, "%d ", statement->line);
      print_outcome(to, vector, &run.log.all[one]);
      fputc('\n', to);
    }
    vector_log_clear(&run.log);
    if (stats) print_stats(to, &run, statement->line);
  }
  vector_run_end(&run);
  if (run.fault != NULL) fprintf(to, "1 fault %s\n", run.fault);
  vector_run_free(&run);
}
