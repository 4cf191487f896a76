#!/usr/bin/env node
/**
 * `node docs/images/make.js [dashboard] [report]`: makes the pictures of README.md, each from the running thing. It takes two
 * minutes, loads this machine alone, and ends by itself. Needs what `make setup` builds, Chromium, and CHROMIUM_PATH where that is
 * not found.
 *
 * - `dashboard`: the chat of examples/chat under `millrace run`, 200 clients and some uploads: dashboard.png, dashboard-dark.png
 * - `report`: `millrace experiment bench/claims/auto-templates.js --size quick`: the bars of its report: report.png,
 *   report-dark.png
 */
import { chromium } from 'playwright-core';
import { Cleanup } from '../../packages/lab/run/cleanup.js';
import { executablePath, FLAGS } from '../../scripts/lib/chromium.js';
import { pictureDashboard } from './dashboard.js';
import { pictureReport } from './report.js';

const pictures = { dashboard: pictureDashboard, report: pictureReport };
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(pictures);
const cleanup = new Cleanup();
cleanup.watch();
try {
  await make();
  await cleanup.exit(0);
} catch (error) {
  console.error(error.message);
  await cleanup.exit(1);
}

async function make() {
  const unknown = wanted.find((name) => !Object.hasOwn(pictures, name));
  if (unknown)
    throw new Error(`${unknown} is no picture: name ${Object.keys(pictures).join(', ')}`);
  if (!executablePath) throw new Error('there is no Chromium: say where it is in CHROMIUM_PATH');
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: 120_000 });
  cleanup.add(() => browser.close());
  for (const name of wanted) await pictures[name]({ browser, cleanup, say: console.log });
}
