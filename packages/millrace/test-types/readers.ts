// The statistics of each object have all fields that its reader in @millrace/monitor/metrics reads.

import type { ClusterStats } from '@millrace/cluster';
import type { GuardStats } from '@millrace/guard';
import type { CachedStats } from '@millrace/guard/cached';
import type { Responses, Snapshot } from '@millrace/monitor';
import type { StallStats } from '@millrace/monitor/stalls';
import type { BridgeStats, LinkStats } from '@millrace/nats/events';
import type { NatsRoomsStats } from '@millrace/nats/rooms';
import type { NatsAdapterStats } from '@millrace/nats/socket-io';
import type { TaskClientStats, TaskWorkerStats } from '@millrace/nats/tasks';
import type { PoolStats } from '@millrace/pool';
import type { BatchEmitter, BatchStats } from 'millrace';
import type { FileStats } from 'millrace/fs';
import type { CoalesceStats } from 'millrace/net';
import type { PipelineStats } from 'millrace/pg';
import type { InstallStats, RoomsStats } from 'millrace/ws';
// biome-ignore lint/style/noRestrictedImports: only the compiler can compare all statistics with what reads them
import type { readers } from '../../monitor/dist/metrics/readers.js';

/** What the reader of a kind takes. */
type Read<Kind extends keyof typeof readers> = Parameters<(typeof readers)[Kind]>[0];

declare const statistics: {
  batch: BatchStats;
  bridge: BridgeStats;
  broker: LinkStats;
  cached: CachedStats;
  cluster: ClusterStats;
  coalesce: CoalesceStats;
  emitter: ReturnType<BatchEmitter['stats']>;
  fs: FileStats;
  guard: GuardStats;
  install: InstallStats;
  monitor: Snapshot;
  pipelined: PipelineStats;
  pool: PoolStats;
  responses: { routes: ReturnType<Responses['routes']> };
  rooms: RoomsStats | RoomsStats<NatsRoomsStats>;
  'socket-io-fleet': NatsAdapterStats;
  stalls: StallStats;
  'task-client': TaskClientStats;
  tasks: TaskWorkerStats;
};

/** All kinds but three, whose totals have no type of their own; tests collect them. */
type Kinds = Exclude<keyof typeof readers, 'dns' | 'enlarge' | 'socket-io'>;
export const read: { [Kind in Kinds]: Read<Kind> } = statistics;

// @ts-expect-error: a guard has no tasks
export const other: Read<'pool'> = statistics.guard;
