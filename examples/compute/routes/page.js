import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALGORITHMS } from '../compute/fibonacci.js';
import { MOST_N, MOST_N_RSA, MOST_RECORDS, whenBlocking } from '../settings.js';

const PUBLIC = fileURLToPath(new URL('../public', import.meta.url));
const UPLOT = dirname(createRequire(import.meta.url).resolve('uplot'));

const FILES = {
  '/': join(PUBLIC, 'index.html'),
  '/style.css': join(PUBLIC, 'style.css'),
  '/icon.svg': join(PUBLIC, 'icon.svg'),
  '/app.js': join(PUBLIC, 'app.js'),
  '/tasks.js': join(PUBLIC, 'tasks.js'),
  '/runs.js': join(PUBLIC, 'runs.js'),
  '/probe.js': join(PUBLIC, 'probe.js'),
  '/chart.js': join(PUBLIC, 'chart.js'),
  '/write.js': join(PUBLIC, 'write.js'),
  '/uplot.js': join(UPLOT, 'uPlot.esm.js'),
  '/uplot.css': join(UPLOT, 'uPlot.min.css'),
};

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** The web page, read once and served from memory. */
export function pageRoutes(app, { pool, folder, blockingN }) {
  for (const [path, file] of Object.entries(FILES)) {
    const body = readFileSync(file);
    app.get(path, (request, response) => {
      response.set(HEADERS).type(extname(file)).send(body);
    });
  }

  /** Constants for the page. */
  app.get('/about', async (request, response) => {
    const most = {
      n: MOST_N,
      blocking: whenBlocking(MOST_N, blockingN),
      rsa: MOST_N_RSA,
      records: MOST_RECORDS,
    };
    response.json({
      threads: pool.maxThreads,
      algorithms: ALGORITHMS,
      most,
      files: await folder.names(),
    });
  });
}
