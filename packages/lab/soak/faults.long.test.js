/** The soak with faults, for SOAK_SECONDS (default 120, at least 75): each kind of fault at least once. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { find } from '../../../scripts/debian.js';
import { findPostgres } from '../../../scripts/lib/postgres.js';
import { KINDS } from './faults/plan.js';
import { soakResult } from './faults/result.js';

const EVERY_S = 15;
const LEAST_S = KINDS.length * EVERY_S;

const seconds = Math.max(LEAST_S, Number(process.env.SOAK_SECONDS || 120));
const missing = [
  find('nats-server') ? [] : 'nats-server',
  findPostgres() ? [] : 'PostgreSQL',
].flat();

describe('the chat with a fault each 15 s', {
  skip: missing.length > 0 && `needs ${missing.join(', ')}`,
}, () => {
  let result;

  before(async () => {
    result = await soakResult({ seconds, every: EVERY_S, seed: 1, keep() {} });
  });

  test('every kind of fault was there', () => {
    const kinds = new Set(result.found.faults.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), KINDS.toSorted());
  });

  test('no criterion is refuted', (t) => {
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
