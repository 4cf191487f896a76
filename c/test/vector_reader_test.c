/* The reader of conformance vectors: what it makes of a line, and that everything else is an error with its place. */
#include "vectors/reader.h"

#include <stdbool.h>

#include "test.h"

static char message[2048];

static vector_t* read_text(const char* text) {
  message[0] = '\0';
  return vector_read(text, strlen(text), "dir/test.vec", message, sizeof(message));
}

/* Reads lines below a name; the caller frees. */
static vector_t* read_lines(const char* lines) {
  char text[1024];
  snprintf(text, sizeof(text), "# a name\n%s", lines);
  vector_t* vector = read_text(text);
  if (vector == NULL) fprintf(stderr, "%s\n", message);
  CHECK(vector != NULL);
  return vector;
}

static const vector_statement_t* only(const vector_t* vector) {
  CHECK_EQ(vector->count, 1);
  return &vector->statements[0];
}

static bool is_pair(const vector_statement_t* statement, size_t index, int key, double value) {
  return index < statement->pair_count && statement->pairs[index].key == key && statement->pairs[index].value == value;
}

/* The lines are an error at `line`, and the message has these words. */
static void check_error(const char* lines, int line, const char* words, const char* more) {
  char text[1024], place[32];
  snprintf(text, sizeof(text), "# a name\n%s", lines);
  snprintf(place, sizeof(place), "dir/test.vec:%d: ", line);
  vector_t* vector = read_text(text);
  if (vector == NULL && strncmp(message, place, strlen(place)) == 0 && strstr(message, words) != NULL &&
      strstr(message, more) != NULL) {
    return;
  }
  fprintf(stderr, "'%s' gave '%s'; expected '%s' with '%s' and '%s'\n", lines, message, place, words, more);
  vector_free(vector);
  exit(1);
}

TEST(the_name_is_the_sentence_of_the_first_line) {
  vector_t* vector = read_text("#  a full batch leaves \nturn\n");
  CHECK(vector != NULL);
  CHECK(strcmp(vector->name, "a full batch leaves") == 0);
  CHECK(strcmp(vector->file, "dir/test.vec") == 0);
  CHECK_EQ(only(vector)->word, VECTOR_TURN);
  CHECK_EQ(only(vector)->line, 2);
  vector_free(vector);
}

TEST(a_first_line_that_names_nothing_is_an_error) {
  static const char* const texts[] = {"", "turn\n", "\n# a name\n", "#\nturn\n", "#   \n", " # a name\n"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
    CHECK(read_text(texts[i]) == NULL);
    CHECK(strstr(message, "dir/test.vec:1: the first line must be") == message);
  }
}

TEST(comments_and_empty_lines_mean_nothing_but_count) {
  vector_t* vector = read_lines("\n# turn\n   \nturn\n#turn\n\tflush\t");
  CHECK_EQ(vector->count, 2);
  CHECK_EQ(vector->statements[0].word, VECTOR_TURN);
  CHECK_EQ(vector->statements[0].line, 5);
  CHECK_EQ(vector->statements[1].word, VECTOR_FLUSH);
  CHECK_EQ(vector->statements[1].line, 7);
  vector_free(vector);
}

TEST(lines_may_end_with_a_carriage_return) {
  vector_t* vector = read_text("# a name\r\nturn\r\n");
  CHECK(vector != NULL && strcmp(vector->name, "a name") == 0);
  CHECK_EQ(only(vector)->word, VECTOR_TURN);
  vector_free(vector);
}

TEST(config_and_set_have_typed_options) {
  vector_t* vector = read_lines("config policy=fixed max_batch=3 max_delay=2.5");
  CHECK_EQ(only(vector)->word, VECTOR_CONFIG);
  CHECK(is_pair(only(vector), 0, OPTION_POLICY, 1));
  CHECK(is_pair(only(vector), 1, OPTION_MAX_BATCH, 3));
  CHECK(is_pair(only(vector), 2, OPTION_MAX_DELAY, 2.5));
  vector_free(vector);
  vector = read_lines("set max_queue=-1 order=type");
  CHECK_EQ(only(vector)->type, -1);
  CHECK(is_pair(only(vector), 0, OPTION_MAX_QUEUE, -1));
  vector_free(vector);
  vector = read_lines("set a.b priority=high retain=each retain_max_bytes=9007199254740992");
  CHECK(strcmp(vector->types[only(vector)->type], "a.b") == 0);
  CHECK(is_pair(only(vector), 0, TYPE_OPTION_PRIORITY, 0));
  CHECK(is_pair(only(vector), 1, TYPE_OPTION_RETAIN, 2));
  CHECK(is_pair(only(vector), 2, TYPE_OPTION_RETAIN_MAX_BYTES, 9007199254740992.0));
  vector_free(vector);
}

