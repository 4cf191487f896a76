/** Table of metrics: unit, better direction, words in tables, and the factor of its values there. */

const metrics = {
  added_cpu_ms: ['ms', 'lower'],
  added_private_mb: ['MB', 'lower'],
  added_rss_mb: ['MB', 'lower'],
  added_share: ['1', 'lower'],
  added_wall_ms: ['ms', 'lower'],
  admitted: ['1', 'higher'],
  allocated_bytes_per_req: ['B', 'lower'],
  allocs_per_op: ['1', 'lower'],
  answered_share: ['1', 'higher'],
  appends_per_s: ['1/s', 'higher', 'appends/s'],
  bytes_per_op: ['B', 'lower'],
  bytes_per_s: ['B/s', 'higher', 'GB/s', 1e-9],
  collect_cpu_ms: ['ms', 'lower'],
  connections_per_call: ['1', 'higher'],
  cpu_ns_per_event: ['ns', 'lower'],
  cpu_ns_per_op: ['ns', 'lower'],
  cpu_ns_per_send: ['ns', 'lower'],
  cpu_s: ['s/GB', 'lower'],
  cpu_share: ['1', 'lower'],
  cpu_us_per_append: ['us', 'lower'],
  cpu_us_per_connection: ['us', 'lower', 'CPU µs per connection'],
  cpu_us_per_file: ['us', 'lower'],
  cpu_us_per_msg: ['us', 'lower', 'CPU µs per message'],
  cpu_us_per_op: ['us', 'lower', 'CPU µs per command'],
  cpu_us_per_query: ['us', 'lower', 'CPU µs per query'],
  cpu_us_per_req: ['us', 'lower', 'CPU µs per request'],
  cpu_us_per_task: ['us', 'lower', 'CPU µs per task'],
  delivered_share: ['1', 'higher', 'delivered in time'],
  events_per_s: ['1/s', 'higher', 'records/s'],
  files_per_s: ['1/s', 'higher', 'files/s'],
  good_per_s: ['1/s', 'higher', 'good answers/s'],
  handlers_per_connection: ['1', 'lower'],
  health_cold_p99_ms: ['ms', 'lower'],
  health_cold_success: ['1', 'higher'],
  health_p99_ms: ['ms', 'lower', '/health, p99, ms'],
  health_p99_ratio: ['1', 'lower'],
  health_success: ['1', 'higher'],
  heap_bytes: ['B', 'lower'],
  heap_growth: ['1', 'lower', 'heap at the end, times that at the start'],
  high_admitted: ['1', 'higher'],
  high_success: ['1', 'higher', '`high` requests in time'],
  items_per_s: ['1/s', 'higher', 'inserts/s'],
  loop_p99_ms: ['ms', 'lower'],
  low_admitted: ['1', 'higher'],
  main_cpu_us_per_task: ['us', 'lower', 'CPU µs of the main thread'],
  msgs_per_s: ['1/s', 'higher', 'messages/s'],
  normal_admitted: ['1', 'higher'],
  ns_per_event: ['ns', 'lower', 'ns per event'],
  ns_per_op: ['ns', 'lower', 'ns per task'],
  ok_p99_ms: ['ms', 'lower'],
  ops_per_s: ['1/s', 'higher', 'commands/s'],
  p50_ms: ['ms', 'lower', 'p50, ms'],
  p50_ns: ['ns', 'lower', 'p50, ns'],
  p50_us: ['us', 'lower'],
  p95_ns: ['ns', 'lower'],
  p999_ns: ['ns', 'lower'],
  p99_ms: ['ms', 'lower', 'p99, ms'],
  p99_ns: ['ns', 'lower'],
  p99_us: ['us', 'lower', 'p99, ms', 1e-3],
  queries_per_s: ['1/s', 'higher', 'queries/s'],
  recovery_ms: ['ms', 'lower', 'ms'],
  replacement_ms: ['ms', 'lower'],
  replacement_ratio: ['1', 'lower'],
  reqs_per_s: ['1/s', 'higher', 'requests/s'],
  retained_bytes_per_op: ['B', 'lower'],
  rss_bytes: ['B', 'lower', 'memory of each, KB', 1e-3],
  rss_bytes_per_worker: ['B', 'lower'],
  rss_mb: ['MB', 'lower'],
  score: ['cores', 'lower', 'cores, and the delay at its price'],
  sends_per_s: ['1/s', 'higher', 'sends/s'],
  start_cpu_ms: ['ms', 'lower'],
  start_ms: ['ms', 'lower'],
  start_wall_ms: ['ms', 'lower'],
  stored_per_s: ['1/s', 'higher', 'stored/s'],
  syscalls_per_connection: ['1', 'lower'],
  syscalls_per_req: ['1', 'lower'],
  tasks: ['1', 'higher'],
  tasks_per_s: ['1/s', 'higher', 'tasks/s'],
  text_cpu_ms: ['ms', 'lower'],
  turns_per_connection: ['1', 'lower'],
  wakes_per_event: ['1', 'lower'],
  wakeups: ['1', 'lower'],
};

/**
 * @typedef {object} Metric
 * @property {string} metric its name
 * @property {string} unit
 * @property {'higher' | 'lower'} better
 * @property {(round: Record<string, any>, arm: string) => number} of gives the value of an arm in a round; default: the sample's own
 * @property {(values: number[]) => number} [summary] of the rounds, see `figure`
 */

/**
 * Returns a metric by its name, or with changes to the table's entry.
 *
 * @param {string | Partial<Metric> & { metric: string }} given
 * @returns {Metric}
 * @throws {RangeError} when the table has no such name and the unit is not given
 */
export function metricOf(given) {
  const named = typeof given === 'string' ? { metric: given } : given;
  const [unit, better] = metrics[named.metric] ?? [];
  const whole = { unit, better, of: (round, arm) => round[arm][named.metric], ...named };
  if (whole.unit === undefined || whole.better === undefined) {
    throw new RangeError(
      `the metric ${named.metric} is not in bench/lib/metrics.js: add it there, or give its unit and which way is better`,
    );
  }
  return whole;
}

/** Returns the words of a metric in tables, and the factor of its values there. */
export function wordsOf(name) {
  const [, , words = name, scale = 1] = metrics[name] ?? [];
  return { words, scale };
}
