import assert from 'node:assert/strict';
import test from 'node:test';
import { claimRows } from '../claim-rows.js';
import { resultsPage } from '../page.js';
import { entryOf, suiteOf } from './support.js';

const listed = (more) => ({
  ...{ source: 'A book', where: '1', text: 'Twice as fast', claimed: 2 },
  ...{ tests: [{ experiment: 'one', metric: 'ms' }] },
  ...more,
});
const rounds = (ms) => Array.from({ length: 8 }, (_, i) => ms + i / 10);
const verdictOf = (entries, claim = listed()) => claimRows([claim], entries)[0].verdict;
const lineOf = (page, start) => page.split('\n').find((line) => line.startsWith(`| ${start}`));

test('the verdict comes from the data', () => {
  assert.equal(verdictOf([entryOf('one', rounds(40))]), 'met');
  assert.equal(verdictOf([entryOf('one', rounds(70))]), 'not met');
  assert.equal(verdictOf([entryOf('one', rounds(110))]), 'refuted');
});

test('the page says what the data say, and nothing else', () => {
  const page = (ms) => resultsPage(suiteOf([entryOf('one', rounds(ms))]), [listed()]);
  assert.match(page(40), /Of 1 claims: 1 met\./);
  assert.match(
    lineOf(page(40), 'Twice as fast | 1'),
    /\| 2\.00× \| one: fast \| 2\.4\d \(2\..*–2\..*\) \| met \|/,
  );
  assert.match(page(110), /Of 1 claims: 1 refuted\./);
  assert.match(lineOf(page(110), 'Twice as fast | 1'), /\| 0\.91 \(.*\) \| refuted \|/);
  assert.doesNotMatch(page(110), /\| met\b/);
  assert.match(page(40), /written by/i);
  assert.match(page(40), /make experiment SIZE=quick SEED=1` on a processor, 2 cores/);
});

test('a claim that holds at some places only is met in part, and the page says where', () => {
  const claim = listed({
    tests: ['one', 'two'].map((experiment) => ({ experiment, metric: 'ms' })),
  });
  const entries = [entryOf('one', rounds(40)), entryOf('two', rounds(110))];
  const [{ verdict, places }] = claimRows([claim], entries);
  assert.equal(verdict, 'met in part');
  assert.deepEqual(
    places.map((place) => [place.experiment, place.verdict]),
    [
      ['one', 'met'],
      ['two', 'refuted'],
    ],
  );
  const page = resultsPage(suiteOf(entries), [claim]);
  assert.match(
    lineOf(page, 'Twice as fast | 1'),
    /one, two \| 0\.91 to 2\.4\d \| met in part: one: met; two: refuted \|$/,
  );
  assert.match(page, /^\| ms, ms \| .* \| 2\.4\d \(.*\) \| 0\.008 \| met \|$/m);
  assert.match(page, /^\| ms, ms \| .* \| 0\.91 \(.*\) \| 0\.008 \| refuted \|$/m);
});

test('where there was nothing in either arm nothing is said of a claim', () => {
  const claim = listed({
    tests: ['one', 'two'].map((experiment) => ({ experiment, metric: 'ms' })),
  });
  const nothing = entryOf('two', rounds(40));
  Object.assign(nothing.results.claims[0], { verdict: 'no difference', why: 'none' });
  const found = (ms) => verdictOf([nothing, entryOf('one', rounds(ms))], claim);
  assert.deepEqual([40, 70, 110].map(found), ['met', 'not met', 'refuted']);
  const page = resultsPage(suiteOf([entryOf('one', rounds(40)), nothing]), [claim]);
  assert.match(page, /\| met: one: met; two: no difference \(none\) \|/);
});

test('what was refused, has failed or was not run is in the table with the reason', () => {
  const ended = (state, why) => ({ ...entryOf('one', rounds(40)), state, why, results: null });
  assert.equal(verdictOf([ended('refused', 'other work')]), 'refused');
  assert.equal(verdictOf([ended('failed', 'it ended')]), 'failed');
  assert.equal(verdictOf([]), 'not measured');
  const page = resultsPage(suiteOf([ended('refused', 'bytes | differ')]), [listed()]);
  assert.match(page, /\| refused: bytes \\\| differ \|/);
  assert.match(resultsPage(suiteOf([]), [listed()]), /not measured: not run: one/);
  const long = listed({ tests: [{ experiment: 'chat-files', metric: 'ms' }] });
  assert.match(resultsPage(suiteOf([]), [long]), /not measured: only in a run of a larger size/);
  const full = { ...suiteOf([]), size: 'paper' };
  assert.match(resultsPage(full, [long]), /not measured: not run: chat-files/);
});

test('a claim of which there was nothing in either arm is no difference, with the reason', () => {
  const entry = entryOf('one', rounds(40));
  const nothing = { verdict: 'no difference', why: 'none in either arm', ahead: null, lo: null };
  Object.assign(entry.results.claims[0], { ...nothing, hi: null });
  const page = resultsPage(suiteOf([entry]), [listed()]);
  assert.match(page, /Of 1 claims: 1 no difference\./);
  assert.match(page, /\| no difference: none in either arm \|/);
});

test('a claim that a benchmark tests has the verdict of its lines; without them, what would give it', () => {
  const bench = { name: 'go', page: 'go.md', what: 'PingPong' };
  const claim = listed({ tests: undefined, bench });
  const place = { case: 'PingPong', arm: 'batched', than: 'goja_nodejs', claimed: 2, atLeast: 2 };
  const found = { ahead: 3, lo: 2.5, hi: 3.5, n: 7, pHolm: 0.04, verdict: 'met', why: null };
  const judged = [{ text: claim.text, places: [{ ...place, ...found }] }];
  const page = resultsPage(suiteOf([]), [claim], judged);
  assert.match(page, /Of 1 claims: 1 met\./);
  assert.match(
    lineOf(page, 'Twice as fast | 1'),
    /\| 2\.00× \| go: batched than goja\\_nodejs, PingPong \| 3\.00 \(2\.50–3\.50\) \| met \|/,
  );
  const none = resultsPage(suiteOf([]), [claim]);
  assert.match(none, /not measured: not kept: make bench NAME=go SAVE=1/);
});

test('a claim that is declined is told with the reason', () => {
  const page = resultsPage(suiteOf([]), [listed({ tests: undefined, declined: 'arithmetic' })]);
  assert.match(page, /declined: arithmetic/);
});

test('what must never be is refuted by one round in which it was, however much better the treatment is', () => {
  const never = listed({
    ...{ claimed: null, tests: undefined },
    bound: { experiment: 'one', metric: 'ms', arm: 'fast', atMost: 45 },
  });
  const [kept, once] = [rounds(40), [...rounds(40).slice(1), 46]];
  const judged = (values) => claimRows([never], [entryOf('one', values)])[0];
  assert.equal(judged(kept).verdict, 'met');
  const { verdict, why, places } = judged(once);
  assert.equal(verdict, 'refuted');
  assert.match(why, /^beyond it in 1 of 8 rounds/);
  assert.ok(places[0].lo > 2, 'more than twice as fast as the control');
  assert.equal(judged(kept.slice(0, 5)).verdict, 'open');
  assert.equal(claimRows([never], [])[0].verdict, 'not measured');
  const page = resultsPage(suiteOf([entryOf('one', once)]), [never]);
  assert.match(lineOf(page, 'Twice as fast | 1'), /at most 45 .* \| refuted: beyond it/);
});

test('what was found under another metric is named beside the claim, without a verdict', () => {
  const claim = listed({
    ...{ tests: undefined, declined: 'nothing counts it' },
    beside: [{ experiment: 'one', metric: 'ms' }],
  });
  const page = resultsPage(suiteOf([entryOf('one', rounds(40))]), [claim]);
  assert.match(page, /Of 1 claims: 1 declined\./);
  assert.match(
    lineOf(page, 'Twice as fast | 1'),
    /\| beside: one, ms \| – \| declined: nothing counts it \|/,
  );
});

test('the p of a figure is corrected for the metrics that were asked for together', () => {
  const entry = entryOf('one', rounds(40));
  const [place] = claimRows([listed()], [entry])[0].places;
  assert.equal(place.pHolm, entry.results.figures[0].pHolm);
  Object.assign(entry.results.figures[0], { p: 0.008, pHolm: 0.024 });
  const page = resultsPage(suiteOf([entry]), [listed()]);
  assert.match(lineOf(page, 'ms, ms'), /\| 0\.024 \|/);
  assert.doesNotMatch(page, /0\.008/);
});

test('of two claims on one metric each gets the one with its figure', () => {
  const [{ places }] = claimRows(
    [listed({ claimed: 3 })],
    [entryOf('one', rounds(40), { atLeast: 3 })],
  );
  assert.equal(places[0].verdict, 'not met');
  assert.equal(verdictOf([entryOf('one', rounds(40), { atLeast: 3 })]), 'not measured');
});
