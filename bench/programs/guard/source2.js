/**
 * The experiment of an article on the health of the event loop, with a fourth server: 50 connections for 10 s to a handler that waits
 * 20 ms, as for a database, and then counts to a hundred million.
 */
import { fileURLToPath } from 'node:url';
import { runHttp } from '@millrace/lab/load/http';
import { armsOf } from '../../lib/experiment.js';
import { startServer } from '../../lib/load.js';
import { median } from '../../lib/statistics.js';

const program = fileURLToPath(new URL('./source2-server.js', import.meta.url));
const connections = 50;
const seconds = 10;

/** Figures of the article's own run; it has none of the third server, but that its 200s were most. */
const article = {
  unprotected: '527 requests, 31 with 200, "slightly above" 1 s',
  protected: '19k requests, 96 with 200, 338 ms',
  'load-aware': 'more of both than the others',
  guarded: '',
};

/**
 * The experiment, whose result is a table.
 *
 * @param {(subject: string, options?: object) => string[]} command that starts a server
 * @returns {import('../../lib/experiment.js').Experiment}
 */
export const source2 = (command) => ({
  ...{ name: 'source 2', rounds: 6, warmup: 0 },
  arms: armsOf(Object.keys(article), (name) => async () => {
    const { port, died, stop } = await startServer({ command: command(name, { file: program }) });
    try {
      const url = `http://127.0.0.1:${port}/`;
      return await Promise.race([runHttp({ url, connections, seconds, warmup: 0 }), died]);
    } finally {
      await stop();
    }
  }),
  notes: (rounds) => [`source 2: ${connections} connections, ${seconds} s\n${tableOf(rounds)}`],
});

function tableOf(rounds) {
  const head = ['server', 'answers', '200', '503', 'mean ms', 'the article'];
  const rows = Object.entries(article).map(([name, said]) => {
    const of = (value) => median(rounds.map((round) => value(round[name])));
    const figures = [
      of(({ answers }) => answers),
      of(({ status }) => status[200] ?? 0),
      of(({ status }) => status[503] ?? 0),
      Math.round(of(({ latency }) => latency.mean)),
    ];
    return [name, ...figures.map(String), said];
  });
  return aligned([head, ...rows]);
}

function aligned(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  const isText = (i) => i === 0 || i === widths.length - 1;
  const cell = (text, i) => (isText(i) ? text.padEnd(widths[i]) : text.padStart(widths[i]));
  return rows.map((row) => `  ${row.map(cell).join('  ')}`.trimEnd()).join('\n');
}
