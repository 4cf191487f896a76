/** The bars of the report of an experiment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { save, size } from './save.js';

const lab = fileURLToPath(new URL('../../packages/lab/bin.js', import.meta.url));
const experiment = 'bench/claims/auto-templates.js';
/** On each side. */
const margin = 16;

export async function pictureReport({ browser, cleanup, say }) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-picture-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  const html = join(folder, 'report.html');
  const file = fileURLToPath(new URL(`../../${experiment}`, import.meta.url));
  const args = [file, '--size', 'quick', '--results', folder, '--html', html];
  say(`millrace experiment ${experiment} --size quick`);
  const child = spawn(process.execPath, [lab, 'experiment', ...args], { stdio: 'inherit' });
  cleanup.add(() => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  if (code !== 0)
    throw new Error(`the experiment ${experiment} ended with ${code}: no figure counts`);

  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({
      viewport: { width: 1000, height: 900 },
      ...{ colorScheme, deviceScaleFactor: 1.5 },
    });
    await page.goto(pathToFileURL(html).href);
    // As wide as what is in it: a section is as wide as the page.
    const section = page.locator('section.bars');
    const chart = await section.locator('svg:visible').first().boundingBox();
    const { x, y, height } = await section.boundingBox();
    const width = chart.x + chart.width - x + 2 * margin;
    const clip = { x: x - margin, y: y - margin, width, height: height + 2 * margin };
    const picture = await page.screenshot({ fullPage: true, clip });
    const name = colorScheme === 'dark' ? 'report-dark.png' : 'report.png';
    say(`${name}: ${size(await save(name, picture))}`);
    await page.close();
  }
}
