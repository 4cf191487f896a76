import assert from 'node:assert/strict';
import test from 'node:test';
import { leakNotes } from '../leaks.js';

const run = (arm, of, role = 'treatment') => ({
  role,
  arm,
  costs: { series: { rss_bytes: Array.from({ length: 9 }, (_, i) => [i * 0.25, of(i * 0.25)]) } },
});

test('memory that rises is reported with its slope', () => {
  const rising = run('leaky', (s) => 50e6 + 20e6 * s);
  const flat = run('tight', () => 50e6, 'control');
  assert.deepEqual(leakNotes([rising, flat, rising]), [
    'Memory of leaky rose by 20.0 MB/s while it was measured, by 80 % in a run: a leak, a cache that fills, or ' +
      'garbage not collected yet.',
  ]);
});

test('noise, a small rise, falling memory and too few points are not told', () => {
  const few = {
    role: 'control',
    arm: 'few',
    costs: {
      series: {
        rss_bytes: [
          [0, 1e6],
          [1, 9e6],
        ],
      },
    },
  };
  const noisy = run('noisy', (s) => 50e6 + ((s * 4) % 2) * 4e6);
  const small = run('small', (s) => 50e6 + 1e6 * s);
  const falling = run('falling', (s) => 90e6 - 10e6 * s);
  assert.deepEqual(
    leakNotes([few, noisy, small, falling, { role: 'control', arm: 'none', costs: {} }]),
    [],
  );
});

test('most runs decide', () => {
  const flat = run('a', () => 50e6);
  const rising = run('a', (s) => 50e6 + 20e6 * s);
  assert.deepEqual(leakNotes([flat, flat, rising]), []);
  assert.equal(leakNotes([flat, rising, rising]).length, 1);
});
