import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stillClock } from '../../../base/test/clocks.js';
import { describeOnPostgres, openPipelined } from './database.js';

const ONE = 'SELECT $1::int AS n';
const SLEEP = 'SELECT pg_sleep($1::float)';
const INSERT = 'INSERT INTO faults (id) VALUES ($1)';

/** Queries from several callers, without pause. Each calls back once, or the test fails. */
function load(pool, { callers = 20 } = {}) {
  let isStopped = false;
  let id = 0;
  const acknowledged = [];
  const failed = [];
  const late = [];
  const insert = () =>
    new Promise((resolve) => {
      const mine = id++;
      let calls = 0;
      pool.query(INSERT, [mine], (error) => {
        if (++calls > 1) late.push(mine);
        if (error) failed.push({ id: mine, error });
        else acknowledged.push(mine);
        resolve();
      });
    });
  const done = Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isStopped) {
        await insert();
        await pool.query(ONE, [1]).catch(() => {});
      }
    }),
  );
  const until = async (condition) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return {
    acknowledged,
    failed,
    until,
    /** Each call has settled once, and each acknowledged row is there once; no row is there twice. */
    async check() {
      isStopped = true;
      await done;
      assert.equal(acknowledged.length + failed.length, id);
      assert.deepEqual(late, []);
      const { rows } = await pool.query(
        'SELECT id, count(*)::int AS times FROM faults GROUP BY id',
      );
      const stored = new Map(rows.map(({ id: each, times }) => [each, times]));
      for (const each of acknowledged) assert.equal(stored.get(each), 1);
      for (const [each, times] of stored)
        assert.equal(times, 1, `row ${each} is there ${times} times`);
      const { queued, inFlight, clients } = pool.pipelineStats();
      assert.deepEqual([queued, inFlight, clients], [0, 0, 0]);
    },
  };
}

/** Five rounds, and more where their faults have come between the inserts. */
const isOn = (round, { failed }) => round <= 5 || (failed.length <= 5 && round <= 100);

