/** What deaths, failed reloads and calls after the end are reported as. */
import { MillraceError } from '@millrace/base/errors';
import type { Death } from './process.js';
import { ReplacementFailed } from './slot.js';

/** For calls that come after `close()`. */
export const closed = () =>
  new MillraceError('MILLRACE_E_CLOSED', 'the cluster is closed; call serve() for another one');

/** How a process has died. */
export function describe({ code, signal, isLate, wasDraining, readyMs, reason }: Death): string {
  if (isLate) return wasDraining ? 'was killed: drainTimeout' : 'was killed: startTimeout';
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  const when = readyMs === 0 ? ' before it listened' : '';
  return `${how}${when}${reason === null ? '' : `: ${reason}`}`;
}

export function reloadFailure(error: unknown, replaced: number, count: number): MillraceError {
  const why =
    error instanceof ReplacementFailed
      ? `new process ${error.process.pid} ${describe(error.death)}`
      : String(error);
  const rest = `${replaced} of ${count} were replaced, the others go on as they are`;
  return new MillraceError('MILLRACE_E_WORKER', `reload failed: ${why}; ${rest}`, { cause: error });
}
