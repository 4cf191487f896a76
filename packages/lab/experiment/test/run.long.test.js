import assert from 'node:assert/strict';
import test from 'node:test';
import { readExperiment } from '../format.js';
import { wallS } from '../metrics.js';
import { experimentWith, run } from './support.js';

/** Thirty requests; the generator stands still for 30 ms at so many of the answers that it checks. */
function hinderedExperiment(answers, changes) {
  let left = answers;
  const payload = ({ value }) => {
    const until = performance.now() + (left > 0 ? 30 : 0);
    left -= 1;
    while (performance.now() < until);
    return value;
  };
  return experimentWith({
    load: { requests: () => [{ name: 'one', path: '/one', rate: 50, seconds: 0.6, payload }] },
    ...changes,
  });
}

test('a round in which the generator was hindered is made again, by all arms, and kept with its mark', async (t) => {
  const told = [];
  // A busy machine may make it late again, and then there are no latencies.
  const metrics = [{ name: 's', title: 'time', unit: 's', better: 'lower', of: wallS }];
  const results = await run(t, hinderedExperiment(10, { metrics }), {
    rounds: 1,
    onRun: (each) => told.push(each),
  });
  const discarded = results.runs.filter((each) => each.discarded !== undefined);
  assert.equal(discarded.length, 1, 'the first run, and with it its round');
  assert.match(discarded[0].discarded, /generator was/);
  assert.equal(results.runs.length, 4);
  assert.equal(told.length, 3);
  assert.deepEqual([told.at(-1).step, told.at(-1).steps], [3, 3]);
  assert.equal(results.figures[0].n, 1);
  assert.ok(results.figures[0].ahead > 0);
  assert.match(results.notes[0], /^1 round was made again/);
});

test('requests that are late again count, without latencies', async (t) => {
  const results = await run(t, hinderedExperiment(16), { rounds: 1 });
  const whole = results.runs.filter((each) => each.discarded === undefined);
  assert.equal(whole.length, 3);
  assert.ok(results.runs.length > 3);
  assert.equal(results.refusal, null);
});

test('a metric or isOn that fails in a late round leaves the rounds before it, and all runs', async (t) => {
  const late = (run) => run.round === 2;
  const metric = (of) => ({ metrics: [{ name: 'm', title: 'm', unit: '', better: 'lower', of }] });
  const isOn = ({ answers, round }) => (round === 2 ? null.x : answers[0].json.isFast === 1);
  const failing = {
    'metric m gave NaN': metric((each) => (late(each) ? Number.NaN : 1)),
    'metric m of the experiment failed': metric((each) => (late(each) ? null.x : 1)),
    'isOn of': { control: { isOn }, treatment: { isOn } },
  };
  for (const [message, changes] of Object.entries(failing)) {
    await assert.rejects(run(t, experimentWith(changes), { rounds: 3 }), (error) => {
      assert.equal(error.code, 'MILLRACE_LAB_E_EXPERIMENT');
      assert.ok(error.message.startsWith(message), error.message);
      const { partial, figures, runs } = error.results;
      assert.match(partial, /^ended by a failure \(.*\) after 1 of 3 rounds/);
      assert.deepEqual([figures[0].n, runs.length], [1, 4]);
      return true;
    });
  }
});

/** A program for each arm, that says how much it has done. */
function counting(done, more = {}) {
  const arm = (name, answers) => ({
    name,
    command: [process.execPath, '-e', `console.log('${JSON.stringify({ answers, ...more })}')`],
    isOn: ({ json }) => json.answers === done.treatment,
  });
  return {
    question: 'Which is quicker?',
    control: arm('c', done.control),
    treatment: arm('t', done.treatment),
    load: { kind: 'program' },
    metrics: [{ name: 'wall_s', title: 'time', unit: 's', better: 'lower', of: wallS }],
  };
}

test('programs must have done as much as each other, unless they say that they had a time', async (t) => {
  const done = { control: 1000, treatment: 1 };
  await assert.rejects(run(t, readExperiment(counting(done), 'p'), { rounds: 1 }), {
    code: 'MILLRACE_LAB_E_REFUSED',
    why: "number of 'work': 1000 in c, 1 in t",
  });
  const results = await run(t, readExperiment(counting(done, { isClosed: true }), 'p'), {
    rounds: 1,
  });
  assert.equal(results.refusal, null);
});
