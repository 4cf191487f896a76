/*
 * libuvbatch: adaptive event batching beside libuv.
 *
 * Everything here is for the loop's thread, except uv_batch_post() and what touches neither a queue nor a loop.
 * Functions that return an int return 0, or a negative UV_E… code; docs/reference/c-reference.md lists the codes of each.
 * Times are milliseconds. It is one header, however long, so that an application includes nothing else.
 */
#ifndef UV_BATCH_H
#define UV_BATCH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(UV_BATCH_SHARED)
#if defined(UV_BATCH_BUILDING)
#define UV_BATCH_EXTERN __declspec(dllexport)
#else
#define UV_BATCH_EXTERN __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define UV_BATCH_EXTERN __attribute__((visibility("default")))
#else
#define UV_BATCH_EXTERN
#endif

#define UV_BATCH_VERSION_MAJOR 0
#define UV_BATCH_VERSION_MINOR 1
#define UV_BATCH_VERSION_PATCH 0
#define UV_BATCH_VERSION_HEX \
  ((UV_BATCH_VERSION_MAJOR << 16) | (UV_BATCH_VERSION_MINOR << 8) | UV_BATCH_VERSION_PATCH)

typedef struct uv_batch_s uv_batch_t;
typedef struct uv_batch_event_s uv_batch_event_t;
typedef struct uv_batch_handler_s uv_batch_handler_t;
typedef struct uv_batch_info_s uv_batch_info_t;
typedef struct uv_batch_options_s uv_batch_options_t;
typedef struct uv_batch_type_options_s uv_batch_type_options_t;
typedef struct uv_batch_stats_s uv_batch_stats_t;
typedef struct uv_batch_policy_stats_s uv_batch_policy_stats_t;
typedef struct uv_batch_estimate_s uv_batch_estimate_t;
typedef struct uv_batch_listener_s uv_batch_listener_t;
typedef struct uv_batch_reader_s uv_batch_reader_t;
typedef struct uv_batch_signal_s uv_batch_signal_t;
typedef struct uv_batch_timer_s uv_batch_timer_t;
typedef struct uv_batch_process_s uv_batch_process_t;
typedef struct uv_batch_work_s uv_batch_work_t;
typedef struct uv_batch_fanout_s uv_batch_fanout_t;
typedef struct uv_batch_target_s uv_batch_target_t;
typedef struct uv_batch_fs_s uv_batch_fs_t;
typedef struct uv_batch_fs_options_s uv_batch_fs_options_t;
typedef struct uv_batch_file_s uv_batch_file_t;
typedef struct uv_largesocket_options_s uv_largesocket_options_t;
typedef struct uv_largesocket_stats_s uv_largesocket_stats_t;

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Class of an event. HIGH ends any hold and leaves first. An event that has waited max_deferral counts as one class
 * higher, and again after the next: no class starves. */
typedef enum {
  UV_BATCH_PRIORITY_OF_TYPE = -1, /* what the event's type says */
  UV_BATCH_PRIORITY_HIGH = 0,
  UV_BATCH_PRIORITY_NORMAL = 1,
  UV_BATCH_PRIORITY_LOW = 2
} uv_batch_priority_t;

/* Kinds of event that libuv knows, each with a class of its own. uv_batch_type() makes more, which are NORMAL. */
typedef enum {
  UV_BATCH_SIGNAL = 1,     /* HIGH */
  UV_BATCH_PROCESS = 2,    /* HIGH */
  UV_BATCH_ASYNC = 3,      /* HIGH */
  UV_BATCH_NETWORK = 4,    /* NORMAL */
  UV_BATCH_FILESYSTEM = 5, /* NORMAL */
  UV_BATCH_STREAM = 6,     /* NORMAL */
  UV_BATCH_TIMER = 7,      /* NORMAL */
  UV_BATCH_IDLE = 8,       /* LOW */
  UV_BATCH_WORK = 9,       /* LOW */
  UV_BATCH_BACKGROUND = 10 /* LOW */
} uv_batch_event_type_t;

/* Types that one batch queue can know, the ten above included. */
#define UV_BATCH_MAX_TYPES 65536
/* Characters of a type's name. */
#define UV_BATCH_MAX_TYPE_NAME 255

/* State of an event. The event is yours while NEW, and again from UV_BATCH_STATUS_COMPLETED on; in between it
 * belongs to the library. */
typedef enum {
  UV_BATCH_STATUS_NEW = 0,    /* initialised, yours */
  UV_BATCH_STATUS_POSTED,     /* on its way from another thread */
  UV_BATCH_STATUS_QUEUED,     /* waits in the queue, or in a batch for its turn */
  UV_BATCH_STATUS_PROCESSING, /* is with its handlers */
  UV_BATCH_STATUS_RETAINED,   /* found no handler and waits for one */
  UV_BATCH_STATUS_COMPLETED,  /* its handlers have run */
  UV_BATCH_STATUS_FAILED,     /* a handler failed */
  UV_BATCH_STATUS_CANCELLED,  /* taken back, or discarded by close */
  UV_BATCH_STATUS_EXPIRED,    /* retained until its age, the close, or the end of retention */
  UV_BATCH_STATUS_UNHANDLED,  /* dispatched without a handler, and not retained: retention was off or full */
  UV_BATCH_STATUS_REFUSED,    /* refused by the queue */
  UV_BATCH_STATUS_SUPERSEDED  /* a newer event of its key took its place */
} uv_batch_status_t;

