import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { describe } from 'node:test';
import { until } from '../../../../scripts/lib/program-tests.js';
import { gather } from '../gather.js';
import { Journal } from '../journal.js';
import { keptIn, start } from './program.js';
import { cleanupFor, countedExperiment, folderFor } from './support.js';

const SUPPORT = new URL('./support.js', import.meta.url).href;
const ROUNDS = 4;
const ARMS = 3;

/** The seed of a round is that of the run and its number. */
const SEED = 7;

/** An experiment of four short rounds. With a file `hold` beside it the third does not end, and makes a file `held` when it begins. */
function write(folder) {
  const path = join(folder, 'tiny.js');
  const [hold, held] = ['hold', 'held'].map((name) => JSON.stringify(join(folder, name)));
  writeFileSync(
    path,
    `import { existsSync, writeFileSync } from 'node:fs';
    import { moduleWith } from ${JSON.stringify(SUPPORT)};
    const one = { name: 'one', path: '/one', payload: ({ value }) => value };
    const requests = ({ seed }) => {
      if (seed < ${SEED + 3} || !existsSync(${hold})) return [one];
      writeFileSync(${held}, '');
      return [one, { name: 'held', path: '/one', at: 1e8 }];
    };
    const module = moduleWith({ load: { requests }, rounds: { quick: ${ROUNDS} } });
    export const { question, control, treatment, load, metrics, rounds } = module;`,
  );
  return path;
}

const unfinishedIn = (folder) =>
  readdirSync(folder).filter((name) => name.startsWith('unfinished-'));

const linesOf = (path) => readFileSync(path, 'utf8').trimEnd().split('\n').map(JSON.parse);

const roundsOf = (path) => linesOf(path).filter(({ outcome }) => outcome === 'whole');

/** Round and arm of the runs that count. */
const counted = ({ runs }) =>
  runs
    .filter(({ discarded }) => discarded === undefined)
    .map(({ round, role, arm }) => `${round} ${role} ${arm}`)
    .sort();

describe('millrace experiment --resume', () => {
  test('goes on with a run that was killed: every round is there, none twice', async (t) => {
    const folder = folderFor(t);
    const results = join(folder, 'results');
    const [hold, held] = ['hold', 'held'].map((name) => join(folder, name));
    writeFileSync(hold, '');
    const args = [write(folder), '--size', 'quick', '--results', results];
    const killed = start(t, [...args, '--seed', `${SEED}`]);
    await until(() => existsSync(held));
    killed.child.kill('SIGKILL');
    assert.equal(await killed.ended, 'SIGKILL');
    const [name] = unfinishedIn(results);
    const before = roundsOf(join(results, name));
    assert.equal(before.length, 2);
    // A cut of the power leaves it like this.
    appendFileSync(join(results, name), '{"round":{"case":"","ro');
    rmSync(hold);

    const resumed = start(t, [...args, '--resume']);
    assert.equal(await resumed.ended, 0, resumed.errors);
    assert.match(resumed.output, /Going on with an unfinished run/);
    assert.match(resumed.output, /Measured in 2 parts/);
    const [kept] = keptIn(results, 'tiny');
    assert.deepEqual([kept.seed, kept.partial], [SEED, null]);
    const all = counted(kept);
    assert.deepEqual([all.length, new Set(all).size], [ROUNDS * ARMS, ROUNDS * ARMS]);
    const startOf = ({ round, role }) =>
      kept.runs.find((run) => run.round === round && run.role === role && !run.discarded).startedAt;
    for (const run of before.flatMap(({ round }) => round.runs)) {
      assert.equal(startOf(run), run.startedAt, 'not measured again');
    }
    assert.deepEqual(unfinishedIn(results), []);
  });

  test('refuses other code and other settings, and names them', async (t) => {
    const folder = folderFor(t);
    const path = write(folder);
    const args = [path, '--size', 'quick', '--results', folder];
    const first = start(t, [...args, '--for', '1s']);
    assert.equal(await first.ended, 0, first.errors);
    assert.match(first.output, /Partial: its time was up after [123] of 4 rounds/);
    assert.match(first.output, /To go on with it: --resume/);

    const longer = start(t, [...args, '--resume', '--rounds', '9', '--seed', '3']);
    assert.equal(await longer.ended, 2);
    assert.match(longer.errors, /seed was \d+ and is 3; rounds was \{"":4\} and is \{"":9\}/);
    appendFileSync(path, '\n// Changed.\n');
    const changed = start(t, [...args, '--resume']);
    assert.equal(await changed.ended, 2);
    assert.match(changed.errors, /cannot be gone on with: the code differs in \S*tiny\.js\. Make/);
    assert.equal(unfinishedIn(folder).length, 1, 'the rounds are kept');
  });
});

