/** Suites that were stopped: which of their experiments are taken over, and which are refused. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { doneBefore } from '../resume.js';

const cpu = 'a processor';
const now = { size: 'medium', host: { cpu } };

function entry(experiment, state, host = { cpu }) {
  const results = { experiment, date: `2026-01-01T10:00:00.000Z`, host, runs: [] };
  return { experiment, question: '?', state, why: null, results };
}

/** Makes a folder with suites, by their dates. */
function folderOf(t, suites) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-suites-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [date, suite] of Object.entries(suites)) {
    writeFileSync(join(folder, `suite-${date}.json`), JSON.stringify(suite));
  }
  return folder;
}

const stopped = { size: 'medium', stopped: true, seconds: 60, seed: 7, entries: [] };

describe('a resumed suite', () => {
  test('takes over what was done, with its runs, and nothing else', (t) => {
    const entries = [entry('one', 'done'), entry('two', 'partial'), entry('three', 'failed')];
    const folder = folderOf(t, { '2026-01-02': { ...stopped, entries }, '2026-01-01': stopped });
    const runs = [{ round: 1 }];
    writeFileSync(join(folder, 'one-2026-01-01T10-00-00.000Z.json'), JSON.stringify({ runs }));
    const before = doneBefore(folder, now);
    assert.deepEqual([before.seconds, before.seed], [60, 7]);
    assert.deepEqual(
      before.entries.map(({ experiment, results }) => [experiment, results.runs]),
      [['one', runs]],
    );
  });

  const of = (cpuOf) => ({ ...stopped, entries: [entry('one', 'done', { cpu: cpuOf })] });
  for (const [why, suites] of Object.entries({
    'there is no suite in': {},
    'was not stopped': { '2026-01-01': stopped, '2026-01-02': { ...stopped, stopped: false } },
    'is of size quick, not medium': { '2026-01-01': { ...stopped, size: 'quick' } },
    'was measured on another machine: another': { '2026-01-01': of('another') },
  })) {
    test(`is refused where a suite ${why}`, (t) => {
      const folder = folderOf(t, suites);
      assert.throws(() => doneBefore(folder, now), {
        code: 'MILLRACE_LAB_E_INVALID_OPTION',
        message: new RegExp(`^--resume: .*${why}`),
      });
    });
  }
});
