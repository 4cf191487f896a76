/** A PostgreSQL server for the tests of a file, and pools on it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pipelined } from 'millrace/pg';
import pg from 'pg';
import { findPostgres, startPostgres } from '../../../../scripts/lib/postgres.js';

const bin = findPostgres();

/** `define` gets an object whose `postgres` is the server while tests run. */
export function describeOnPostgres(title, define) {
  if (!bin) {
    test(title, { skip: process.env.CI !== 'true' && 'initdb and pg_ctl are not installed' }, () =>
      assert.fail('initdb and pg_ctl are not installed, and CI=true allows no skips'),
    );
    return;
  }
  describe(title, () => {
    const here = { postgres: null };
    before(async () => {
      here.postgres = await startPostgres(bin);
    });
    after(() => here.postgres?.remove());
    define(here);
  });
}

/** A pool that the test ends; its errors are those of idle clients. */
export function openPool(t, { postgres }, config = {}) {
  // An idle client stays, however long the machine lets the test wait.
  const usual = { connectionString: postgres.url, max: 2, idleTimeoutMillis: 0 };
  const pool = new pg.Pool({ ...usual, ...config });
  pool.on('error', () => {});
  t.after(() => (pool.ending ? undefined : pool.end()));
  return pool;
}

/** A pipelined pool with all its clients, for which no statement is slow, however busy the machine is; those of `texts` have been measured. */
export async function openPipelined(t, here, { config, options, texts = [] } = {}) {
  const pool = pipelined(openPool(t, here, config), { slow: 60_000, ...options });
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  for (const client of clients) client.release();
  for (const [text, values] of texts) await pool.query(text, values);
  return pool;
}