/* Reason why a batch left. */
typedef enum {
  UV_BATCH_TRIGGER_SIZE,
  UV_BATCH_TRIGGER_THRESHOLD,
  UV_BATCH_TRIGGER_DELAY,
  UV_BATCH_TRIGGER_TURN,
  UV_BATCH_TRIGGER_PRIORITY,
  UV_BATCH_TRIGGER_FLUSH,
  UV_BATCH_TRIGGER_CLOSE
} uv_batch_trigger_t;
#define UV_BATCH_TRIGGERS 7

typedef enum {
  UV_BATCH_POLICY_ADAPTIVE = 0, /* leaves at the end of the turn; held, up to max_delay, as long as that pays */
  UV_BATCH_POLICY_FIXED,        /* held until full or max_delay */
  UV_BATCH_POLICY_DIRECT        /* no batching: handlers run inside the push */
} uv_batch_policy_t;

typedef enum {
  UV_BATCH_ORDER_ARRIVAL = 0,
  UV_BATCH_ORDER_TYPE /* a batch is grouped by type, the type with the oldest event first */
} uv_batch_order_t;

typedef enum {
  UV_BATCH_HOLD_TUNED = 0, /* compared with not holding, and switched off where it does not pay */
  UV_BATCH_HOLD_ALWAYS
} uv_batch_hold_t;

typedef enum {
  UV_BATCH_RETAIN_OFF = 0,
  UV_BATCH_RETAIN_FIRST, /* kept for the handlers that come first */
  UV_BATCH_RETAIN_EACH   /* kept until its age is reached, for every handler that comes */
} uv_batch_retain_t;

/* ---- the batch queue --------------------------------------------------------------------------------------------- */

/* Called once for each accepted event when it is over. `status` is 0 (completed), the negative code of its handler
 * (failed), UV_ECANCELED (cancelled, superseded, or the queue was closed), UV_ETIMEDOUT (retained until its age),
 * UV_ENOENT (no handler) or UV_ENOBUFS (no handler, and no room to retain it). From then on the event is yours
 * again: free it, or push it again. An event whose retention was turned off ends as it does when the queue is
 * closed. */
typedef void (*uv_batch_event_cb)(uv_batch_t* batch, uv_batch_event_t* event, int status);

/* Handles one event. A negative return value is the event's failure: the handlers after this one do not get it. */
typedef int (*uv_batch_handler_cb)(uv_batch_handler_t* handler, uv_batch_event_t* event);

/* Handles all events of a type that are in one batch: `first`, then by `next`; uv_batch_event_fail() fails one. */
typedef void (*uv_batch_group_cb)(uv_batch_handler_t* handler, uv_batch_event_t* first, size_t count);

/* Called when a batch leaves, before its first handler. With this callback every event counts as handled: none is
 * unhandled or retained. */
typedef void (*uv_batch_cb)(uv_batch_t* batch, const uv_batch_info_t* info);

/* Called for each event for which a handler failed. */
typedef void (*uv_batch_error_cb)(uv_batch_t* batch, uv_batch_event_t* event, int status);

/* Combines a queued event with a newer one of its type and key, which is being pushed: writes into your struct around
 * `newer`, or into its `data` and `size`, and changes nothing else. A negative return value: it failed, `newer` has its
 * `data` and `size` back, and both events stay. */
typedef int (*uv_batch_merge_cb)(uv_batch_t* batch, const uv_batch_event_t* older, uv_batch_event_t* newer);

/* Called when the queue is closed: its memory is yours again. `stats` are its last counters, valid during the
 * callback. */
typedef void (*uv_batch_close_cb)(uv_batch_t* batch, const uv_batch_stats_t* stats);

/* An event: yours, usually the first member of a struct of yours. The library allocates nothing for it. */
struct uv_batch_event_s {
  void* data;                 /* yours */
  uv_batch_event_cb callback; /* yours; may be NULL */
  uint64_t size;              /* yours: bytes, counted by max_queue_bytes; 0 when not given */
  uv_batch_event_t* next;     /* to read: the next event of the batch or the group, in their callbacks */
  double timestamp;           /* to read, ms: time of the push (of the superseded event's, if any), or of arrival
                                 after a post */
  int32_t type;               /* yours: a uv_batch_event_type_t, or a number from uv_batch_type() */
  int8_t priority;            /* yours: a uv_batch_priority_t */
  uint8_t status;             /* to read: a uv_batch_status_t */
  uint8_t level_;             /* private, up to code_; beyond 64 bytes a push touches owner_ and key only */
  uint8_t flags_;
  uint64_t seq_;
  uv_batch_event_t* prev_;
  uint64_t number_;
  uint64_t received_;
  double since_;
  uv_batch_event_t* link_;
  void* owner_;
  int32_t code_;
  uint32_t key_size; /* yours: bytes of the key */
  const void* key;   /* yours, unchanged until the event is over: a newer event of its type with equal bytes supersedes it
                        while it is queued; NULL: no key */
};

struct uv_batch_info_s {
  uv_batch_trigger_t trigger;
  double time;             /* ms: when it left */
  uv_batch_event_t* first; /* its events, by `next` */
  size_t count;
  void* reserved[2];
};

/* A handler: yours, all zero before its first use, and the queue's until uv_batch_off() or the close callback. */
struct uv_batch_handler_s {
  void* data;
  uv_batch_t* batch; /* NULL while it is not registered */
  int32_t type;
  /* Private. */
  uv_batch_handler_cb cb_;
  uv_batch_group_cb group_cb_;
  uv_batch_handler_t* next_;
  uv_batch_handler_t* prev_;
  uint64_t number_;
  uint64_t due_;
  void* private_[2];
  void* reserved[2];
};

