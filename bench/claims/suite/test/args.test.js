import assert from 'node:assert/strict';
import test from 'node:test';
import { USAGE } from '../args.js';

test('the usage of the suite fits a terminal', () => {
  for (const line of USAGE.split('\n')) assert.ok(line.length <= 80, line);
});
