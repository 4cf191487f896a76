import { Failure } from './failure.js';

/**
 * Does something for each name, one after the other. What fails does not keep the others from being done; at the end a line for
 * each says how long it took and how it ended.
 *
 * @param {string[]} names
 * @param {(name: string) => Promise<void>} work
 * @param {(line: string) => void} say
 * @returns {Promise<void>} rejects with a `Failure` that names those that have failed
 */
export async function runAll(names, work, say) {
  const ended = [];
  for (const name of names) {
    const start = performance.now();
    const how = await work(name).then(
      () => 'done',
      (error) => {
        if (!(error instanceof Failure)) throw error;
        return error.message;
      },
    );
    ended.push({ name, how, minutes: (performance.now() - start) / 60_000 });
  }
  const minutes = ended.reduce((sum, each) => sum + each.minutes, 0);
  for (const each of [...ended, { name: 'together', how: '', minutes }]) {
    say(
      `${each.name.padEnd(11)} ${each.minutes.toFixed(1).padStart(5)} min  ${each.how}`.trimEnd(),
    );
  }
  const failed = ended.filter(({ how }) => how !== 'done').map(({ name }) => name);
  if (failed.length > 0) throw new Failure(`not measured: ${failed.join(', ')}`);
}
