// Conclusions of tune from given rounds: the command line that won, or that none did, corrected for the number of switches.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readExperiment } from '../../experiment/format.js';
import { judge } from '../../experiment/judge.js';
import { conclusion } from '../conclusion.js';

const command = 'node server.js';
const rounds = 10;
/** A little noise, the same in each test. */
const noise = (i) => 1 + (((i * 7) % 11) - 5) / 1000;

/** Results of switches that make the throughput so many times what it is; by round where a function is given. */
function resultsOf(gains) {
  const switches = Object.keys(gains).map((name, i) => {
    return { name, group: 'env', env: { [`SWITCH_${i}`]: '1' } };
  });
  const experiment = readExperiment(
    {
      question: 'Which switch makes the server better?',
      control: { name: 'as it is', command: ['a'], isOn: () => false },
      treatment: switches.map(({ name }) => ({ name, command: ['a'], isOn: () => true })),
      load: { kind: 'http', paths: ['/'], seconds: 1 },
      metrics: [
        {
          name: 'answers_per_s',
          title: 'throughput',
          unit: 'requests/s',
          better: 'higher',
          of: () => 0,
        },
        { name: 'cpu', title: 'CPU', unit: 'µs', better: 'lower', of: () => 0 },
      ],
      family: 'arms',
    },
    'tune',
  );
  const run = (role, arm, round, value) => ({
    ...{ role, arm, round, case: '', work: [], faults: [], saturated: null, notes: [] },
    ...{
      refusal: null,
      values: {},
      metrics: { tune: { answers_per_s: value, cpu: 5 * noise(round) } },
    },
  });
  const gain = (of, i) => (typeof of === 'function' ? of(i) : of);
  const made = Array.from({ length: rounds }, (_, i) => ({
    ...{ case: '', round: i + 1 },
    runs: [
      run('control', 'as it is', i + 1, 1000 * noise(i)),
      run('twin', 'as it is', i + 1, 1000 * noise(i + 3)),
      ...switches.map(({ name }, n) =>
        run('treatment', name, i + 1, 1000 * noise(i + n) * gain(gains[name], i)),
      ),
    ],
  }));
  const results = judge(experiment, {
    ...{ date: new Date(0), seconds: 1, size: 'paper', seed: 1, host: {}, versions: {}, load: {} },
    ...{ pinned: false, cases: [''], arms: [], rounds: made, partial: null, mistakes: new Map() },
  });
  return { results, tried: { command, switches } };
}

const told = (gains) => {
  const { results, tried } = resultsOf(gains);
  return conclusion(results, tried).join('\n');
};

describe('the conclusion of tune', () => {
  test('is the command line of the best switch, and names the others that are better', () => {
    const text = told({ fast: 1.5, faster: 2, same: 1 });
    assert.match(
      text,
      /^Best in throughput: faster, 2\.00 times \(\d\.\d\d to \d\.\d\d\)\. Start the server so: SWITCH_1=1 node server\.js$/m,
    );
    assert.match(
      text,
      /^Also better: fast, 1\.50 times .*compare two together with millrace compare\.$/m,
    );
    assert.match(text, /corrected for 3 switches \(Holm\)/);
  });

  test('is that none is better, where none is', () => {
    const text = told({ same: 1, worse: 0.8 });
    assert.match(
      text,
      /^None of 2 switches made the server surely better in throughput: leave it as it is\.$/m,
    );
  });

  test('says how many are undecided', () => {
    const wild = (i) => (i % 3 === 0 ? 0.6 : 1.3);
    assert.match(told({ wild }), /^None of 1 switch .* 1 is undecided: more rounds \(-n\)/m);
  });

  test('is corrected for the number of switches: what one alone would show, many do not', () => {
    // A little worse in 2 of 10 rounds: p is 0.01 or so.
    const most = (i) => (i === 4 || i === 7 ? 0.98 : 1.04);
    const one = resultsOf({ most });
    const [{ p, pHolm }] = one.results.figures;
    assert.ok(p < 0.05 && pHolm < 0.05, `${p}`);
    assert.match(told({ most }), /^Best in throughput: most/);
    const others = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`same ${i}`, 1]));
    const many = resultsOf({ most, ...others });
    const corrected = many.results.figures.find(({ arm }) => arm === 'most');
    assert.equal(corrected.p, p);
    assert.ok(corrected.pHolm > 0.05, `${corrected.pHolm}`);
    assert.match(told({ most, ...others }), /^None of 10 switches/);
  });
});
