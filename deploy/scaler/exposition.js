/** The text that Prometheus reads, as far as a scaler needs it: the counts of one process. */

/** A line: its name, its labels, its value; a time after it is left. Braces and quotes may be within the value of a label. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]+(\S+)/;

const size = /(?:^|,)\s*trigger="size"/;

/**
 * @typedef {object} Counts
 * @property {number} utilization of the loop, 0 to 1: the highest, where several loops tell theirs
 * @property {number} batches that have left; @property {number} full those of them that were full
 * @property {number} requests that the guard has judged; @property {number} shed those that it refused
 */

/**
 * Counts of the metrics of Millrace in a text of Prometheus. Totals that are absent count as 0: a process without a guard has none.
 *
 * @param {string} text
 * @returns {Counts}
 * @throws {Error} if it has no utilization of the loop, so that it is not of Millrace
 */
export function readCounts(text) {
  const counts = { utilization: -1, batches: 0, full: 0, requests: 0, shed: 0 };
  for (const line of text.split('\n')) {
    const [, name, labels = '', word] = LINE.exec(line) ?? [];
    const value = Number(word);
    if (name === undefined || !Number.isFinite(value)) continue;
    switch (name) {
      case 'millrace_loop_utilization':
        counts.utilization = Math.max(counts.utilization, value);
        break;
      case 'millrace_batch_trigger_total':
        counts.batches += value;
        if (size.test(labels)) counts.full += value;
        break;
      case 'millrace_admitted_total':
        counts.requests += value;
        break;
      case 'millrace_shed_total':
        counts.requests += value;
        counts.shed += value;
    }
  }
  if (counts.utilization >= 0) return counts;
  throw new Error(
    'its text has no millrace_loop_utilization; the application has to call prometheus() of @millrace/monitor/metrics',
  );
}
