/**
 * What each kind of object reports, in the words of the vocabulary. A reader is given what `stats()` of an object returns; its parameter
 * names the fields that it reads, so that no reader needs the module of that object. `test-types/readers.ts` compares them with the
 * statistics of each object.
 */
import type { SourceKind } from '@millrace/base/sources';
import type { Snapshot } from '../health.js';

/** Counts by name. */
type Counts = Readonly<Record<string, number>>;

interface ByPriority<Value> {
  readonly high: Value;
  readonly normal: Value;
  readonly low: Value;
}

/** Takes one value. For totals it is what the object has counted so far. */
export type Add = (name: string, labels: Readonly<Record<string, string>>, value: number) => void;

function summary(
  add: Add,
  name: string,
  labels: Readonly<Record<string, string>>,
  sum: number,
  count: number,
): void {
  add(`${name}_sum`, labels, sum);
  add(`${name}_count`, labels, count);
}

interface QueueFigures {
  readonly depth: Counts;
  readonly fill: number;
  readonly waits: ByPriority<{ readonly batches: number; readonly sumMs: number }>;
  readonly worstWait: ByPriority<number>;
  readonly refused: Counts;
  readonly errors: number;
  readonly unhandled: number;
  readonly batched: number;
  readonly batches: number;
  readonly trigger: Counts;
  readonly holds: number;
  readonly holdMs: number;
}

function queue(source: SourceKind, stats: QueueFigures, add: Add): void {
  for (const [priority, depth] of Object.entries(stats.depth))
    add('queue_depth', { source, priority }, depth);
  add('queue_fill', { source }, stats.fill);
  for (const priority of ['high', 'normal', 'low'] as const) {
    const { batches, sumMs } = stats.waits[priority];
    summary(add, 'queue_wait_ms', { source, priority }, sumMs, batches);
    add('queue_wait_ms', { source, priority, quantile: '1' }, stats.worstWait[priority]);
  }
  for (const [reason, count] of Object.entries(stats.refused))
    add('refused_total', { source, reason }, count);
  add('errors_total', { source }, stats.errors);
  add('unhandled_total', {}, stats.unhandled);
  summary(add, 'batch_size', { source }, stats.batched, stats.batches);
  for (const [trigger, count] of Object.entries(stats.trigger)) {
    add('batch_trigger_total', { source, trigger }, count);
  }
  summary(add, 'batch_hold_ms', { source }, stats.holdMs, stats.holds);
}

interface EmitterFigures extends QueueFigures {
  /** Beside these, events by outcome. */
  readonly retained: Counts & {
    readonly count: number;
    readonly bytes: number;
    readonly fill: number;
  };
}

function emitter(stats: EmitterFigures, add: Add): void {
  queue('emitter', stats, add);
  const { count, bytes, fill, ...outcomes } = stats.retained;
  add('retained', { state: 'held' }, count);
  add('retained_bytes', {}, bytes);
  add('retained_fill', {}, fill);
  for (const [outcome, events] of Object.entries(outcomes))
    add('retention_total', { outcome }, events);
}

interface RoomsFigures extends QueueFigures {
  readonly dropped: ByPriority<number>;
  readonly deliveries: number;
  readonly sends: number;
  readonly sentBytes: number;
  /** Null without other processes. */
  readonly across: (HeardFigures & { readonly ignored: number }) | null;
}

function rooms(stats: RoomsFigures, add: Add): void {
  queue('rooms', stats, add);
  const { high, normal, low } = stats.dropped;
  add('refused_total', { source: 'rooms', reason: 'slow' }, high + normal + low);
  fanOut('rooms', stats.deliveries, stats.sends, add);
  add('fanout_bytes_total', { source: 'rooms' }, stats.sentBytes);
  if (stats.across === null) return;
  add('refused_total', { source: 'rooms', reason: 'bound' }, stats.across.ignored);
  heard('rooms', stats.across, add);
}

function fanOut(source: SourceKind, frames: number, writes: number, add: Add): void {
  add('fanout_messages_total', { source }, frames);
  add('fanout_sends_total', { source }, writes);
}

interface GatheredFigures {
  readonly frames: number;
  readonly writes: number;
}

/** What gathers the frames of an application by itself. */
function gathered(source: SourceKind): (stats: GatheredFigures, add: Add) => void {
  return ({ frames, writes }, add) => {
    summary(add, 'batch_size', { source }, frames, writes);
    fanOut(source, frames, writes, add);
  };
}

interface CoalesceFigures {
  readonly coalesced: number;
  readonly flushes: number;
}

function coalesce({ coalesced, flushes }: CoalesceFigures, add: Add): void {
  summary(add, 'batch_size', { source: 'coalesce' }, coalesced, flushes);
}

function enlarge({ connections }: { readonly connections: number }, add: Add): void {
  add('enlarged_connections_total', {}, connections);
}

interface FileFigures {
  readonly reads: number;
  readonly readBatches: number;
  readonly jobs: number;
  readonly appends: number;
  readonly commits: number;
  readonly bytes: number;
  readonly refused: number;
}

