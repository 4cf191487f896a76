/** A search that throws. Injected: an addon that does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seek } from '../../dist/net/search.js';

test('when a search throws, all callers learn that nothing was found, and the error is not lost', async () => {
  const failure = new Error('injected');
  const binding = {
    enlargeFind() {
      throw failure;
    },
  };
  const places = [];
  const sought = (name) => ({
    options: new Float64Array(8),
    descriptor: () => 1,
    found: (place) => places.push([name, place]),
  });
  const caught = await new Promise((resolve) => {
    process.setUncaughtExceptionCaptureCallback(resolve);
    seek(binding, sought('one'));
    seek(binding, sought('two'));
  });
  process.setUncaughtExceptionCaptureCallback(null);
  assert.equal(caught, failure);
  assert.deepEqual(places, [
    ['one', -1],
    ['two', -1],
  ]);
});
