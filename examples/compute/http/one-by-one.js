import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Work that blocks the main thread, one after the other. Between two of them the loop has turns of its own, in which it accepts
 * connections, answers what takes no time, and notices clients that have gone.
 *
 * @param {import('./places.js').Places} places bounds how many wait
 * @returns {<Result>(work: () => Result, signal: AbortSignal) => Promise<Result>}
 */
export function oneByOne(places) {
  let before = Promise.resolve();
  return (work, signal) =>
    places.use(() => {
      const turn = before.then(async () => {
        // One turn accepts a connection, the next reads from it.
        await nextTurn();
        await nextTurn();
        signal.throwIfAborted();
        return work();
      });
      before = turn.catch(() => {});
      return turn;
    });
}
