import type { Link } from '../../broker/link.js';
import type { TaskNames } from './names.js';
import type { TaskServerEvents } from './worker-events.js';
import type { WorkerSettings } from './worker-options.js';
import type { WorkerCounts } from './worker-stats.js';

/** What the parts of a worker share. */
export interface WorkerContext {
  readonly settings: WorkerSettings;
  readonly link: Link;
  readonly names: TaskNames;
  readonly counts: WorkerCounts;
  /** `close()` was called. */
  isClosing: boolean;
  /** Emits an event of the worker. */
  tell<Name extends keyof TaskServerEvents>(name: Name, ...args: TaskServerEvents[Name]): void;
}
