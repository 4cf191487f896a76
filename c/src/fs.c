/*
 * Many files in few jobs of libuv's threadpool. A request is cut into shares, one per job; a job that is done comes
 * back, its files get their callback, and it takes the next share. fs-file.c does the work on each file.
 *
 * The loop's thread owns the request and its jobs, but for one word per job: `begun`, the entries that a thread has
 * begun. The thread raises it before each step; the loop replaces it, by `taken_back` to cancel the rest, or by `moved`
 * to give the rest to another job. Whoever changes it first decides about the entries that have not begun. So each
 * entry is done or cancelled exactly once, and its callback runs once.
 *
 * A request is in use from its start until the callback of its last files begins, and is freed when no relieving is
 * under way any more. Entries of one file are always in one job and one step: their order is the file's.
 */
#include "fs.h"

#include <stdlib.h>
#include <string.h>

typedef struct request_s request_t;

typedef struct job_s job_t;
struct job_s {
  uv_work_t work;
  request_t* request;
  job_t* next;
  uv_batch_file_t* files;
  size_t count; /* 0: not under way */
  size_t over;  /* of these, from the first on: their callback has run */
  /* Entries that the threadpool has begun, or `taken_back`, or `moved`: who changes it first decides about the rest. */
  atomic_size_t begun;
  size_t seen; /* `begun` at the last relieving */
};

#define taken_back SIZE_MAX   /* the rest is cancelled */
#define moved (SIZE_MAX - 1)  /* the rest belongs to another job */

typedef enum { op_read, op_append, op_prefetch } op_t;

/* One active request. Jobs are taken from the front of `files`. */
struct request_s {
  uv_batch_fs_t* req;
  uv_batch_fs_cb cb;
  uv_loop_t* loop;
  uv_batch_file_t* files; /* not in a job yet */
  size_t count;
  size_t pending; /* without their callback */
  size_t shares;  /* jobs they are planned for, at least 1 */
  size_t entered; /* relievings under way: a callback in one may run the loop to the request's end, and relieve too */
  op_t op;
  int is_cancelled;
  uv_batch_fs_options_t options;
  job_t* jobs; /* first what was allocated later, then those that came with the request */
  size_t own_count;
  job_t own[];
};

/* ---- entries of one file come together, in their order */

static int compare(const uv_batch_file_t* a, const uv_batch_file_t* b) {
  if (a->path == NULL || b->path == NULL) {
    if (a->path != b->path) return a->path == NULL ? -1 : 1;
    return (a->fd > b->fd) - (a->fd < b->fd);
  }
  return a->path == b->path ? 0 : strcmp(a->path, b->path);
}

/* Equals stay in the order that their first private word has noted. */
static int compare_stably(const void* a, const void* b) {
  const uv_batch_file_t* first = a;
  const uv_batch_file_t* second = b;
  int by = compare(first, second);
  uintptr_t place = (uintptr_t)first->private_[0], other = (uintptr_t)second->private_[0];
  return by != 0 ? by : (place > other) - (place < other);
}

static void sort(uv_batch_file_t* files, size_t count) {
  size_t sorted = 1;
  while (sorted < count && compare(&files[sorted - 1], &files[sorted]) <= 0) sorted++;
  if (sorted == count) return;
  for (size_t i = 0; i < count; i++) files[i].private_[0] = (void*)(uintptr_t)i;
  qsort(files, count, sizeof(files[0]), compare_stably);
}

/* ---- jobs */

/* Entries from the first on that one step of a job does together; `count` is at least 1. */
static size_t step(const request_t* request, const uv_batch_file_t* files, size_t count) {
  size_t same = 1;
  while (request->op == op_append && same < count && compare(&files[0], &files[same]) == 0) same++;
  return same;
}

static void run(uv_work_t* work) {
  job_t* job = work->data;
  const request_t* request = job->request;
  /* The loop may take from the end once the first entry has begun. */
  const size_t all = job->count;
  size_t at = 0;
  while (at < all) {
    uv_batch_file_t* files = &job->files[at];
    size_t count = step(request, files, all - at);
    size_t begun = at;
    if (!atomic_compare_exchange_strong(&job->begun, &begun, at + count)) {
      if (begun == taken_back) uvb__fs_fail(files, all - at, UV_ECANCELED, NULL);
      return;
    }
    switch (request->op) {
      case op_read: uvb__fs_read(&request->options, files); break;
      case op_append: uvb__fs_append(&request->options, files, count); break;
      case op_prefetch: uvb__fs_prefetch(files); break;
    }
    at += count;
  }
}

