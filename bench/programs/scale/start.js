import { commandOf, startChild } from '../../lib/child.js';

/**
 * Starts a program of a folder beside this file, and resolves when it is ready; `children` gets it, so that it is ended whatever happens.
 *
 * @param {string} name as `tasks/worker.js`
 * @param {[subject: string, place: string, options?: object]} args
 * @param {{ stop(): Promise<void> }[]} children
 */
export async function start(name, [subject, place, options = {}], children) {
  const args = [subject, place, JSON.stringify(options)];
  const child = await startChild(commandOf(new URL(name, import.meta.url), args));
  children.push(child);
  return child;
}
