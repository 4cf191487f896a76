/**
 * Readers per kind of object, in the words of the vocabulary. A reader is given what `stats()` of an object returns; its
 * parameter names the fields that it reads, so that no reader needs the module of that object. `test-types/readers.ts`
 * compares them with the statistics of each object.
 */
import type { SourceKind } from '@millrace/base/sources';
import type { Snapshot } from '../health.js';
import type { RouteResponses } from '../responses.js';

/** Counts by name. */
type Counts = Readonly<Record<string, number>>;
type Figures<Name extends string> = Readonly<Record<Name, number>>;
type ByPriority<Value> = Readonly<Record<'high' | 'normal' | 'low', Value>>;

type Labels = Readonly<Record<string, string>>;

/** Takes one value. For totals it is what the object has counted so far. */
export type Add = (name: string, labels: Labels, value: number) => void;

function summary(add: Add, name: string, labels: Labels, sum: number, count: number): void {
  add(`${name}_sum`, labels, sum);
  add(`${name}_count`, labels, count);
}

/** Adds each count with its name as this label. */
function byLabel(add: Add, name: string, label: string, counts: Counts, labels: Labels = {}): void {
  for (const [each, count] of Object.entries(counts))
    add(name, { ...labels, [label]: each }, count);
}

interface QueueFigures
  extends Figures<'fill' | 'errors' | 'unhandled' | 'batched' | 'batches' | 'holds' | 'holdMs'> {
  readonly depth: Counts;
  readonly waits: ByPriority<Figures<'batches' | 'sumMs'>>;
  readonly worstWait: ByPriority<number>;
  readonly refused: Counts;
  readonly trigger: Counts;
  readonly policy: PolicyFigures;
}

interface PolicyFigures extends Figures<'total' | 'batchCost' | 'eventCost' | 'holdCost' | 'hold'> {
  /** Null while it is not known. */
  readonly saving: number | null;
  /** Reason why no batch is held; null: batches are held. */
  readonly why: string | null;
}

/** Estimates of the policy; none for a queue that may not hold, and only the hold for one that always does. */
function policy(source: SourceKind, stats: PolicyFigures, add: Add): void {
  const { total, batchCost, eventCost, holdCost, hold, saving, why } = stats;
  if (why === 'no delay allowed') return;
  add('batch_hold_chosen_ms', { source }, hold);
  if (why === null && batchCost === 0) return;
  if (why !== null) add('batch_not_holding', { source, reason: why }, 1);
  add('batch_rate', { source }, total * 1000);
  const costs = { batch: batchCost, event: eventCost, hold: holdCost };
  byLabel(add, 'batch_cost_ms', 'part', costs, { source });
  if (saving !== null) add('batch_saving', { source }, saving);
}

function queue(source: SourceKind, stats: QueueFigures, add: Add): void {
  byLabel(add, 'queue_depth', 'priority', stats.depth, { source });
  add('queue_fill', { source }, stats.fill);
  for (const priority of ['high', 'normal', 'low'] as const) {
    const { batches, sumMs } = stats.waits[priority];
    summary(add, 'queue_wait_ms', { source, priority }, sumMs, batches);
    add('queue_wait_ms', { source, priority, quantile: '1' }, stats.worstWait[priority]);
  }
  byLabel(add, 'refused_total', 'reason', stats.refused, { source });
  add('errors_total', { source }, stats.errors);
  add('unhandled_total', {}, stats.unhandled);
  summary(add, 'batch_size', { source }, stats.batched, stats.batches);
  byLabel(add, 'batch_trigger_total', 'trigger', stats.trigger, { source });
  summary(add, 'batch_hold_ms', { source }, stats.holdMs, stats.holds);
  policy(source, stats.policy, add);
}

interface EmitterFigures extends QueueFigures, Figures<'superseded'> {
  /** Beside these, events by outcome. */
  readonly retained: Counts & Figures<'count' | 'bytes' | 'fill'>;
}

function emitter(stats: EmitterFigures, add: Add): void {
  queue('emitter', stats, add);
  add('superseded_total', { source: 'emitter' }, stats.superseded);
  const { count, bytes, fill, ...outcomes } = stats.retained;
  add('retained', { state: 'held' }, count);
  add('retained_bytes', {}, bytes);
  add('retained_fill', {}, fill);
  byLabel(add, 'retention_total', 'outcome', outcomes);
}

