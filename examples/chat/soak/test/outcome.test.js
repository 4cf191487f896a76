/** Each criterion fails for what it is about, and for nothing else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outcome } from '../outcome.js';
import { document, page } from '../report.js';

const process = (i) => ({
  ...{ rss: 90e6 + (i % 3) * 1e4, heap: 30e6 + (i % 2) * 1e4, native: 9e6 + (i % 4) * 1e3 },
});

/** An hour without a flaw. */
function hour() {
  const rests = Array.from({ length: 24 }, (_, i) => ({
    atS: i * 150 + 145,
    vitals: { primary: process(i), 'process 1': process(i) },
    ...(i % 5 === 1 && { counts: { primary: { descriptors: 20 } } }),
  }));
  const samples = rests.map(({ atS }) => ({
    ...{
      atS,
      rss: { primary: 9e7, 'process 1': 1e8 },
      loopDelayMs: { primary: 3 },
      brokerRss: 1e7,
    },
  }));
  const fault = { kind: 'process', title: 'a process is killed', atS: 5, what: 'process 2' };
  const found = {
    ...{ rests, samples, server: [], faults: [{ ...fault, wholeAfterS: 1.5, failed: null }] },
    waves: [{ atS: 30, acks: 100, sent: 100, delivered: 1000, failed: null }],
  };
  return {
    ...{ seconds: 3600, seed: 1, found, saved: [], said: [] },
    ledger: { acknowledged: 1000, counts: { heard: 8000 }, faults: [] },
    stop: { code: 0, left: [] },
  };
}

const refuted = (raw) =>
  outcome(raw).criteria.flatMap(({ word }, i) => (word === 'refuted' ? [i] : []));

describe('the outcome', () => {
  test('an hour without a flaw meets all', () => {
    const { word, criteria } = outcome(hour());
    assert.deepEqual(
      criteria.map((each) => each.word),
      Array(7).fill('met'),
    );
    assert.equal(word, 'met');
  });

  for (const [what, index, spoil] of [
    ['a lost message', 0, (raw) => raw.saved.push('message 5 was acknowledged and is not saved')],
    ['nothing acknowledged', 0, (raw) => Object.assign(raw.ledger, { acknowledged: 0 })],
    ['a message out of order', 1, (raw) => raw.ledger.faults.push('p/0/1 came after number 2')],
    [
      'a wave that lost a delivery',
      1,
      (raw) => Object.assign(raw.found.waves[0], { failed: 'lost: 1' }),
    ],
    [
      'a leak in the primary',
      2,
      (raw) => {
        for (const [i, { vitals }] of raw.found.rests.entries()) vitals.primary.heap *= 1 + i / 240;
      },
    ],
    [
      'a leak outside the heap of process 1',
      2,
      (raw) => {
        for (const [i, { vitals }] of raw.found.rests.entries())
          vitals['process 1'].rss *= 1 + i / 240;
      },
    ],
    [
      'a descriptor more',
      3,
      (raw) => Object.assign(raw.found.rests[21].counts.primary, { descriptors: 21 }),
    ],
    [
      'a fault that it does not get over',
      4,
      (raw) => Object.assign(raw.found.faults[0], { wholeAfterS: null, failed: 'gone' }),
    ],
    ['a line on stderr', 5, (raw) => raw.said.push('internal error')],
    ['a process that died', 5, (raw) => raw.found.server.push('process 1 ended with SIGSEGV')],
    ['another exit code', 6, (raw) => Object.assign(raw.stop, { code: 1 })],
    ['a process that is left', 6, (raw) => raw.stop.left.push(123)],
  ]) {
    test(`${what} refutes its criterion`, () => {
      const raw = hour();
      spoil(raw);
      assert.deepEqual(refuted(raw), [index]);
      assert.equal(outcome(raw).word, 'refuted');
    });
  }

  test('no fault refutes a plan that has some, and not one that has none', () => {
    const raw = hour();
    raw.found.faults = [];
    assert.deepEqual(refuted(raw), [4]);
    assert.deepEqual(refuted({ ...raw, isFaulty: false }), []);
  });

  test('without access to the C library, its allocations are not reported', () => {
    const raw = hour();
    for (const { vitals } of raw.found.rests)
      for (const each of Object.values(vitals)) each.native = null;
    const { word, growth } = outcome(raw);
    assert.equal(word, 'met');
    assert.deepEqual([...new Set(growth.map(({ key }) => key))], ['heap', 'rss']);
  });

  test('a short one is undecided, and says so on the page and in the document', () => {
    const raw = hour();
    raw.found.rests.splice(5);
    const judged = outcome({ ...raw, seconds: 300 });
    assert.equal(judged.word, 'undecided');
    const result = {
      ...{
        date: '2030-01-01T00:00:00.000Z',
        plan: 'faults',
        seconds: 300,
        tookS: 310,
        every: 60,
        seed: 1,
      },
      ...{ ...judged, found: raw.found, counts: raw.ledger.counts, warmUpS: 75 },
      host: { cpu: 'a <processor>', cores: 2, load_average: [0.5, 0, 0], node: 'v20' },
    };
    const text = page(result);
    assert.match(text, /some could not be decided/);
    assert.match(text, /a &lt;processor&gt;/);
    assert.ok(!/<script|src=|https?:\/\/(?!www\.w3\.org)/.test(text), 'it loads nothing');
    assert.match(document(result), /say nothing of an hour/);
    // A slope of minutes would be taken for one.
    assert.match(document(result), /\| too short to tell \| undecided \|/);
    assert.doesNotMatch(document(result), /[+−][\d.]+ % \(/);
  });
});
