import assert from 'node:assert/strict';
import test from 'node:test';
import { runExperiment } from '@millrace/lab/experiment';
import { cleanupFor } from '../../../packages/lab/experiment/test/support.js';
import { FIBONACCI, RSA } from '../compute/paper.js';
import { control, endOfFibonacci, treatment } from '../compute/service.js';
import { loadNamed } from '../lib/named.js';

test('the last digits of F(n) are those that additions give', () => {
  let [a, b] = [0n, 1n];
  for (let n = 0; n <= 500; n += 1) {
    assert.equal(endOfFibonacci(n), a % 10n ** 20n, `F(${n})`);
    [a, b] = [b, a + b];
  }
});

test('the paper has a row for each N, by the names of the metrics', async () => {
  for (const [name, rows] of [
    ['compute-fibonacci', FIBONACCI],
    ['compute-rsa', RSA],
  ]) {
    const { cases, metrics } = await loadNamed(name);
    assert.ok(cases.filter(({ paper }) => paper !== undefined).length === Object.keys(rows).length);
    const inRows = new Set(Object.values(rows).flatMap((row) => Object.keys(row.treatment)));
    for (const metric of metrics.map((each) => each.name).filter((each) => /_ms$/.test(each))) {
      assert.ok(inRows.has(metric), `${name} has ${metric}, the paper ${[...inRows]}`);
    }
  }
});

test('the paper’s last case stands beside ours', async () => {
  const { cases, metrics } = await loadNamed('compute-all');
  const { paper } = cases.at(-1);
  assert.deepEqual(paper.treatment, { fibonacci_ms: 318_000, rsa_ms: 708_000, photos_ms: 91 });
  const names = metrics.map(({ name }) => name);
  assert.ok(Object.keys(paper.treatment).every((name) => names.includes(name)));
});

test('all at once runs against the real service, calls of another service among it', async (t) => {
  const experiment = await loadNamed('compute-all');
  const cases = [{ ...experiment.cases[0], label: 'small' }];
  const load = {
    ...experiment.load,
    requests: (params) => experiment.load.requests(params).filter(({ name }) => name !== 'records'),
  };
  const options = { seed: 1, rounds: 1, cleanup: cleanupFor(t) };
  const { runs, claims } = await runExperiment({ ...experiment, cases, load }, options);
  const kept = runs.filter(({ discarded }) => !discarded);
  // None where a busy machine has made the generator late.
  const isLate = kept.some(({ metrics }) => metrics.all_s === null);
  for (const { metrics } of kept) {
    assert.equal(metrics.photos_failed, 0);
    assert.ok(metrics.photos_ms === null || metrics.photos_ms > 0);
  }
  assert.equal(claims[0].verdict, isLate ? 'not measured' : 'open');
});

test('all tasks of the treatment, and none of the control, have to be in the pool', () => {
  const run = (...threads) => ({ answers: threads.map((thread) => ({ json: { thread } })) });
  for (const { isOn } of [control, treatment]) {
    assert.equal(isOn(run('worker', 'workers', undefined)), true);
    assert.equal(isOn(run('main', undefined)), false);
    assert.equal(isOn(run(undefined)), false);
  }
  assert.equal(control.isOn(run('main', 'worker')), true);
  assert.equal(treatment.isOn(run('main', 'worker')), false);
});

test('an experiment runs against the real service', async (t) => {
  const experiment = await loadNamed('compute-fibonacci');
  const cases = experiment.cases.filter(({ n }) => n === 1000);
  const cleanup = cleanupFor(t);
  const results = await runExperiment({ ...experiment, cases }, { seed: 1, rounds: 1, cleanup });
  // On a busy machine the generator may be late: the round is made again, and may be without latencies.
  const runs = results.runs.filter(({ discarded }) => !discarded);
  assert.equal(runs.length, 3);
  for (const { metrics, answers, notes } of runs) {
    const isLate = notes.some((note) => note.includes('late'));
    const isTimed = metrics.fibonacci_ms > 0 && metrics.photos_ms > 0;
    assert.ok(isLate || isTimed, JSON.stringify(metrics));
    assert.equal(answers.length, 1 + 5 + 10);
  }
  assert.equal(results.figures[0].paper.control, 89);
});
