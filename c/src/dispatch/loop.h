/* The host that lives on a libuv loop. */
#ifndef UVB_LOOP_H
#define UVB_LOOP_H

#include "dispatch/core.h"

/* Puts a queue on a loop: UV_ENOMEM, or what libuv says. */
int uvb__loop_start(uv_loop_t* loop, uv_batch_t* batch, const uv_batch_options_t* options);

/* Forgets the time that was kept for this turn: somebody asks for a dispatch point in the middle of it. */
void uvb__loop_look_at_clock(uvb__core_t* core);

/* Takes in what other threads have posted so far. */
void uvb__loop_take_in(uvb__core_t* core);

/* From here on the loop may sleep, and posts wake it. Whoever takes something in calls this afterwards. */
void uvb__loop_let_sleep(uvb__core_t* core);

/* Takes in, and refuses what they post from here on. */
void uvb__loop_take_last(uvb__core_t* core);

/* Of a queue on a loop: whether others have closed its handles, so that it takes nothing any more. If so the queue
 * ends: inside this call when libuv has finished with the handles, and then the core is gone, else in this turn. */
bool uvb__loop_gone(uvb__core_t* core);

/* For a struct that is initialized again: ends its old queue if others have closed that for good. False: in use. */
bool uvb__loop_forget(uvb__core_t* core);

/* Whether posts that may come keep the loop alive. */
void uvb__loop_ref(uvb__core_t* core, bool ref);

#endif
