/** Demos that are ended in the middle. */
import assert from 'node:assert/strict';
import { until } from '../../../../scripts/lib/program-tests.js';

export const KEEP = '--rounds 0 --keep --port 0';
export const SERVER = 'chat/server.js';
export const GENERATOR = 'millrace-load';

/** The one that watches over a server's group may outlive it for the time that it gives the group to end. */
export async function nothingIsLeft(demo) {
  await until(() => demo.processes().length === 0);
  assert.deepEqual(demo.files(), []);
}

export async function openedAt(demo) {
  const found = await demo.until(() => /Open (http:\S+)/.exec(demo.output));
  return found[1];
}
