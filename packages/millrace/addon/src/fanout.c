/* Fan-out: what a turn has for many sockets leaves in one call. A group is one content and the sockets that get it. */
#include <stdio.h>
#include <stdlib.h>

#include "addon.h"
#include "uv_batch.h"

/* How a group is laid out in its array. */
enum { group_offset, group_length, group_first, group_targets, group_fields };

/* A ring costs a system call a group; below this many sockets as many plain sends are quicker. */
enum { least_for_ring = 8 };

/* Of one environment. */
typedef struct {
  uv_batch_fanout_t plain;
  uv_batch_fanout_t ring; /* io_uring, where it is in use */
  int is_open;
  int has_ring;
  uv_batch_target_t* targets;
  size_t capacity;
} fanout_t;

static void free_fanout(void* data) {
  fanout_t* fanout = data;
  if (fanout->is_open) uv_batch_fanout_close(&fanout->plain);
  if (fanout->has_ring) uv_batch_fanout_close(&fanout->ring);
  free(fanout->targets);
  free(fanout);
}

static int is_ring(const uv_batch_fanout_t* fanout) {
  return uv_batch_fanout_backend(fanout)[0] == 'i';
}

/* Throws with the name of the error as its code. */
static napi_value fail(napi_env env, int status) {
  char name[32], message[160];
  uv_err_name_r(status, name, sizeof(name));
  snprintf(message, sizeof(message), "%s: %s", name, uv_batch_strerror(status));
  return millrace_throw(env, name, message);
}

/* fanoutOpen(flags) -> "send", "io_uring" or "try_write". Once; again after a failure. */
static napi_value open_fanout(napi_env env, napi_callback_info info) {
  fanout_t* fanout;
  napi_value argv[1], name;
  uint32_t flags;
  if (!millrace_arguments(env, info, 1, argv, (void**)&fanout)) return NULL;
  CHECK(napi_get_value_uint32(env, argv[0], &flags));
  if (fanout->is_open) return fail(env, UV_EALREADY);
  int status = uv_batch_fanout_init(&fanout->ring, flags);
  if (status != 0) return fail(env, status);
  fanout->has_ring = is_ring(&fanout->ring);
  if (!fanout->has_ring) uv_batch_fanout_close(&fanout->ring);
  /* Has nothing that could fail. */
  (void)uv_batch_fanout_init(&fanout->plain, UV_BATCH_FANOUT_SEND);
  fanout->is_open = 1;
  const char* backend = uv_batch_fanout_backend(fanout->has_ring ? &fanout->ring : &fanout->plain);
  CHECK(napi_create_string_utf8(env, backend, NAPI_AUTO_LENGTH, &name));
  return name;
}

/* A ring that has failed is none any more. */
static uv_batch_fanout_t* way_for(fanout_t* fanout, size_t targets) {
  if (!fanout->has_ring || targets < least_for_ring) return &fanout->plain;
  return is_ring(&fanout->ring) ? &fanout->ring : &fanout->plain;
}

static int reserve(fanout_t* fanout, size_t count) {
  if (count <= fanout->capacity) return 1;
  uv_batch_target_t* targets = realloc(fanout->targets, count * sizeof(*targets));
  if (targets == NULL) return 0;
  fanout->targets = targets;
  fanout->capacity = count;
  return 1;
}

/* The arguments of fanoutSend(). */
typedef struct {
  char* bytes;
  size_t size;
  const int32_t* groups;
  const int32_t* fds;
  int32_t* results;
  size_t count, most_groups, most_targets;
} plan_t;

