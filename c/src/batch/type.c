#include "batch/type.h"

#include <math.h>
#include <string.h>

#include "memory.h"

static const uv_batch_type_options_t defaults = {
    .priority = UV_BATCH_PRIORITY_NORMAL,
    .max_batch = UV_BATCH_NO_LIMIT,
    .retain = UV_BATCH_RETAIN_OFF,
    .retain_max = 1000,
    .retain_max_bytes = 1024 * 1024,
    .retain_max_age = 60000,
};

static uint32_t hash(const char* name) {
  uint32_t h = 2166136261u;
  for (; *name != '\0'; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return h;
}

static int make_room(uvb__types_t* types) {
  if (types->count < types->capacity) return 0;
  int capacity = types->capacity * 2;
  uvb__type_t** all = uvb__realloc(types->all, (size_t)capacity * sizeof(*all));
  if (all == NULL) return UV_ENOMEM;
  types->all = all;
  types->capacity = capacity;
  return 0;
}

/* When memory runs out, there are no more buckets than before: slower, but still correct. */
static void spread(uvb__types_t* types) {
  uint32_t buckets = types->buckets * 4;
  if ((uint32_t)types->count < types->buckets) return;
  uvb__type_t** by_name = uvb__calloc(buckets, sizeof(*by_name));
  if (by_name == NULL) return;
  uvb__free(types->by_name);
  types->by_name = by_name;
  types->buckets = buckets;
  for (int i = 1; i < types->count; i++) {
    uvb__type_t** bucket = &by_name[hash(types->all[i]->name) & (buckets - 1)];
    types->all[i]->same_hash = *bucket;
    *bucket = types->all[i];
  }
}

static uvb__type_t* make(const char* name, int id) {
  uvb__type_t* type = uvb__calloc(1, sizeof(*type));
  if (type == NULL) return NULL;
  type->name = uvb__strdup(name);
  if (type->name == NULL) {
    uvb__free(type);
    return NULL;
  }
  type->id = id;
  type->options = defaults;
  type->options.priority = uvb__class_of(id);
  type->given_rate = NAN;
  for (uint8_t level = 0; level < uvb__levels; level++) type->lanes[level].level = level;
  return type;
}

int uvb__types_number(uvb__types_t* types, const char* name) {
  uvb__type_t* type = types->by_name[hash(name) & (types->buckets - 1)];
  while (type != NULL && strcmp(type->name, name) != 0) type = type->same_hash;
  if (type != NULL) return type->id;
  if (types->count > UV_BATCH_MAX_TYPES) return UV_ENOBUFS;
  if (make_room(types) != 0) return UV_ENOMEM;
  type = make(name, types->count);
  if (type == NULL) return UV_ENOMEM;
  types->all[types->count++] = type;
  uvb__type_t** bucket = &types->by_name[hash(name) & (types->buckets - 1)];
  type->same_hash = *bucket;
  *bucket = type;
  spread(types);
  return type->id;
}

int uvb__types_init(uvb__types_t* types) {
  types->count = 1;
  types->capacity = 32;
  types->buckets = 64;
  types->all = uvb__calloc((size_t)types->capacity, sizeof(*types->all));
  types->by_name = uvb__calloc(types->buckets, sizeof(*types->by_name));
  bool made = types->all != NULL && types->by_name != NULL;
  for (int i = 1; made && i <= uvb__builtin_types; i++) made = uvb__types_number(types, uvb__builtin_name(i)) == i;
  if (made) return 0;
  uvb__types_free(types);
  return UV_ENOMEM;
}

void uvb__types_free(uvb__types_t* types) {
  for (int i = 1; types->all != NULL && i < types->count; i++) {
    uvb__free(types->all[i]->name);
    uvb__free(types->all[i]);
  }
  uvb__free(types->all);
  uvb__free(types->by_name);
}
