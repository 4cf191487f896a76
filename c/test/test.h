/* A test program: TEST(name) { CHECK(…); } for each behaviour, and TEST_MAIN at the end. A failed CHECK says where, and
 * the program ends with 1. `program NAME` runs one test; CTest is given each by its name (see cmake/tests.cmake). */
#ifndef UVB_TEST_H
#define UVB_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct test_s test_t;
struct test_s {
  const char* name;
  void (*run)(void);
  test_t* next;
};

static test_t* test_first;
static test_t** test_last = &test_first;

#define TEST(id)                                                         \
  static void test_##id(void);                                           \
  static test_t test_entry_##id = {#id, test_##id, NULL};                \
  __attribute__((constructor)) static void test_add_##id(void) {         \
    *test_last = &test_entry_##id;                                       \
    test_last = &test_entry_##id.next;                                   \
  }                                                                      \
  static void test_##id(void)

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);              \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

/* For integers: shows both. */
#define CHECK_EQ(a, b)                                                                              \
  do {                                                                                              \
    long long check_a = (long long)(a), check_b = (long long)(b);                                   \
    if (check_a != check_b) {                                                                       \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, #a, check_a, check_b, #b); \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)

#define TEST_MAIN                                                                    \
  int main(int argc, char** argv) {                                                  \
    int ran = 0;                                                                     \
    for (test_t* test = test_first; test != NULL; test = test->next) {               \
      if (argc > 1 && strcmp(argv[1], test->name) != 0) continue;                    \
      test->run();                                                                   \
      ran++;                                                                         \
    }                                                                                \
    if (ran == 0) fprintf(stderr, "%s: no such test\n", argc > 1 ? argv[1] : "");    \
    return ran == 0;                                                                 \
  }

#endif
