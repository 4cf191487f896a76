import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { processesWith, startCompare } from '../../experiment/test/program.js';
import { folderFor } from '../../experiment/test/support.js';
import { compare } from './two-servers.js';

test('two commands are compared, with a proof that the feature is on in one of them', async (t) => {
  const more = ['--proof', 'mode: fast port \\d+'];
  const { said, folder, kept } = compare(t, { before: "EXTRA='port {port}'", more });
  assert.equal(await said.ended, 0, said.errors);
  const { figures, metrics, runs, arms, refusal } = kept();
  const isJudged = ({ name, better }) => name.startsWith('p') && name.endsWith('_ms') && better;
  assert.equal(metrics.some(isJudged), false, 'in a closed loop latency is only shown');
  assert.equal(refusal, null);
  assert.equal(figures[0].metric, 'answers_per_s');
  assert.ok(figures[0].control > 0 && figures[0].n === 1);
  // More of them where a busy machine has spoilt a round, which is made again.
  assert.ok(runs.length >= 3, String(runs.length));
  assert.match(arms[1].command.join(' '), /^sh -c .*app\.cjs \d+ body$/);
  assert.deepEqual(processesWith(join(folder, 'app.cjs')), []);
});

test('bodies of different size are refused, with both figures', async (t) => {
  const more = ['-R', '10', '--proof', 'mode: fast'];
  const { said } = compare(t, { b: 'longerbody fast', more });
  assert.equal(await said.ended, 3);
  assert.match(said.errors, /bytes per answer of 'GET \/': 4 in A, 10 in B/);
});

test('without a sign of the feature it is refused, with the option that gives one', async (t) => {
  const { said } = compare(t, { more: ['-R', '10'] });
  assert.equal(await said.ended, 3, said.errors);
  assert.match(said.errors, /B: the feature was not at work/);
  assert.match(said.errors, /Millrace's own counters .* or give --proof REGEX/);
});

test('a rate is an open loop, and the CPU per request comes first', async (t) => {
  const more = ['-R', '10', '--proof', 'mode', '--markdown'];
  const { said, folder, kept } = compare(t, { more: [...more, join(folderFor(t), 'report.md')] });
  assert.equal(await said.ended, 0, said.errors);
  const { metrics, runs } = kept();
  assert.equal(metrics[0].name, 'cpu_us_per_answer');
  assert.equal(metrics[1].better, 'lower');
  assert.equal(runs[0].work[0].answers, 5);
  const report = /^report \(markdown\): (.*)$/m.exec(said.output)[1];
  assert.match(readFileSync(report, 'utf8'), /Is B better than A\?/);
  assert.ok(folder);
});

test('a server that does not start fails it with what it said', async (t) => {
  const said = startCompare(t, [
    ...['echo "no such database" >&2; exit 7', 'echo "no such database" >&2; exit 8'],
    ...['--url', 'http://127.0.0.1:{port}/', '--proof', 'x'],
  ]);
  assert.equal(await said.ended, 1);
  assert.match(said.errors, /Failed: [AB] ended unexpectedly with code [78]: no such database\.$/m);
});

test('it ends in the round in which Millrace had nothing to merge, and says so', async (t) => {
  const { said, kept } = compare(t, { node: '--import millrace/auto', rounds: 8 });
  assert.equal(await said.ended, 3, said.errors);
  assert.match(said.errors, /^Stopped in the first round: Millrace is on in B, but had nothing/m);
  assert.match(said.errors, /millrace observe says what it could merge/);
  const { refusal, runs } = kept();
  assert.equal(refusal.kind, 'idle');
  assert.ok(runs.every(({ round }) => round === 1));
});
