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
  /** As UCUM writes it: `ms`, `By`, `1` for shares, and what is counted in braces, as `{event}`. */
  readonly unit: string;
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

type Make = (name: string, unit: string, help: string, labels?: readonly string[]) => Family;

const counter: Make = (name, unit, help, labels = []) => ({
  ...{ name, unit, help, labels },
  kind: 'counter',
  across: 'sum',
});
const gauge: Make = (...of) => ({ ...counter(...of), kind: 'gauge' });
const highest: Make = (...of) => ({ ...gauge(...of), across: 'max' });
const summary: Make = (...of) => ({ ...counter(...of), kind: 'summary' });

/** What `collect()` gives, in the order of an event's path. */
export const families: readonly Family[] = [
  highest('loop_utilization', '1', 'Busy share of the event loop over the last second, 0 to 1.'),
  {
    ...summary(
      'loop_delay_ms',
      'ms',
      'Turns of the event loop over the last second, without sleep.',
    ),
    across: 'max',
  },
  counter('gc_pause_ms_total', 'ms', 'Time that the garbage collector stopped the thread.', [
    'kind',
  ]),

  gauge('queue_depth', '{item}', 'What is queued.', ['source', 'priority']),
  highest('queue_fill', '1', 'Share of its bound that the fullest queue has in use, 0 to 1.', [
    'source',
  ]),
  summary(
    'queue_wait_ms',
    'ms',
    'Waits in the queue; of batches, that of the oldest event of each class in each batch.',
    ['source', 'priority'],
  ),
  counter('refused_total', '{item}', 'What was not taken, or thrown away undelivered.', [
    'source',
    'reason',
  ]),
  counter('errors_total', '{error}', 'Handlers, batches and tasks that failed.', ['source']),
  gauge('retained', '{event}', 'Events that found no handler and are kept for a later one.', [
    'state',
  ]),
  gauge('retained_bytes', 'By', 'Bytes of those events.'),
  highest('retained_fill', '1', 'Share of its bound that the fullest type has in use, 0 to 1.'),
  counter('retention_total', '{event}', 'Events that were kept, and what became of them.', [
    'outcome',
  ]),
  counter('unhandled_total', '{event}', 'Events that nobody handled.'),

  summary('batch_size', '{event}', 'Events in a batch.', ['source']),
  counter('batch_trigger_total', '{batch}', 'Batches by what they left with.', [
    'source',
    'trigger',
  ]),
  summary('batch_hold_ms', 'ms', 'Time that batches were held open on purpose.', ['source']),

  counter('fanout_messages_total', '{frame}', 'Frames that were handed to sockets.', ['source']),
  counter('fanout_sends_total', '{write}', 'Writes that those frames took.', ['source']),
  counter('fanout_bytes_total', 'By', 'Bytes of those frames; of rooms.', ['source']),

  counter(
    'enlarged_connections_total',
    '{connection}',
    'Connections whose reads follow what comes.',
  ),

  counter('file_reads_total', '{read}', 'Files read.'),
  counter('file_read_batches_total', '{batch}', 'Batches in which those reads were handed over.'),
  counter(
    'file_jobs_total',
    '{job}',
    'Jobs of the threadpool that those reads took; with the addon.',
  ),
  counter('file_appends_total', '{call}', 'Calls of appendFile.'),
  counter('file_commits_total', '{write}', 'Writes that those calls took.'),
  counter('file_bytes_total', 'By', 'Bytes appended.'),

  counter('admitted_total', '{request}', 'Requests that the guard let run.', ['class']),
  counter('shed_total', '{request}', 'Requests that the guard turned away.', ['class', 'reason']),
  counter(
    'would_shed_total',
    '{request}',
    'Requests that the guard would have turned away, under observe.',
    ['class', 'reason'],
  ),
  counter(
    'cache_answers_total',
    '{request}',
    'Requests to cached handlers by how they were answered.',
    ['result'],
  ),

  gauge('pool_queue_depth', '{task}', 'Tasks that wait; ahead: in a worker already.', ['priority']),
  summary('pool_wait_ms', 'ms', 'Waits of tasks until they begin.'),
  summary('pool_run_ms', 'ms', 'Times that tasks run.'),
  gauge('pool_workers', '{worker}', 'Workers of pools.', ['state']),

  gauge(
    'broker_connections',
    '{connection}',
    'Connections to the broker: up, or away and tried again.',
    ['state'],
  ),
  counter('broker_messages_total', '{message}', 'Messages to and from the broker.', ['direction']),
  counter('broker_bytes_total', 'By', 'Bytes of those messages.', ['direction']),
  counter('broker_unsent_total', '{message}', 'Messages that did not leave for the broker.', [
    'reason',
  ]),
  counter(
    'broker_denied_total',
    '{denial}',
    'Messages and subscriptions that the permissions of the broker did not allow.',
    ['operation'],
  ),
  counter('broker_reconnects_total', '{connection}', 'Connections that came back.'),
  gauge('broker_pending_bytes', 'By', 'Bytes that the broker has not been seen to take.'),
  counter('broker_missed_total', '{batch}', 'Batches of other nodes that did not come.', [
    'source',
  ]),
  counter('broker_malformed_total', '{batch}', 'Batches that were no such thing.', ['source']),

  counter('tasks_total', '{task}', 'Durable tasks by what became of them at a worker.', [
    'outcome',
  ]),
  counter('tasks_results_total', '{result}', 'Results of durable tasks for clients.', ['outcome']),
  gauge('tasks_held', '{task}', 'Durable tasks that workers have.', ['priority']),
  highest('tasks_lag', '{message}', 'Messages of durable tasks that the broker has.', [
    'priority',
    'state',
  ]),
  highest('tasks_dead', '{message}', 'Dead letters that the broker has.'),

  gauge('objects', '{object}', 'Objects that are counted; what exceeds 256 of a kind is not.', [
    'source',
  ]),
  gauge('cluster_processes', '{process}', 'Processes of the cluster, in its first process.', [
    'state',
  ]),
];

/** What `runtime()` gives, under the names of prom-client, which has them itself. They take no prefix. */
export const runtimeFamilies: readonly Family[] = [
  gauge('process_resident_memory_bytes', 'By', 'Resident memory size in bytes.'),
  gauge('nodejs_heap_size_used_bytes', 'By', 'Process heap size used from Node.js in bytes.'),
  gauge('nodejs_external_memory_bytes', 'By', 'Node.js external memory size in bytes.'),
  counter('process_cpu_user_seconds_total', 's', 'Total user CPU time spent in seconds.'),
  counter('process_cpu_system_seconds_total', 's', 'Total system CPU time spent in seconds.'),
];