/* The delay that comes with the policy: 0 for adaptive, 50 for fixed. */
#define UV_BATCH_DELAY_OF_POLICY (-HUGE_VAL)
/* No limit of a type's own. */
#define UV_BATCH_NO_LIMIT UINT32_MAX

/* Start from uv_batch_options_init(). */
struct uv_batch_options_s {
  uv_batch_policy_t policy; /* adaptive */
  uv_batch_order_t order;   /* arrival */
  uv_batch_hold_t hold;     /* tuned */
  uint32_t max_batch;       /* events a batch can hold: 1 to 1,000,000; 1024 */
  uint32_t threshold;       /* queued events that end a hold: 0 (off) to 1,000,000; 0 */
  uint32_t max_queue;       /* events that may be queued: 1 to 100,000,000; 65,536 */
  uint64_t max_queue_bytes; /* bytes that may be queued: 1 to 2^53 - 1; 64 MiB */
  double max_delay;         /* ms from the push of the oldest event: 0 to 60,000; UV_BATCH_DELAY_OF_POLICY */
  double min_saving;        /* share of a core that each ms of delay has to save: 0 (use all of max_delay wherever
                               anything is saved) to 1; 0.005. Only for adaptive */
  double max_batch_time;    /* ms that a batch that is not held may keep the loop: up to 60,000; 0: off. Only for
                               adaptive */
  double max_deferral;      /* ms after which an event counts as one class higher: 0 to 3,600,000; 100 */
  uv_batch_cb batch_cb;     /* NULL */
  uv_batch_error_cb error_cb; /* NULL */
  void* reserved[6];
};

/* Start from uv_batch_get_type(). */
struct uv_batch_type_options_s {
  int priority;              /* a class; the one of the table above */
  uint32_t max_batch;        /* events of the type a batch can hold: 1 to 1,000,000; UV_BATCH_NO_LIMIT */
  uv_batch_retain_t retain;  /* off */
  uint32_t retain_max;       /* events kept: 1 to 1,000,000; 1,000 */
  uint64_t retain_max_bytes; /* bytes kept: 1 to 2^53 - 1; 1 MiB */
  double retain_max_age;     /* ms: 1 to 2,147,483,647; 60,000 */
  uv_batch_merge_cb merge;   /* combines events of a key; NULL: the newer one alone counts */
  void* reserved[3];
};

/* Measurements of the policy, and its last choice. Times are ms. Without a max_delay, or unless it is adaptive, nothing
 * is measured: then all is 0 but `hold`, `hold_cost`, `limit` and `why`. */
struct uv_batch_policy_stats_s {
  double rate;        /* events per ms of the busiest type that the last dispatch point found */
  double total;       /* events per ms of all types */
  double batch_cost;  /* per batch, beside its events */
  double event_cost;  /* per event in a batch */
  double hold_cost;   /* per hold: its timer and its turn; a constant */
  double utilization; /* busy share of the loop, 0 to 1, over about 250 ms */
  double hold;        /* longest hold of a batch; 0: none */
  double saving;      /* share of the loop's busy time per event that holding saves; NAN: not measured */
  uint32_t limit;     /* most events in a batch that is not held, by max_batch_time; 0: no limit */
  const char* why;    /* NULL while batches are held, else "no delay allowed", "not asked yet", "nothing to save",
                         "saving is below the price", "comparison window", "no saving measured" or "slows its senders
                         down"; valid for ever */
};

struct uv_batch_stats_s {
  uint64_t queued, bytes, depth[3];                                /* now; by class */
  uint64_t pushed, delivered, batches, trigger[UV_BATCH_TRIGGERS]; /* totals from here on */
  uint64_t cancelled, errors, unhandled;
  uint64_t refused_overloaded, refused_closed, refused_cancelled, refused_retention;
  uint64_t retained, retained_bytes; /* now */
  uint64_t held, replayed, expired;
  uint64_t posted, wakes; /* events posted, and posts that woke the loop */
  double worst_wait[3];   /* ms from push to leaving, by class */
  uv_batch_policy_stats_t policy;
  uint64_t superseded; /* total */
  uint64_t reserved[7];
};

struct uv_batch_estimate_s {
  double utilization; /* busy share of the loop, 0 to 1, over about 250 ms */
  double rate;        /* events of the type per ms */
  double total;       /* events of all types per ms */
  double batch_cost;  /* ms per batch, beside its events */
  double event_cost;  /* ms per event in a batch */
  double hold_cost;   /* ms per hold */
  uint32_t limit;     /* most events in a batch that is not held, by max_batch_time; 0: no limit */
  double saving;      /* share of the loop's busy time per event that holding saves; NAN: not measured */
  double slowdown;    /* share by which the rate of all pushes falls while holding */
  void* reserved[4];
};

/* A batch queue. The struct is yours; it stays at the same address from uv_batch_init() until its close callback. */
struct uv_batch_s {
  void* data;
  uv_loop_t* loop;
  /* Private. */
  void* core_;
  void* reserved[5];
  union {
    void* opaque[24];
    double align;
  } inbox_;
};

UV_BATCH_EXTERN unsigned int uv_batch_version(void);
UV_BATCH_EXTERN const char* uv_batch_version_string(void);

/* Explains a code that this library returned, and the way out; uv_strerror() for codes of the system. */
UV_BATCH_EXTERN const char* uv_batch_strerror(int code);

UV_BATCH_EXTERN const char* uv_batch_trigger_name(uv_batch_trigger_t trigger);

/* Sets the library's allocator; call it before any other function. NULL for any of them: UV_EINVAL. */
UV_BATCH_EXTERN int uv_batch_replace_allocator(uv_malloc_func malloc_func, uv_realloc_func realloc_func,
                                               uv_calloc_func calloc_func, uv_free_func free_func);

