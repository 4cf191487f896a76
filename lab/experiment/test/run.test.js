import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { cores, cpuS, latencyMs, longestMs, peakRssMb, wallS } from '../metrics.js';
import { randomFrom, shuffled } from '../random.js';
import { runExperiment } from '../run.js';
import { cleanupFor, experimentWith, SERVER } from './support.js';

const cases = [{ label: 'a' }, { label: 'b', quick: false }];

/** Servers that this process has started and that run now; other files of tests run beside it. */
function servers() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const isServer = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(SERVER);
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
      return isServer && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });
}

const run = (t, experiment, options) =>
  runExperiment(experiment, { seed: 1, cleanup: cleanupFor(t), ...options });

test('both arms are measured in every round of every case, on servers that are gone afterwards', async (t) => {
  const told = [];
  const experiment = experimentWith({
    cases,
    metrics: [
      { name: 'one_ms', title: 'one', unit: 'ms', better: 'lower', of: latencyMs('one') },
      { name: 'wall_s', title: 'time', unit: 's', of: wallS },
      { name: 'cpu_s', title: 'CPU', unit: 's', of: cpuS },
      { name: 'rss', title: 'memory', unit: 'MB', of: peakRssMb },
      { name: 'cores', title: 'cores', unit: '', of: cores },
      { name: 'none', title: 'none', unit: '', of: longestMs('none') },
    ],
  });
  const results = await run(t, experiment, { onRun: (each) => told.push(each) });
  assert.deepEqual(
    told.map(({ case: label, round, side }) => `${label}${round} ${side}`).sort(),
    ['a1', 'a2', 'b1', 'b2'].flatMap((each) => [`${each} control`, `${each} treatment`]),
  );
  assert.equal(results.runs.length, 8);
  assert.equal(results.figures.length, 2 * 6);
  const [latency, wall, , rss, none] = results.figures.filter(({ case: label }) => label === 'a');
  assert.equal(latency.n, 2);
  assert.ok(latency.ahead > 0 && wall.control > 0 && rss.treatment > 10, JSON.stringify(latency));
  assert.equal(none.ahead, null);
  assert.equal(results.runs[0].answers[0].name, 'one');
  assert.equal('json' in results.runs[0].answers[0], false);
  assert.deepEqual(servers(), []);
});

test('a quick run leaves out what is not quick', async (t) => {
  const results = await run(t, experimentWith({ cases }), { quick: true });
  assert.deepEqual(
    results.runs.map(({ case: label }) => label),
    ['a', 'a'],
  );
  assert.equal(results.quick, true);
});

test('the seed gives the order of the arms', async (t) => {
  const results = await run(t, experimentWith(), { seed: 7, rounds: 4 });
  const random = randomFrom(7);
  const rounds = Array.from({ length: 4 }, () => shuffled(['control', 'treatment'], random));
  assert.deepEqual(
    results.runs.map(({ side }) => side),
    rounds.flat(),
  );
  assert.equal(results.seed, 7);
});

test('the load is told its case, and the warm-up comes before it, in no figure', async (t) => {
  const seen = [];
  const experiment = experimentWith({
    cases: [{ label: 'a', path: '/asked' }],
    treatment: { routes: { '/asked': '/asked-fast' } },
    load: {
      requests: (params) => {
        seen.push(params);
        return [{ name: 'asked', path: params.path, payload: ({ value }) => value }];
      },
      warmup: () => [{ name: 'before', path: '/one' }],
    },
    metrics: [
      { name: 'asked', title: 'asked', unit: '', of: ({ answers }) => answers[0].json.value },
    ],
  });
  const results = await run(t, experiment, { quick: true });
  assert.deepEqual(seen[0], { label: 'a', path: '/asked', quick: true });
  for (const { answers, metrics } of results.runs) {
    assert.deepEqual(
      answers.map(({ name }) => name),
      ['asked'],
    );
    assert.equal(metrics.asked, 2, 'the warm-up and this');
  }
});

const refusals = {
  'bytes per answer': { treatment: { routes: { '/one': '/long' } } },
  payload: { treatment: { routes: { '/one': '/two' } } },
  'do not count: status 404': { treatment: { routes: { '/one': '/gone' } } },
  'fast: the feature was not at work in the treatment': { treatment: { routes: {} } },
  'slow: the feature was at work in the control': { control: { routes: { '/one': '/one-fast' } } },
};

for (const [why, changes] of Object.entries(refusals)) {
  test(`arms that cannot be compared are refused: ${why}`, async (t) => {
    await assert.rejects(run(t, experimentWith({ cases, ...changes })), (error) => {
      assert.equal(error.code, 'MILLRACE_LAB_E_REFUSED');
      assert.ok(error.message.includes('case a: '), error.message);
      assert.ok(error.message.includes(why), error.message);
      return true;
    });
    assert.deepEqual(servers(), []);
  });
}

test('a server that ends midway is told with how it ended', async (t) => {
  const experiment = experimentWith({
    load: {
      requests: () => [
        { name: 'one', path: '/die' },
        { name: 'late', path: '/one', at: 60_000 },
      ],
    },
  });
  await assert.rejects(run(t, experiment), {
    code: 'MILLRACE_LAB_E_SERVER',
    message: /ended unexpectedly with code 3/,
  });
});

test('functions of the experiment that fail are named', async (t) => {
  const metric = { name: 'm', title: 'm', unit: '' };
  const failing = {
    'metric m of the experiment failed: no': {
      metrics: [
        {
          ...metric,
          of: () => {
            throw new Error('no');
          },
        },
      ],
    },
    'metric m gave undefined': { metrics: [{ ...metric, of: () => undefined }] },
    'load.requests of the experiment failed': { load: { requests: () => null.x } },
    'notes of the experiment failed': { notes: () => null.x },
  };
  for (const [message, changes] of Object.entries(failing)) {
    await assert.rejects(run(t, experimentWith(changes), { rounds: 1 }), (error) => {
      assert.equal(error.code, 'MILLRACE_LAB_E_EXPERIMENT');
      assert.ok(error.message.startsWith(message), error.message);
      return true;
    });
  }
  assert.deepEqual(servers(), []);
});