TEST(a_push_has_a_class_bytes_and_a_key_or_their_defaults) {
  static const struct {
    const char* line;
    int choice;
    double bytes;
    const char* key;
  } pushes[] = {{"push network a-1_x.y", -1, 0, NULL},
                {"push network a-1_x.y low", 2, 0, NULL},
                {"push network a-1_x.y bytes=7", -1, 7, NULL},
                {"push network a-1_x.y key=k.1", -1, 0, "k.1"},
                {"push network a-1_x.y key=k bytes=7", -1, 7, "k"},
                {"push network a-1_x.y high bytes=7 key=k", 0, 7, "k"}};
  for (size_t i = 0; i < sizeof(pushes) / sizeof(*pushes); i++) {
    vector_t* vector = read_lines(pushes[i].line);
    CHECK_EQ(only(vector)->choice, pushes[i].choice);
    CHECK(only(vector)->bytes == pushes[i].bytes);
    CHECK((only(vector)->key == NULL) == (pushes[i].key == NULL));
    if (pushes[i].key != NULL) CHECK(strcmp(only(vector)->key, pushes[i].key) == 0);
    CHECK(strcmp(vector->ids[only(vector)->id], "a-1_x.y") == 0);
    CHECK(strcmp(vector->types[only(vector)->type], "network") == 0);
    vector_free(vector);
  }
}

TEST(at_and_from_carry_an_operation) {
  vector_t* vector = read_lines("at 1.5\nat 2 from a set network max_batch=1\npush network a\nat 2 close discard");
  const vector_statement_t* statements = vector->statements;
  CHECK(statements[0].time == 1.5 && statements[0].inner == NULL);
  CHECK_EQ(statements[1].inner->word, VECTOR_FROM);
  CHECK_EQ(statements[1].inner->id, statements[2].id);
  CHECK_EQ(statements[1].inner->inner->word, VECTOR_SET);
  CHECK_EQ(statements[1].inner->inner->type, statements[2].type);
  CHECK(is_pair(statements[1].inner->inner, 0, TYPE_OPTION_MAX_BATCH, 1));
  CHECK_EQ(statements[3].inner->word, VECTOR_CLOSE);
  CHECK_EQ(statements[3].inner->choice, 1);
  vector_free(vector);
}

TEST(the_time_that_a_handler_takes_is_not_the_readers) {
  vector_t* vector = read_lines("push network a\nfrom a busy 5\nturn\nat 1");
  CHECK_EQ(vector->statements[1].inner->word, VECTOR_BUSY);
  CHECK(vector->statements[1].inner->time == 5);
  vector_free(vector);
}

TEST(signals_and_estimates_are_for_the_queue_or_for_one_type) {
  vector_t* vector = read_lines(
      "signal utilization=0.5 saving=-1.5 total=16 rate=2\nsignal network rate=0.1\n"
      "estimate network rate=0.1\nestimate event_cost=0 batch_cost=1");
  const vector_statement_t* statements = vector->statements;
  CHECK(statements[0].type == -1 && statements[0].pair_count == 4);
  CHECK(is_pair(&statements[0], 1, SIGNAL_SAVING, -1.5));
  CHECK(is_pair(&statements[0], 3, SIGNAL_RATE, 2));
  CHECK(statements[1].type == 0 && is_pair(&statements[1], 0, 0, 0.1));
  CHECK(statements[2].type == 0 && is_pair(&statements[2], 0, 0, 0.1));
  CHECK(statements[3].type == -1 && is_pair(&statements[3], 0, ESTIMATE_EVENT_COST, 0));
  CHECK(is_pair(&statements[3], 1, SIGNAL_BATCH_COST, 1));
  vector_free(vector);
}