/* Frees memory that the library allocated for you (uv_batch_file_t.buf). */
UV_BATCH_EXTERN void uv_batch_free(void* memory);

UV_BATCH_EXTERN void uv_batch_options_init(uv_batch_options_t* options);

/* Checks options; says in `message` (may be NULL) which one is wrong and what is allowed. 0 or UV_EINVAL. */
UV_BATCH_EXTERN int uv_batch_options_check(const uv_batch_options_t* options, char* message, size_t size);
UV_BATCH_EXTERN int uv_batch_type_options_check(const uv_batch_type_options_t* options, char* message, size_t size);

/* Initialises a queue on a loop. `options` may be NULL. UV_EINVAL, UV_ENOMEM, or UV_EBUSY when the queue is in use
 * already. */
UV_BATCH_EXTERN int uv_batch_init(uv_loop_t* loop, uv_batch_t* batch, const uv_batch_options_t* options);

/* Copies the options as set last, including those that a handler set and that are not in force yet. */
UV_BATCH_EXTERN int uv_batch_get(const uv_batch_t* batch, uv_batch_options_t* options);

/* Changes options. A change of policy or order flushes the queue first; in a handler, after the current batch. */
UV_BATCH_EXTERN int uv_batch_set(uv_batch_t* batch, const uv_batch_options_t* options);

/* Returns the number of the type of this name, and creates the type if needed; or UV_EINVAL, UV_ENOMEM, UV_ENOBUFS
 * (too many). */
UV_BATCH_EXTERN int uv_batch_type(uv_batch_t* batch, const char* name);
/* Returns the name of a type, or NULL. */
UV_BATCH_EXTERN const char* uv_batch_type_name(const uv_batch_t* batch, int type);

UV_BATCH_EXTERN int uv_batch_get_type(const uv_batch_t* batch, int type, uv_batch_type_options_t* options);
UV_BATCH_EXTERN int uv_batch_set_type(uv_batch_t* batch, int type, const uv_batch_type_options_t* options);

/* Initialises an event, with the class of its type and no callback. */
UV_BATCH_EXTERN void uv_batch_event_init(uv_batch_event_t* event, int type, void* data);

/* Queues an event; its handlers run at the end of the loop turn. O(1), allocates nothing; for events with a key a table
 * that grows with their number, where there is memory. UV_EINVAL (NULL, unknown type or priority), UV_EBUSY (in use
 * already), UV_ENOBUFS (the queue is full), UV_ESHUTDOWN (closed): then nothing has changed, except the status of an event
 * that was refused.
 *
 * An event with a key supersedes the queued one of its type and key. If both have the same class it takes the older one's
 * place, as if it had been pushed then; otherwise it stands at the end of its own. The callback of the older one runs inside
 * the call, with UV_ECANCELED. */
UV_BATCH_EXTERN int uv_batch_push(uv_batch_t* batch, uv_batch_event_t* event);

/* Queues an event from any thread. Lock-free; wakes the loop only when it may be asleep. Do not touch a posted event
 * before its callback, on any thread. */
UV_BATCH_EXTERN int uv_batch_post(uv_batch_t* batch, uv_batch_event_t* event);

/* Cancels a queued or retained event; its callback runs inside the call, with UV_ECANCELED. UV_EALREADY: it has
 * left, is over, or was never accepted; an event that is still on its way from another thread counts as left.
 * UV_EINVAL: it is in another queue. */
UV_BATCH_EXTERN int uv_batch_cancel(uv_batch_t* batch, uv_batch_event_t* event);

/* Fails an event of the batch whose callback is running: for batch and group callbacks. `status` is negative. */
UV_BATCH_EXTERN int uv_batch_event_fail(uv_batch_event_t* event, int status);

/* Registers a handler for a type. It gets the events that the type has retained at the end of this turn. O(1).
 * UV_EBUSY: it is registered already. */
UV_BATCH_EXTERN int uv_batch_on(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_handler_cb cb);
UV_BATCH_EXTERN int uv_batch_on_group(uv_batch_t* batch, uv_batch_handler_t* handler, int type, uv_batch_group_cb cb);
/* Removes a handler; it does not run any more, not even for the event that is being handled. */
UV_BATCH_EXTERN int uv_batch_off(uv_batch_handler_t* handler);

/* Flushes the queue: delivers everything queued now; in a handler, after the current batch. */
UV_BATCH_EXTERN int uv_batch_flush(uv_batch_t* batch);

/* Runs a dispatch point now, as at the end of a turn: receives the posted events, and delivers the due ones. A hold
 * stays. */
UV_BATCH_EXTERN int uv_batch_process(uv_batch_t* batch);

/* Refuses later pushes, delivers the queued events (UV_BATCH_DISCARD: cancels them), and calls `cb` (may be NULL)
 * when the memory is yours again. UV_EALREADY when it is closing; that call's `cb` does not run.
 *
 * Closing the queue's handles, as uv_walk() finds them, is a close with UV_BATCH_DISCARD at the end of that turn, or at
 * the next call for a queue that keeps no loop alive (see uv_batch_ref()). If libuv has finished with those handles, a
 * close is complete when it returns: `cb` has run, and the loop may be gone. */
#define UV_BATCH_DISCARD 1u
UV_BATCH_EXTERN int uv_batch_close(uv_batch_t* batch, unsigned int flags, uv_batch_close_cb cb);
UV_BATCH_EXTERN int uv_batch_is_closing(const uv_batch_t* batch);

