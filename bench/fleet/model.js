#!/usr/bin/env node
/** Prints how large a fleet has to be. `--help` lists the options. */
import { writeFileSync } from 'node:fs';
import { watchOutput } from '@millrace/base/command';
import { fail, LabError } from '@millrace/lab/run';
import { readFleetArgs, USAGE } from './args.js';
import { fleetOf } from './fleet.js';
import { scenario } from './inputs.js';
import { profiles } from './profiles.js';
import { FLEET_HEADS, fleetRow } from './words.js';

watchOutput();
let options;
try {
  options = readFleetArgs(process.argv.slice(2));
  if (options.help) console.log(USAGE);
  else await answer(options);
} catch (error) {
  fail('node bench/fleet/model.js', error);
}

async function answer({ given, profile, json, html, markdown }) {
  const s = scenario({ ...profiles[profile ?? 'chat'].given, ...given });
  if (html === undefined && markdown === undefined) return one(s, json);
  // Loaded late: the charts take longer to load than a fleet to work out.
  const { study } = await import('./study.js');
  const found = study(given, profile === undefined ? Object.keys(profiles) : [profile]);
  if (html !== undefined) write(html, (await import('./page.js')).page(found));
  if (markdown !== undefined) write(markdown, (await import('./document.js')).document(found));
  return undefined;
}

function one(s, json) {
  const fleet = fleetOf(s);
  if (!fleet.isPossible) process.exitCode = 1;
  if (json) return console.log(JSON.stringify({ scenario: s, ...fleet }));
  if (!fleet.isPossible) return console.error(`no fleet will do: ${fleet.why}`);
  const texts = fleetRow({ connections: s.connections, fleet });
  return console.log(texts.map((text, i) => `${FLEET_HEADS[i].padEnd(22)} ${text}`).join('\n'));
}

function write(path, text) {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new LabError('MILLRACE_LAB_E_REPORT', `${path} was not written: ${error.message}`);
  }
  console.log(`written: ${path}`);
}