function files(stats: FileFigures, add: Add): void {
  add('file_reads_total', {}, stats.reads);
  add('file_read_batches_total', {}, stats.readBatches);
  add('file_jobs_total', {}, stats.jobs);
  add('file_appends_total', {}, stats.appends);
  add('file_commits_total', {}, stats.commits);
  add('file_bytes_total', {}, stats.bytes);
  add('refused_total', { source: 'fs', reason: 'overloaded' }, stats.refused);
}

interface GuardFigures {
  readonly queued: number;
  readonly maxQueue: number;
  readonly classes: Readonly<
    Record<
      string,
      {
        readonly queued: number;
        readonly admitted: number;
        readonly shed: Counts;
        readonly wouldShed: Counts;
        readonly waitMs: { readonly mean: number; readonly p99: number; readonly max: number };
      }
    >
  >;
}

function guard(stats: GuardFigures, add: Add): void {
  const source = 'guard';
  add('queue_fill', { source }, fillOf(stats.queued, stats.maxQueue));
  for (const [name, one] of Object.entries(stats.classes)) {
    add('admitted_total', { class: name }, one.admitted);
    // Nothing ever waits in it, or is turned away.
    if (name === 'exempt') continue;
    add('queue_depth', { source, priority: name }, one.queued);
    const { mean, p99, max } = one.waitMs;
    const labels = { source, priority: name };
    summary(add, 'queue_wait_ms', labels, mean * one.admitted, one.admitted);
    // The buckets of a histogram may report a little more than there was.
    add('queue_wait_ms', { ...labels, quantile: '0.99' }, Math.min(p99, max));
    add('queue_wait_ms', { ...labels, quantile: '1' }, max);
    for (const [reason, count] of Object.entries(one.shed)) {
      add('shed_total', { class: name, reason }, count);
    }
    for (const [reason, count] of Object.entries(one.wouldShed)) {
      add('would_shed_total', { class: name, reason }, count);
    }
  }
}

const cacheResults = ['hits', 'stale', 'misses', 'deduplicated', 'shed'] as const;

type CachedFigures = Readonly<
  Record<(typeof cacheResults)[number] | 'failed' | 'timedOut', number>
>;

function cached(stats: CachedFigures, add: Add): void {
  for (const result of cacheResults) {
    add('cache_answers_total', { result }, stats[result]);
  }
  add('errors_total', { source: 'cached' }, stats.failed + stats.timedOut);
}

/** Beside `total`, tasks by priority. */
type QueuedFigures = Counts & { readonly total: number };

interface PoolFigures {
  readonly queued: QueuedFigures;
  readonly maxQueue: number;
  readonly waitMs: TimesFigures;
  readonly runMs: TimesFigures;
  readonly workers: { readonly busy: number; readonly idle: number };
  readonly batches: number;
  readonly meanBatch: number;
  readonly refused: number;
  readonly failed: number;
}

function pool(stats: PoolFigures, add: Add): void {
  const source = 'pool';
  const { total, ...depths } = stats.queued;
  for (const [priority, depth] of Object.entries(depths))
    add('pool_queue_depth', { priority }, depth);
  add('queue_fill', { source }, fillOf(total, stats.maxQueue));
  times('pool_wait_ms', stats.waitMs, add);
  times('pool_run_ms', stats.runMs, add);
  const { busy, idle } = stats.workers;
  add('pool_workers', { state: 'busy' }, busy);
  add('pool_workers', { state: 'idle' }, idle);
  const { batches, meanBatch } = stats;
  summary(add, 'batch_size', { source }, Math.round(batches * meanBatch), batches);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  add('errors_total', { source }, stats.failed);
}

interface TaskClientFigures {
  readonly queued: QueuedFigures;
  readonly maxQueue: number;
  readonly messages: number;
  readonly meanBatch: number;
  readonly refused: number;
  readonly failed: number;
}

function taskClient(stats: TaskClientFigures, add: Add): void {
  const source = 'task-client';
  const { total, ...depths } = stats.queued;
  for (const [priority, depth] of Object.entries(depths))
    add('queue_depth', { source, priority }, depth);
  add('queue_fill', { source }, fillOf(total, stats.maxQueue));
  const { messages, meanBatch } = stats;
  summary(add, 'batch_size', { source }, Math.round(messages * meanBatch), messages);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  add('errors_total', { source }, stats.failed);
}

