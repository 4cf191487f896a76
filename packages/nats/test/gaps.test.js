/** Numbers of messages: what is missing, what came before, and what happens with names made up as a program runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { range } from '../../millrace/test/ws/hall.js';
import { Expected, Numbers } from '../dist/gaps.js';

test('more subjects than are kept: no number of a subject comes again', () => {
  const outgoing = new Numbers();
  const expected = new Expected();
  // More messages than an epoch has numbers.
  outgoing.take('busy', 5_000_000);
  expected.reached('node', 5_000_000);
  for (const n of range(100_000)) outgoing.take(`${n}`, 1);
  const first = outgoing.take('busy', 1);
  assert.ok(first >= 5_000_000);
  // What the sender has forgotten is not missing.
  assert.equal(expected.seen('node', first, 1), 0);
  expected.reached('node', first + 1);
  assert.equal(expected.seen('node', first, 1), 1);
  assert.equal(expected.seen('node', first + 3, 1), -2);
});
