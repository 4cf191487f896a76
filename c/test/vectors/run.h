/* Drives an engine through the operations of a vector, on a virtual clock. */
#ifndef VECTOR_RUN_H
#define VECTOR_RUN_H

#include <stdbool.h>

#include "policy.h"
#include "engine.h"
#include "uv_batch.h"
#include "vectors/reader.h"

typedef struct vector_run_s vector_run_t;

/* Outcomes of the operations, as the statements of a vector. */
typedef struct {
  vector_statement_t* all;
  size_t count, room;
} vector_log_t;

typedef struct {
  uv_batch_event_t event;
  vector_run_t* run;
  int id;
  int level;       /* the class that it was pushed with */
  uint64_t number; /* of the push */
  bool taken;
} vector_event_t;

typedef struct vector_handler_s vector_handler_t;
struct vector_handler_s {
  uv_batch_handler_t handler;
  vector_run_t* run;
  vector_handler_t* next;
};

typedef struct {
  int number; /* the library's */
  vector_handler_t* handlers;
  uv_batch_type_options_t options; /* as set last: a closed queue does not say any more */
} vector_type_t;

typedef struct {
  vector_event_t* event; /* NULL before the push, and when it was freed */
  const vector_statement_t** acts;
  size_t act_count;
  bool failing;
  uint8_t ended; /* how often its callback has run */
} vector_id_t;

struct vector_run_s {
  uvb__host_t host;
  uvb__observer_t observer;
  double time, hold_at, expiry_at; /* negative: no timer */
  uvb__utilization_t window;
  double busy; /* ms that the loop has worked */
  const vector_t* vector; /* of which names and numbers are used */
  uv_batch_t batch;
  bool started, closed, scheduled;
  /* Events are freed in their callbacks, as users do, and not at the end of the run. Then it is answered here
   * when one that is gone is cancelled. */
  bool frees_events;
  uv_batch_options_t options; /* that it starts with */
  double given[SIGNALS];
  vector_type_t* types;
  vector_id_t* ids;
  vector_event_t* cancelling; /* the event that the vector itself is taking back */
  vector_event_t* pushing;    /* the one whose push is under way: under `direct` it leaves there */
  uint64_t already, invalid, pushes, taken, ended;
  /* A queue that is over tells nothing: its last counters, and pushes that were refused since; its last estimate. */
  uv_batch_stats_t last;
  uv_batch_estimate_t last_estimate;
  vector_log_t log;
  const char* fault; /* something that no vector can say: the first thing that went wrong */
  /* For tests that do more than a vector says; may be NULL. */
  void (*watch)(vector_run_t* run, const uv_batch_info_t* info);
  void (*failed)(vector_run_t* run, vector_event_t* event);
  bool (*over)(vector_run_t* run, vector_event_t* event); /* true: it has been pushed again */
  void* watcher;
};

/* `vector` must outlive the run; its statements are not touched. */
void vector_run_init(vector_run_t* run, const vector_t* vector, bool frees_events);

/* Does one `config` or operation; what it causes is added to the log. Its outcomes and queries are not for here. */
void vector_run_do(vector_run_t* run, const vector_statement_t* statement);

/* Does what the event's handler is to do, and returns what it is to return; the event may be gone then. */
int vector_run_handle(vector_run_t* run, uv_batch_event_t* event);

/* Pushes an event that is over once more, under another ID; false when it is refused. */
bool vector_run_push_again(vector_run_t* run, vector_event_t* event, int id);

void vector_log_clear(vector_log_t* log);

/* By the index of their key. Both do it for a closed queue, too. */
void vector_run_stats(vector_run_t* run, double stats[STATS]);
void vector_run_estimate(vector_run_t* run, int type, double estimates[ESTIMATES]);

/* Closes the queue if it is not, checks that every event that was taken is over, and frees everything. */
void vector_run_end(vector_run_t* run);
void vector_run_free(vector_run_t* run);

#endif