TEST(stats_name_only_the_keys_they_check) {
  vector_t* vector =
      read_lines("stats queued=1 refused.closed=2 wait.low=0.5 retained.bytes=3 trigger.close=4 depth.low=5");
  CHECK_EQ(only(vector)->pair_count, 6);
  CHECK(is_pair(only(vector), 0, STAT_QUEUED, 1));
  CHECK(is_pair(only(vector), 1, STAT_REFUSED + VECTOR_CLOSED, 2));
  CHECK(is_pair(only(vector), 2, STAT_WAIT + 2, 0.5));
  CHECK(is_pair(only(vector), 3, STAT_RETAINED_BYTES, 3));
  CHECK(is_pair(only(vector), 4, STAT_TRIGGER + 6, 4));
  CHECK(is_pair(only(vector), 5, STAT_DEPTH + 2, 5));
  vector_free(vector);
}

TEST(an_outcome_of_several_ids_becomes_one_for_each_but_a_batch_stays_whole) {
  vector_t* vector = read_lines(
      "turn\nexpect 2.5 size a b\nheld a b\nreplayed a a\nhold 3\nerror a\nrefused b overloaded\n"
      "refused max_batch invalid\nunhandled a\nexpired b\npush network a\npush network b");
  static const struct {
    vector_word_t word;
    int line, id;
  } outcomes[] = {{VECTOR_EXPECT, 3, -1}, {VECTOR_HELD, 4, 0},    {VECTOR_HELD, 4, 1},     {VECTOR_REPLAYED, 5, 0},
                  {VECTOR_REPLAYED, 5, 0}, {VECTOR_HOLD, 6, -1},  {VECTOR_ERROR, 7, 0},    {VECTOR_REFUSED, 8, 1},
                  {VECTOR_REFUSED, 9, -1}, {VECTOR_UNHANDLED, 10, 0}, {VECTOR_EXPIRED, 11, 1}};
  const vector_statement_t* statements = vector->statements + 1;
  for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++) {
    CHECK_EQ(statements[i].word, outcomes[i].word);
    CHECK_EQ(statements[i].line, outcomes[i].line);
    CHECK_EQ(statements[i].id, outcomes[i].id);
  }
  CHECK(statements[0].time == 2.5 && statements[0].choice == 0 && statements[0].id_count == 2);
  CHECK(statements[0].ids[0] == 0 && statements[0].ids[1] == 1);
  CHECK(statements[5].time == 3);
  CHECK_EQ(statements[7].choice, VECTOR_OVERLOADED);
  CHECK_EQ(statements[8].choice, VECTOR_INVALID);
  CHECK(strcmp(statements[8].key, "max_batch") == 0);
  vector_free(vector);
}

TEST(an_id_may_be_named_before_the_line_that_pushes_it) {
  vector_t* vector = read_lines("fail a\nfrom a cancel b\ncancel b\nfrom a push network b\npush network a");
  CHECK_EQ(vector->count, 5);
  CHECK_EQ(vector->id_count, 2);
  vector_free(vector);
}

TEST(the_clock_of_decimal_times_does_not_run_backwards_by_rounding) {
  vector_free(read_lines("advance 0.1\nadvance 0.2\nat 0.3"));
}

TEST(an_unknown_word_is_an_error) {
  check_error("jump 3", 2, "unknown word 'jump'", "advance");
  check_error(" # note", 2, "unknown word '#'", "stats");
}

TEST(a_misplaced_config_is_an_error) {
  check_error("turn\nconfig max_batch=1", 3, "'config' must come before every other operation", "");
  check_error("config max_batch=1\nconfig max_batch=1", 3, "only once", "");
}

TEST(a_malformed_pair_is_an_error) {
  check_error("config", 2, "key=value is missing", "max_queue_bytes");
  check_error("config max_batch", 2, "'max_batch' is not of the form key=value", "");
  check_error("config max_batch=", 2, "'max_batch=' is not of the form", "");
  check_error("config =1", 2, "'=1' is not of the form", "");
  check_error("config max_batch=1=2", 2, "'max_batch=1=2' is not of the form", "");
  check_error("config max_batch=1 max_batch=2", 2, "'max_batch' stands twice", "");
  check_error("set network", 2, "key=value is missing", "retain_max_age");
  check_error("signal", 2, "key=value is missing", "utilization");
  check_error("estimate", 2, "key=value is missing", "event_cost");
  check_error("stats", 2, "key=value is missing", "trigger.delay");
}

