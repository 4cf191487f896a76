import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { leastSecondsOf } from '../../../packages/lab/experiment/plan.js';
import { ELSEWHERE, FIBONACCI, RSA } from '../compute/paper.js';
import { CORES } from '../compute/service.js';
import { computePage, EXPERIMENTS } from '../compute/tables.js';
import { loadNamed } from '../lib/named.js';

const experiments = await Promise.all(EXPERIMENTS.map((name) => loadNamed(name)));

describe('the experiments of the compute study', () => {
  test('take at most 40 minutes together', () => {
    const seconds = experiments.reduce((sum, each) => sum + leastSecondsOf(each, {}), 0);
    assert.ok(seconds <= 40 * 60, `${seconds / 60} min`);
  });

  test('have every N of the study', () => {
    const labels = (name) =>
      experiments.find((each) => each.name === name).cases.map(({ label }) => label);
    const wanted = (rows) => Object.keys(rows).map((n) => Number(n).toLocaleString('en-US'));
    for (const label of wanted(FIBONACCI)) assert.ok(labels('compute-fibonacci').includes(label));
    for (const label of wanted(RSA)) assert.ok(labels('compute-rsa').includes(label));
    assert.equal(labels('compute-rsa').at(-1), '3,000,000');
    assert.equal(labels('compute-all').at(-1), '2,000,000; RSA 3,000,000');
    assert.equal(labels('compute-api').at(-1), '4,000/s');
  });

  test('fix the number of threads, or have a process for each core', () => {
    for (const { name, control, treatments } of experiments) {
      for (const arm of [control, ...treatments]) {
        const fixed = arm.command.indexOf('--threads');
        const threads = fixed < 0 ? arm.command[2] : arm.command[fixed + 1];
        assert.equal(threads, `${CORES}`, `${name}: ${arm.name}`);
      }
    }
  });
});

describe('the page of the compute study', () => {
  const figure = (changes) => ({
    ...{ case: '1,000', arm: 'pool', metric: 'fibonacci_ms', title: 'F(N)', unit: 'ms' },
    ...{ control: 1500, treatment: 750, ahead: 2, lo: 1.9, hi: 2.1, n: 6, level: 0.96 },
    ...changes,
  });
  const results = (experiment, figures) => ({
    ...{ experiment, figures, arms: [{ name: 'main thread' }], runs: [] },
    ...{ date: '2026-01-01T10:00:00.000Z', seconds: 120, seed: 1 },
  });
  const lineOf = (page, start) => page.split('\n').find((line) => line.startsWith(`| ${start}`));

  test('has our figures beside those of the four platforms', () => {
    const page = computePage([
      results('compute-fibonacci', [figure(), figure({ case: '10', n: 3 })]),
      results('compute-rsa', [figure({ metric: 'rsa_ms' })]),
    ]);
    const [first, second] = page.split('\n## ').slice(1);
    assert.equal(
      lineOf(first, '1,000'),
      '| 1,000 | 1.5 s → 750 ms | 2.00× (1.90–2.10) | 6 | 89 ms → 144 ms | 106 ms → 135 ms | 33 ms → 83 ms | 58 ms → 79 ms |',
    );
    // Three rounds have no interval of 95 %.
    assert.match(lineOf(first, '10 '), /\| 2\.00× \| 3 \|/);
    assert.match(second, /^A call of another service beside F\(N\)/);
    assert.match(page, /\| 1,000 \| .* \| 263 ms \| 568 ms \| 90 ms \| 210 ms \|/);
    assert.match(page, /\| compute-rsa \| 2026-01-01 10:00 \| 2 min \|/);
  });

  test('has the last case of all tasks at once, and what was not measured is left out', () => {
    const last = { case: '2,000,000; RSA 3,000,000', metric: 'rsa_ms', title: 'the RSA task' };
    const page = computePage([
      results('compute-all', [figure(last), figure({ ...last, metric: 'all_s', unit: 's' })]),
      results('compute-balanced', [figure({ case: 'six at once', ahead: null, level: null })]),
    ]);
    assert.match(lineOf(page, 'the RSA task'), /\| 708 s \| 606 s \| 525 s \| 712 s \|$/);
    assert.match(lineOf(page, 'six at once'), /\| – \| 6 \|$/);
    assert.doesNotMatch(page, /until all|API calls at/);
  });

  test('the study has every N on every platform', () => {
    for (const { fibonacci, rsa } of Object.values(ELSEWHERE)) {
      assert.deepEqual(Object.keys(fibonacci), Object.keys(FIBONACCI));
      assert.deepEqual(Object.keys(rsa), Object.keys(RSA));
    }
  });
});
