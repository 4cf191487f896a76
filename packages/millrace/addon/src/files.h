/* Declarations that the parts of the file backend share. The requests of one tick come in one call. Files in the
 * page cache are read in it, within a budget per loop turn; the rest goes to jobs of the threadpool, and each job
 * comes back in one call.
 *
 *   files.c          a backend opens, and ends with its environment
 *   files_read.c     reads: on the loop, then in jobs
 *   files_append.c   appends of one path, in one job
 *   files_batch.c    what was given to jobs at a time, and is under way
 *   files_memory.c   where the bytes of reads go
 *   files_records.c  results, as JavaScript gets them */
#ifndef MILLRACE_FILES_H
#define MILLRACE_FILES_H

#include <stdint.h>

#include "addon.h"
#include "uv_batch.h"

/* The settings of filesOpen(), by their places in its array. */
enum { on_loop_files, on_loop_bytes, on_loop_file_bytes, region_bytes, warm_jobs, cold_jobs, max_files, relieve_ms, settings_count };

/* A result, as JavaScript gets it: four numbers in `records`. */
enum { record_id, record_result, record_at, record_syscall, record_fields };
/* `at` of bytes that are not in the slab but the next of the list of large ones. Files without bytes have no `at`, but
 * that of a FIFO is its descriptor. */
enum { is_large = -1 };

/* The most that one turn tries: they stand on the stack. */
enum { most_on_loop = 64 };
/* Results of one job come together, so it should not be long in coming: a job has so many files at least. */
enum { least_files = 4 };
/* The counts that JavaScript can look at. It may renew the budget, which is of one turn. */
enum { count_on_loop, count_jobs, files_left, bytes_left, counts_count };
enum { most_regions = 16, no_region = -1 };

typedef struct batch_s batch_t;

/* Of the slab, which jobs read into: it is filled from its beginning, and empty again when nothing in it is used. */
typedef struct {
  size_t filled;
  uint32_t used;
} region_t;

/* Data of a file beside libuvbatch's own. */
typedef struct {
  int32_t id;
  int32_t region;
} item_t;

/* One backend of one environment. It is freed when the environment has ended and nothing is under way any more. */
typedef struct {
  napi_env env;
  uv_loop_t* loop;
  napi_async_cleanup_hook_handle hook;
  millrace_callee_t callee;
  napi_ref slab_ref, records_ref, large_ref, counts_ref;
  char* slab; /* on_loop_bytes for what the loop reads, then the regions */
  int32_t* records;
  size_t slab_size, records_size; /* of records: how many */
  size_t on_loop_filled, recorded, larges;
  uv_mutex_t mutex; /* of the regions */
  region_t regions[most_regions];
  int32_t region_count, current;
  size_t mean_bytes; /* of the files read last */
  int is_cold;       /* the files tried last were not in memory */
  int32_t settings[settings_count];
  uv_batch_fs_options_t options, on_loop_options;
  uint32_t* counts; /* shared with JavaScript */
  uv_check_t turn;  /* renews the budget; runs only when some of it is used */
  uv_timer_t slow;  /* runs only while something is under way */
  int open_handles;
  int is_closing;
  batch_t* first;
} files_t;

typedef enum { reading, prefetching, appending } kind_t;

/* Requests given to jobs at a time. Items of reads, then paths, stand behind its files. */
struct batch_s {
  uv_batch_fs_t req;
  files_t* owner;
  batch_t* next;
  batch_t** link; /* what points to it */
  int32_t append_id;
  int32_t entered; /* callbacks of it and relievings: JavaScript in one may run the loop, and so others inside it */
  kind_t kind;
  uv_batch_file_t files[];
};

/* ---- files.c ---- */

/* The backend behind a handle; NULL with an exception pending. */
files_t* files_of(napi_env env, napi_value handle);
/* A number for JavaScript; NULL with an exception pending. */
napi_value files_number(napi_env env, int32_t value);
/* Ends the backend, when nothing is in progress any more. */
void files_close_handles(files_t* files);

/* ---- files_batch.c ---- */

/* A batch of `count` files with `bytes` for their paths, or NULL: there is no memory. */
batch_t* files_new_batch(kind_t kind, size_t count, size_t bytes);
item_t* files_items_of(batch_t* batch, size_t count);
char* files_paths_of(batch_t* batch, size_t count);
/* Adds a batch to those in progress. */
void files_add(files_t* files, batch_t* batch);
void files_drop(batch_t* batch);
/* Enter and leave a callback of the batch, in which JavaScript can run. Leaving may free the batch. */
void files_enter(batch_t* batch);
void files_leave(batch_t* batch);

/* ---- files_memory.c ---- */

/* Allocators of libuvbatch for reads: on the loop, and on the threads of jobs. */
char* files_allocate_on_loop(uv_batch_file_t* file, size_t size, void* data);
char* files_allocate_in_job(uv_batch_file_t* file, size_t size, void* data);
/* JavaScript has taken the files' bytes. */
void files_release_memory(files_t* files, const uv_batch_file_t from[], size_t count);
int files_is_in_slab(const files_t* files, const char* memory);
void files_free_memory(const files_t* files, uv_batch_file_t* file);

/* ---- files_records.c ---- */

void files_record(files_t* files, int32_t id, ssize_t result, int32_t at, const char* syscall);
/* Notes the result of a read; memory that is not of the slab becomes JavaScript's, or is freed. */
void files_note(files_t* files, uv_batch_file_t* file);
/* Hands the records, all of one batch, to JavaScript. */
void files_deliver(files_t* files, kind_t kind);
void files_close_fifo(const uv_batch_file_t* file);

/* ---- what JavaScript calls: files_read.c, files_append.c ---- */

napi_value files_read(napi_env env, napi_callback_info info);
napi_value files_append(napi_env env, napi_callback_info info);
/* A check handle's: the budget is of one turn. */
void files_renew_budget(uv_check_t* turn);

#endif