/* Keeps the loop alive for posts; without it, a queue keeps the loop alive only while something is queued. The queue
 * also notices at once when others close its handles. Costs a descriptor. */
UV_BATCH_EXTERN int uv_batch_ref(uv_batch_t* batch);
UV_BATCH_EXTERN int uv_batch_unref(uv_batch_t* batch);

/* Copy the counters, and the estimates of a type. UV_ESHUTDOWN once the queue is closed; its close callback gets the
 * last counters. */
UV_BATCH_EXTERN int uv_batch_stats(const uv_batch_t* batch, uv_batch_stats_t* stats);
UV_BATCH_EXTERN int uv_batch_estimate(const uv_batch_t* batch, int type, uv_batch_estimate_t* estimate);

/* ---- adapters: libuv's own events as events of a batch queue --------------------------------------------------------
 *
 * Each adapter feeds one source into a queue. When the queue is full it keeps its events and stops its source where
 * that is possible (a listener, a stream), else counts (a signal, a timer), and goes on when there is room: nothing
 * is lost. The struct is yours, zeroed before its first start, and stays where it is until the callback of its close
 * or stop, which never runs inside that call; `data` is yours as well. A start that fails leaves nothing behind: the
 * struct is yours at once, and that callback does not come.
 *
 * UV_EINVAL (a NULL, a handle that is closing or of another loop; stopping an adapter that is not started), UV_EBUSY
 * (the struct, or the stream, is in use), UV_ESHUTDOWN (the queue is closing), UV_EALREADY (stopped already),
 * UV_ENOMEM, and the codes of libuv's own function. When the queue is closed an adapter drops the events that it
 * keeps, and accepts no more; stop it all the same. Stop a listener or a reader before the close callback of its
 * stream. An event of an adapter keeps its callback; its `type` may be changed after the start, where the event is
 * in a struct of yours. */

/* Returns a handle for a connection, initialised with uv_tcp_init() or uv_pipe_init(), of the server's kind; NULL:
 * not now, the connection stays in the backlog. It is called again in the next turn, and then after 1, 2, 4, … 64
 * ms. */
typedef uv_stream_t* (*uv_batch_client_cb)(uv_batch_listener_t* listener);
/* Close the client: its event ended without a handler (status as in uv_batch_event_cb; a handler that fails keeps its
 * client), or the queue is closed (UV_ESHUTDOWN), or there is no connection for it any more (UV_ECANCELED: the listener
 * was stopped), or it cannot be accepted into (UV_EINVAL, UV_EBUSY). */
typedef void (*uv_batch_drop_cb)(uv_batch_listener_t* listener, uv_stream_t* client, int status);
typedef void (*uv_batch_listener_cb)(uv_batch_listener_t* listener);

struct uv_batch_listener_s {
  void* data;
  uv_batch_t* batch;
  uv_stream_t* server;
  int last_error; /* of accepting; 0: none. When descriptors run short, libuv closes the connections in the backlog */
  void* private_[2];
  void* reserved[4];
};

/* Calls uv_listen(); each accepted connection is an event of type NETWORK whose `data` is the client's uv_stream_t.
 * All connections of a turn are in one batch; a turn takes some 64 (on Windows, as many as libuv gives). UV_EAGAIN:
 * the server has listened before, so that libuv may hold a connection, and `client_cb` gave no handle for it. */
UV_BATCH_EXTERN int uv_batch_listen(uv_batch_t* batch, uv_batch_listener_t* listener, uv_stream_t* server, int backlog,
                                    uv_batch_client_cb client_cb, uv_batch_drop_cb drop_cb);
/* Returns the listener of an accepted connection; NULL: none. */
UV_BATCH_EXTERN uv_batch_listener_t* uv_batch_event_listener(const uv_batch_event_t* event);
/* Stops accepting connections; accepted ones are still handled, then `cb` runs. It does not close the server's
 * handle: connections wait in its backlog, and a later uv_batch_listen() finds them. */
UV_BATCH_EXTERN int uv_batch_listen_stop(uv_batch_listener_t* listener, uv_batch_listener_cb cb);

/* One read: an event of type STREAM; `event.data` is the reader, `event.size` the bytes (at most max_queue_bytes).
 * `nread` as in uv_read_cb, but never 0; below 0 `buf` is empty. To keep the buffer set `buf.base` to NULL. */
typedef struct uv_batch_read_s {
  uv_batch_event_t event;
  uv_batch_reader_t* reader;
  ssize_t nread;
  uv_buf_t buf;
  void* reserved[4];
} uv_batch_read_t;
/* Returns a buffer to you when the event of its read is over. Runs for each buffer of the alloc callback, at once
 * for an unused one. */
typedef void (*uv_batch_release_cb)(uv_batch_reader_t* reader, const uv_buf_t* buf);
typedef void (*uv_batch_reader_cb)(uv_batch_reader_t* reader);

struct uv_batch_reader_s {
  void* data;
  uv_batch_t* batch;
  uv_stream_t* stream;
  void* private_[2];
  void* reserved[4];
};

/* Starts reading: uv_read_start(), or uv_tcp_largesocket_read_start() on a stream with large sockets enabled. */
UV_BATCH_EXTERN int uv_batch_read_start(uv_batch_t* batch, uv_batch_reader_t* reader, uv_stream_t* stream,
                                        uv_alloc_cb alloc_cb, uv_batch_release_cb release_cb);
/* Stops reading; data already read is still handled, then `cb` runs. It does not close the stream. */
UV_BATCH_EXTERN int uv_batch_read_stop(uv_batch_reader_t* reader, uv_batch_reader_cb cb);

