import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PUBLIC = fileURLToPath(new URL('../public', import.meta.url));
const UPLOT = dirname(createRequire(import.meta.url).resolve('uplot'));

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

const FILES = {
  '/': join(PUBLIC, 'index.html'),
  '/style.css': join(PUBLIC, 'style.css'),
  '/icon.svg': join(PUBLIC, 'icon.svg'),
  '/app.js': join(PUBLIC, 'app.js'),
  '/chart.js': join(PUBLIC, 'chart.js'),
  '/rows.js': join(PUBLIC, 'rows.js'),
  '/numbers.js': join(PUBLIC, 'numbers.js'),
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
export async function servePage(app) {
  for (const [path, file] of Object.entries(FILES)) {
    const body = await readFile(file);
    const type = `${TYPES[file.split('.').at(-1)]}; charset=utf-8`;
    app.get(path, (request, reply) => reply.headers(HEADERS).type(type).send(body));
  }
}
