import { MillraceError } from '../../errors.js';
import { Guard } from '../guard.js';
import type { GuardOptions } from '../options.js';

/** The guard that is given, or a new one with these options. */
export function chosenGuard(options: GuardOptions | Guard): Guard {
  if (!(options instanceof Guard)) return new Guard(options);
  if (!options.closed) return options;
  throw new MillraceError('MILLRACE_E_CLOSED', 'this guard is closed; make a new one');
}
