/** Names of Millrace's metrics, the same in every exporter. `docs/reference/metrics.md` has them as a table. */

export type Kind = 'counter' | 'gauge' | 'summary';

/** Metrics of one name, distinguished by their labels. */
export interface Family {
  /** Name without prefix. Counters end in `_total`; a unit comes last. */
  readonly name: string;
  /**
   * Kind of the metrics. A summary is two totals, `NAME_sum` and `NAME_count`, and where they are known `NAME{quantile}`; if
   * it is `max` across objects, the quantiles alone.
   */
  readonly kind: Kind;
  /** Description in one sentence. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Unit in UCUM: `ms`, `By`, `1` for shares, and counted things in braces, as `{event}`. */
  readonly unit: string;
  /**
   * Aggregation of the values of several objects or processes: their sum, or the highest. Quantiles of objects: always the
   * highest.
   */
  readonly across: 'sum' | 'max';
}

/** Value of a metric. */
export interface Point {
  /** Name of the family; for the totals of a summary with `_sum` or `_count`. */
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

/** Families of `collect()`, in the order of an event's path. */
export const families: readonly Family[] = [
  highest('loop_utilization', '1', 'Busy share of the event loop over the last second, 0 to 1.'),
  {
    ...summary(
      'loop_delay_ms',
      'ms',
      'Durations of event-loop turns over the last second, without sleep.',
    ),
    across: 'max',
  },
  counter(
    'loop_stalls_total',
    '{stall}',
    'Stalls of the event loop, by state of the main thread.',
    ['state'],
  ),
  counter('loop_stall_ms_total', 'ms', 'Time of those stalls.', ['state']),
  counter('gc_pause_ms_total', 'ms', 'Time that the garbage collector stopped the thread.', [
    'kind',
  ]),
  counter('context_switches_total', '{switch}', 'Context switches of the threads of the process.', [
    'kind',
  ]),
  counter(
    'system_calls_total',
    '{call}',
    'Calls of the process that read and write files, pipes and streams, as far as the kernel counts them.',
    ['kind'],
  ),

  summary(
    'http_response_ms',
    'ms',
    'Times from the head of a request to the end of its response; quantiles of the last 10 to 20 s.',
    ['route'],
  ),
  counter('http_responses_total', '{response}', 'Responses by route and class of status code.', [
    'route',
    'status',
  ]),

  gauge('queue_depth', '{item}', 'Queued items: events, calls, requests or connections.', [
    'source',
    'priority',
  ]),
  highest('queue_fill', '1', 'Fill of the fullest queue, as a share of its bound, 0 to 1.', [
    'source',
  ]),
  summary(
    'queue_wait_ms',
    'ms',
    'Waits in the queue; for batches, that of the oldest event of each class in each batch. Quantile 1: the worst wait.',
    ['source', 'priority'],
  ),
  counter('refused_total', '{item}', 'Items that were refused, or dropped undelivered.', [
    'source',
    'reason',
  ]),
  counter('errors_total', '{error}', 'Handlers, batches and tasks that failed.', ['source']),
  gauge('retained', '{event}', 'Events without a handler that are kept for a later one.', [
    'state',
  ]),
  gauge('retained_bytes', 'By', 'Bytes of those events.'),
  highest('retained_fill', '1', 'Fill of the fullest type, as a share of its bound, 0 to 1.'),
  counter('retention_total', '{event}', 'Events that were retained, by outcome.', ['outcome']),
  counter('unhandled_total', '{event}', 'Events that nobody handled.'),
  counter(
    'superseded_total',
    '{event}',
    'Queued events whose place a newer one of their key took.',
    ['source'],
  ),

  summary('batch_size', '{event}', 'Events in a batch.', ['source']),
  counter('batch_trigger_total', '{batch}', 'Batches by trigger.', ['source', 'trigger']),
  summary('batch_hold_ms', 'ms', 'Time that batches were held open on purpose.', ['source']),
  highest(
    'batch_hold_chosen_ms',
    'ms',
    'Hold that the policy chose last; 0: batches leave at the end of their turn.',
    ['source'],
  ),
  gauge('batch_not_holding', '{queue}', 'Queues that may hold batches and do not, by reason.', [
    'source',
    'reason',
  ]),
  gauge('batch_rate', '{event}/s', 'Events per second, as the policy estimates them.', ['source']),
  highest(
    'batch_cost_ms',
    'ms',
    'Cost of a batch beside its events, of an event in it, and of a hold, as the policy measures them.',
    ['source', 'part'],
  ),
  highest(
    'batch_saving',
    '1',
    'Share of the CPU per event that holding was last measured to save; 0 where it costs CPU.',
    ['source'],
  ),

  counter('fanout_messages_total', '{frame}', 'Frames sent to sockets.', ['source']),
  counter('fanout_sends_total', '{write}', 'Writes for those frames.', ['source']),
  counter('fanout_bytes_total', 'By', 'Bytes of those frames; of rooms.', ['source']),
  counter(
    'fanout_superseded_total',
    '{frame}',
    'Frames that sockets did not get, because a newer one of their key took their place.',
    ['source'],
  ),

  counter(
    'enlarged_connections_total',
    '{connection}',
    'Connections whose read size adapts to the traffic.',
  ),

  counter('file_reads_total', '{read}', 'Files read.'),
  counter('file_read_batches_total', '{batch}', 'Batches of those reads.'),
  counter('file_jobs_total', '{job}', 'Threadpool jobs for those reads; with the addon.'),
  counter('file_appends_total', '{call}', 'Calls of appendFile.'),
  counter('file_commits_total', '{write}', 'Writes for those calls.'),
  counter('file_bytes_total', 'By', 'Bytes appended.'),

  counter(
    'lookups_total',
    '{lookup}',
    'Look-ups of names, by who answered: the system, one that was under way, or what is kept.',
    ['answer'],
  ),

  counter('admitted_total', '{request}', 'Requests that the guard admitted.', ['class']),
  counter('shed_total', '{request}', 'Requests that the guard refused.', ['class', 'reason']),
  counter(
    'would_shed_total',
    '{request}',
    'Requests that the guard would have refused, under observe.',
    ['class', 'reason'],
  ),
  counter(
    'shadow_responses_total',
    '{response}',
    'Under observe: late responses, those of them that the guard would have saved, and responses in time that it would have lost.',
    ['class', 'outcome'],
  ),
  counter('cache_answers_total', '{request}', 'Requests to cached handlers, by kind of answer.', [
    'result',
  ]),

  gauge('pool_queue_depth', '{task}', 'Waiting tasks; ahead: already at a worker.', ['priority']),
  summary('pool_wait_ms', 'ms', 'Waits of tasks until they start.'),
  summary('pool_run_ms', 'ms', 'Running times of tasks.'),
  gauge('pool_workers', '{worker}', 'Workers of pools.', ['state']),

  gauge(
    'broker_connections',
    '{connection}',
    'Connections to the broker: up, or away and reconnecting.',
    ['state'],
  ),
  counter('broker_messages_total', '{message}', 'Messages to and from the broker.', ['direction']),
  counter('broker_bytes_total', 'By', 'Bytes of those messages.', ['direction']),
  counter('broker_unsent_total', '{message}', 'Messages that were not sent to the broker.', [
    'reason',
  ]),
  counter(
    'broker_denied_total',
    '{denial}',
    'Messages and subscriptions denied by the permissions of the broker.',
    ['operation'],
  ),
  counter('broker_reconnects_total', '{connection}', 'Reconnects to the broker.'),
  gauge('broker_pending_bytes', 'By', 'Bytes sent that the broker has not confirmed yet.'),
  counter('broker_missed_total', '{batch}', 'Batches of other nodes that did not arrive.', [
    'source',
  ]),
  counter('broker_malformed_total', '{batch}', 'Messages that are not valid batches.', ['source']),

  counter('tasks_total', '{task}', 'Durable tasks at workers, by outcome.', ['outcome']),
  counter('tasks_results_total', '{result}', 'Results of durable tasks for clients, by outcome.', [
    'outcome',
  ]),
  gauge('tasks_held', '{task}', 'Durable tasks that workers hold.', ['priority']),
  highest('tasks_lag', '{message}', 'Messages of durable tasks at the broker.', [
    'priority',
    'state',
  ]),
  highest('tasks_dead', '{message}', 'Dead letters at the broker.'),

  gauge('objects', '{object}', 'Counted objects; at most 256 of a kind.', ['source']),
  gauge('cluster_processes', '{process}', 'Processes of the cluster, in its first process.', [
    'state',
  ]),
  counter(
    'cluster_stalls_total',
    '{stall}',
    'Stalls of the processes of the cluster, by state of the main thread, in its first process.',
    ['state'],
  ),
  counter('cluster_stall_ms_total', 'ms', 'Time of those stalls.', ['state']),
];

/** Families of `runtime()`, under the names of prom-client, which has them itself. They take no prefix. */
export const runtimeFamilies: readonly Family[] = [
  gauge('process_resident_memory_bytes', 'By', 'Resident memory size in bytes.'),
  gauge('nodejs_heap_size_used_bytes', 'By', 'Process heap size used from Node.js in bytes.'),
  gauge('nodejs_external_memory_bytes', 'By', 'Node.js external memory size in bytes.'),
  counter('process_cpu_user_seconds_total', 's', 'Total user CPU time spent in seconds.'),
  counter('process_cpu_system_seconds_total', 's', 'Total system CPU time spent in seconds.'),
];