/* A signal: events of type SIGNAL, `event.data` is the struct. `count`: signals since the event before. It rises
 * until the event leaves the queue; later signals count for the next event. */
typedef void (*uv_batch_signal_cb)(uv_batch_signal_t* signal);
struct uv_batch_signal_s {
  uv_batch_event_t event;
  void* data;
  uv_batch_t* batch;
  int signum;
  unsigned int count;
  uv_signal_t handle;
  void* private_[2];
  void* reserved[4];
};
UV_BATCH_EXTERN int uv_batch_signal_start(uv_batch_t* batch, uv_batch_signal_t* signal, int signum);
/* Stops the signal. Cancels an event that has not left, and its count; `cb` runs when the handle is closed and no
 * event is left. */
UV_BATCH_EXTERN int uv_batch_signal_stop(uv_batch_signal_t* signal, uv_batch_signal_cb cb);

/* A timer: events of type TIMER, `event.data` is the struct; `count` as for a signal. */
typedef void (*uv_batch_timer_cb)(uv_batch_timer_t* timer);
struct uv_batch_timer_s {
  uv_batch_event_t event;
  void* data;
  uv_batch_t* batch;
  unsigned int count;
  uv_timer_t handle;
  void* private_[2];
  void* reserved[4];
};
UV_BATCH_EXTERN int uv_batch_timer_start(uv_batch_t* batch, uv_batch_timer_t* timer, uint64_t timeout, uint64_t repeat);
/* Stops the timer, as uv_batch_signal_stop() does; needed also after the end of a timer that does not repeat. */
UV_BATCH_EXTERN int uv_batch_timer_stop(uv_batch_timer_t* timer, uv_batch_timer_cb cb);

/* A child: its exit is an event of type PROCESS, `event.data` is the struct. `options->exit_cb` is not used. `cb` (may
 * be NULL) runs when the event is over and the process handle is closed: the struct is yours again. */
typedef void (*uv_batch_process_cb)(uv_batch_process_t* process);
struct uv_batch_process_s {
  uv_batch_event_t event;
  void* data;
  uv_batch_t* batch;
  int64_t exit_status;
  int term_signal;
  int pid;
  uv_process_t* handle; /* the library's, for uv_process_kill(), uv_unref(); NULL from `cb` on */
  void* private_[2];
  void* reserved[4];
};
UV_BATCH_EXTERN int uv_batch_spawn(uv_batch_t* batch, uv_batch_process_t* process, const uv_process_options_t* options,
                                   uv_batch_process_cb cb);

/* Work on libuv's threadpool: `work_cb` runs there, its completion is an event of type WORK, `event.data` is the
 * struct. `status` is 0 or UV_ECANCELED. `cb` (may be NULL) runs when the event is over: the struct is yours again. */
typedef void (*uv_batch_work_cb)(uv_batch_work_t* work);
struct uv_batch_work_s {
  uv_batch_event_t event;
  void* data;
  uv_batch_t* batch;
  int status;
  uv_work_t req;
  void* private_[2];
  void* reserved[4];
};
UV_BATCH_EXTERN int uv_batch_queue_work(uv_batch_t* batch, uv_batch_work_t* work, uv_batch_work_cb work_cb,
                                        uv_batch_work_cb cb);
/* Cancels work that has not started. UV_EBUSY: it runs, or has run; UV_EALREADY: its event is over. */
UV_BATCH_EXTERN int uv_batch_work_cancel(uv_batch_work_t* work);

/* ---- fan-out: one content, many destinations --------------------------------------------------------------------- */

/* One destination: a stream, or a connected socket when `stream` is NULL. */
struct uv_batch_target_s {
  uv_stream_t* stream;
  uv_os_sock_t fd;
  void* data;     /* yours */
  ssize_t result; /* bytes sent, possibly fewer than all; UV_EAGAIN: none, and no error; or an error */
  void* reserved[2];
};

/* Backend of a fan-out. AUTO: io_uring if a probe on this machine, once for each process, shows that it may be used
 * and is quicker; else plain sends. */
#define UV_BATCH_FANOUT_AUTO 0u
#define UV_BATCH_FANOUT_SEND 1u
#define UV_BATCH_FANOUT_IO_URING 2u

struct uv_batch_fanout_s {
  void* data;
  void* private_[8];
  void* reserved[4];
};

/* Initialises a fan-out. UV_ENOSYS or UV_EPERM: io_uring was requested, and is not available. */
UV_BATCH_EXTERN int uv_batch_fanout_init(uv_batch_fanout_t* fanout, unsigned int flags);
/* Returns the backend: "send", "io_uring" or "try_write". After fork() io_uring stays with the parent: the child has
 * "send". */
UV_BATCH_EXTERN const char* uv_batch_fanout_backend(const uv_batch_fanout_t* fanout);

/* Sends the buffers to each target now, without blocking, and stores the result of each. Returns the number of
 * targets that accepted everything, or UV_EINVAL (then nothing was sent). The caller writes the rest for a target,
 * in order: uv_write() from byte `result` on. A stream that libuv still has writes queued for gets nothing:
 * UV_EAGAIN. A target is in the list once. One call takes IOV_MAX buffers and just under 2 GiB; the rest is left.
 * SIGPIPE is never raised on Unix. Errors are those of uv_try_write(), and UV_EIO: io_uring failed, and whether the
 * target got anything cannot be known (close it); UV_ENOTSUP: a descriptor, with the backend "try_write". */
UV_BATCH_EXTERN int uv_batch_fanout_send(uv_batch_fanout_t* fanout, const uv_buf_t bufs[], unsigned int nbufs,
                                         uv_batch_target_t targets[], size_t ntargets);