interface TimesFigures {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

function times(name: string, { count, mean, p50, p99, max }: TimesFigures, add: Add): void {
  summary(add, name, {}, mean * count, count);
  add(name, { quantile: '0.5' }, Math.min(p50, max));
  add(name, { quantile: '0.99' }, Math.min(p99, max));
  add(name, { quantile: '1' }, max);
}

const taskOutcomes = ['done', 'failed', 'retried', 'dead', 'cancelled', 'returned'] as const;

interface TasksFigures extends Readonly<Record<(typeof taskOutcomes)[number], number>> {
  readonly results: { readonly confirmed: number; readonly givenUp: number };
  readonly held: Counts;
  /** Null until it is known. Beside the dead letters, the messages of each queue. */
  readonly lag:
    | ({ readonly dead: number } & ByPriority<LagFigures> & { readonly alone: LagFigures })
    | null;
}

interface LagFigures {
  readonly pending: number;
  readonly unacknowledged: number;
}

function tasks(stats: TasksFigures, add: Add): void {
  for (const outcome of taskOutcomes) add('tasks_total', { outcome }, stats[outcome]);
  const { confirmed, givenUp } = stats.results;
  add('tasks_results_total', { outcome: 'confirmed' }, confirmed);
  add('tasks_results_total', { outcome: 'given-up' }, givenUp);
  for (const [priority, held] of Object.entries(stats.held)) add('tasks_held', { priority }, held);
  if (stats.lag === null) return;
  const { dead: letters, ...queues } = stats.lag;
  for (const [priority, { pending, unacknowledged }] of Object.entries(queues)) {
    add('tasks_lag', { priority, state: 'pending' }, pending);
    add('tasks_lag', { priority, state: 'unacknowledged' }, unacknowledged);
  }
  add('tasks_dead', {}, letters);
}

interface ClusterFigures {
  readonly wanted: number;
  readonly ready: number;
  readonly waitingConnections: number;
  readonly refusedConnections: number;
  readonly deaths: number;
}

function cluster(stats: ClusterFigures, add: Add): void {
  const source = 'cluster';
  add('cluster_processes', { state: 'wanted' }, stats.wanted);
  add('cluster_processes', { state: 'ready' }, stats.ready);
  add('queue_depth', { source, priority: 'normal' }, stats.waitingConnections);
  add('refused_total', { source, reason: 'overloaded' }, stats.refusedConnections);
  add('errors_total', { source }, stats.deaths);
}

interface BrokerFigures {
  readonly state: string;
  readonly pendingBytes: number;
  readonly sent: number;
  readonly received: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly unsent: Counts;
  readonly denied: Counts;
  readonly reconnects: number;
}

function broker(stats: BrokerFigures, add: Add): void {
  if (stats.state !== 'closed') {
    const isUp = stats.state === 'up';
    add('broker_connections', { state: 'up' }, isUp ? 1 : 0);
    add('broker_connections', { state: 'away' }, isUp ? 0 : 1);
    add('broker_pending_bytes', {}, stats.pendingBytes);
  }
  add('broker_messages_total', { direction: 'out' }, stats.sent);
  add('broker_messages_total', { direction: 'in' }, stats.received);
  add('broker_bytes_total', { direction: 'out' }, stats.sentBytes);
  add('broker_bytes_total', { direction: 'in' }, stats.receivedBytes);
  for (const [reason, count] of Object.entries(stats.unsent))
    add('broker_unsent_total', { reason }, count);
  for (const [operation, count] of Object.entries(stats.denied)) {
    add('broker_denied_total', { operation }, count);
  }
  add('broker_reconnects_total', {}, stats.reconnects);
}

interface HeardFigures {
  readonly missed: number;
  readonly malformed: number;
}

/** Batches of other nodes. */
function heard(source: SourceKind, { missed, malformed }: HeardFigures, add: Add): void {
  add('broker_missed_total', { source }, missed);
  add('broker_malformed_total', { source }, malformed);
}

interface AdapterFigures extends HeardFigures {
  readonly ignored: number;
  readonly unanswered: number;
}

function adapter(stats: AdapterFigures, add: Add): void {
  add('refused_total', { source: 'socket-io', reason: 'bound' }, stats.ignored);
  heard('socket-io', stats, add);
  add('errors_total', { source: 'socket-io' }, stats.unanswered);
}

interface BridgeFigures extends HeardFigures {
  readonly sent: number;
  readonly batches: number;
  readonly refused: number;
}

function bridge(stats: BridgeFigures, add: Add): void {
  const source = 'bridge';
  summary(add, 'batch_size', { source }, stats.sent, stats.batches);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  heard(source, stats, add);
}

function monitor({ utilization, loopDelay, gc }: Snapshot, add: Add): void {
  add('loop_utilization', {}, utilization);
  add('loop_delay_ms', { quantile: '0.5' }, loopDelay.p50);
  add('loop_delay_ms', { quantile: '0.9' }, loopDelay.p90);
  add('loop_delay_ms', { quantile: '0.99' }, loopDelay.p99);
  add('loop_delay_ms', { quantile: '1' }, loopDelay.max);
  for (const [kind, { totalMs }] of Object.entries(gc.byKind)) {
    add('gc_pause_ms_total', { kind }, totalMs);
  }
}

/** A queue without a bound is neither full nor empty: then what waits decides. */
const fillOf = (count: number, bound: number): number => Math.min(1, count / Math.max(1, bound));

/** By kind of object. */
export const readers = {
  batch: (stats: QueueFigures, add: Add) => queue('batch', stats, add),
  bridge,
  broker,
  cached,
  cluster,
  coalesce,
  emitter,
  enlarge,
  fs: files,
  guard,
  install: gathered('install'),
  monitor,
  pool,
  rooms,
  'socket-io': gathered('socket-io'),
  'socket-io-fleet': adapter,
  'task-client': taskClient,
  tasks,
} satisfies Readonly<Record<SourceKind, (stats: never, add: Add) => void>>;
