/** Results that were given up while their client was away from the broker: their calls do not wait for ever. */
import { sleep } from '../../core/timers.cjs';
import { MillraceError, show } from '../../errors.js';
import type { Call } from './call.js';
import type { ClientContext } from './client-context.js';
import { removedCalls } from './removed.js';

/** A worker may be giving up a result as its client comes back: it is looked for at once, and when that is over. */
const looksMs = [0, 2000];
/** How often the broker may fail to tell, while it is there, and how soon it is asked again. */
const mostFailures = 5;
const retryMs = 500;

/** Looks after each reconnect which tasks of `stored()` are still in the stream, and gives `onLost` an error for those that are not. */
export function watchForGivenUp(
  context: ClientContext,
  stored: () => Call[],
  onLost: (call: Call, error: MillraceError) => void,
): void {
  const { link } = context;
  let connections = 0;
  link.on('up', () => void look(++connections));

  async function look(connection: number): Promise<void> {
    // The next connection looks anew.
    const isOver = () => connection !== connections || link.state !== 'up';
    for (const afterMs of looksMs) {
      if (stored().length === 0) return;
      await sleep(afterMs, { ref: false });
      for (const call of await removed(isOver)) onLost(call, lost(call));
    }
  }

  async function removed(isOver: () => boolean): Promise<readonly Call[]> {
    for (let failures = 0; failures < mostFailures && !isOver(); failures++) {
      try {
        return await removedCalls(context, stored(), isOver);
      } catch {
        await sleep(retryMs, { ref: false });
      }
    }
    return [];
  }
}

const lost = ({ id }: Call): MillraceError =>
  new MillraceError(
    'MILLRACE_E_RESULT_LOST',
    `the task ${show(id)} is done or a dead letter, and what came of it was given up, as this client was away from the broker for longer than the replyTimeout of the workers; raise that, or let the function write down what has to be known`,
  );
