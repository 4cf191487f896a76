/** The report on a terminal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summary } from '../summary.js';
import { headline } from '../text.js';
import { sampleResults } from './sample.js';

const plain = { isTTY: false, columns: 80 };
const linesOf = (results) => summary(results, plain).split('\n');

test('the verdict comes first, then bars, latency and rounds', () => {
  const results = sampleResults({ rounds: 8, rest: { claims: [] } });
  const text = summary(results, plain);
  assert.ok(text.replace(/\n/g, ' ').startsWith(`✓ Better. ${headline(results).title}`), text);
  assert.match(text, /^Messages per second, 1\/s$/m);
  assert.match(text, /^ {2}direct +█+\S* +[\d,]+ {2}[\d,]+–[\d,]+$/m);
  assert.match(text, /^ {2}adaptive +█{24} +[\d,]+ .* 1\.\d\d× \(1\.\d\d–1\.\d\d\) better$/m);
  assert.match(text, /^CPU time per message, µs$/m);
  assert.match(text, /^Latency, ms +p50 +p90 +p99 +p99\.9$/m);
  assert.match(text, /better in 8 of 8, .*× to .*× +[▁▂▃▄▅▆▇█]{8}$/m);
  assert.doesNotMatch(text, /undefined|NaN/);
});

test('no line is wider than 100 columns, whatever the names are', () => {
  const treatments = ['y'.repeat(90), 'x'.repeat(90)];
  for (const line of linesOf(sampleResults({ rounds: 60, treatments }))) {
    assert.ok(line.length <= 100, line);
  }
});

test('several cases have the sentence alone, and one round has no rounds to compare', () => {
  const results = sampleResults({ rounds: 6, cases: ['100', '500'] });
  assert.doesNotMatch(summary(results, plain), /█/);
  assert.doesNotMatch(summary(sampleResults({ rounds: 1 }), plain), /Round by round/);
});

test('a metric that a run could not tell has no bar', () => {
  const results = sampleResults({ rounds: 6 });
  for (const figure of results.figures) figure.control = null;
  for (const run of results.runs) run.percentiles = null;
  assert.doesNotMatch(summary(results, plain), / {2}█|Latency/);
});