interface RoomsFigures
  extends QueueFigures,
    Figures<'deliveries' | 'sends' | 'sentBytes' | 'superseded' | 'slowSuperseded'> {
  readonly dropped: ByPriority<number>;
  /** Null without other processes. */
  readonly across: (HeardFigures & { readonly ignored: number }) | null;
}

function rooms(stats: RoomsFigures, add: Add): void {
  queue('rooms', stats, add);
  add('superseded_total', { source: 'rooms' }, stats.superseded);
  add('fanout_superseded_total', { source: 'rooms' }, stats.slowSuperseded);
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

/** Reader of objects that gather the frames of an application by themselves. */
function gathered(source: SourceKind) {
  return ({ frames, writes }: Figures<'frames' | 'writes'>, add: Add): void => {
    summary(add, 'batch_size', { source }, frames, writes);
    fanOut(source, frames, writes, add);
  };
}

function socketIo(stats: Figures<'frames' | 'writes' | 'superseded'>, add: Add): void {
  gathered('socket-io')(stats, add);
  add('fanout_superseded_total', { source: 'socket-io' }, stats.superseded);
}

function coalesce({ coalesced, flushes }: Figures<'coalesced' | 'flushes'>, add: Add): void {
  summary(add, 'batch_size', { source: 'coalesce' }, coalesced, flushes);
}

function enlarge({ connections }: Figures<'connections'>, add: Add): void {
  add('enlarged_connections_total', {}, connections);
}

type FileFigures = Figures<
  'reads' | 'readBatches' | 'jobs' | 'appends' | 'commits' | 'bytes' | 'refused'
>;

function files(stats: FileFigures, add: Add): void {
  add('file_reads_total', {}, stats.reads);
  add('file_read_batches_total', {}, stats.readBatches);
  add('file_jobs_total', {}, stats.jobs);
  add('file_appends_total', {}, stats.appends);
  add('file_commits_total', {}, stats.commits);
  add('file_bytes_total', {}, stats.bytes);
  add('refused_total', { source: 'fs', reason: 'overloaded' }, stats.refused);
}

function dns({ lookups, shared, kept }: Figures<'lookups' | 'shared' | 'kept'>, add: Add): void {
  add('lookups_total', { answer: 'system' }, lookups - shared - kept);
  add('lookups_total', { answer: 'shared' }, shared);
  add('lookups_total', { answer: 'kept' }, kept);
}

type PipelineFigures = Figures<
  'queries' | 'checkouts' | 'errors' | 'refused' | 'queued' | 'maxQueue'
>;

function pipelined(stats: PipelineFigures, add: Add): void {
  const source = 'pipelined';
  add('queue_depth', { source, priority: 'normal' }, stats.queued);
  add('queue_fill', { source }, fillOf(stats.queued, stats.maxQueue));
  summary(add, 'batch_size', { source }, stats.queries, stats.checkouts);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  add('errors_total', { source }, stats.errors);
}

interface ClassFigures extends Figures<'queued' | 'admitted' | 'late' | 'wouldSave' | 'wouldLose'> {
  readonly shed: Counts;
  readonly wouldShed: Counts;
  readonly waitMs: Figures<'mean' | 'p99' | 'max'>;
}

interface GuardFigures extends Figures<'queued' | 'maxQueue'> {
  readonly classes: Readonly<Record<string, ClassFigures>>;
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
    byLabel(add, 'shed_total', 'reason', one.shed, { class: name });
    byLabel(add, 'would_shed_total', 'reason', one.wouldShed, { class: name });
    const { late, wouldSave: saved, wouldLose: lost } = one;
    byLabel(add, 'shadow_responses_total', 'outcome', { late, saved, lost }, { class: name });
  }
}

const cacheResults = ['hits', 'stale', 'misses', 'deduplicated', 'shed'] as const;

type CachedFigures = Figures<(typeof cacheResults)[number] | 'failed' | 'timedOut'>;

function cached(stats: CachedFigures, add: Add): void {
  for (const result of cacheResults) {
    add('cache_answers_total', { result }, stats[result]);
  }
  add('errors_total', { source: 'cached' }, stats.failed + stats.timedOut);
}

interface QueuedFigures extends Figures<'maxQueue' | 'meanBatch' | 'refused' | 'failed'> {
  /** Beside `total`, tasks by priority. */
  readonly queued: Counts & Figures<'total'>;
}