static int take_plan(napi_env env, const napi_value argv[], plan_t* plan) {
  size_t groups, fds, results;
  int32_t count;
  if (!millrace_bytes(env, argv[0], (void**)&plan->bytes, &plan->size) ||
      !millrace_words(env, argv[1], (void**)&plan->groups, &groups) ||
      !millrace_ok(env, napi_get_value_int32(env, argv[2], &count)) ||
      !millrace_words(env, argv[3], (void**)&plan->fds, &fds) ||
      !millrace_words(env, argv[4], (void**)&plan->results, &results)) {
    return 0;
  }
  plan->count = count < 0 ? SIZE_MAX : (size_t)count;
  plan->most_groups = groups / sizeof(int32_t) / group_fields;
  plan->most_targets = (fds < results ? fds : results) / sizeof(int32_t);
  return 1;
}

/* Reports whether `length` of them from `first` on are among `count`. */
static int is_within(int32_t first, int32_t length, size_t count) {
  return first >= 0 && length >= 0 && (size_t)first <= count && (size_t)length <= count - (size_t)first;
}

/* The targets of the largest group, or SIZE_MAX when a group lies outside what was given. */
static size_t check_plan(const plan_t* plan) {
  size_t largest = 0;
  if (plan->count > plan->most_groups) return SIZE_MAX;
  for (size_t i = 0; i < plan->count; i++) {
    const int32_t* group = &plan->groups[i * group_fields];
    if (!is_within(group[group_offset], group[group_length], plan->size) ||
        !is_within(group[group_first], group[group_targets], plan->most_targets)) {
      return SIZE_MAX;
    }
    if ((size_t)group[group_targets] > largest) largest = (size_t)group[group_targets];
  }
  return largest;
}

static int send_group(fanout_t* fanout, const plan_t* plan, const int32_t* group) {
  size_t first = (size_t)group[group_first], count = (size_t)group[group_targets];
  uv_buf_t buf = uv_buf_init(plan->bytes + group[group_offset], (unsigned int)group[group_length]);
  for (size_t i = 0; i < count; i++) {
    fanout->targets[i].stream = NULL;
    fanout->targets[i].fd = plan->fds[first + i];
    fanout->targets[i].result = UV_EAGAIN;
  }
  int complete = uv_batch_fanout_send(way_for(fanout, count), &buf, 1, fanout->targets, count);
  for (size_t i = 0; i < count; i++) {
    plan->results[first + i] = complete < 0 ? complete : (int32_t)fanout->targets[i].result;
  }
  return complete < 0 ? 0 : complete;
}

/* fanoutSend(bytes, groups, count, fds, results) -> how many sockets took everything. `groups` has four numbers for each
 * group: offset and length of its content in `bytes`, first and number of its sockets in `fds`. A result is the bytes
 * that were sent, possibly fewer than all, or a negative code. */
static napi_value send_all(napi_env env, napi_callback_info info) {
  fanout_t* fanout;
  plan_t plan;
  napi_value argv[5], result;
  int complete = 0;
  if (!millrace_arguments(env, info, 5, argv, (void**)&fanout) || !take_plan(env, argv, &plan)) return NULL;
  size_t largest = check_plan(&plan);
  if (!fanout->is_open || largest == SIZE_MAX) {
    return millrace_throw(env, "MILLRACE_E_INVALID_ARGUMENT", "a group lies outside its arrays, or fanoutOpen() was not called");
  }
  if (!reserve(fanout, largest)) return fail(env, UV_ENOMEM);
  for (size_t i = 0; i < plan.count; i++) complete += send_group(fanout, &plan, &plan.groups[i * group_fields]);
  CHECK(napi_create_int32(env, complete, &result));
  return result;
}

int millrace_fanout_register(napi_env env, napi_value exports) {
  fanout_t* fanout = calloc(1, sizeof(*fanout));
  if (fanout == NULL) return millrace_ok(env, napi_generic_failure);
  if (!millrace_ok(env, napi_add_env_cleanup_hook(env, free_fanout, fanout))) {
    free(fanout);
    return 0;
  }
  return millrace_export(env, exports, "fanoutOpen", open_fanout, fanout) &&
         millrace_export(env, exports, "fanoutSend", send_all, fanout);
}
