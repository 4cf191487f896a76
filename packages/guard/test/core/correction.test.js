// How far predictions of waits are off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Correction } from '../../dist/forecast.js';

test('the factor goes where actual waits are, and no further than its bounds', () => {
  const correction = new Correction();
  assert.equal(correction.value, 1);
  for (let i = 0; i < 200; i++) correction.learn(150, 100);
  assert.ok(Math.abs(correction.value - 1.5) < 0.01);
  for (let i = 0; i < 300; i++) correction.learn(100_000, 100);
  assert.ok(correction.value <= Correction.max && correction.value > Correction.max - 0.01);
  for (let i = 0; i < 300; i++) correction.learn(0, 100);
  assert.ok(correction.value >= Correction.min && correction.value < Correction.min + 0.01);
});

test('one odd wait changes little, and short predictions teach nothing', () => {
  const correction = new Correction();
  correction.learn(1e9, 100);
  assert.ok(correction.value < 1.2);
  const { value } = correction;
  correction.learn(500, 5);
  correction.learn(0, 0);
  assert.equal(correction.value, value);
});
