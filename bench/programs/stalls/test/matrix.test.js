/** Outcomes of blocks from reports that were made by hand, and the lines of the functions that block. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { kinds } from '../kinds.js';
import { linesOf, outcomesOf } from '../matrix.js';
import { Sink } from '../tools.js';

const source = readFileSync(new URL('../kinds.js', import.meta.url), 'utf8').split('\n');

describe('linesOf', () => {
  test('has the function of each kind, and nothing of others', () => {
    for (const kind of Object.keys(kinds)) {
      const [first, last] = linesOf(kind);
      assert.match(source[first - 1], /\bfunction \w+\(/, kind);
      assert.match(source[last - 1], /^ *},?;?$/, kind);
      const others = source.slice(first, last).filter((line) => /\bfunction \w+\(/.test(line));
      assert.deepEqual(others, [], kind);
    }
  });
});

describe('outcomesOf', () => {
  const blocks = [
    { begin: 1000, end: 2000 },
    { begin: 3000, end: 4000 },
  ];
  const lines = [10, 20];
  const culprit = { file: '/a/kinds.js', line: 12 };
  const caller = { file: '/a/program.js', line: 12 };
  const outcomes = (...reports) =>
    outcomesOf(
      blocks,
      reports.map((report) => ({ taken: null, during: null, ...report })),
      lines,
    );

  test('takes the best of the reports of each block', () => {
    assert.deepEqual(
      outcomes(
        { at: 1500, frame: caller },
        { at: 1600, frame: culprit },
        { at: 2500, frame: culprit },
        { at: 4500, frame: culprit },
      ),
      ['during', 'return'],
    );
  });

  test('knows the caller, other functions and frames of nobody', () => {
    assert.deepEqual(outcomes({ at: 1500, frame: caller }), ['caller', 'none']);
    assert.deepEqual(outcomes({ at: 1500, frame: { ...culprit, line: 21 } }), ['caller', 'none']);
    assert.deepEqual(outcomes({ at: 1500, frame: null }), ['none', 'none']);
  });

  test('believes a report about its own time before its arrival', () => {
    assert.deepEqual(
      outcomes(
        { at: 2500, taken: 1900, frame: culprit },
        { at: 3500, during: false, frame: culprit },
      ),
      ['during', 'return'],
    );
  });
});

describe('Sink', () => {
  test('keeps the innermost line of the program of an event, and nothing of sessions', async (t) => {
    const sink = new Sink();
    const dsn = new URL(await sink.listen());
    t.after(() => sink.close());
    const frames = [
      { filename: 'node:internal/timers', lineno: 5 },
      { filename: '/a/program.js', lineno: 19 },
      { filename: '/a/kinds.js', lineno: 36 },
      { filename: 'node:internal/perf', lineno: 1 },
    ];
    const event = { exception: { values: [{ stacktrace: { frames } }] } };
    const envelope = [{ sent_at: new Date(1000) }, { type: 'event' }, event, { type: 'session' }];
    await fetch(`http://${dsn.host}/api/1/envelope/`, {
      method: 'POST',
      body: envelope.map((line) => JSON.stringify(line)).join('\n'),
    });
    const [report, ...others] = sink.reports;
    assert.deepEqual(others, []);
    assert.deepEqual(report.frame, { file: '/a/kinds.js', line: 36 });
    assert.equal(report.taken, 1000);
  });
});
