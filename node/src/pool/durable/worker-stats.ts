import type { LinkStats } from '../../broker/link-stats.js';
import type { PoolStats } from '../stats.js';
import type { TaskLag } from './lag.js';

/** What a worker of durable tasks has counted. */
export class WorkerCounts {
  /** Messages that came, and tasks in them. */
  messages = 0;
  tasks = 0;
  /** Tasks that ran to their end. */
  done = 0;
  /** Those that threw, timed out, or ended their thread; those of them that were stored to be tried again. */
  failed = 0;
  retried = 0;
  /** Tasks that became dead letters. */
  dead = 0;
  /** Tasks whose callers did not want them any more. */
  cancelled = 0;
  /** Messages that came again from a worker that said nothing: their tasks run alone from then on. */
  suspects = 0;
  /** Messages that came again although they are being done, or were done, here: they were not begun. */
  repeated = 0;
  /** Tasks that were given back as this worker ended. */
  returned = 0;
}

/** What `TaskServer.stats()` returns: a snapshot. */
export interface TaskServerStats extends Readonly<WorkerCounts> {
  /** Tasks that it has now. */
  readonly held: {
    readonly high: number;
    readonly normal: number;
    readonly low: number;
    readonly alone: number;
  };
  /** Results on their way to clients; those that they have; those that were kept for a client that did not come back. */
  readonly results: {
    readonly pending: number;
    readonly confirmed: number;
    readonly givenUp: number;
  };
  /** As of some seconds ago; null until it is known. */
  readonly lag: TaskLag | null;
  readonly pool: PoolStats;
  readonly link: LinkStats;
}
