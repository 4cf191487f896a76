import assert from 'node:assert/strict';
import test from 'node:test';
import { table } from '../table.js';
import { goodRun } from './support.js';

function results({ lost = 0 } = {}) {
  const runs = (policy, speeds, figures) =>
    speeds.map((speed) => goodRun({ policy, report: { msgs_per_s: speed, lost }, ...figures }));
  return {
    capacity: {
      direct: runs('direct', [100_000, 90_000, 95_000], { cpuUsPerMessage: 10 }),
      adaptive: runs('adaptive', [400_000, 390_000, 380_000], { cpuUsPerMessage: 0.5 }),
    },
    equal: {
      direct: runs('direct', [60_000, 60_000, 60_000], { cpuUsPerMessage: 10 }),
      adaptive: runs('adaptive', [60_000, 60_000, 60_000], { cpuUsPerMessage: 12 }),
    },
    rate: 60_000,
  };
}

const ESC = String.fromCharCode(27);
const terminal = { isTTY: true };
const pipe = {};

test('the table shows both loads, the ratio, and which is better', () => {
  assert.equal(
    table(results(), pipe),
    `
                                direct   adaptive  adaptive ÷ direct, rounds
As fast as it can: each client sends again when its last message is back
  delivered messages/s          95,000    390,000   4.00×  better  4.00–4.33
  server CPU µs per message         10      0.500  0.050×  better  0.050–0.050
  system writes per message          1          1   1.00×  even    1.00–1.00

The same load for both: 60,000 delivered messages/s, whatever the answers
  delivered messages/s          60,000     60,000   1.00×          1.00–1.00
  server CPU µs per message         10         12   1.20×  worse   1.20–1.20
  latency p50, ms                    2          2   1.00×  even    1.00–1.00
  latency p99, ms                    8          8   1.00×  even    1.00–1.00
  system writes per message          1          1   1.00×  even    1.00–1.00

Every delivery of all rounds
  delivered                     30,000     30,000
  lost                               0          0
  duplicated                         0          0
  reordered                          0          0`.slice(1),
  );
});

test('one round has no range', () => {
  const one = results();
  for (const pairs of [one.capacity, one.equal]) {
    for (const arm of ['direct', 'adaptive']) pairs[arm].length = 1;
  }
  assert.match(table(one, pipe), / 4\.00× {2}better$/m);
});

test('a terminal gets colours, unless NO_COLOR is set or it is dumb', (t) => {
  const { NO_COLOR, TERM } = process.env;
  t.after(() => {
    for (const [name, value] of Object.entries({ NO_COLOR, TERM })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  delete process.env.NO_COLOR;
  process.env.TERM = 'xterm';
  const plain = table(results({ lost: 1 }), pipe);
  const coloured = table(results({ lost: 1 }), terminal);
  assert.ok(coloured.includes(`${ESC}[32mbetter`));
  assert.ok(coloured.includes(`${ESC}[31mworse`));
  assert.ok(coloured.includes(`${ESC}[31m  lost`));
  assert.equal(coloured.replaceAll(new RegExp(`${ESC}\\[\\d+m`, 'g'), ''), plain);
  process.env.NO_COLOR = '1';
  assert.equal(table(results({ lost: 1 }), terminal), plain);
  delete process.env.NO_COLOR;
  process.env.TERM = 'dumb';
  assert.equal(table(results({ lost: 1 }), terminal), plain);
});

test('it fits a terminal of 80 columns also with the longest figures', () => {
  const wide = results();
  for (const run of wide.capacity.adaptive) run.report.msgs_per_s = 9_999_999;
  for (const run of wide.capacity.direct) run.cpuUsPerMessage = 99.9;
  for (const run of wide.equal.adaptive) run.writesPerMessage = 0.0123;
  for (const line of table(wide, pipe).split('\n')) assert.ok([...line].length < 81, line);
});
