import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { isMeasuredAt, leastSecondsOf, stepsOf } from '../../../../packages/lab/experiment/plan.js';
import {
  cleanupFor,
  countedExperiment,
  folderFor,
} from '../../../../packages/lab/experiment/test/support.js';
import { CLAIMS } from '../../lib/claims.js';
import { names as allNames, loadNamed } from '../../lib/named.js';
import { measuredOf, runSuite, suiteNames } from '../run.js';
import { runsIn, sharedExperiment } from './support.js';

const options = (t, more) => ({ size: 'quick', seed: 1, cleanup: cleanupFor(t), ...more });

test('an experiment that is refused, and one that fails, do not stop the others', async (t) => {
  const file = join(folderFor(t), 'runs');
  const broken = countedExperiment('broken', file);
  broken.control.command = [process.execPath, '-e', 'process.exit(3)'];
  const ended = [];
  const suite = await runSuite(
    [countedExperiment('refused', file, { isOn: false }), broken, countedExperiment('fine', file)],
    options(t, { onEnd: ({ experiment }) => ended.push(experiment) }),
  );
  const [refused, failed, fine] = suite.entries;
  assert.deepEqual(ended, ['refused', 'broken', 'fine']);
  assert.equal(refused.state, 'refused');
  assert.match(refused.why, /the feature was not at work/);
  assert.equal(failed.state, 'failed');
  assert.match(failed.why, /slow/);
  assert.equal(fine.state, 'done');
  assert.equal(fine.results.figures[0].ahead, 2);
  assert.equal(suite.stopped, false);
});

test('experiments that share runs make them once', async (t) => {
  const file = join(folderFor(t), 'runs');
  const base = countedExperiment('base', file);
  const steps = [];
  const suite = await runSuite(
    [sharedExperiment('before', base), base, sharedExperiment('after', base)],
    options(t, { onRun: ({ step, steps: all }) => steps.push([step, all]) }),
  );
  assert.equal(runsIn(file), 3, 'control, twin and treatment');
  assert.deepEqual(steps, [
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
  assert.deepEqual(
    suite.entries.map(({ experiment, results }) => [experiment, results.figures[0].treatment]),
    [
      ['before', 2],
      ['base', 1],
      ['after', 2],
    ],
  );
});

test('a metric that fails late does not take along those that share its runs', async (t) => {
  const file = join(folderFor(t), 'runs');
  const base = countedExperiment('base', file);
  const shared = sharedExperiment('shared', base);
  const [metric] = shared.metrics;
  shared.metrics = [{ ...metric, of: ({ round }) => (round === 2 ? Number.NaN : 1) }];
  const { entries } = await runSuite([base, shared], options(t, { rounds: 2 }));
  const [done, failed] = entries;
  assert.deepEqual([done.state, done.results.figures[0].n], ['done', 2]);
  assert.equal(failed.state, 'failed');
  assert.match(failed.why, /metric twice_ms gave NaN/);
  assert.match(failed.results.partial, /^ended by a failure/);
  assert.deepEqual([failed.results.figures[0].n, failed.results.runs.length], [1, 6]);
});

test('a stopped suite keeps what it has', async (t) => {
  const file = join(folderFor(t), 'runs');
  const { cleanup, ...others } = options(t, { rounds: 2 });
  // Stopped as Ctrl-C does, but for the end of the program.
  const stopped = new AbortController();
  Object.defineProperty(cleanup, 'signal', { value: stopped.signal });
  const suite = await runSuite(
    [
      countedExperiment('first', file),
      countedExperiment('second', file),
      countedExperiment('third', file),
    ],
    {
      ...others,
      cleanup,
      onRun: ({ experiment, run }) => {
        if (experiment === 'second' && run.round === 2) stopped.abort(new Error('stopped'));
      },
    },
  );
  assert.equal(suite.stopped, true);
  assert.deepEqual(
    suite.entries.map(({ experiment, state }) => [experiment, state]),
    [
      ['first', 'done'],
      ['second', 'partial'],
    ],
  );
  assert.match(suite.entries[1].why, /stopped after 1 of 2 rounds/);
});

test('smaller sizes leave out what needs long', () => {
  const names = ['chat-messages', 'compute-rsa', 'files', 'compute-api'];
  assert.deepEqual(suiteNames(names, 'quick'), ['chat-messages', 'files']);
  assert.deepEqual(suiteNames(names, 'medium'), names.slice(0, 3));
  assert.deepEqual(suiteNames(names, 'paper'), names);
});

test('a suite of medium size has every claim, and takes at most 100 minutes', async () => {
  const names = suiteNames(allNames(), 'medium');
  const experiments = await Promise.all(names.map((name) => loadNamed(name)));
  const tested = CLAIMS.flatMap(({ tests = [], bound }) => [...tests, bound ?? []].flat());
  for (const { experiment, metric, arm } of tested) {
    const { claims, metrics, cases, treatments } = experiments.find(
      ({ name }) => name === experiment,
    );
    assert.ok(
      metrics.some(({ name }) => name === metric),
      `${experiment} has ${metric}`,
    );
    const made = cases.filter((each) => isMeasuredAt('medium', each)).map(({ label }) => label);
    for (const claim of claims.filter((each) => each.metric === metric)) {
      assert.ok(
        (claim.cases ?? made).some((label) => made.includes(label)),
        claim.text,
      );
    }
    const arms = treatments.filter((each) => isMeasuredAt('medium', each)).map(({ name }) => name);
    assert.ok(arm === undefined || arms.includes(arm), `${experiment} has ${arm}`);
  }
  const all = measuredOf(experiments);
  const sum = (of) => all.reduce((total, each) => total + of(each, { size: 'medium' }), 0);
  // To start a server and open a thousand connections takes up to a second more than the plan has.
  const minutes = (sum(leastSecondsOf) + sum(stepsOf)) / 60;
  assert.ok(minutes <= 100, `${minutes} min`);
});