static void complete(uv_work_t* work, int status);

static void start(job_t* job, uv_batch_file_t* files, size_t count) {
  request_t* request = job->request;
  job->files = files;
  job->count = count;
  job->over = 0;
  job->seen = 0;
  atomic_init(&job->begun, request->is_cancelled ? taken_back : 0);
  job->work.data = job;
  /* Fails only without a callback. */
  (void)uv_queue_work(request->loop, &job->work, run, complete);
  /* It comes back as every job does, without waiting for a thread. */
  if (request->is_cancelled) (void)uv_cancel((uv_req_t*)&job->work);
}

/* An even share of what is left. A file's entries stay together, also when they are more than a job should have. */
static void start_share(job_t* job) {
  request_t* request = job->request;
  uv_batch_file_t* files = request->files;
  size_t fair = request->count / request->shares + (request->count % request->shares != 0);
  size_t share = request->op == op_append ? 0 : fair;
  while (share < fair) {
    size_t more = step(request, &files[share], request->count - share);
    if (share > 0 && share + more > request->options.max_files) break;
    share += more;
  }
  if (request->shares > 1) request->shares--;
  request->files += share;
  request->count -= share;
  start(job, files, share);
}

static void add(request_t* request, job_t* job) {
  job->request = request;
  job->count = 0;
  job->next = request->jobs;
  request->jobs = job;
}

static void release(request_t* request) {
  while (request->jobs != NULL && request->jobs != &request->own[request->own_count - 1]) {
    job_t* job = request->jobs;
    request->jobs = job->next;
    uvb__free(job);
  }
  uvb__free(request);
}

static void complete(uv_work_t* work, int status) {
  job_t* job = work->data;
  request_t* request = job->request;
  uv_batch_fs_t* req = request->req;
  uv_batch_fs_cb cb = request->cb;
  uv_batch_file_t* files = job->files + job->over;
  size_t count = job->count - job->over;
  job->count = 0;
  if (status == UV_ECANCELED) uvb__fs_fail(files, count, UV_ECANCELED, NULL);
  request->pending -= count;
  req->pending = request->pending;
  /* Before the callback: the threadpool goes on meanwhile, and the callback may end or reuse what it likes. */
  if (request->count > 0) {
    start_share(job);
  } else if (request->pending == 0) {
    uvb__give_up(req->private_);
    if (request->entered == 0) release(request);
  }
  cb(req, files, count);
}

/* ---- requests */

void uv_batch_fs_options_init(uv_batch_fs_options_t* options) {
  if (options == NULL) return;
  *options = (uv_batch_fs_options_t){
      .max_jobs = 2, .max_files = 256, .max_file_size = 512u << 20, .mode = 0666, .max_cached = 1 << 20};
}

const uv_batch_fs_options_t* uvb__fs_options(const uv_batch_fs_options_t* options, uv_batch_fs_options_t* usual) {
  const unsigned int flags = UV_BATCH_FS_DATASYNC | UV_BATCH_FS_NO_CREATE | UV_BATCH_FS_KEEP_FIFO;
  uv_batch_fs_options_init(usual);
  if (options == NULL) return usual;
  bool valid = (options->flags & ~flags) == 0 && options->max_jobs >= 1 && options->max_jobs <= 64 &&
               options->max_files >= 1 && options->max_files <= 65536 && options->max_file_size >= 1 &&
               options->max_file_size <= INT32_MAX && options->mode >= 0 && options->mode <= 07777 &&
               options->max_cached >= 1 && options->max_cached <= INT32_MAX;
  return valid ? options : NULL;
}

