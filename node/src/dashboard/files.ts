/** The files of the page. Nothing else of the disk can be asked for. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const page = new URL('../../dashboard/', import.meta.url);
const { resolve } = createRequire(import.meta.url);

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const ofPage = [
  'index.html',
  'style.css',
  'icon.svg',
  ...['main', 'stream', 'store', 'series', 'grid', 'charts', 'chart', 'view', 'controls'],
  ...['features', 'processes', 'report', 'tiles', 'export', 'format', 'theme', 'dom'],
].map((name) => (name.includes('.') ? name : `${name}.js`));

const paths = new Map<string, () => string | URL>([
  ...ofPage.map((name): [string, () => URL] => [`/${name}`, () => new URL(name, page)]),
  ['/', () => new URL('index.html', page)],
  ['/uplot.js', () => resolve('uplot/dist/uPlot.esm.js')],
  ['/uplot.css', () => resolve('uplot/dist/uPlot.min.css')],
]);

/** Undefined when there is no such file. Read anew each time: it is asked for seldom. */
export function pageFile(path: string): { type: string; body: Buffer } | undefined {
  const file = paths.get(path)?.();
  if (file === undefined) return undefined;
  const extension = path === '/' ? 'html' : path.slice(path.lastIndexOf('.') + 1);
  return { type: types[extension]!, body: readFileSync(file) };
}
