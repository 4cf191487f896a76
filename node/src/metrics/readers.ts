/** What each kind of object reports, in the words of the vocabulary. */
import type { BatchStats } from '../batch.js';
import type { ClusterStats } from '../cluster/report.js';
import type { SourceKind } from '../core/sources.js';
import type { QueueStats } from '../core/stats.js';
import type { EmitterStats } from '../emitter.js';
import type { FileStats } from '../fs/stats.js';
import type { CachedStats } from '../guard/cached/stats.js';
import type { GuardStats } from '../guard/stats.js';
import type { Snapshot } from '../monitor/health.js';
import type { BridgeStats } from '../nats/events/bridge.js';
import type { LinkStats } from '../nats/link-stats.js';
import type { NatsAdapterStats } from '../nats/socket-io/server-link.js';
import type { TaskClientStats, TaskWorkerStats } from '../nats/tasks/stats.js';
import type { CoalesceStats } from '../net/coalescer.js';
import type { PoolStats, PoolTimes } from '../pool/stats.js';
import type { RoomsStats } from '../ws/rooms.js';

interface Gathered {
  readonly frames: number;
  readonly writes: number;
}

/** Takes one value. For totals it is what the object has counted so far. */
export type Add = (name: string, labels: Readonly<Record<string, string>>, value: number) => void;

/** A record of counts. */
const each = (counts: object): [string, number][] => Object.entries(counts);

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

function queue(source: SourceKind, stats: QueueStats, add: Add): void {
  for (const [priority, depth] of each(stats.depth))
    add('queue_depth', { source, priority }, depth);
  add('queue_fill', { source }, stats.fill);
  for (const priority of ['high', 'normal', 'low'] as const) {
    const { batches, sumMs } = stats.waits[priority];
    summary(add, 'queue_wait_ms', { source, priority }, sumMs, batches);
    add('queue_wait_ms', { source, priority, quantile: '1' }, stats.worstWait[priority]);
  }
  for (const [reason, count] of each(stats.refused))
    add('refused_total', { source, reason }, count);
  add('errors_total', { source }, stats.errors);
  add('unhandled_total', {}, stats.unhandled);
  summary(add, 'batch_size', { source }, stats.batched, stats.batches);
  for (const [trigger, count] of each(stats.trigger)) {
    add('batch_trigger_total', { source, trigger }, count);
  }
  summary(add, 'batch_hold_ms', { source }, stats.holdMs, stats.holds);
}

function emitter(stats: EmitterStats, add: Add): void {
  queue('emitter', stats, add);
  const { count, bytes, fill, ...outcomes } = stats.retained;
  add('retained', { state: 'held' }, count);
  add('retained_bytes', {}, bytes);
  add('retained_fill', {}, fill);
  for (const [outcome, events] of each(outcomes)) add('retention_total', { outcome }, events);
}

function rooms(stats: RoomsStats, add: Add): void {
  queue('rooms', stats, add);
  const { high, normal, low } = stats.dropped;
  add('refused_total', { source: 'rooms', reason: 'slow' }, high + normal + low);
  fanOut('rooms', stats.deliveries, stats.sends, add);
  add('fanout_bytes_total', { source: 'rooms' }, stats.sentBytes);
  if (stats.across === null) return;
  add('refused_total', { source: 'rooms', reason: 'bound' }, stats.across.ignored);
  heard('rooms', stats.across.missed, stats.across.malformed, add);
}

function fanOut(source: SourceKind, frames: number, writes: number, add: Add): void {
  add('fanout_messages_total', { source }, frames);
  add('fanout_sends_total', { source }, writes);
}

/** What gathers the frames of an application by itself. */
function gathered(source: SourceKind): (stats: Gathered, add: Add) => void {
  return ({ frames, writes }, add) => {
    summary(add, 'batch_size', { source }, frames, writes);
    fanOut(source, frames, writes, add);
  };
}

function coalesce({ coalesced, flushes }: CoalesceStats, add: Add): void {
  summary(add, 'batch_size', { source: 'coalesce' }, coalesced, flushes);
}

function enlarge({ connections }: { connections: number }, add: Add): void {
  add('enlarged_connections_total', {}, connections);
}

function files(stats: FileStats, add: Add): void {
  add('file_reads_total', {}, stats.reads);
  add('file_read_batches_total', {}, stats.readBatches);
  add('file_jobs_total', {}, stats.jobs);
  add('file_appends_total', {}, stats.appends);
  add('file_commits_total', {}, stats.commits);
  add('file_bytes_total', {}, stats.bytes);
  add('refused_total', { source: 'fs', reason: 'overloaded' }, stats.refused);
}

