/** Replaces the processes of all slots, some at a time, none before its successor listens. */
import type { Slot } from './slot.js';

/**
 * Resolves when the last of the old processes has ended. Rejects with the first failure: then no more are started, and slots whose
 * turn had not come keep what they have.
 */
export async function replaceAll(
  slots: readonly Slot[],
  { reloadConcurrency, drainTimeout }: { reloadConcurrency: number; drainTimeout: number },
  replaced: () => void,
): Promise<void> {
  const waiting = [...slots];
  const replaceWaiting = async () => {
    for (let slot = waiting.shift(); slot !== undefined; slot = waiting.shift()) {
      try {
        await slot.replace(drainTimeout);
        replaced();
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  const all = Array.from({ length: Math.min(reloadConcurrency, slots.length) }, replaceWaiting);
  const results = await Promise.allSettled(all);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  await Promise.all(slots.map((slot) => slot.left()));
}
