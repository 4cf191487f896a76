/** The files of the page. Nothing else of the disk can be asked for. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const page = new URL('../../dashboard/', import.meta.url);
const { resolve } = createRequire(import.meta.url);

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

let paths: ReadonlyMap<string, string | URL> | undefined;

/** By the names under which they are asked for. */
function find(): ReadonlyMap<string, string | URL> {
  return new Map<string, string | URL>([
    ...readdirSync(page).map((name): [string, URL] => [`/${name}`, new URL(name, page)]),
    ['/', new URL('index.html', page)],
    ['/uplot.js', resolve('uplot/dist/uPlot.esm.js')],
    ['/uplot.css', resolve('uplot/dist/uPlot.min.css')],
  ]);
}

/** Undefined when there is no such file. Read again each time, as requests are rare. */
export function pageFile(path: string): { type: string; body: Buffer } | undefined {
  paths ??= find();
  const file = paths.get(path);
  if (file === undefined) return undefined;
  const extension = path === '/' ? 'html' : path.slice(path.lastIndexOf('.') + 1);
  return { type: types[extension]!, body: readFileSync(file) };
}
