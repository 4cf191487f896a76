/** Definitions of the charts and their data. */
import {
  busiestRoutes,
  by,
  level,
  levelsBy,
  lines,
  means,
  once,
  perProcess,
  quantiles,
  rate,
  ratesBy,
  responseTimes,
  shed,
} from './lines.js';

/**
 * Charts in the order of the page. `lines(span)` returns { label, values, dashed?, optional? }; optional lines are hidden until they are
 * not 0. A chart without `always` is shown once it has data.
 *
 * - `log`: the axis is logarithmic, for delays that span decades
 * - `emphasis`: the label of the line to look at first; the others are drawn thin
 */
export const charts = [
  {
    id: 'requests',
    title: 'Requests',
    unit: 'perSecond',
    lines: lines(rate('all routes', 'http_response_ms_count')),
  },
  {
    id: 'latency',
    title: 'Response time, slowest route',
    unit: 'ms',
    log: true,
    emphasis: 'p99',
    lines: quantiles('http_response_ms'),
  },
  {
    id: 'delay',
    title: 'Loop delay',
    unit: 'ms',
    always: true,
    log: true,
    emphasis: 'p99',
    lines: quantiles('loop_delay_ms'),
  },
  {
    id: 'utilization',
    title: 'Utilization',
    unit: 'share',
    most: 1,
    always: true,
    lines: perProcess('busy', (span) => span.level('loop_utilization', { across: 'max' })),
  },
  {
    id: 'gc',
    title: 'Garbage collection, per second',
    unit: 'ms',
    lines: ratesBy('gc_pause_ms_total', 'kind'),
  },
  {
    id: 'cpu',
    title: 'CPU',
    unit: 'share',
    always: true,
    lines: lines(
      rate('user', 'process_cpu_user_seconds_total', once),
      rate('system', 'process_cpu_system_seconds_total', once),
    ),
  },
  {
    id: 'memory',
    title: 'Memory',
    unit: 'bytes',
    always: true,
    lines: lines(
      level('resident', 'process_resident_memory_bytes', once),
      level('heap in use', 'nodejs_heap_size_used_bytes'),
      level('external', 'nodejs_external_memory_bytes'),
    ),
  },
  {
    id: 'responses',
    title: 'Responses by route',
    unit: 'perSecond',
    lines: busiestRoutes((span, where) => span.rate('http_response_ms_count', { where })),
  },
  {
    id: 'statuses',
    title: 'Responses by status',
    unit: 'perSecond',
    lines: ratesBy('http_responses_total', 'status'),
  },
  {
    id: 'response-median',
    title: 'Response time by route, median',
    unit: 'ms',
    lines: responseTimes('0.5'),
  },
  {
    id: 'response-p99',
    title: 'Response time by route, p99',
    unit: 'ms',
    lines: responseTimes('0.99'),
  },
  {
    id: 'switches',
    title: 'Context switches',
    unit: 'perSecond',
    lines: by('context_switches_total', 'kind', (span, where) =>
      span.rate('context_switches_total', { where, ...once }),
    ),
  },
  {
    id: 'calls',
    title: 'System calls that read and write',
    unit: 'perSecond',
    lines: by('system_calls_total', 'kind', (span, where) =>
      span.rate('system_calls_total', { where, ...once }),
    ),
  },
  { id: 'batch-size', title: 'Events per batch', unit: 'count', lines: means('batch_size') },
  {
    id: 'triggers',
    title: 'Batches by trigger',
    unit: 'perSecond',
    lines: ratesBy('batch_trigger_total', 'trigger'),
  },
  { id: 'holds', title: 'Holds, mean', unit: 'ms', lines: means('batch_hold_ms') },
  {
    id: 'hold-chosen',
    title: 'Hold chosen by the policy',
    unit: 'ms',
    lines: levelsBy('batch_hold_chosen_ms', 'source', 'max'),
  },
  {
    id: 'not-holding',
    title: 'Queues that do not hold, by reason',
    unit: 'count',
    lines: levelsBy('batch_not_holding', 'reason'),
  },
  {
    id: 'queue-rate',
    title: 'Events at queues that may hold',
    unit: 'perSecond',
    lines: levelsBy('batch_rate', 'source'),
  },
  {
    id: 'batch-cost',
    title: 'Cost of a batch, an event, a hold',
    unit: 'ms',
    lines: levelsBy('batch_cost_ms', 'part', 'max'),
  },
  {
    id: 'saving',
    title: 'CPU per event saved by holding',
    unit: 'share',
    lines: levelsBy('batch_saving', 'source', 'max'),
  },
  {
    id: 'queue-depth',
    title: 'Queue depth by priority',
    unit: 'count',
    lines: levelsBy('queue_depth', 'priority'),
  },
  {
    id: 'queue-wait',
    title: 'Queue wait by priority, mean',
    unit: 'ms',
    lines: means('queue_wait_ms', 'priority'),
  },
  {
    id: 'refused',
    title: 'Refused, by reason',
    unit: 'perSecond',
    lines: ratesBy('refused_total', 'reason'),
  },
  {
    id: 'errors',
    title: 'Errors, by source',
    unit: 'perSecond',
    lines: ratesBy('errors_total', 'source'),
  },
  {
    id: 'fanout',
    title: 'Writes per fan-out frame',
    unit: 'count',
    lines: by('fanout_messages_total', 'source', (span, where) =>
      span.quotient('fanout_sends_total', 'fanout_messages_total', where),
    ),
  },
  {
    id: 'fanout-messages',
    title: 'Fan-out frames and writes',
    unit: 'perSecond',
    lines: lines(rate('frames', 'fanout_messages_total'), rate('writes', 'fanout_sends_total')),
  },
  {
    id: 'fanout-bytes',
    title: 'Fan-out bytes',
    unit: 'bytesPerSecond',
    lines: ratesBy('fanout_bytes_total', 'source'),
  },
  {
    id: 'files',
    title: 'Files',
    unit: 'perSecond',
    lines: lines(
      rate('reads', 'file_reads_total'),
      rate('batches of reads', 'file_read_batches_total'),
      rate('jobs of reads', 'file_jobs_total'),
      rate('appends', 'file_appends_total'),
      rate('writes of appends', 'file_commits_total'),
    ),
  },
  {
    id: 'admitted',
    title: 'Admitted by class',
    unit: 'perSecond',
    lines: ratesBy('admitted_total', 'class'),
  },
  {
    id: 'shed',
    title: 'Shed by class and reason',
    unit: 'perSecond',
    lines: lines(shed('shed_total', '', false), shed('would_shed_total', 'would shed: ', true)),
  },
  {
    id: 'shadow',
    title: 'Responses that a guard would have saved, and lost',
    unit: 'perSecond',
    lines: ratesBy('shadow_responses_total', 'outcome'),
  },
  {
    id: 'cache',
    title: 'Cached answers',
    unit: 'perSecond',
    lines: ratesBy('cache_answers_total', 'result'),
  },
  {
    id: 'pool-queue',
    title: 'Pool queue',
    unit: 'count',
    lines: levelsBy('pool_queue_depth', 'priority'),
  },
  { id: 'pool-wait', title: 'Pool waits', unit: 'ms', lines: quantiles('pool_wait_ms') },
  { id: 'pool-run', title: 'Pool runs', unit: 'ms', lines: quantiles('pool_run_ms') },
  {
    id: 'pool-workers',
    title: 'Pool workers',
    unit: 'count',
    lines: levelsBy('pool_workers', 'state'),
  },
];
