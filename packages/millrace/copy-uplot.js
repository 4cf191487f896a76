/**
 * Copies uPlot, which draws the charts of the dashboard, into the package: its code, its style and its licence. It is the
 * second half of `npm run build`. The browser gets these copies, so that nobody who installs the package needs uPlot. Its short code
 * is a script; a line makes it a module, at a third of the size of the module that uPlot has.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const from = dirname(createRequire(import.meta.url).resolve('uplot/package.json'));
const to = fileURLToPath(new URL('dist/uplot', import.meta.url));
mkdirSync(to, { recursive: true });
const script = readFileSync(join(from, 'dist/uPlot.iife.min.js'), 'utf8');
writeFileSync(join(to, 'uplot.js'), `${script}\nexport default uPlot;\n`);
copyFileSync(join(from, 'dist/uPlot.min.css'), join(to, 'uplot.css'));
copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'));
