/* How a type gets its class when nobody says one, and the names of libuv's kinds of event. */
#ifndef UVB_PRIORITY_H
#define UVB_PRIORITY_H

#include "uv_batch.h"

enum { uvb__high, uvb__normal, uvb__low, uvb__levels };

enum { uvb__builtin_types = UV_BATCH_BACKGROUND };

/* The name of a type that every queue knows, 1 to uvb__builtin_types. */
const char* uvb__builtin_name(int type);

/* The class of a type by its number; NORMAL for all but libuv's kinds. */
int uvb__class_of(int type);

#endif
