/** Stack that most samples share. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';

const { Samples } = createRequire(import.meta.url)('../dist/stalls/capture.cjs');

/** `name@file`, innermost first; without a file, a function of V8. */
const frames = (...names) =>
  names.map((each) => {
    const [name, file = null] = each.split('@');
    return { function: name, file, line: 1, column: 1 };
  });

function read(...samples) {
  const all = new Samples();
  for (const { lateMs = 0, stack } of samples) {
    all.add({ frames: frames(...stack), isLate: lateMs > 0, elapsed: lateMs });
  }
  return all.read();
}

describe('Samples', () => {
  test('agree on the innermost function that most of them have', () => {
    const { at, agreeing, seen } = read(
      { stack: ['a@x.js', 'render@x.js', 'main@x.js'] },
      { stack: ['b@x.js', 'render@x.js', 'main@x.js'] },
      { stack: ['render@x.js', 'main@x.js'] },
    );
    assert.deepEqual(
      { name: at.function, agreeing, seen },
      { name: 'render', agreeing: 3, seen: 'during' },
    );
  });

  test('have the function of Node.js that is called there', () => {
    const { at, builtin } = read({ stack: ['RegExp.test', 'match@x.js'] });
    assert.deepEqual([at.function, builtin], ['match', 'RegExp.test']);
    const inside = read({ stack: ['parse@node:url', 'open@node:url', 'match@x.js'] });
    assert.equal(inside.builtin, 'open');
  });

  test('have the caller in the application of a function in a package', () => {
    const { at, caller } = read({
      stack: ['walk@node_modules/p/i.js', 'next@/r/node_modules/q/i.js', 'page@x.js'],
    });
    assert.deepEqual([at.function, caller.function], ['walk', 'page']);
  });

  test('that are late stand for the time until their answer', () => {
    const { at, seen } = read(
      { stack: ['copy@x.js'], lateMs: 1000 },
      { stack: ['next@x.js'] },
      { stack: ['next@x.js'] },
    );
    assert.deepEqual([at.function, seen], ['copy', 'after']);
    const loop = { stack: ['f@x.js'] };
    assert.equal(read(loop, loop, loop, loop, { stack: ['f@x.js'], lateMs: 60 }).seen, 'during');
  });

  test('name the most frequent of unrelated functions', () => {
    const { at, agreeing } = read(
      { stack: ['a@x.js'] },
      { stack: ['b@x.js'] },
      { stack: ['c@x.js'] },
      { stack: ['b@x.js'] },
      { stack: [] },
    );
    assert.deepEqual([at.function, agreeing], ['b', 2]);
  });

  test('name nothing without a function of the program', () => {
    const { at, seen, stack } = read({ stack: ['processTicksAndRejections@node:internal'] });
    assert.deepEqual({ at, seen, stack }, { at: null, seen: null, stack: [] });
  });
});