UV_BATCH_EXTERN void uv_batch_fanout_close(uv_batch_fanout_t* fanout);

/* ---- files: many in few jobs ------------------------------------------------------------------------------------- */

/* A file of a request. It and its path are yours again from its callback. `path` NULL: the open descriptor `fd`. */
struct uv_batch_file_s {
  const char* path;
  uv_file fd;
  void* data;     /* yours */
  uv_buf_t buf;   /* read: where to; `base` NULL: allocated to fit, yours to uv_batch_free() (NULL again for an empty
                     file or an error, unless options.alloc gave the memory). append: the data */
  ssize_t result; /* bytes read or appended, or the error of this file alone */
  const char* syscall; /* the failed call: "open", "fstat", "read", "write", "fdatasync", "close"; or NULL */
  void* private_[4];
  void* reserved[1];
};

/* Allocates memory for `size` bytes of a file that is read with `buf.base` NULL, in place of the library. The memory
 * is then in `buf.base`, not to be passed to uv_batch_free(), and also after an error. NULL: the library allocates
 * as usual, as it does for a file that turns out to be larger. Runs on the thread that reads, several at a time. */
typedef char* (*uv_batch_fs_alloc_cb)(uv_batch_file_t* file, size_t size, void* data);

/* Start from uv_batch_fs_options_init(). */
struct uv_batch_fs_options_s {
  unsigned int flags;     /* UV_BATCH_FS_… */
  uint32_t max_jobs;      /* threadpool jobs of a request at a time: 1 to 64; 2 */
  uint32_t max_files;     /* files in one job: 1 to 65,536; 256. Fewer make even shares of max_jobs */
  uint64_t max_file_size; /* bytes allocated for a file at most, larger ones are refused with UV_EFBIG: 1 to 2^31 -
                             1; 512 MiB */
  int mode;               /* of files that append makes; 0666, less the umask */
  uint64_t max_cached;    /* bytes of one uv_batch_fs_read_cached(): 1 to 2^31 - 1; 1 MiB */
  uv_batch_fs_alloc_cb alloc; /* or NULL */
  void* alloc_data;           /* its last argument */
  void* reserved[2];
};
/* Completes an append only after fdatasync (macOS: F_FULLFSYNC). */
#define UV_BATCH_FS_DATASYNC 1u
/* Fails an append with UV_ENOENT instead of creating the file. */
#define UV_BATCH_FS_NO_CREATE 2u
/* A read that is refused because its path is a FIFO leaves it open in `fd`, yours to close: opening it has unblocked
 * a waiting writer, which would lose its data if the FIFO had no reader until you open it again. An append to a FIFO
 * is then refused with UV_ESPIPE in the same way, with `fd` in the first of its entries. */
#define UV_BATCH_FS_KEEP_FIFO 4u

/* Called when a job is over: `count` files from `first` on have their results; the request goes on while
 * `req->pending` is not 0. Once it is 0, the request may be freed or used again, also in here. Each file comes once,
 * and only uv_batch_fs_relieve() runs callbacks inside the call itself. */
typedef void (*uv_batch_fs_cb)(uv_batch_fs_t* req, uv_batch_file_t* first, size_t count);

/* A request. All zero before its first use. */
struct uv_batch_fs_s {
  void* data;
  uv_loop_t* loop;
  uv_batch_file_t* files;
  size_t count;
  size_t pending; /* files whose callback has not run */
  void* private_[16];
  void* reserved[4];
};

UV_BATCH_EXTERN void uv_batch_fs_options_init(uv_batch_fs_options_t* options);

/* Reads whole files, or as much as your buffer takes. `options` may be NULL. UV_EINVAL, UV_ENOMEM, or UV_EBUSY when
 * the request is active: then nothing was begun. A path that cannot seek, such as a FIFO, is refused with UV_ESPIPE:
 * no job waits for its other end. A descriptor is read from its beginning, and its position stays. One that cannot
 * seek is read from where it stands to its end, which the job waits for; if it is non-blocking, it gives the bytes
 * available, or UV_EAGAIN. */
UV_BATCH_EXTERN int uv_batch_fs_read(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                                     const uv_batch_fs_options_t* options, uv_batch_fs_cb cb);

/* Appends to files; codes as above. Entries with the same path, or the same descriptor, are written in their order
 * by one job that opens the file once and syncs it once; their places in `files` are therefore sorted by file,
 * stable within one. They are in one job even if they are more than max_files. A descriptor is written as it was
 * opened: with O_APPEND or not. When a write fails, the bytes written before stay: complete entries have succeeded;
 * the interrupted entry, whose beginning may be in the file, and all later ones fail. When the sync or the close
 * fails, all entries of the file fail. The sync does not cover the entry of a new file in its folder. */
UV_BATCH_EXTERN int uv_batch_fs_append(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                                       const uv_batch_fs_options_t* options, uv_batch_fs_cb cb);

