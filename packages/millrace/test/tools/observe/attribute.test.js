/** Samples of a profile that was made by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attribute } from '../../../dist/tools/observe/profile.js';

const node = (id, functionName, url, children = []) => {
  return { id, callFrame: { functionName, url, lineNumber: id }, children };
};

const nodes = [
  node(1, '(root)', '', [2, 7, 8]),
  node(2, 'main', 'file:///app.js', [3, 4]),
  node(3, 'again', 'file:///app.js', [5]),
  node(4, 'readFileSync', 'node:fs'),
  node(5, 'again', 'file:///app.js', [6]),
  node(6, 'sort', ''),
  node(7, '(idle)', ''),
  node(8, '(garbage collector)', ''),
];
// One that calls itself is one function.
nodes[4].callFrame.lineNumber = 3;

test('time is that of the innermost function of the application, within the spans alone', () => {
  const samples = [7, 6, 4, 8, 2, 7];
  const timeDeltas = [0, 10_000, 10_000, 10_000, 10_000, 10_000];
  const times = new Map();
  const profile = { nodes, samples, timeDeltas, startTime: 1_000_000, endTime: 1_060_000 };
  // On the other clock the profile begins at 0. Of `main` only 5 ms are inside.
  const sum = attribute(
    profile,
    [
      [0, 15, 1],
      [15, 45, 1],
      [100, 200, 1],
    ],
    -1000,
    times,
  );
  const found = [...times.values()].map(({ name, file, line, selfMs, totalMs, builtins }) => {
    const within = Object.entries(builtins).map(([builtin, ms]) => [builtin, Math.round(ms)]);
    return [name, file, line, Math.round(selfMs), Math.round(totalMs), within];
  });
  assert.deepEqual(found, [
    ['again', '/app.js', 4, 5, 5, [['sort', 5]]],
    ['main', '/app.js', 3, 15, 20, [['readFileSync', 10]]],
    ['(garbage collection)', null, null, 10, 10, []],
  ]);
  assert.equal(Math.round(sum), 30);
});
