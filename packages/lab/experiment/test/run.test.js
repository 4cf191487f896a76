import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { Cleanup } from '../../run/cleanup.js';
import { randomFrom, shuffled } from '../../stats/random.js';
import { runExperiment } from '../gather.js';
import { allocatedMb, cores, cpuS, latencyMs, longestMs, peakRssMb, wallS } from '../metrics.js';
import { experimentWith, moduleWith, run, SERVER } from './support.js';

const cases = [{ label: 'a' }, { label: 'b', from: 'paper' }];

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

test('all arms are measured in every round of every case, on servers that are gone afterwards', async (t) => {
  const told = [];
  const arm = moduleWith().treatment;
  const experiment = experimentWith({
    cases,
    treatment: [arm, { ...arm, name: 'faster' }],
    metrics: [
      { name: 'one_ms', title: 'one', unit: 'ms', better: 'lower', of: latencyMs('one') },
      { name: 'wall_s', title: 'time', unit: 's', of: wallS },
      { name: 'cpu_s', title: 'CPU', unit: 's', of: cpuS },
      { name: 'rss', title: 'memory', unit: 'MB', of: peakRssMb },
      { name: 'cores', title: 'cores', unit: '', of: cores },
      { name: 'none', title: 'none', unit: '', of: longestMs('none') },
    ],
  });
  const results = await run(t, experiment, { rounds: 1, onRun: (each) => told.push(each) });
  const arms = ['control slow', 'treatment fast', 'treatment faster', 'twin slow'];
  assert.deepEqual(
    told.map(({ run: each }) => `${each.case}${each.round} ${each.role} ${each.arm}`).sort(),
    ['a1', 'b1'].flatMap((each) => arms.map((name) => `${each} ${name}`)),
  );
  assert.deepEqual([told[0].step, told[0].steps, told.at(-1).step], [1, 8, 8]);
  assert.ok(told[0].metrics.one_ms > 0);
  assert.equal(results.runs.length, 8);
  assert.equal(results.figures.length, 2 * 2 * 6);
  const [latency, wall, , rss, , none] = results.figures;
  assert.deepEqual([latency.case, latency.arm, latency.n], ['a', 'fast', 1]);
  assert.ok(latency.ahead > 0 && wall.control > 0 && rss.treatment > 10, JSON.stringify(latency));
  assert.equal(none.ahead, null);
  assert.deepEqual([results.partial, results.refusal, results.cases], [null, null, ['a', 'b']]);
  assert.deepEqual(results.arms[1].role, 'twin');
  assert.equal(results.runs[0].answers[0].name, 'one');
  assert.equal('json' in results.runs[0].answers[0], false);
  // No metric asks for it.
  assert.deepEqual(new Set(results.runs.map(({ costs }) => costs.allocator)), new Set([null]));
  assert.deepEqual(servers(), []);
});

test('the seed gives the order of the arms', async (t) => {
  const results = await run(t, experimentWith(), { seed: 7, rounds: 2 });
  const random = randomFrom(7);
  const roles = ['control', 'twin', 'treatment'];
  const rounds = Array.from({ length: 2 }, () => shuffled(roles, random));
  assert.deepEqual(
    results.runs.map(({ role }) => role),
    rounds.flat(),
  );
  assert.equal(results.seed, 7);
});

