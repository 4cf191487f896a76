/** Both plans for SOAK_SECONDS (default 120); with faults at least 75 s: each fault at least once. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { find } from '../../../scripts/debian.js';
import { findPostgres } from '../../../scripts/lib/postgres.js';
import { FAULTS } from './plan.js';
import { soakResult } from './run.js';

const EVERY_S = 15;
const given = Number(process.env.SOAK_SECONDS || 120);
const missing = [
  find('nats-server') ? [] : 'nats-server',
  findPostgres() ? [] : 'PostgreSQL',
].flat();

for (const { plan, title, faults, least, skip } of [
  {
    ...{ plan: 'faults', title: 'the chat in three processes, with a fault each 15 s' },
    ...{ faults: FAULTS.map(({ name }) => name), least: FAULTS.length * EVERY_S },
    skip: missing.length > 0 && `needs ${missing.join(', ')}`,
  },
  {
    ...{ plan: 'calm', title: 'the chat in one process, without a fault' },
    ...{ faults: [], least: EVERY_S, skip: false },
  },
]) {
  describe(title, { skip }, () => {
    let result;

    before(async () => {
      const seconds = Math.max(least, given);
      result = await soakResult({ plan, seconds, every: EVERY_S, seed: 1, keep() {} });
    });

    test('has every fault of its plan', () => {
      const found = new Set(result.found.faults.map(({ name }) => name));
      assert.deepEqual([...found].sort(), faults.toSorted());
    });

    test('refutes no criterion', (t) => {
      t.diagnostic(
        result.criteria.map(({ name, word, text }) => `${name}: ${word}, ${text}`).join('; '),
      );
      const refuted = result.criteria.filter(({ word }) => word === 'refuted');
      assert.deepEqual(
        refuted.map(({ name, faults }) => `${name}: ${faults.join('; ')}`),
        [],
      );
    });
  });
}
