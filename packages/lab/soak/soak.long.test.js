/** SOAK_SECONDS of load on the chat (default 120); the last test's line says how it went. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { soak } from './soak.js';

let faults;
let summary;

before(async () => {
  ({ faults, summary } = await soak({ seconds: Number(process.env.SOAK_SECONDS || 120) }));
});

const none = (name) => assert.equal(faults[name].join('\n'), '');

test('every delivery arrives once, in order and unchanged', () => none('delivery'));

test('every acknowledged message is in the database', () => none('saved'));

test('the server fails at nothing, and no event is unhandled', () => none('server'));

test('memory and descriptors do not grow', () => none('growth'));

test('the server stops gracefully with 0', (t) => {
  t.diagnostic(summary);
  none('stop');
});