test('the load gets its case, and the warm-up comes before it, in no figure', async (t) => {
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
  const results = await run(t, experiment, { size: 'quick' });
  assert.deepEqual(seen[0], { label: 'a', path: '/asked', size: 'quick', seed: 2 });
  assert.ok(
    seen.every(({ seed }) => seed === 2),
    'the same for all arms of a round',
  );
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
  'fast: the feature was not at work': { treatment: { routes: {} } },
  'slow: the feature was at work, and must not be': {
    control: { routes: { '/one': '/one-fast' } },
  },
};

for (const [why, changes] of Object.entries(refusals)) {
  test(`arms that cannot be compared are refused: ${why}`, async (t) => {
    const experiment = experimentWith({ cases: cases.slice(0, 1), ...changes });
    await assert.rejects(run(t, experiment), (error) => {
      assert.equal(error.code, 'MILLRACE_LAB_E_REFUSED');
      assert.ok(error.message.includes('case a: '), error.message);
      assert.ok(error.message.includes(why), error.message);
      assert.ok(error.message.endsWith(error.advice), error.message);
      assert.equal(error.results.refusal.why, error.why);
      assert.deepEqual(error.results.figures, []);
      assert.ok(error.results.runs.length > 0, 'raw samples are there');
      return true;
    });
    assert.deepEqual(servers(), []);
  });
}

test('a server that ends midway is reported with its end', async (t) => {
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

/** An experiment whose servers die from a round on. */
function dyingFrom(round) {
  const isOver = ({ seed }) => seed >= 1 + round;
  return experimentWith({
    cases,
    claim: { text: 'faster', source: 's', metric: 'one_ms', atLeast: 2 },
    load: {
      requests: (params) => [
        { name: 'one', path: isOver(params) ? '/die' : '/one', payload: ({ value }) => value },
        ...(isOver(params) ? [{ name: 'late', path: '/one', at: 60_000 }] : []),
      ],
    },
  });
}

test('a server that ends midway is reported, with the whole rounds so far', async (t) => {
  await assert.rejects(run(t, dyingFrom(2), { rounds: 2 }), (error) => {
    assert.equal(error.code, 'MILLRACE_LAB_E_SERVER');
    const { partial, figures, runs, claims } = error.results;
    assert.match(partial, /^ended by a failure \(.* code 3.*\) after 1 of 4 rounds/);
    assert.equal(runs.length, 3);
    assert.deepEqual(
      figures.map(({ case: label, n }) => [label, n]),
      [['a', 1]],
    );
    assert.deepEqual(
      claims.map(({ verdict }) => verdict),
      ['open', 'not measured'],
    );
    return true;
  });
  assert.deepEqual(servers(), []);
});

test('a server that ends in the first round leaves nothing to judge', async (t) => {
  await assert.rejects(run(t, dyingFrom(1)), (error) => {
    assert.equal(error.code, 'MILLRACE_LAB_E_SERVER');
    assert.equal(error.results, undefined);
    return true;
  });
});

/** Stops after so many runs, as Ctrl-C does, but for the end of the process. */
function stoppedAfter(t, count) {
  const stop = new AbortController();
  const cleanup = new Cleanup();
  t.after(() => cleanup.run());
  Object.defineProperty(cleanup, 'signal', { value: stop.signal });
  const onRun = ({ step }) => {
    if (step === count) stop.abort(new Error('stopped'));
  };
  return { cleanup, onRun };
}

test('the rounds until Ctrl-C are kept, and marked as partial', async (t) => {
  const options = { rounds: 3, seed: 1, ...stoppedAfter(t, 4) };
  const results = await runExperiment(experimentWith({ cases }), options);
  assert.equal(results.partial, 'stopped after 1 of 6 rounds; the others were not measured');
  assert.equal(results.runs.length, 4);
  assert.deepEqual([results.figures.length, results.figures[0].n], [1, 1]);
  assert.deepEqual(servers(), []);
});

test('Ctrl-C in the first round leaves nothing to judge', async (t) => {
  const stopping = runExperiment(experimentWith(), { seed: 1, ...stoppedAfter(t, 1) });
  await assert.rejects(stopping, { message: 'stopped' });
});

test('allocations are known where a metric asks for them', async (t) => {
  const metric = (of) => ({ name: 'm', title: 'm', unit: 'MB', better: 'lower', of });
  const found = async (of) => {
    const { runs } = await run(t, experimentWith({ metrics: [metric(of)] }), { rounds: 1 });
    return runs.map((each) => each.metrics.m);
  };
  assert.ok((await found(allocatedMb)).every((value) => value >= 0 && value !== null));
  // Taken for null, it would be 0 in both arms.
  for (const unmarked of [
    (each) => allocatedMb(each),
    ({ probe, costs }) => probe.gcMs / costs.wallS,
  ]) {
    await assert.rejects(found(unmarked), {
      code: 'MILLRACE_LAB_E_EXPERIMENT',
      message: /^metric m .*probe\.(allocatedBytes|gcMs) is known only where .*ofCollections\(\)/,
    });
  }
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

test('a quick run leaves out what is not quick; results say what the load was, where it ran, and of which versions all is', async (t) => {
  const results = await run(t, experimentWith({ cases, load: { pin: false } }), { size: 'quick' });
  assert.deepEqual(
    results.runs.map(({ case: label }) => label),
    ['a', 'a', 'a'],
  );
  assert.equal(results.size, 'quick');
  assert.deepEqual(results.load, {
    kind: 'requests',
    cases: [{ case: 'a', requests: ['/one'] }],
  });
  assert.equal(results.pinned, false);
  for (const name of ['lab', 'millrace', 'autocannon']) {
    assert.match(results.versions[name], /^\d+\.\d+\.\d+/, name);
  }
});

test('of a run nothing is kept that fills the memory, once its metrics are asked', async (t) => {
  const runs = [];
  const of = ({ answers, output }) => answers[0].json.value + output.length;
  const metrics = [{ name: 'm', title: 'm', unit: '', of }];
  await run(t, experimentWith({ metrics }), { rounds: 1, onRun: (told) => runs.push(told) });
  for (const { run: each, metrics: values } of runs) {
    assert.ok(values.m > 1);
    assert.deepEqual(
      ['output', 'first', 'json', 'stats'].filter((key) => key in each),
      [],
    );
    assert.equal('json' in each.answers[0], false);
  }
});
