/* Batches on their way that have been cut beforehand: see uvb__cut_t in core.h. Nothing is allocated. */
#ifndef UVB_CUT_H
#define UVB_CUT_H

#include "dispatch/core.h"

static inline bool uvb__cut_empty(const uvb__cut_t* cut) {
  return cut->first == NULL && cut->preparations == 0;
}

/* Before the batches that are appended from here on, what is due comes first. */
static inline void uvb__cut_prepare(uvb__cut_t* cut) {
  cut->preparations++;
}

static inline void uvb__cut_append(uvb__cut_t* cut, const uvb__chain_t* events, uv_batch_trigger_t trigger) {
  uv_batch_event_t* first = events->first;
  first->link_ = NULL;
  first->count_ = cut->preparations;
  first->received_ = (uint64_t)trigger;
  first->number_ = events->count;
  cut->preparations = 0;
  if (cut->last == NULL) cut->first = first;
  else cut->last->link_ = first;
  cut->last = first;
}

/* Takes one preparation: true. Or the next batch: false. */
static inline bool uvb__cut_next(uvb__cut_t* cut, uvb__chain_t* events, uv_batch_trigger_t* trigger) {
  uv_batch_event_t* first = cut->first;
  int* preparations = first == NULL ? &cut->preparations : &first->count_;
  if (*preparations > 0) {
    --*preparations;
    return true;
  }
  cut->first = first->link_;
  if (cut->first == NULL) cut->last = NULL;
  *trigger = (uv_batch_trigger_t)first->received_;
  *events = (uvb__chain_t){first, NULL, (size_t)first->number_};
  first->link_ = NULL;
  return false;
}

#endif
