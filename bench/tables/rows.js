/**
 * Rows of docs/benchmarks/measured.md: figures of benchmarks, in the words of their case files. Rows with `readme` are also in the table of
 * README.md, under that title. There, a case with a case `beside` it is shown together with that one.
 */
import { loadAll } from '../lib/benchmarks.js';
import { wordsOf } from '../lib/metrics.js';

/** Display names of peers whose own name is not clear. */
const peers = {
  blocked: 'on the main thread',
  bullmq: 'BullMQ',
  bun: 'Bun',
  capacity: 'all that it can do',
  default: 'Node.js as it is',
  direct: '`ws` alone',
  'end of turn': 'the end of the turn',
  'millrace direct': '`direct`',
  'mutex+uv_async': 'mutex, list, `uv_async_send`',
  none: 'without it',
  plain: 'a listener',
  'redis-adapter': 'its Redis adapter',
  'same node': 'the same machine',
  'submit + wait': 'submit and wait',
  'threadsafe-function': 'threadsafe function',
  tick: 'a loop on eventfd and epoll',
  unbatched: 'unbatched',
  unprotected: 'unprotected',
};
/** Names of functions and modules, rather than of packages. */
const isCode = /^(uv_|fs\.|node:|pool\.|ws$|dataloader$)/;
const named = (peer) => peers[peer] ?? (isCode.test(peer) ? `\`${peer}\`` : peer);

/**
 * @typedef {object} Row
 * @property {string} bench
 * @property {string} case
 * @property {string} metric
 * @property {string | null} peer null: a bound
 * @property {string} what the case, in words
 * @property {string} figure the metric, in words
 * @property {string} against the peer, in words
 * @property {number} scale
 * @property {string} [readme] its subject in the table of README.md
 * @property {string} [beside] of one that is measured as fast as it goes: the case of a load that leaves time, or with nothing to gather, without
 *   which that table does not show it
 */

/**
 * Rows of a case in its file: a description, and its figures, each with its metric, its peer, and changes to the words that
 * these have elsewhere.
 *
 * @typedef {[what: string, ...figures: [metric: string, peer: string | null, more?: Partial<Row>][]]} RowsOfCase
 *
 * @param {string} bench
 * @param {Record<string, RowsOfCase>} [cases] by title
 * @returns {Row[]}
 */
export const rowsOf = (bench, cases = {}) =>
  Object.entries(cases).flatMap(([title, [what, ...figures]]) =>
    figures.map(([metric, peer, more]) => {
      const { words, scale } = wordsOf(metric);
      const against = peer === null ? 'a bound' : named(peer);
      return { bench, case: title, metric, peer, what, figure: words, against, scale, ...more };
    }),
  );

/** @type {Row[]} */
export const rows = (await loadAll()).flatMap(({ name, benchmark }) =>
  rowsOf(name, benchmark.rows),
);
