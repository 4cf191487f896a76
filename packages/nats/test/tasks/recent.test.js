/** Cancelled tasks that a worker remembers: bounded, whatever others say is cancelled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recent } from '../../dist/tasks/leases.js';

test('the last ones are remembered, and none that is longer than any key', () => {
  const recent = new Recent(2, 256);
  for (const text of ['a', 'b', 'b', 'c', 'x'.repeat(257)]) recent.add(text);
  assert.deepEqual(
    ['a', 'b', 'c', 'x'.repeat(257)].map((text) => recent.has(text)),
    [false, true, true, false],
  );
});
