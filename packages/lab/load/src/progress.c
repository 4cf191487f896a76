#include <stdio.h>

#include "load.h"

static const char *phase_word(enum phase phase) {
  static const char *const words[] = {"connect", "warmup", "measure", "drain", "close"};
  return words[phase];
}

void progress_line(const struct run *run, uint32_t second) {
  static struct counts before;
  const struct counts *now = &run->counts;
  if (now->sent < before.sent) before = (struct counts){0};
  const uint64_t deliveries = now->delivered - before.delivered;
  const uint64_t sends = now->sent - before.sent;
  before = *now;
  const uint64_t faults = now->duplicated + now->reordered + now->corrupt + now->closed_early;

  switch ((enum progress)run->options->progress) {
    case PROGRESS_NONE: return;
    case PROGRESS_JSON:
      fprintf(stderr,
              "{\"second\":%u,\"phase\":\"%s\",\"open\":%u,\"deliveries\":%llu,\"sends\":%llu,"
              "\"outstanding\":%llu,\"waiting\":%llu,\"faults\":%llu}\n",
              second, phase_word(run->phase), run->open, (unsigned long long)deliveries,
              (unsigned long long)sends, (unsigned long long)run->outstanding,
              (unsigned long long)run->waiting, (unsigned long long)faults);
      return;
    case PROGRESS_TEXT:
      if (run->phase == PHASE_CONNECT) {
        fprintf(stderr, "%4u s  connect  %u of %u open\n", second, run->ready,
                run->options->connections);
        return;
      }
      fprintf(stderr,
              "%4u s  %-8s %9llu deliveries/s  %8llu sends/s  %llu under way  %llu to be sent  "
              "%llu faults\n",
              second, phase_word(run->phase), (unsigned long long)deliveries,
              (unsigned long long)sends, (unsigned long long)run->outstanding,
              (unsigned long long)run->waiting, (unsigned long long)faults);
      return;
  }
}

void progress_mark(const struct run *run, const char *mark) {
  if (run->options->progress == PROGRESS_JSON) fprintf(stderr, "{\"mark\":\"%s\"}\n", mark);
}