TEST(an_unknown_key_is_an_error) {
  check_error("config speed=3", 2, "unknown key 'speed'", "max_deferral");
  check_error("config retain=off", 2, "unknown key 'retain'", "policy");
  check_error("set network policy=fixed", 2, "unknown key 'policy'", "priority");
  check_error("push network a size=1", 2, "unknown key 'size'", "bytes");
  check_error("push network a bytes=1 high", 2, "'high' is not of the form key=value", "");
  check_error("push network a key=k!", 2, "'k!' is no key", "letters");
  check_error("push network a key=", 2, "'key=' is not of the form key=value", "");
  check_error("signal gain=1", 2, "unknown key 'gain'", "slowdown");
  check_error("signal event_cost=1", 2, "unknown key 'event_cost'", "batch_cost");
  check_error("signal network total=1", 2, "unknown key 'total'", "rate");
  check_error("estimate rate=1", 2, "unknown key 'rate'", "utilization");
  check_error("estimate network total=1", 2, "unknown key 'total'", "rate");
  check_error("stats depth=1", 2, "unknown key 'depth'", "depth.high");
  check_error("stats trigger.full=1", 2, "unknown key 'trigger.full'", "");
  check_error("turn\nrefused speed invalid", 3, "unknown key 'speed'", "retain_max_age");
}

TEST(an_unknown_value_is_an_error) {
  check_error("config policy=lazy", 2, "unknown policy 'lazy'", "adaptive");
  check_error("config order=random", 2, "unknown order 'random'", "arrival");
  check_error("config hold=never", 2, "unknown hold 'never'", "always");
  check_error("set network priority=urgent", 2, "unknown priority 'urgent'", "high, normal, low");
  check_error("set network retain=all", 2, "unknown retain 'all'", "off, first, each");
  check_error("push network a urgent", 2, "unknown class 'urgent'", "high, normal, low");
  check_error("close now", 2, "unknown way to close 'now'", "discard");
  check_error("turn\nexpect 1 timeout a\npush network a", 3, "unknown trigger 'timeout'", "threshold");
  check_error("turn\nrefused a full\npush network a", 3, "unknown code 'full'", "overloaded");
}

TEST(a_number_that_is_none_is_an_error) {
  check_error("config max_batch=1.5", 2, "max_batch '1.5'", "a whole number");
  check_error("config max_batch=ten", 2, "max_batch 'ten'", "a whole number");
  check_error("config max_delay=1e3", 2, "max_delay '1e3'", "a decimal number");
  check_error("config max_delay=.5", 2, "max_delay '.5'", "a decimal number");
  check_error("config max_delay=5.", 2, "max_delay '5.'", "a decimal number");
  check_error("config max_delay=1.0123456789", 2, "max_delay", "a decimal number");
  check_error("config max_delay=-", 2, "max_delay '-'", "a decimal number");
  check_error("config max_queue=0x10", 2, "max_queue '0x10'", "");
  check_error("config max_queue=9007199254740993000", 2, "max_queue", "");
  check_error("config max_queue=9007199254740995", 2, "a whole number", "");
  check_error("push network a bytes=-1", 2, "bytes '-1'", "at least 0");
  check_error("push network a bytes=0.5", 2, "bytes '0.5'", "a whole number of at least 0");
  check_error("signal utilization=1.1", 2, "utilization '1.1'", "within 0 and 1");
  check_error("signal rate=-1", 2, "rate '-1'", "at least 0");
  check_error("stats queued=1.5", 2, "queued '1.5'", "");
  check_error("stats wait.low=-1", 2, "wait.low '-1'", "at least 0");
}

TEST(a_time_that_is_none_or_runs_backwards_is_an_error) {
  check_error("at soon", 2, "the time 'soon'", "at least 0");
  check_error("at -1", 2, "the time '-1'", "at least 0");
  check_error("busy -3", 2, "the time '-3'", "");
  check_error("turn\nhold -1", 3, "the time '-1'", "");
  check_error("turn\nexpect now turn a\npush network a", 3, "the time 'now'", "");
  check_error("at 5\nat 4.9", 3, "time runs backwards", "5 already");
  check_error("at 5\nadvance 1\nbusy 1\nat 6.5", 5, "time runs backwards", "7 already");
}

