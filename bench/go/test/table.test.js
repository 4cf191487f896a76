/** The tables of the report: on a terminal, and on the page, which has what is kept. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { combined, refusalOfPart, runOf } from '../../tables/store.js';
import { further } from '../claims.js';
import { judgeFurther, valuesOfLines, valuesOfRounds } from '../judge.js';
import { designs, features, tables } from '../report.js';
import { keptAccount } from '../stability.js';
import { pageText, reportText } from '../table.js';

const path = new URL('../../../docs/benchmarks/go-tournament.md', import.meta.url);
const arms = ['millrace', 'goja_nodejs', 'tick', 'safe', 'lockfree', 'batched'];

/** Seven rounds of each case of the report, in which arm number i takes i + 1 times as long as the first. */
const rounds = Array.from({ length: 7 }, (_, round) =>
  Object.fromEntries(
    arms.map((arm, i) => [
      arm,
      {
        ns_per_op: (i + 1) * (10 + round),
        p95_ns: (i + 1) * 20,
        bytes_per_op: 24,
        allocs_per_op: 1,
      },
    ]),
  ),
);
const values = valuesOfRounds(tables.map(({ case: name }) => ({ name, rounds })));
const text = reportText(values, 'a machine');
const lineOf = (section, entrant) =>
  text
    .split(/^(?=\d\.\d |5 |claims|further)/m)
    .find((part) => part.startsWith(section))
    .split('\n')
    .find((line) => line.split(/ {2,}/)[1] === entrant);

describe('the tables of the report', () => {
  test('have a row for each of its designs, and for the loop here', () => {
    for (const { section } of tables) {
      for (const entrant of [...designs.map(([, name]) => name), 'millrace']) {
        assert.ok(lineOf(section, entrant), `${section}: ${entrant}`);
      }
    }
  });

  test('have its figures beside ours, and each design against the baseline there and here', () => {
    const cells = lineOf('1.1', 'tick').split(/ {2,}/);
    assert.deepEqual(cells, ['Main', 'tick', '161', '39', '0.64', '0.67 (0.67 to 0.67)']);
  });

  test('have bytes, allocations and percentiles where the report has them', () => {
    assert.deepEqual(lineOf('1.2', 'batched').split(/ {2,}/).slice(2, 6), [
      ...['11,232', '78', '11,200', '120'],
    ]);
    assert.equal(lineOf('1.6', 'goja_nodejs').split(/ {2,}/)[6], '3');
  });

  test('say of the features of each design what it has there and here', () => {
    assert.match(lineOf('5 ', 'tick'), /^Main +tick +yes \/ yes +yes \/ yes/);
    assert.match(lineOf('5 ', 'safe'), /^AlternateOne +safe +yes \/ yes +yes \/ no/);
    for (const { here } of features) assert.ok(here.every((name) => arms.includes(name)));
  });

  test('leave out what was not measured', () => {
    const few = reportText(valuesOfRounds([{ name: 'PingPong', rounds }]), 'a machine');
    assert.match(few, /^1\.1 /m);
    assert.doesNotMatch(few, /^1\.2 /m);
  });

  test('have a verdict on each other statement, corrected among themselves', () => {
    const found = judgeFurther(values);
    assert.deepEqual(
      found.map(({ text: said }) => said),
      further.map(({ text: said }) => said),
    );
    for (const { text: said, places } of found) {
      for (const { verdict, pHolm } of places) {
        assert.match(verdict, /^(met|not met|refuted|open)$/, said);
        assert.ok(pHolm >= 2 / 2 ** 7 && pHolm <= 1, said);
      }
    }
  });
});

describe('the page', () => {
  const kept = runOf('go');
  const found = { kept, values: valuesOfLines(kept.figures), account: keptAccount() };

  test('has the tables that the kept figures give', () => {
    const page = readFileSync(path, 'utf8');
    assert.equal(page, pageText(page, found), 'it is old: run make bench NAME=go SAVE=1 QUICK=1');
  });

  const page = [
    'before',
    '<!-- written by make bench NAME=go SAVE=1 -->',
    ...['### Mixed', 'old', '### Queued1M', 'old', '### HundredMillion', 'old'],
    '<!-- end of what make bench wrote -->',
    'after',
  ].join('\n\n');
  const raw = [{ case: 'Queued1M', rounds }];
  const headsOf = (written) => [...written.matchAll(/^### (.*)/gm)].map(([, title]) => title);
  const front = [
    ...[
      'The report and this machine',
      'What the report claims',
      'What else it says of its designs',
    ],
  ];

  test('keeps the tables of cases that were not run, when only some were', () => {
    const written = pageText(page, { kept, values: found.values, raw });
    assert.deepEqual(headsOf(written), [...front, 'Mixed', 'Queued1M', 'HundredMillion']);
    assert.match(written, /### Mixed\n\nold\n/);
    assert.match(written, /### Queued1M\n\n7 rounds/);
    assert.ok(written.startsWith('before\n') && written.endsWith('\nafter'));
  });

  test('keeps, when all were run, those of the cases that are run alone, if their figures are kept', () => {
    const withAlone = (name, arm, metric) =>
      name === 'HundredMillion' ? [1] : found.values(name, arm, metric);
    const titles = (known) => headsOf(pageText(page, { kept, values: known, raw, isPart: false }));
    const without = (name, ...more) =>
      name === 'HundredMillion' ? undefined : found.values(name, ...more);
    assert.deepEqual(titles(without), [...front, 'Queued1M']);
    assert.deepEqual(titles(withAlone), [...front, 'Queued1M', 'HundredMillion']);
  });

  test('without its marks is not written', () => {
    assert.throws(() => pageText('nothing', { kept, values: found.values }), /has lost the marks/);
  });
});

describe('a run of one case', () => {
  const kept = {
    ...{ bench: 'go', quick: true, machine: { cpu: 'one' } },
    notes: ['the version', 'PingPong: old', 'Mixed: old', 'Mixed: older'],
    figures: [
      { case: 'PingPong', ours: 1 },
      { case: 'Mixed', ours: 2 },
    ],
  };
  const run = {
    ...kept,
    quick: false,
    notes: ['another version', 'PingPong: new'],
    figures: [{ case: 'PingPong', ours: 3 }],
  };

  test('takes the place of what is kept of it, and of nothing else', () => {
    assert.deepEqual(combined(kept, run, { ofCase: 'PingPong' }), {
      ...kept,
      notes: ['another version', 'PingPong: new', 'Mixed: old', 'Mixed: older'],
      figures: [
        { case: 'Mixed', ours: 2 },
        { case: 'PingPong', ours: 3 },
      ],
    });
  });

  test('stays when all others are run, if it takes a run of its own', () => {
    assert.deepEqual(combined(kept, run, { alone: ['Mixed'] }), {
      ...run,
      notes: ['another version', 'PingPong: new', 'Mixed: old', 'Mixed: older'],
      figures: [
        { case: 'Mixed', ours: 2 },
        { case: 'PingPong', ours: 3 },
      ],
    });
    assert.deepEqual(combined(kept, run, {}), run);
  });

  test('is kept beside figures of the same machine only', () => {
    const machine = { cpu: 'one', cores: 2, kernel: 'Linux 6.18.1-x', node: 'v20', libuv: '1' };
    const told = { ...machine, kernel: 'Linux 6.18' };
    assert.equal(refusalOfPart({ machine: told }, machine), null);
    assert.match(
      refusalOfPart({ machine: { ...told, cpu: 'two' } }, machine),
      /"two".*, not on .*"one".*all cases/,
    );
    assert.equal(refusalOfPart(undefined, machine), null);
  });
});
