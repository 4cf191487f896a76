/** Whether a call whose task the broker had already is the one that gets its result. */
import { failure } from '../../broker/failure.js';
import { sleep } from '../../core/timers.cjs';
import { MillraceError, show } from '../../errors.js';
import type { Call } from './call.js';
import type { ClientContext } from './client-context.js';
import type { Stored } from './publisher.js';
import { removedCalls } from './removed.js';

const retryMs = 500;
/** How often the broker may fail to say whose a task is, while it is there. */
const mostFailures = 5;

/**
 * The error of a call of whose id a task was stored before, and whose result it does not get: that goes to who stored it. Null
 * if it was this call, or once `isOver` says that nobody waits any more.
 */
export async function duplicateOf(
  context: ClientContext,
  call: Call,
  { tries }: Stored,
  isOver: () => boolean,
): Promise<MillraceError | null> {
  // The first time it cannot have been this one.
  for (let failures = 0; tries > 1; ) {
    if (isOver()) return null;
    try {
      if ((await removedCalls(context, [call], isOver)).length === 0) return null;
      break;
    } catch (error) {
      if (context.link.state === 'up' && ++failures === mostFailures) return untold(call, error);
      await sleep(retryMs);
    }
  }
  if (isOver()) return null;
  context.counts.duplicates++;
  return new MillraceError(
    'MILLRACE_E_DUPLICATE',
    `a task of the id ${show(call.id)} was stored before, within the duplicateWindow of the stream; its result goes to who stored it${tries > 1 ? ', or was given up while this client was away' : ''}`,
  );
}

function untold({ id }: Call, cause: unknown): MillraceError {
  return failure(
    `a task of the id ${show(id)} was stored before, and the broker does not tell whose it is: ${(cause as Error).message}; it runs all the same`,
    cause,
  );
}
