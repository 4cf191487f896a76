import assert from 'node:assert/strict';
import { test } from 'node:test';
import { solve } from '../measure/solve.js';

const near = (found, expected) =>
  assert.ok(Math.abs(found - expected) < 1e-3, `${found}, not ${expected}`);

test('finds what each kind of work costs', () => {
  const amounts = [
    [100, 200, 200],
    [50, 500, 500],
    [10, 100, 900],
    [300, 20, 800],
  ];
  const costs = amounts.map(([a, b, c]) => 7 * a + 5 * b + 0.25 * c);
  const found = solve(amounts, costs);
  near(found[0], 7);
  near(found[1], 5);
  near(found[2], 0.25);
});

test('nothing costs less than nothing, and what never happened costs nothing', () => {
  const found = solve(
    [
      [1, 1, 0],
      [1, 2, 0],
    ],
    [10, 9],
  );
  assert.ok(found.every((cost) => cost >= 0));
  assert.equal(found[2], 0);
});
