#include "egress/fs.h"

#include "memory.h"
#include "platform/atomic.h"

typedef struct request_s request_t;

typedef struct {
  uv_work_t work;
  request_t* request;
  uv_batch_file_t* files;
  size_t count; /* 0: not under way */
  /* Entries that the threadpool has begun, or `taken_back`: whoever moves it first decides what the rest ends with. */
  atomic_size_t begun;
} job_t;

#define taken_back SIZE_MAX

/* One active request; uv_batch_fs_t.private_[0] points to it. Jobs are taken from the front of `files`. */
struct request_s {
  uv_batch_fs_t* req;
  uv_batch_fs_cb cb;
  uv_loop_t* loop;
  uv_batch_file_t* files; /* not in a job yet */
  size_t count;
  size_t pending; /* without their callback */
  size_t shares;  /* jobs they are planned for, at least 1 */
  int is_append;
  int is_cancelled;
  uv_batch_fs_options_t options;
  size_t job_count;
  job_t jobs[];
};

/* Entries that one step of a job does together. */
static size_t step(const request_t* request, const uv_batch_file_t* files, size_t count) {
  return request->is_append ? uvb__fs_same(files, count) : 1;
}

static void mark_cancelled(uv_batch_file_t* files, size_t count) {
  for (size_t i = 0; i < count; i++) files[i].result = UV_ECANCELED;
}

static void run(uv_work_t* work) {
  job_t* job = work->data;
  const request_t* request = job->request;
  size_t at = 0;
  while (at < job->count) {
    uv_batch_file_t* files = &job->files[at];
    size_t count = step(request, files, job->count - at);
    size_t begun = at;
    if (!atomic_compare_exchange_strong(&job->begun, &begun, at + count)) {
      mark_cancelled(files, job->count - at);
      return;
    }
    if (request->is_append) {
      uvb__fs_append(&request->options, files, count);
    } else {
      uvb__fs_read(&request->options, files);
    }
    at += count;
  }
}

/* An even share of what is left. A file's entries stay together, also when they are more than a job should have. */
static size_t next_share(request_t* request) {
  size_t fair = request->count / request->shares + (request->count % request->shares != 0);
  size_t share = 0;
  if (request->shares > 1) request->shares--;
  if (!request->is_append) return fair;
  while (share < fair) {
    size_t more = step(request, &request->files[share], request->count - share);
    if (share > 0 && share + more > request->options.max_files) break;
    share += more;
  }
  return share;
}

static void complete(uv_work_t* work, int status);

static void start(job_t* job) {
  request_t* request = job->request;
  job->files = request->files;
  job->count = next_share(request);
  request->files += job->count;
  request->count -= job->count;
  atomic_init(&job->begun, request->is_cancelled ? taken_back : 0);
  job->work.data = job;
  /* Fails only without a callback. */
  (void)uv_queue_work(request->loop, &job->work, run, complete);
  /* It comes back as all jobs do, and need not wait for a thread. */
  if (request->is_cancelled) (void)uv_cancel((uv_req_t*)&job->work);
}

static void complete(uv_work_t* work, int status) {
  job_t* job = work->data;
  request_t* request = job->request;
  uv_batch_fs_t* req = request->req;
  uv_batch_fs_cb cb = request->cb;
  uv_batch_file_t* files = job->files;
  size_t count = job->count;
  job->count = 0;
  if (status == UV_ECANCELED) mark_cancelled(files, count);
  request->pending -= count;
  req->pending = request->pending;
  /* Before the callback: the threadpool goes on meanwhile, and the callback may end or reuse what it likes. */
  if (request->count > 0) {
    start(job);
  } else if (request->pending == 0) {
    req->private_[0] = NULL;
    uvb__free(request);
  }
  cb(req, files, count);
}

void uv_batch_fs_options_init(uv_batch_fs_options_t* options) {
  if (options == NULL) return;
  *options = (uv_batch_fs_options_t){.max_jobs = 2, .max_files = 256, .max_file_size = 512u << 20, .mode = 0666};
}

static int is_valid(const uv_batch_fs_options_t* options) {
  return (options->flags & ~(UV_BATCH_FS_DATASYNC | UV_BATCH_FS_NO_CREATE)) == 0 && options->max_jobs >= 1 &&
         options->max_jobs <= 64 && options->max_files >= 1 && options->max_files <= 65536 &&
         options->max_file_size >= 1 && options->max_file_size <= INT32_MAX && options->mode >= 0 &&
         options->mode <= 07777;
}

static int begin(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                 const uv_batch_fs_options_t* options, uv_batch_fs_cb cb, int is_append) {
  uv_batch_fs_options_t defaults;
  uv_batch_fs_options_init(&defaults);
  if (options == NULL) options = &defaults;
  if (loop == NULL || req == NULL || files == NULL || count == 0 || cb == NULL || !is_valid(options)) return UV_EINVAL;
  if (req->private_[0] != NULL) return UV_EBUSY;

  size_t shares = count / options->max_files + (count % options->max_files != 0);
  size_t jobs = options->max_jobs < count ? options->max_jobs : count;
  if (shares < jobs) shares = jobs;
  request_t* request = uvb__malloc(sizeof(*request) + jobs * sizeof(request->jobs[0]));
  if (request == NULL) return UV_ENOMEM;
  if (is_append) uvb__fs_sort(files, count);
  *request = (request_t){.req = req,
                         .cb = cb,
                         .loop = loop,
                         .files = files,
                         .count = count,
                         .pending = count,
                         .shares = shares,
                         .is_append = is_append,
                         .options = *options};
  req->loop = loop;
  req->files = files;
  req->count = count;
  req->pending = count;
  req->private_[0] = request;
  while (request->job_count < jobs && request->count > 0) {
    job_t* job = &request->jobs[request->job_count++];
    job->request = request;
    start(job);
  }
  return 0;
}

int uv_batch_fs_read(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                     const uv_batch_fs_options_t* options, uv_batch_fs_cb cb) {
  return begin(loop, req, files, count, options, cb, 0);
}

int uv_batch_fs_append(uv_loop_t* loop, uv_batch_fs_t* req, uv_batch_file_t files[], size_t count,
                       const uv_batch_fs_options_t* options, uv_batch_fs_cb cb) {
  return begin(loop, req, files, count, options, cb, 1);
}

int uv_batch_fs_cancel(uv_batch_fs_t* req) {
  if (req == NULL) return UV_EINVAL;
  request_t* request = req->private_[0];
  if (request == NULL || request->is_cancelled) return UV_EALREADY;
  request->is_cancelled = 1;
  int left = request->count > 0;
  for (size_t i = 0; i < request->job_count; i++) {
    job_t* job = &request->jobs[i];
    if (job->count == 0) continue;
    if (atomic_exchange(&job->begun, taken_back) < job->count) left = 1;
    (void)uv_cancel((uv_req_t*)&job->work);
  }
  return left ? 0 : UV_EALREADY;
}
