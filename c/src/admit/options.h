/* The options of a queue and of a type: defaults, and the check that keeps bad ones out. */
#ifndef UVB_OPTIONS_H
#define UVB_OPTIONS_H

#include <stdbool.h>

#include "uv_batch.h"

/* One bit for each member that `to` has and `from` has otherwise. */
typedef uint32_t uvb__changes_t;
enum { uvb__policy_bit = 1, uvb__order_bit = 2, uvb__switch_bits = uvb__policy_bit | uvb__order_bit };
uvb__changes_t uvb__options_changes(const uv_batch_options_t* from, const uv_batch_options_t* to);

/* Copies the members of these bits. */
void uvb__options_apply(uv_batch_options_t* options, const uv_batch_options_t* changed, uvb__changes_t changes);

/* The set with max_delay filled in where it follows from the policy. */
uv_batch_options_t uvb__options_complete(uv_batch_options_t options);

#endif