function guard(stats: GuardStats, add: Add): void {
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
    for (const [reason, count] of each(one.shed)) {
      add('shed_total', { class: name, reason }, count);
    }
    for (const [reason, count] of each(one.wouldShed)) {
      add('would_shed_total', { class: name, reason }, count);
    }
  }
}

function cached(stats: CachedStats, add: Add): void {
  for (const result of ['hits', 'stale', 'misses', 'deduplicated', 'shed'] as const) {
    add('cache_answers_total', { result }, stats[result]);
  }
  add('errors_total', { source: 'cached' }, stats.failed + stats.timedOut);
}

function pool(stats: PoolStats, add: Add): void {
  const source = 'pool';
  const { total, ...depths } = stats.queued;
  for (const [priority, depth] of each(depths)) add('pool_queue_depth', { priority }, depth);
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

function taskClient(stats: TaskClientStats, add: Add): void {
  const source = 'task-client';
  const { total, ...depths } = stats.queued;
  for (const [priority, depth] of each(depths)) add('queue_depth', { source, priority }, depth);
  add('queue_fill', { source }, fillOf(total, stats.maxQueue));
  const { messages, meanBatch } = stats;
  summary(add, 'batch_size', { source }, Math.round(messages * meanBatch), messages);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  add('errors_total', { source }, stats.failed);
}

function times(name: string, { count, mean, p50, p99, max }: PoolTimes, add: Add): void {
  summary(add, name, {}, mean * count, count);
  add(name, { quantile: '0.5' }, Math.min(p50, max));
  add(name, { quantile: '0.99' }, Math.min(p99, max));
  add(name, { quantile: '1' }, max);
}

function tasks(stats: TaskWorkerStats, add: Add): void {
  const { done, failed, retried, dead, cancelled, returned } = stats;
  const outcomes = { done, failed, retried, dead, cancelled, returned };
  for (const [outcome, count] of each(outcomes)) add('tasks_total', { outcome }, count);
  const { confirmed, givenUp } = stats.results;
  add('tasks_results_total', { outcome: 'confirmed' }, confirmed);
  add('tasks_results_total', { outcome: 'given-up' }, givenUp);
  for (const [priority, held] of each(stats.held)) add('tasks_held', { priority }, held);
  if (stats.lag === null) return;
  const { dead: letters, ...queues } = stats.lag;
  for (const [priority, { pending, unacknowledged }] of Object.entries(queues)) {
    add('tasks_lag', { priority, state: 'pending' }, pending);
    add('tasks_lag', { priority, state: 'unacknowledged' }, unacknowledged);
  }
  add('tasks_dead', {}, letters);
}

function cluster(stats: ClusterStats, add: Add): void {
  const source = 'cluster';
  add('cluster_processes', { state: 'wanted' }, stats.wanted);
  add('cluster_processes', { state: 'ready' }, stats.ready);
  add('queue_depth', { source, priority: 'normal' }, stats.waitingConnections);
  add('refused_total', { source, reason: 'overloaded' }, stats.refusedConnections);
  add('errors_total', { source }, stats.deaths);
}

function broker(stats: LinkStats, add: Add): void {
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
  for (const [reason, count] of each(stats.unsent)) add('broker_unsent_total', { reason }, count);
  for (const [operation, count] of each(stats.denied)) {
    add('broker_denied_total', { operation }, count);
  }
  add('broker_reconnects_total', {}, stats.reconnects);
}

/** Whatever hears batches of other nodes. */
function heard(source: SourceKind, missed: number, malformed: number, add: Add): void {
  add('broker_missed_total', { source }, missed);
  add('broker_malformed_total', { source }, malformed);
}

function adapter(stats: NatsAdapterStats, add: Add): void {
  const { missed, malformed, ignored, unanswered } = stats;
  add('refused_total', { source: 'socket-io', reason: 'bound' }, ignored);
  heard('socket-io', missed, malformed, add);
  add('errors_total', { source: 'socket-io' }, unanswered);
}

function bridge({ sent, batches, missed, malformed, refused }: BridgeStats, add: Add): void {
  const source = 'bridge';
  summary(add, 'batch_size', { source }, sent, batches);
  add('refused_total', { source, reason: 'overloaded' }, refused);
  heard(source, missed, malformed, add);
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

/** By kind of object. `stats` is what its source gave. */
export const readers: Readonly<Record<SourceKind, (stats: never, add: Add) => void>> = {
  batch: (stats: BatchStats, add) => queue('batch', stats, add),
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
};
