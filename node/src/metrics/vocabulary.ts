/** The names under which Millrace tells what it counts, the same in every exporter. `docs/metrics.md` has them as a table. */

export type Kind = 'counter' | 'gauge' | 'summary';

/** Metrics of one name, which their labels tell apart. */
export interface Family {
  /** Without prefix. Counters end in `_total`; a unit comes last. */
  readonly name: string;
  /**
   * A summary is two totals, `NAME_sum` and `NAME_count`, and where they are known `NAME{quantile}`; if it is `max` across objects, the
   * quantiles alone.
   */
  readonly kind: Kind;
  /** One sentence. */
  readonly help: string;
  readonly labels: readonly string[];
  /** How the values of several objects or processes become one: by sum, or the highest. Quantiles of objects: always the highest. */
  readonly across: 'sum' | 'max';
}

/** One value. */
export interface Point {
  /** Of a family; for the totals of a summary with `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type Of = Omit<Family, 'kind' | 'name' | 'across' | 'help'>;

const counter = (name: string, help: string, labels: Of['labels'] = []): Family => ({
  name,
  kind: 'counter',
  help,
  labels,
  across: 'sum',
});
const gauge = (name: string, help: string, labels: Of['labels'] = []): Family => ({
  ...counter(name, help, labels),
  kind: 'gauge',
});
const highest = (name: string, help: string, labels: Of['labels'] = []): Family => ({
  ...gauge(name, help, labels),
  across: 'max',
});
const summary = (name: string, help: string, labels: Of['labels'] = []): Family => ({
  ...counter(name, help, labels),
  kind: 'summary',
});

/** What `collect()` gives, in the order of an event's path. */
export const families: readonly Family[] = [
  highest('loop_utilization', 'Busy share of the event loop over the last second, 0 to 1.'),
  {
    ...summary('loop_delay_ms', 'Turns of the event loop over the last second, without sleep.'),
    across: 'max',
  },
  counter('gc_pause_ms_total', 'Time that the garbage collector stopped the thread.', ['kind']),

  gauge('queue_depth', 'What is queued.', ['source', 'priority']),
  highest('queue_fill', 'Share of its bound that the fullest queue has in use, 0 to 1.', [
    'source',
  ]),
  summary(
    'queue_wait_ms',
    'Waits in the queue; of batches, that of the oldest event of each class in each batch.',
    ['source', 'priority'],
  ),
  counter('refused_total', 'What was not taken, or thrown away undelivered.', ['source', 'reason']),
  counter('errors_total', 'Handlers, batches and tasks that failed.', ['source']),
  gauge('retained', 'Events that found no handler and are kept for a later one.', ['state']),
  gauge('retained_bytes', 'Bytes of those events.'),
  highest('retained_fill', 'Share of its bound that the fullest type has in use, 0 to 1.'),
  counter('retention_total', 'Events that were kept, and what became of them.', ['outcome']),
  counter('unhandled_total', 'Events that nobody handled.'),

  summary('batch_size', 'Events in a batch.', ['source']),
  counter('batch_trigger_total', 'Batches by what they left with.', ['source', 'trigger']),
  summary('batch_hold_ms', 'Time that batches were held open on purpose.', ['source']),

  counter('fanout_messages_total', 'Frames that were handed to sockets.', ['source']),
  counter('fanout_sends_total', 'Writes that those frames took.', ['source']),
  counter('fanout_bytes_total', 'Bytes of those frames; of rooms.', ['source']),

  counter('enlarged_connections_total', 'Connections whose reads follow what comes.'),

  counter('file_reads_total', 'Files read.'),
  counter('file_read_batches_total', 'Batches in which those reads were handed over.'),
  counter('file_jobs_total', 'Jobs of the threadpool that those reads took; with the addon.'),
  counter('file_appends_total', 'Calls of appendFile.'),
  counter('file_commits_total', 'Writes that those calls took.'),
  counter('file_bytes_total', 'Bytes appended.'),

  counter('admitted_total', 'Requests that the guard let run.', ['class']),
  counter('shed_total', 'Requests that the guard turned away.', ['class', 'reason']),
  counter('would_shed_total', 'Requests that the guard would have turned away, under observe.', [
    'class',
    'reason',
  ]),
  counter('cache_answers_total', 'Requests to cached handlers by how they were answered.', [
    'result',
  ]),

  gauge('pool_queue_depth', 'Tasks that wait; ahead: in a worker already.', ['priority']),
  summary('pool_wait_ms', 'Waits of tasks until they begin.'),
  summary('pool_run_ms', 'Times that tasks run.'),
  gauge('pool_workers', 'Workers of pools.', ['state']),

  gauge('cluster_processes', 'Processes of the cluster, in its first process.', ['state']),
];

/** What `runtime()` gives, under the names of prom-client, which has them itself. They take no prefix. */
export const runtimeFamilies: readonly Family[] = [
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.'),
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.'),
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.'),
  counter('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.'),
  counter('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.'),
];