/** Adds the figures of tasks by priority, in `batches` until now. */
function queued(source: SourceKind, stats: QueuedFigures, batches: number, add: Add): void {
  add('queue_fill', { source }, fillOf(stats.queued.total, stats.maxQueue));
  summary(add, 'batch_size', { source }, Math.round(batches * stats.meanBatch), batches);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  add('errors_total', { source }, stats.failed);
}

interface PoolFigures extends QueuedFigures, Figures<'batches'> {
  readonly waitMs: TimesFigures;
  readonly runMs: TimesFigures;
  readonly workers: Figures<'busy' | 'idle'>;
}

function pool(stats: PoolFigures, add: Add): void {
  const { total, ...depths } = stats.queued;
  byLabel(add, 'pool_queue_depth', 'priority', depths);
  times('pool_wait_ms', stats.waitMs, add);
  times('pool_run_ms', stats.runMs, add);
  const { busy, idle } = stats.workers;
  byLabel(add, 'pool_workers', 'state', { busy, idle });
  queued('pool', stats, stats.batches, add);
}

function taskClient(stats: QueuedFigures & Figures<'messages'>, add: Add): void {
  const { total, ...depths } = stats.queued;
  byLabel(add, 'queue_depth', 'priority', depths, { source: 'task-client' });
  queued('task-client', stats, stats.messages, add);
}

type TimesFigures = Figures<'count' | 'mean' | 'p50' | 'p99' | 'max'>;

function times(name: string, { count, mean, p50, p99, max }: TimesFigures, add: Add): void {
  summary(add, name, {}, mean * count, count);
  add(name, { quantile: '0.5' }, Math.min(p50, max));
  add(name, { quantile: '0.99' }, Math.min(p99, max));
  add(name, { quantile: '1' }, max);
}

const taskOutcomes = ['done', 'failed', 'retried', 'dead', 'cancelled', 'returned'] as const;

interface TasksFigures extends Figures<(typeof taskOutcomes)[number]> {
  readonly results: Figures<'confirmed' | 'givenUp'>;
  readonly held: Counts;
  /** Null until it is known. Beside the dead letters, the messages of each queue. */
  readonly lag:
    | ({ readonly dead: number } & ByPriority<LagFigures> & { readonly alone: LagFigures })
    | null;
}

type LagFigures = Figures<'pending' | 'unacknowledged'>;

function tasks(stats: TasksFigures, add: Add): void {
  for (const outcome of taskOutcomes) add('tasks_total', { outcome }, stats[outcome]);
  const { confirmed, givenUp } = stats.results;
  add('tasks_results_total', { outcome: 'confirmed' }, confirmed);
  add('tasks_results_total', { outcome: 'given-up' }, givenUp);
  byLabel(add, 'tasks_held', 'priority', stats.held);
  if (stats.lag === null) return;
  const { dead: letters, ...queues } = stats.lag;
  for (const [priority, { pending, unacknowledged }] of Object.entries(queues)) {
    add('tasks_lag', { priority, state: 'pending' }, pending);
    add('tasks_lag', { priority, state: 'unacknowledged' }, unacknowledged);
  }
  add('tasks_dead', {}, letters);
}

type ClusterFigures = Figures<
  'wanted' | 'ready' | 'waitingConnections' | 'refusedConnections' | 'deaths'
> & {
  /** Stalls of the processes, by state. */
  readonly stalls: { readonly counts: Counts; readonly durations: Counts };
};

function cluster(stats: ClusterFigures, add: Add): void {
  const source = 'cluster';
  add('cluster_processes', { state: 'wanted' }, stats.wanted);
  add('cluster_processes', { state: 'ready' }, stats.ready);
  add('queue_depth', { source, priority: 'normal' }, stats.waitingConnections);
  add('refused_total', { source, reason: 'overloaded' }, stats.refusedConnections);
  add('errors_total', { source }, stats.deaths);
  byLabel(add, 'cluster_stalls_total', 'state', stats.stalls.counts);
  byLabel(add, 'cluster_stall_ms_total', 'state', stats.stalls.durations);
}

