import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keptIn, start } from './program.js';
import { folderFor } from './support.js';

const BRIEF = ['--samples', '1', '--warmup', '0'];

/** Runs two commands of a server that answers `body`, and says `mode` on stdout when it is given one. */
export function compare(
  t,
  {
    control = 'body',
    treatment = 'body fast',
    before = '',
    seconds = 0.5,
    more = [],
    url = '/',
    isOpen = more.includes('--rate'),
  },
) {
  const folder = folderFor(t);
  const app = join(folder, 'app.cjs');
  writeFileSync(
    app,
    `const [, , port, body, mode] = process.argv;
    require('http').createServer((q, r) => {
      if (q.url.startsWith('/port/') && q.url !== '/port/' + port) r.statusCode = 500;
      // Slow enough that the lab waits for it, also on a busy machine.
      setTimeout(() => r.end(body), 20);
    }).listen(Number(port), '127.0.0.1', () => {
      const fill = () => mode === 'long' && console.log('x'.repeat(1000));
      for (let i = 0; i < 200; i += 1) fill();
      if (mode) console.log('mode: ' + mode, process.env.EXTRA);
      for (let i = 0; i < 200; i += 1) fill();
      const kept = [];
      if (mode === 'leak') setInterval(() => kept.push(Buffer.alloc(1e6, 1)), 20);
    });`,
  );
  const command = (args) => `${before} ${process.execPath} ${app} {port} ${args}`;
  const results = join(folder, 'results');
  const said = start(t, [
    ...['--control', command(control), '--treatment', command(treatment)],
    ...['--url', `http://127.0.0.1:{port}${url}`, '--results', results, ...BRIEF, ...more],
    ...(isOpen ? [] : ['--connections', '2']),
    ...['--seconds', `${seconds}`],
  ]);
  return { said, folder, kept: () => keptIn(results, 'experiment')[0] };
}
