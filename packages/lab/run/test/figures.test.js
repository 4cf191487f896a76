import assert from 'node:assert/strict';
import test from 'node:test';
import { compare, figure, ratioFigure } from '../figures.js';

test('figures have thousands parted or three significant digits', () => {
  const expected = [
    [1234567.8, '1,234,568'],
    [123.4, '123'],
    [68000, '68,000'],
    [5, '5'],
    [0, '0'],
    [12.345, '12.3'],
    [1.2, '1.20'],
    [0.039012, '0.0390'],
    [Number.NaN, '–'],
  ];
  for (const [value, text] of expected) assert.equal(figure(value), text);
});

test('ratios have as many digits as help', () => {
  const expected = [
    [1234.4, '1,234'],
    [99.96, '100'],
    [10.44, '10.4'],
    [9.996, '10.0'],
    [3.4, '3.40'],
    [1, '1.00'],
    [0.314, '0.31'],
    [0.0996, '0.10'],
    [0.0374, '0.037'],
    [0.0004, '<0.001'],
    [0, '0.0'],
    [Number.NaN, '–'],
    [Number.POSITIVE_INFINITY, '–'],
  ];
  for (const [value, text] of expected) assert.equal(ratioFigure(value), text);
});

test('an arm is better or worse only when every round agrees', () => {
  const verdict = (...args) => compare(...args).verdict;
  assert.equal(verdict([10, 10], [20, 30], 'higher'), 'better');
  assert.equal(verdict([10, 10], [20, 30], 'lower'), 'worse');
  assert.equal(verdict([10, 10], [5, 2], 'lower'), 'better');
  assert.equal(verdict([10, 10], [5, 2], 'higher'), 'worse');
  assert.equal(verdict([10, 10], [5, 11], 'lower'), 'even');
  assert.equal(verdict([10, 10], [10, 5], 'lower'), 'even');
  assert.equal(verdict([10, 10], [20, 30]), '');
});

test('each arm has its median; the ratio and its range are those of the rounds', () => {
  assert.deepEqual(compare([10, 20, 40], [20, 10, 60], 'higher'), {
    control: 20,
    treatment: 20,
    ratio: 1.5,
    range: [0.5, 2],
    verdict: 'even',
  });
});

test('the ratio is that of the rounds, whose pace both arms share, and not that of the medians', () => {
  // Each round has twice as much; the middle of each arm is of another round.
  assert.equal(compare([1, 10, 100], [2, 20, 200]).ratio, 2);
  assert.equal(compare([1, 10, 100], [3, 20, 20]).ratio, 2);
  assert.equal(compare([10, 20, 90], [15, 60, 99]).ratio, 1.5);
  assert.ok(Number.isNaN(compare([0, 1, 2], [1, 2, 3]).ratio));
});