describe('a journal', () => {
  const head = {
    experiment: 'one',
    settings: { seed: 1 },
    machine: { cores: 2 },
    code: { 'a.js': 'x', 'b.js': 'y' },
  };
  const round = (number) => ({
    round: { case: '', round: number, runs: [{}, {}, {}] },
    outcome: 'whole',
    seconds: number * 10,
  });

  test('has nothing on the disk before the first round', (t) => {
    const folder = folderFor(t);
    Journal.begin(folder, head);
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(Journal.last(folder, 'one'), null);
    assert.equal(Journal.last(join(folder, 'none'), 'one'), null);
  });

  test('sums up what its parts took', (t) => {
    const folder = folderFor(t);
    const first = Journal.begin(folder, head);
    for (const number of [1, 2]) first.add(round(number));
    first.close();
    const second = Journal.last(folder, 'one');
    assert.deepEqual([second.secondsBefore, second.kept.length, second.runs], [20, 2, 6]);
    second.goOn(head);
    second.add({ ...round(3), seconds: 5 });
    second.close();
    const third = Journal.last(folder, 'one');
    assert.deepEqual([third.secondsBefore, third.kept.length, third.parts.length], [25, 3, 2]);
    assert.equal(Journal.last(folder, 'on'), null, 'another experiment');
  });

  test('is gone on with on the same machine only', (t) => {
    const folder = folderFor(t);
    const first = Journal.begin(folder, head);
    first.add(round(1));
    first.close();
    const other = { ...head, machine: { cores: 4 }, code: { 'a.js': 'x', 'c.js': 'z' } };
    assert.throws(() => Journal.last(folder, 'one').goOn(other), {
      code: 'MILLRACE_LAB_E_INVALID_OPTION',
      message: /cores was 2 and is 4; the code differs in b\.js, c\.js/,
    });
  });

  test('that is damaged is refused with its path', (t) => {
    const folder = folderFor(t);
    const first = Journal.begin(folder, head);
    first.add(round(1));
    first.close();
    appendFileSync(first.path, 'x\n');
    assert.throws(() => Journal.last(folder, 'one'), {
      code: 'MILLRACE_LAB_E_RESULTS',
      message: /unfinished-one-.* is damaged/,
    });
  });
});

test('the order of the arms is that of a run without a break', async (t) => {
  const experiment = countedExperiment('order', join(folderFor(t), 'runs'));
  const options = { size: 'quick', rounds: 3, seed: 11, cleanup: cleanupFor(t) };
  const kept = [];
  const recorded = { kept: [], date: new Date(0), parts: ['a'], secondsBefore: 0 };
  const orderOf = ({ rounds }) => rounds.map(({ runs }) => runs.map(({ role }) => role));
  const whole = await gather(experiment, {
    ...options,
    journal: { ...recorded, add: (each) => kept.push(JSON.parse(JSON.stringify(each))) },
  });
  const added = [];
  const resumed = await gather(experiment, {
    ...options,
    journal: { ...recorded, kept: kept.slice(0, 2), add: (each) => added.push(each) },
  });
  assert.deepEqual(orderOf(resumed), orderOf(whole));
  assert.equal(added.length, 1);
  assert.equal(new Set(orderOf(whole).map(String)).size > 1, true, 'orders differ');
});
