#include <stdio.h>
#include <string.h>

#include "load.h"

typedef unsigned long long ull;

static const double SATURATED_CPU = 0.9; /* share of a core */
static const double SATURATED_LATE_US = 5000;

/* Numbers that were skipped and not refused: something newer of the same sender has come. */
static uint64_t lost_in_gaps(const struct run *run) {
  const uint64_t missing = run->gaps.missing;
  const uint64_t refused = run->counts.refused_deliveries;
  return missing > refused ? missing - refused : 0;
}

uint64_t report_lost(const struct run *run) {
  const uint64_t unseen = run->counts.expected - run->counts.delivered;
  if (!run->partial) return unseen;
  /* Cut short: what is under way may yet come, what was overtaken will not. */
  const uint64_t lost = run->counts.lost_on_closed + lost_in_gaps(run);
  return lost < unseen ? lost : unseen;
}

bool report_faults(const struct run *run) {
  const struct counts *counts = &run->counts;
  return report_lost(run) + counts->duplicated + counts->reordered + counts->corrupt +
             counts->closed_early >
         0;
}

static void put_text(const char *name, const char *text) {
  printf(",\"%s\":\"", name);
  for (const char *c = text; *c != '\0'; c++) {
    const unsigned char byte = (unsigned char)*c;
    if (byte == '"' || byte == '\\') putchar('\\');
    if (byte < ' ' || byte > '~') {
      printf("\\u%04x", byte < ' ' || byte == 0x7F ? byte : 0xFFFDu);
    } else {
      putchar(byte);
    }
  }
  putchar('"');
}

static void put_count(const char *name, uint64_t value) { printf(",\"%s\":%llu", name, (ull)value); }

static void put_latency(const char *name, const struct histogram *histogram) {
  printf(",\"%s\":{\"n\":%llu", name, (ull)histogram->count);
  static const struct {
    const char *name;
    double share;
  } points[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
  for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
    printf(",\"%s\":%.3f", points[i].name, histogram_percentile(histogram, points[i].share) / 1000);
  }
  printf(",\"max\":%.3f,\"mean\":%.4f}", (double)histogram->max / 1000,
         histogram_mean(histogram) / 1000);
}

static void put_by_priority(const struct run *run) {
  static const char *const names[PRIORITIES] = {"high", "normal", "low"};
  printf(",\"by_priority\":{");
  for (uint32_t i = 0; i < PRIORITIES; i++) {
    printf("%s\"%s\":{\"sent\":%llu,\"expected\":%llu,\"delivered\":%llu", i == 0 ? "" : ",",
           names[i], (ull)run->sent_by[i], (ull)run->expected_by[i], (ull)run->delivered_by[i]);
    put_latency("latency", &run->latency[i]);
    putchar('}');
  }
  putchar('}');
}

static void put_saturation(const struct run *run, double cpu_share) {
  const double late = histogram_percentile(&run->late, 0.99);
  char why[160] = "";
  if (cpu_share > SATURATED_CPU) {
    snprintf(why, sizeof why, "the generator itself used %.0f %% of a core", cpu_share * 100);
  } else if (late > SATURATED_LATE_US) {
    snprintf(why, sizeof why, "the generator took up 1 %% of the due messages %.1f ms or more late",
             late / 1000);
  }
  printf(",\"saturated\":%s", why[0] == '\0' ? "false" : "true");
  if (why[0] == '\0') {
    printf(",\"saturated_why\":null");
  } else {
    put_text("saturated_why", why);
  }
}

void report_json(const struct run *run) {
  const struct counts *counts = &run->counts;
  const bool measured = run->stopped_at > run->measure_from;
  const uint64_t window = measured ? run->stopped_at - run->measure_from : 0;
  const double seconds = (double)window / 1e6;
  const double cpu = measured ? (double)(run->cpu_to - run->cpu_from) / 1e6 : 0;
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  const uint64_t lost = report_lost(run);
  const uint64_t gaps = lost_in_gaps(run) < lost ? lost_in_gaps(run) : lost;
  const uint64_t written = counts->sent + counts->typing_sent;

  printf("{\"ok\":%s", report_faults(run) ? "false" : "true");
  printf(",\"partial\":%s", run->partial ? "true" : "false");
  put_count("scheduled", counts->scheduled);
  put_count("sent", counts->sent);
  put_count("unsent", counts->scheduled > written ? counts->scheduled - written : 0);
  put_count("expected", counts->expected);
  put_count("delivered", counts->delivered);
  put_count("lost", lost);
  put_count("lost_in_gaps", gaps);
  put_count("lost_at_end", lost - gaps);
  put_count("lost_on_closed", counts->lost_on_closed);
  put_count("under_way", run->outstanding);
  put_count("duplicated", counts->duplicated);
  put_count("reordered", counts->reordered);
  put_count("corrupt", counts->corrupt);
  put_count("checked", counts->checked);
  put_count("gaps_forgotten", run->gaps.forgotten);
  put_count("acks", counts->acks);
  put_count("errors", counts->errors);
  put_count("refused", counts->refused);
  put_count("typing_sent", counts->typing_sent);
  put_count("typing_delivered", counts->typing_delivered);
  put_count("closed_early", counts->closed_early);
  put_count("slow_closed", counts->slow_closed);
  printf(",\"close_codes\":{");
  for (int i = 0; i < MAX_CLOSE_CODES && run->close_codes[i].count > 0; i++) {
    printf("%s\"%u\":%llu", i == 0 ? "" : ",", run->close_codes[i].code,
           (ull)run->close_codes[i].count);
  }
  putchar('}');
  if (run->first_fault[0] != '\0') put_text("first_fault", run->first_fault);
  if (run->first_error[0] != '\0') put_text("first_error", run->first_error);

  printf(",\"measured_s\":%.6f", seconds);
  printf(",\"msgs_per_s\":%.1f", (double)counts->delivered_measured * per_second);
  printf(",\"sends_per_s\":%.1f", (double)counts->sent_measured * per_second);
  static struct histogram all;
  all = (struct histogram){0};
  for (uint32_t i = 0; i < PRIORITIES; i++) histogram_merge(&all, &run->latency[i]);
  put_latency("latency", &all);
  put_latency("latency_echo", &run->echo);
  put_latency("late", &run->late);
  if (run->streams > 1) put_by_priority(run);

  put_count("frames", counts->frames);
  put_count("binary_frames", counts->binary);
  put_count("other_frames", counts->other);
  put_count("reads", counts->reads);
  put_count("bytes", counts->bytes_in);
  put_count("bytes_sent", counts->bytes_out);
  printf(",\"frames_per_read\":%.2f",
         counts->reads == 0 ? 0 : (double)counts->frames / (double)counts->reads);
  printf(",\"cpu_s\":%.4f,\"cpu_share\":%.4f", cpu, cpu * per_second);
  put_saturation(run, cpu * per_second);
  printf(",\"per_quarter\":[");
  /* One that the window has only a part of would look like a slow one. */
  for (uint32_t i = 0; i < run->quarters && (uint64_t)(i + 1) * 250000 <= window; i++) {
    printf("%s%llu", i == 0 ? "" : ",", (ull)run->per_quarter[i]);
  }
  printf("],\"seed\":%u,\"config\":{", run->options->seed);
  options_json(run->options, stdout);
  printf("}}\n");
}
