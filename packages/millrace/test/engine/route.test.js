// How many files an event and a call go through, from the caller to the handler.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BatchEmitter, batch } from 'millrace';
import { watchRoute } from '../../../base/test/route.js';

const turn = () => new Promise(setImmediate);

describe('a warm route', () => {
  test('of emit() goes through at most 7 files', async (t) => {
    const emitter = new BatchEmitter();
    t.after(() => emitter.close());
    const got = [];
    emitter.on('data', (value) => got.push(value));
    for (let n = 0; n < 40; n++) {
      emitter.emit('data', n);
      await turn();
    }

    const end = watchRoute();
    emitter.emit('data', 40);
    await turn();
    const files = end();
    t.diagnostic(files.join(', '));
    assert.equal(got.at(-1), 40);
    assert.ok(files.includes('millrace/engine/engine.js') && files.length <= 7, files.join(', '));
  });

  test('of a call of a batch() function goes through at most 6 files', async (t) => {
    const double = batch((items) => items.map((item) => item * 2));
    t.after(() => double.close());
    for (let n = 0; n < 40; n++) await double(n);

    const end = watchRoute();
    assert.equal(await double(40), 80);
    const files = end();
    t.diagnostic(files.join(', '));
    assert.ok(files.includes('millrace/engine/engine.js') && files.length <= 6, files.join(', '));
  });
});
