import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../lib/failure.js';
import { runAll } from '../lib/run-all.js';

/** Work that throws an error at `b`. */
function failingAt(error) {
  const done = [];
  const work = async (name) => {
    done.push(name);
    if (name === 'b') throw error;
  };
  return { done, work };
}

describe('runAll', () => {
  test('goes on after a name that fails, and says why at the end', async () => {
    const { done, work } = failingAt(new Failure('it was refused'));
    await assert.rejects(runAll(['a', 'b', 'c'], work), /^Error: not measured: b: it was refused$/);
    assert.deepEqual(done, ['a', 'b', 'c']);
  });

  test('ends at once with an unexpected error', async () => {
    const { done, work } = failingAt(new TypeError('a mistake'));
    await assert.rejects(runAll(['a', 'b', 'c'], work), TypeError);
    assert.deepEqual(done, ['a', 'b']);
  });
});