/* Reads the files that the system has in memory, now and on this thread; never waits for a disk. `options` may be
 * NULL. Leaves in each file's `result` its bytes, as uv_batch_fs_read() would (0 for a buffer of length 0); or
 * UV_ENOENT, where that is certain; UV_EFBIG: it is larger than max_file_size; UV_EBADF: neither a path nor a
 * descriptor; UV_ESPIPE: a FIFO, which is open in `fd` only with UV_BATCH_FS_KEEP_FIFO; or UV_EAGAIN: not now, give
 * it to uv_batch_fs_read(). UV_EAGAIN is the result for a file that is not in memory, is not a regular file, is
 * empty or reports no size (/proc), gets no memory, or is beyond max_cached, which bounds the time: give few files
 * at a time, about 16. `syscall` says why: "open" or "read" would have had to wait; NULL: it was not tried, or the
 * system cannot tell. Returns the number of files with a result, or UV_EINVAL. Any thread.
 *
 * Linux 5.12 or newer, and file systems that can tell. Elsewhere all is UV_EAGAIN; a file that could not be read this
 * way lets the next ones be passed over untried, up to 256 while nothing else is found.
 *
 * A file of a network or user-space file system (NFS, FUSE) may wait, because opening, statting and closing it may
 * ask the server, until one file has shown that the file system cannot tell. Then its device is left alone, as are
 * the last 16 such. That is learnt only from a file that is read: not empty, and within max_file_size and
 * max_cached. A descriptor of yours is not checked. While such a device is known, each file takes three system calls
 * more. */
UV_BATCH_EXTERN int uv_batch_fs_read_cached(uv_batch_file_t files[], size_t count,
                                            const uv_batch_fs_options_t* options);

/* Starts reading files that the system does not have in memory, up to 256 KiB of each; `result` is 0 or an error.
 * One job that runs ahead of the reading jobs keeps the disk busier than they can. It takes a request and files of
 * its own: the files of another request belong to it until it is over. Nothing is done where the system has no such
 * call. */
UV_BATCH_EXTERN int uv_batch_fs_prefetch(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                                         const uv_batch_fs_options_t* options, uv_batch_fs_cb cb);

/* Keeps files from waiting for a slow one: reports the files that the jobs of a read have done, in callbacks inside
 * this call, and gives the files that they have not begun to other jobs, if they are still at the same file as at
 * the call before. Only that file stays behind. For a timer: call it at intervals of the time that a file may take.
 * Jobs that wait for a thread are left alone. A callback may run the loop. Returns the number of files moved or
 * reported; UV_EINVAL: it is an append; UV_ENOMEM: some could not be moved. */
UV_BATCH_EXTERN int uv_batch_fs_relieve(uv_batch_fs_t* req);

/* Cancels the files that have not begun: they end with UV_ECANCELED, in callbacks as usual. A file that has begun is
 * done to its end. UV_EALREADY: nothing was left. */
UV_BATCH_EXTERN int uv_batch_fs_cancel(uv_batch_fs_t* req);

/* ---- large sockets ----------------------------------------------------------------------------------------------- */

/* Start from uv_largesocket_options_init(), which reads the limits of the system.
 *
 * To set SO_RCVBUF ends the kernel's own tuning of it for that socket: that saves work while reading limits the
 * stream, and can cost speed on a path that holds more bytes than this. It is never made smaller. */
struct uv_largesocket_options_s {
  size_t min_read;       /* bytes the read size starts at and falls back to: 4,096 to max_read; 65,536 */
  size_t max_read;       /* bytes it grows to: up to 16 MiB; 262,144 */
  uint32_t grow_after;   /* full reads in a row before it doubles: 1 to 1,000; 2 */
  uint32_t shrink_after; /* reads in a row that fill less than a quarter before it halves: 1 to 1,000,000; 64 */
  int receive_buffer;    /* SO_RCVBUF to raise to after sustained full reads, bytes; 0: leave it; 4 MiB, or as much as
                            the system allows, or 0 where its own tuning reaches further */
  int send_buffer;       /* SO_SNDBUF likewise; 0 */
  uint32_t raise_after;  /* full reads at max_read before the buffers are raised: 1 to 1,000,000; 8 */
  size_t max_turn;       /* bytes of full reads after which other streams get their turn: max_read to 1 GiB; 524,288; 0:
                            libuv's own limit, 32 reads */
  void* reserved[4];
};

struct uv_largesocket_stats_s {
  size_t read_size;   /* size that the alloc callback is asked for now */
  uint64_t reads, full_reads, bytes, grown, shrunk;
  uint64_t yielded;   /* turns that max_turn has ended */
  int receive_buffer; /* as set; 0: untouched, which is no error */
  int send_buffer;
  uint64_t reserved[5];
};

UV_BATCH_EXTERN void uv_largesocket_options_init(uv_largesocket_options_t* options);

/* Adapts the read size of one TCP stream: `suggested_size` of its alloc callback grows while reads come back full,
 * and shrinks when they do not. Takes effect at once on a stream that reads. A second call replaces the options and
 * keeps the learned size. `options` may be NULL. UV_EINVAL (also when it is closing), UV_ENOMEM. */
UV_BATCH_EXTERN int uv_tcp_enable_largesocket(uv_tcp_t* tcp, const uv_largesocket_options_t* options);
/* Starts reading on such a stream. uv_read_start() would drop the wrapped callbacks. The learned size is kept.
 * Errors as uv_read_start(), and UV_EINVAL when it is not enabled. */
UV_BATCH_EXTERN int uv_tcp_largesocket_read_start(uv_tcp_t* tcp, uv_alloc_cb alloc_cb, uv_read_cb read_cb);
/* Restores the stream's own callbacks; 0 also when it is not enabled. Needed before uv_close(), unless a read has
 * ended in UV_EOF or an error other than UV_ENOBUFS. */
UV_BATCH_EXTERN int uv_tcp_disable_largesocket(uv_tcp_t* tcp);
/* Copies the counters of a stream. UV_EINVAL when it is not enabled. */
UV_BATCH_EXTERN int uv_tcp_largesocket_stats(const uv_tcp_t* tcp, uv_largesocket_stats_t* stats);

#ifdef __cplusplus
}
#endif

#endif
