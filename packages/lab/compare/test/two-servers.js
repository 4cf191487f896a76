import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keptIn, startCompare } from '../../experiment/test/program.js';
import { folderFor } from '../../experiment/test/support.js';

/** Runs two commands of a server that answers `body`, and says `mode` on stdout when it is given one. */
export function compare(
  t,
  {
    a = 'body',
    b = 'body fast',
    before = '',
    node = '',
    rounds = 1,
    more = [],
    url = '/',
    isOpen = more.includes('-R'),
    seconds = isOpen ? 0.5 : 2,
  },
) {
  const folder = folderFor(t);
  const app = join(folder, 'app.cjs');
  writeFileSync(
    app,
    `const [, , port, body, mode] = process.argv;
    const server = require('http').createServer((q, r) => {
      if (q.url.startsWith('/port/') && q.url !== '/port/' + port) r.statusCode = 500;
      // Slow enough that the lab waits for it, also on a busy machine.
      setTimeout(() => r.end(body), 20);
    });
    // And it may take seconds to ask again.
    server.keepAliveTimeout = 0;
    server.listen(Number(port), '127.0.0.1', () => {
      const fill = () => mode === 'long' && console.log('x'.repeat(1000));
      for (let i = 0; i < 200; i += 1) fill();
      if (mode) console.log('mode: ' + mode, process.env.EXTRA);
      for (let i = 0; i < 200; i += 1) fill();
      const kept = [];
      if (mode === 'leak') setInterval(() => kept.push(Buffer.alloc(1e6, 1)), 20);
    });`,
  );
  const command = (args, options = '') =>
    `${before} ${process.execPath} ${options} ${app} {port} ${args}`;
  const results = join(folder, 'results');
  const said = startCompare(t, [
    ...[command(a), command(b, node)],
    ...['--url', `http://127.0.0.1:{port}${url}`, '--results', results, ...more],
    // The start of the generator, which may take seconds of the processor, is over when each connection has had its answer.
    ...(isOpen ? ['--warmup', '0'] : ['--warmup', '0.1', '-c', '2']),
    ...['-n', `${rounds}`, '-d', `${seconds}`],
  ]);
  return { said, folder, kept: () => keptIn(results, 'compare')[0] };
}
