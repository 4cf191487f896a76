/** Values of another realm: those of a vm context, and under Jest all that Node.js itself makes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import vm from 'node:vm';
import { batch } from 'millrace';
import { readOptions, toPath } from '../dist/fs/arguments.js';

const foreign = (code) => vm.runInNewContext(code);

describe('batch()', () => {
  test('rejects the call whose result is an error', async () => {
    const failure = foreign('new Error("failed")');
    const call = batch(async (items) => items.map((item) => (item === 1 ? failure : item)));
    const results = await Promise.allSettled([call(1), call(2)]);
    assert.deepEqual(results, [
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: 2 },
    ]);
  });

  test('takes a signal of another class', async () => {
    class Signal extends EventTarget {
      aborted = false;
      reason = undefined;
    }
    const signal = new Signal();
    const call = batch(async (items) => items)(1, { signal });
    Object.assign(signal, { aborted: true, reason: new Error('enough') });
    signal.dispatchEvent(new Event('abort'));
    await assert.rejects(call, { message: 'enough' });
  });
});

test('millrace/fs understands paths and options', () => {
  assert.equal(toPath(foreign('new Uint8Array([47, 97])')), '/a');
  assert.equal(readOptions(foreign('({ encoding: "utf8" })')).encoding, 'utf8');
  assert.equal(readOptions(foreign('new (class { encoding = "utf8" })()')), null);
});