TEST(a_missing_word_is_an_error) {
  check_error("at", 2, "a word is missing", "at T [OPERATION]");
  check_error("advance", 2, "a word is missing", "advance T");
  check_error("push network", 2, "a word is missing", "push TYPE ID");
  check_error("handle", 2, "a word is missing", "handle TYPE");
  check_error("cancel", 2, "a word is missing", "cancel ID");
  check_error("from", 2, "a word is missing", "from ID OPERATION");
  check_error("turn\nexpect 1 turn", 3, "a word is missing", "expect TIME TRIGGER ID");
  check_error("turn\nhold", 3, "a word is missing", "hold T");
  check_error("turn\nerror", 3, "a word is missing", "error ID");
  check_error("turn\nheld", 3, "a word is missing", "held ID");
  check_error("turn\nrefused a", 3, "a word is missing", "refused ID CODE");
}

TEST(a_word_too_many_is_an_error) {
  check_error("advance 1 2", 2, "'2' is one word too many", "advance T");
  check_error("turn around", 2, "'around' is one word too many", "turn");
  check_error("flush all", 2, "'all' is one word too many", "flush");
  check_error("push network a high bytes=1 key=k x", 2, "'x' is one word too many", "");
  check_error("push network a high low", 2, "'low' is not of the form key=value", "");
  check_error("handle a b", 2, "'b' is one word too many", "");
  check_error("cancel a b", 2, "'b' is one word too many", "");
  check_error("close discard all", 2, "'all' is one word too many", "");
  check_error("turn\nerror a b\npush network a", 3, "'b' is one word too many", "");
  check_error("turn\nrefused a closed b", 3, "'b' is one word too many", "");
}

TEST(a_name_with_other_characters_is_an_error) {
  check_error("set net/work priority=high", 2, "'net/work' is no type", "");
  check_error("push network a!", 2, "'a!' is no ID", "");
  check_error("unhandle \xc3\xa9", 2, "'\xc3\xa9' is no type", "");
  CHECK(vector_read("# a\nhandle a\0b", 14, "f", message, sizeof(message)) == NULL);
  CHECK(strstr(message, "f:2: 'a?b' is no type") == message);
}

TEST(an_operation_where_none_can_be_is_an_error) {
  check_error("at 5 at 6", 2, "'at T' is followed by 'at'", "push");
  check_error("at 5 config max_batch=1", 2, "followed by 'config'", "");
  check_error("at 5 expect 5 turn a", 2, "followed by 'expect'", "");
  check_error("push network a\nfrom a", 3, "'from ID' is followed by no operation", "unhandle");
  check_error("push network a\nfrom a turn", 3, "'from ID' is followed by 'turn'", "unhandle");
  check_error("push network a\nfrom a from a flush", 3, "'from ID' is followed by 'from'", "");
  check_error("push network a\nfrom a at 3 flush", 3, "'from ID' is followed by 'at'", "");
}

TEST(an_id_that_is_pushed_twice_is_an_error) {
  check_error("push network a\npush stream a", 3, "the ID 'a' is pushed twice", "");
  check_error("push network a\nfrom a push stream a", 3, "'a' is pushed twice", "");
}

TEST(an_id_that_is_never_pushed_is_an_error_where_it_is_named_first) {
  check_error("cancel a", 2, "unknown ID 'a'", "no push");
  check_error("fail a", 2, "unknown ID 'a'", "");
  check_error("turn\nfrom a flush", 3, "unknown ID 'a'", "");
  check_error("push network a\nfrom a cancel b\ncancel b", 3, "unknown ID 'b'", "");
  check_error("turn\nexpect 1 turn a", 3, "unknown ID 'a'", "");
  check_error("turn\nreplayed a", 3, "unknown ID 'a'", "");
  check_error("turn\nrefused a overloaded", 3, "unknown ID 'a'", "");
}

TEST(an_outcome_without_an_operation_is_an_error) {
  check_error("expect 1 turn a", 2, "'expect' has no operation before it", "");
  check_error("hold 1\nturn", 2, "'hold' has no operation before it", "");
}

TEST(a_message_that_does_not_fit_is_cut) {
  char small[20];
  CHECK(vector_read("# a\njump", 8, "dir/test.vec", small, sizeof(small)) == NULL);
  CHECK(strcmp(small, "dir/test.vec:2: unk") == 0);
  CHECK(vector_read("", 0, "dir/test.vec", small, 1) == NULL);
  CHECK(small[0] == '\0');
}

TEST_MAIN
