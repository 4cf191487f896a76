/**
 * Copies uPlot, which draws the charts of the dashboard, into the package: its module, its style and its licence. It is the
 * second half of `npm run build`. The browser gets these copies, so that nobody who installs the package needs uPlot.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const from = dirname(createRequire(import.meta.url).resolve('uplot/package.json'));
const to = fileURLToPath(new URL('dist/uplot', import.meta.url));
mkdirSync(to, { recursive: true });
copyFileSync(join(from, 'dist/uPlot.esm.js'), join(to, 'uplot.js'));
copyFileSync(join(from, 'dist/uPlot.min.css'), join(to, 'uplot.css'));
copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'));