interface BrokerFigures
  extends Figures<
    'pendingBytes' | 'sent' | 'received' | 'sentBytes' | 'receivedBytes' | 'reconnects'
  > {
  readonly state: string;
  readonly unsent: Counts;
  readonly denied: Counts;
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
  byLabel(add, 'broker_unsent_total', 'reason', stats.unsent);
  byLabel(add, 'broker_denied_total', 'operation', stats.denied);
  add('broker_reconnects_total', {}, stats.reconnects);
}

type HeardFigures = Figures<'missed' | 'malformed'>;

/** Batches of other nodes. */
function heard(source: SourceKind, { missed, malformed }: HeardFigures, add: Add): void {
  add('broker_missed_total', { source }, missed);
  add('broker_malformed_total', { source }, malformed);
}

/** Turns for the broker that may wait. */
interface HoldFigures {
  /** Null where none may. */
  readonly policy: PolicyFigures | null;
}

type AdapterFigures = HeardFigures & HoldFigures & Figures<'ignored' | 'unanswered'>;

function adapter(stats: AdapterFigures, add: Add): void {
  add('refused_total', { source: 'socket-io', reason: 'bound' }, stats.ignored);
  heard('socket-io', stats, add);
  add('errors_total', { source: 'socket-io' }, stats.unanswered);
  if (stats.policy !== null) policy('socket-io-fleet', stats.policy, add);
}

type BridgeFigures = HeardFigures & HoldFigures & Figures<'sent' | 'batches' | 'refused'>;

function bridge(stats: BridgeFigures, add: Add): void {
  const source = 'bridge';
  summary(add, 'batch_size', { source }, stats.sent, stats.batches);
  add('refused_total', { source, reason: 'overloaded' }, stats.refused);
  heard(source, stats, add);
  if (stats.policy !== null) policy(source, stats.policy, add);
}

function monitor({ utilization, loopDelay, gc, kernel }: Snapshot, add: Add): void {
  add('loop_utilization', {}, utilization);
  add('loop_delay_ms', { quantile: '0.5' }, loopDelay.p50);
  add('loop_delay_ms', { quantile: '0.9' }, loopDelay.p90);
  add('loop_delay_ms', { quantile: '0.99' }, loopDelay.p99);
  add('loop_delay_ms', { quantile: '1' }, loopDelay.max);
  for (const [kind, { totalMs }] of Object.entries(gc.byKind)) {
    add('gc_pause_ms_total', { kind }, totalMs);
  }
  const { switches, calls } = kernel;
  add('context_switches_total', { kind: 'voluntary' }, switches.voluntary);
  add('context_switches_total', { kind: 'involuntary' }, switches.involuntary);
  if (calls === null) return;
  add('system_calls_total', { kind: 'read' }, calls.read);
  add('system_calls_total', { kind: 'write' }, calls.write);
}

interface StallFigures {
  readonly counts: Counts;
  readonly durations: Counts;
}

function stalls({ counts, durations }: StallFigures, add: Add): void {
  byLabel(add, 'loop_stalls_total', 'state', counts);
  byLabel(add, 'loop_stall_ms_total', 'state', durations);
}

function responses({ routes }: { readonly routes: readonly RouteResponses[] }, add: Add): void {
  for (const { route, count, sumMs, statuses, p50, p99, max } of routes) {
    summary(add, 'http_response_ms', { route }, sumMs, count);
    add('http_response_ms', { route, quantile: '0.5' }, p50);
    add('http_response_ms', { route, quantile: '0.99' }, p99);
    add('http_response_ms', { route, quantile: '1' }, max);
    for (const [status, responses] of Object.entries(statuses)) {
      if (responses > 0) add('http_responses_total', { route, status }, responses);
    }
  }
}

/** A queue without a bound is neither full nor empty: then what waits decides. */
const fillOf = (count: number, bound: number): number => Math.min(1, count / Math.max(1, bound));

/** Readers by kind of object. */
export const readers = {
  batch: (stats: QueueFigures, add: Add) => queue('batch', stats, add),
  bridge,
  broker,
  cached,
  cluster,
  coalesce,
  dns,
  emitter,
  enlarge,
  fs: files,
  guard,
  install: gathered('install'),
  monitor,
  pipelined,
  pool,
  responses,
  rooms,
  'socket-io': socketIo,
  'socket-io-fleet': adapter,
  stalls,
  'task-client': taskClient,
  tasks,
} satisfies Readonly<Record<SourceKind, (stats: never, add: Add) => void>>;
