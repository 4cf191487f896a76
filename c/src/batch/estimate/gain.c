#include "batch/estimate/gain.h"

void uvb__gain_record(uvb__gain_t* gain, double extra) {
  gain->extra[gain->next] = extra;
  gain->next = (gain->next + 1) % uvb__holds_on_record;
  if (gain->holds < uvb__holds_on_record) gain->holds++;
}

void uvb__gain_clear(uvb__gain_t* gain) {
  gain->holds = 0;
  gain->next = 0;
}

double uvb__gain_read(const uvb__gain_t* gain) {
  double sum = 0;
  if (gain->holds == 0) return 0;
  for (uint32_t i = 0; i < gain->holds; i++) sum += gain->extra[i];
  return sum / gain->holds;
}
