import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as names from '../lib/names.js';

const given = { ...names.storage(), line: 'a line\n' };

export async function setup() {
  return Object.assign(given, await names.socket());
}

export const checks = {
  'in-a-few-lines': async ({ id }) => {
    assert.equal(id, 1);
    assert.deepEqual(given.inserts, [[{ text: 'hello' }]]);
    assert.deepEqual(given.written, [[{ cpu: 0.7 }]]);
    // It takes its way through the kernel and the client.
    while (given.received.length === 0) await sleep(5);
    assert.deepEqual(given.received, ['hello']);
    assert.equal(await readFile('log', 'utf8'), 'a line\n');
  },
};
