import { Failure } from './failure.js';

/**
 * Does something for each name, one after the other. A name that fails does not keep the others from being done.
 *
 * @param {string[]} names
 * @param {(name: string) => Promise<void>} work
 * @returns {Promise<void>} rejects with a `Failure` that says which have failed
 */
export async function runAll(names, work) {
  const failed = [];
  for (const name of names) {
    await work(name).catch((error) => {
      if (!(error instanceof Failure)) throw error;
      failed.push(`${name}: ${error.message}`);
    });
  }
  if (failed.length > 0) throw new Failure(`not measured: ${failed.join('; ')}`);
}