static int begin(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                 const uv_batch_fs_options_t* options, uv_batch_fs_cb cb, op_t op) {
  uv_batch_fs_options_t usual;
  options = uvb__fs_options(options, &usual);
  if (loop == NULL || req == NULL || files == NULL || count == 0 || cb == NULL || options == NULL) return UV_EINVAL;
  if (uvb__in_use(req->private_)) return UV_EBUSY;

  size_t shares = count / options->max_files + (count % options->max_files != 0);
  size_t jobs = options->max_jobs < count ? options->max_jobs : count;
  if (shares < jobs) shares = jobs;
  request_t* request = uvb__malloc(sizeof(*request) + jobs * sizeof(request->own[0]));
  if (request == NULL) return UV_ENOMEM;
  if (op == op_append) sort(files, count);
  *request = (request_t){.req = req, .cb = cb, .loop = loop, .files = files, .count = count, .pending = count,
                         .shares = shares, .op = op, .options = *options};
  req->loop = loop;
  req->files = files;
  req->count = count;
  req->pending = count;
  uvb__claim(req->private_, request);
  while (request->own_count < jobs && request->count > 0) {
    job_t* job = &request->own[request->own_count++];
    add(request, job);
    start_share(job);
  }
  return 0;
}

int uv_batch_fs_read(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                     const uv_batch_fs_options_t* options, uv_batch_fs_cb cb) {
  return begin(loop, req, files, count, options, cb, op_read);
}

int uv_batch_fs_prefetch(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                         const uv_batch_fs_options_t* options, uv_batch_fs_cb cb) {
  return begin(loop, req, files, count, options, cb, op_prefetch);
}

int uv_batch_fs_append(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                       const uv_batch_fs_options_t* options, uv_batch_fs_cb cb) {
  return begin(loop, req, files, count, options, cb, op_append);
}

/* ---- relieving and cancelling */

/* Gives the files that a job has not begun to another job; if there are none, that one takes what is in no job yet. */
static int move_rest(job_t* job, size_t begun) {
  request_t* request = job->request;
  size_t all = job->count;
  if (begun == all && request->count == 0) return 0;
  /* A job that the request did not plan for. */
  job_t* other = uvb__malloc(sizeof(*other));
  if (other == NULL) return UV_ENOMEM;
  add(request, other);
  if (begun == all) {
    start_share(other);
    return (int)other->count;
  }
  /* Unless the thread was quicker: then it is not stuck. */
  if (!atomic_compare_exchange_strong(&job->begun, &begun, moved)) return 0;
  job->count = begun;
  start(other, &job->files[begun], all - begun);
  return (int)other->count;
}

/* Runs the callback for what a job has done, which is all but the entry that it is at. */
static int hand_over(job_t* job, size_t begun) {
  request_t* request = job->request;
  uv_batch_file_t* files = &job->files[job->over];
  size_t count = begun - 1 - job->over;
  if (count == 0) return 0;
  job->over += count;
  request->pending -= count;
  request->req->pending = request->pending;
  request->cb(request->req, files, count);
  return (int)count;
}

int uv_batch_fs_relieve(uv_batch_fs_t* req) {
  if (req == NULL) return UV_EINVAL;
  request_t* request = uvb__claimed(req->private_);
  if (request == NULL) return 0;
  if (request->op == op_append) return UV_EINVAL;
  int relieved = 0, status = 0;
  request->entered++;
  /* What is added meanwhile goes before the first. */
  for (job_t* job = request->jobs; job != NULL; job = job->next) {
    size_t begun = atomic_load(&job->begun);
    if (job->count == 0 || begun == 0 || begun > job->count) continue;
    /* A job that makes progress needs no other beside it. */
    int rest = begun == job->seen ? move_rest(job, begun) : 0;
    job->seen = begun;
    if (rest < 0) status = rest;
    if (rest > 0) relieved += rest;
    relieved += hand_over(job, begun);
  }
  if (--request->entered == 0 && request->pending == 0) release(request);
  return status != 0 ? status : relieved;
}

int uv_batch_fs_cancel(uv_batch_fs_t* req) {
  if (req == NULL) return UV_EINVAL;
  request_t* request = uvb__claimed(req->private_);
  if (request == NULL || request->is_cancelled) return UV_EALREADY;
  request->is_cancelled = 1;
  int left = request->count > 0;
  for (job_t* job = request->jobs; job != NULL; job = job->next) {
    /* Only this thread moves files, so nothing comes in between. */
    if (job->count == 0 || atomic_load(&job->begun) == moved) continue;
    if (atomic_exchange(&job->begun, taken_back) < job->count) left = 1;
    (void)uv_cancel((uv_req_t*)&job->work);
  }
  return left ? 0 : UV_EALREADY;
}