describeOnPostgres('a pipelined pool', (here) => {
  /** Cancels what sleeps, once something does. */
  async function cancelSleeps(t) {
    const admin = await openPipelined(t, here, { config: { max: 1 } });
    for (let count = 0; count === 0; ) {
      const { rowCount } = await admin.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE pid <> pg_backend_pid() AND wait_event = 'PgSleep'`,
      );
      count = rowCount;
    }
  }

  const open = async (t, config) => {
    const pool = await openPipelined(t, here, {
      config,
      options: { writes: true },
      texts: [
        [ONE, [0]],
        ['DROP TABLE IF EXISTS faults'],
        ['CREATE TABLE faults (id int)'],
        [INSERT, [-1]],
      ],
    });
    return pool;
  };

  test('each query settles once when connections are cut', async (t) => {
    const pool = await open(t);
    const streams = new Set();
    pool.on('acquire', (client) => streams.add(client.connection.stream));
    const running = load(pool);
    for (let round = 1; isOn(round, running); round++) {
      const before = running.acknowledged.length;
      await running.until(() => running.acknowledged.length > before + 100);
      for (const stream of streams) stream.destroy();
      streams.clear();
    }
    await running.check();
    assert.ok(running.failed.length > 5);
    for (const { error } of running.failed) assert.match(error.message, /Connection terminated/);
    assert.ok(new Set(running.failed.map(({ error }) => error)).size === running.failed.length);
  });

  test('each query settles once when the server ends the sessions', async (t) => {
    const pool = await open(t);
    const admin = await openPipelined(t, here, { config: { max: 1 } });
    const running = load(pool);
    for (let round = 1; isOn(round, running); round++) {
      const before = running.acknowledged.length;
      await running.until(() => running.acknowledged.length > before + 100);
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
    }
    await running.check();
    assert.ok(running.failed.length > 5);
    for (const { error } of running.failed) {
      assert.ok(
        error.code === '57P01' || /terminated|ECONNRESET|EPIPE/.test(error.message),
        error.message,
      );
    }
  });

  test('each query settles once when the server crashes and is started again', async (t) => {
    const pool = await open(t);
    const running = load(pool);
    await running.until(() => running.acknowledged.length > 200);
    await here.postgres.crash();
    await here.postgres.start();
    const before = running.acknowledged.length;
    await running.until(() => running.acknowledged.length > before + 200);
    await running.check();
    assert.ok(running.failed.length > 0);
  });

  test('a statement that the server cancels fails alone', async (t) => {
    const pool = await openPipelined(t, here, {
      config: { max: 1 },
      texts: [
        [SLEEP, [0]],
        [ONE, [0]],
      ],
    });
    const settled = Promise.allSettled([
      pool.query(ONE, [1]),
      pool.query(SLEEP, [600]),
      pool.query(ONE, [2]),
      pool.query(ONE, [3]),
    ]);
    await cancelSleeps(t);
    assert.deepEqual(
      (await settled).map(({ value, reason }) => value?.rows[0].n ?? reason.code),
      [1, '57014', 2, 3],
    );
    assert.ok(pool.pipelineStats().shared > 0);
  });

  test('a query timeout gives each query behind it a timeout, and ends the connection', async (t) => {
    const pool = await openPipelined(t, here, {
      config: { max: 1 },
      texts: [
        [SLEEP, [0]],
        [ONE, [0]],
      ],
    });
    const client = await pool.connect();
    // Not from the beginning: on a busy machine the queries above might take as long.
    client.connectionParameters.query_timeout = 100;
    const removed = new Promise((resolve) => pool.once('remove', resolve));
    const sent = Promise.allSettled([
      pool.query(SLEEP, [600]),
      pool.query(ONE, [2]),
      pool.query(ONE, [3]),
    ]);
    client.release();
    const results = await sent;
    for (const { reason } of results) assert.equal(reason.message, 'Query read timeout');
    assert.equal(pool.pipelineStats().shared, 2);
    await removed;
    assert.equal((await pool.query(ONE, [4])).rows[0].n, 4);
    await assert.rejects(pool.query({ text: SLEEP, values: [600], query_timeout: 50 }), {
      message: 'Query read timeout',
    });
    assert.equal((await pool.query(ONE, [5])).rows[0].n, 5);
  });

  test('no query is sent behind one that takes longer than it ever did', async (t) => {
    const clock = stillClock(t);
    const pool = await openPipelined(t, here, {
      config: { max: 2 },
      options: { slow: 30 },
      texts: [
        [SLEEP, [0]],
        [ONE, [0]],
      ],
    });
    const [held, other] = [await pool.connect(), await pool.connect()];
    const sleeping = pool.query(SLEEP, [600]);
    other.release();
    const failed = assert.rejects(sleeping, { code: '57014' });
    while (pool.pipelineStats().inFlight === 0) await new Promise(setImmediate);
    const behind = pool.query(ONE, [1]);
    clock.pass(31);
    const free = Array.from({ length: 5 }, (_, n) => pool.query(ONE, [n]));
    assert.deepEqual([pool.pipelineStats().shared, pool.pipelineStats().queued], [1, 5]);
    held.release();
    await Promise.all(free);
    assert.equal(pool.pipelineStats().clients, 1);
    await cancelSleeps(t);
    await Promise.all([failed, behind]);
  });

  test('queries fail with the error of the connection while the server is away', async (t) => {
    const pool = await open(t);
    await here.postgres.stop();
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => pool.query(ONE, [n])),
    );
    for (const { reason } of results)
      assert.match(reason.code ?? reason.message, /ECONNREFUSED|terminated|57P01/);
    await here.postgres.start();
    assert.equal((await pool.query(ONE, [1])).rows[0].n, 1);
  });
});
