/** Proof that B uses Millrace and A does not, and that there was anything to merge. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusalOfRun } from '../../experiment/refusal.js';
import { runWith } from '../../experiment/test/simulation.js';
import { idleness, proofOf } from '../proof.js';

const files = { reads: 10, readBatches: 10, onLoop: 0, appends: 0, commits: 0 };
const frames = { frames: 40, writes: 40, encoded: 40, groups: 0 };

describe('Millrace as seen by its counters', () => {
  for (const [what, counters] of Object.entries({
    'frames of a socket that left in one write': { install: { ...frames, writes: 30 } },
    'frames that were encoded once': { install: { ...frames, encoded: 1 } },
    'reads of one tick': { fs: { ...files, readBatches: 4 } },
    'reads without a thread': { fs: { ...files, onLoop: 10 } },
    'appends that share a commit': { fs: { ...files, appends: 5, commits: 2 } },
    'writes of a turn': { coalesce: { writes: 9, coalesced: 6, flushes: 3 } },
    'look-ups that joined another': { dns: { lookups: 3, shared: 1, kept: 0 } },
    'calls in one batch': { batch: { batched: 10, batches: 3 } },
    'queries behind another one': { pipelined: { queries: 3, direct: 1, shared: 2 } },
    'enlarged reads': { enlarge: { connections: 1 } },
    'tasks of a pool, which merges nothing': { pool: { completed: 3 } },
  })) {
    test(`acted: ${what}`, () => assert.equal(idleness({ auto: {}, ...counters }), null));
  }

  test('had nothing to act on when all calls came alone, and the reason counts them', () => {
    assert.match(
      idleness({ auto: {} }),
      /had nothing to merge: this load caused no WebSocket frames/,
    );
    assert.match(
      idleness({ auto: {}, install: frames, fs: files, monitor: { utilization: 1 } }),
      /: of 40 WebSocket frames and 10 file calls no two came at the same time$/,
    );
  });
});

test('the first round is refused for that, a later one is not, and neither is the control', () => {
  const arm = { name: 'B', ...proofOf() };
  const probe = { millrace: { auto: {} } };
  const refusal = (run) =>
    refusalOfRun(runWith({ role: 'treatment', round: 1, probe, ...run }), arm);
  assert.equal(refusal({}).kind, 'idle');
  assert.match(proofOf().advice(refusal({})), /millrace observe/);
  assert.equal(refusal({ round: 2 }), null);
  assert.equal(refusal({ role: 'control', probe: { millrace: {} } }), null);
});

test('a proof of the user is never idle', () => {
  assert.equal(proofOf(/on/).isIdle, undefined);
});
