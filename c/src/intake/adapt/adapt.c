#include "intake/adapt/adapt.h"

#include "attach.h"
#include "memory.h"

bool uvb__pool_reserve(uvb__pool_t* pool) {
  void* piece;
  if (pool->first != NULL) return true;
  piece = uvb__malloc(pool->size);
  if (piece == NULL) return false;
  uvb__pool_put(pool, piece);
  return true;
}

void* uvb__pool_get(uvb__pool_t* pool) {
  void* piece;
  if (!uvb__pool_reserve(pool)) return NULL;
  piece = pool->first;
  pool->first = *(void**)piece;
  return piece;
}

void uvb__pool_put(uvb__pool_t* pool, void* piece) {
  *(void**)piece = pool->first;
  pool->first = piece;
}

void uvb__pool_free(uvb__pool_t* pool) {
  while (pool->first != NULL) {
    void* piece = pool->first;
    pool->first = *(void**)piece;
    uvb__free(piece);
  }
}

int uvb__adapt_check(const uv_batch_t* batch) {
  if (batch == NULL) return UV_EINVAL;
  if (uvb__attached(batch, UVB__ATTACH_BATCH) == NULL || uv_batch_is_closing(batch)) return UV_ESHUTDOWN;
  return 0;
}

int uvb__adapt_push(uv_batch_t* batch, uv_batch_event_t* event) {
  if (uvb__attached(batch, UVB__ATTACH_BATCH) == NULL) return UV_ESHUTDOWN;
  return uv_batch_push(batch, event);
}

bool uvb__adapt_offer(uv_batch_t* batch, uv_batch_event_t* event, uvb__waiter_t* waiter) {
  int status = uvb__adapt_push(batch, event);
  if (status == UV_ENOBUFS) uvb__wait_for_room(batch, waiter);
  return status == 0 || status == UV_ENOBUFS;
}
