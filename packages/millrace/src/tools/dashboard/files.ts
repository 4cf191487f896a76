/** The files of the page. Nothing else of the disk can be asked for. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MillraceError } from '@millrace/base/errors';
import { packageFile } from '@millrace/base/installed';
import { thisPackage } from '../../package.cjs';

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

let paths: ReadonlyMap<string, string> | undefined;

/** By the names under which they are asked for. Throws MILLRACE_E_BUNDLED, also where the build has left out uPlot. */
export function pageFiles(): ReadonlyMap<string, string> {
  paths ??= find();
  return paths;
}

function find(): ReadonlyMap<string, string> {
  const page = packageFile(thisPackage, 'dashboard', 'the dashboard');
  const uplot = packageFile(thisPackage, 'dist/uplot', 'the dashboard');
  if (!existsSync(uplot)) {
    throw new MillraceError(
      'MILLRACE_E_BUNDLED',
      `the dashboard needs ${uplot}, which is missing; install millrace again, or run npm run build in its repository`,
    );
  }
  return new Map([
    ...readdirSync(page).map((name): [string, string] => [`/${name}`, join(page, name)]),
    ['/', join(page, 'index.html')],
    ['/uplot.js', join(uplot, 'uplot.js')],
    ['/uplot.css', join(uplot, 'uplot.css')],
  ]);
}

/** Undefined when there is no such file. Read again each time, as requests are rare. */
export function pageFile(path: string): { type: string; body: Buffer } | undefined {
  const file = pageFiles().get(path);
  if (file === undefined) return undefined;
  const extension = path === '/' ? 'html' : path.slice(path.lastIndexOf('.') + 1);
  return { type: types[extension]!, body: readFileSync(file) };
}
