#!/usr/bin/env node
/**
 * `node docs/images/make.js [NAME …]`: makes the pictures of the documents, without names all of them.
 *
 * Two are taken of the running thing. They take two minutes, load this machine alone, and need what `make setup` builds, Chromium, and
 * CHROMIUM_PATH where that is not found:
 *
 * - `dashboard`: the chat of examples/chat under `millrace run`, 200 clients and some uploads: dashboard.png, dashboard-dark.png
 * - `report`: `millrace experiment bench/claims/auto-templates.js --size quick`: the bars of its report: report.png,
 *   report-dark.png
 *
 * The others are drawn from kept figures, in a second, as NAME.svg: see pictures.js.
 */
import { chromium } from 'playwright-core';
import { Cleanup } from '../../packages/lab/run/cleanup.js';
import { executablePath, FLAGS } from '../../scripts/lib/chromium.js';
import { pictureDashboard } from './dashboard.js';
import { pictures as drawn } from './pictures.js';
import { pictureReport } from './report.js';
import { save, size } from './save.js';

const taken = { dashboard: pictureDashboard, report: pictureReport };
const all = [...Object.keys(taken), ...Object.keys(drawn)];
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all;
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
  const unknown = wanted.find((name) => !all.includes(name));
  if (unknown) throw new Error(`${unknown} is not a picture: name ${all.join(', ')}`);
  for (const name of wanted.filter((each) => Object.hasOwn(drawn, each))) {
    console.log(`${name}.svg: ${size(await save(`${name}.svg`, drawn[name]()))}`);
  }
  const names = wanted.filter((name) => Object.hasOwn(taken, name));
  if (names.length === 0) return;
  if (!executablePath) throw new Error('there is no Chromium: say where it is in CHROMIUM_PATH');
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: 120_000 });
  cleanup.add(() => browser.close());
  for (const name of names) await taken[name]({ browser, cleanup, say: console.log });
}
