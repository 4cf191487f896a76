import type { Link } from '../../broker/link.js';
import type { ClientSettings } from './client-options.js';
import type { ClientCounts } from './client-stats.js';
import type { TaskNames } from './names.js';

/** What the parts of a client share. */
export interface ClientContext {
  readonly settings: ClientSettings;
  readonly link: Link;
  readonly names: TaskNames;
  readonly counts: ClientCounts;
}
