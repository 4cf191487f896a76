import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pipelined } from 'millrace/pg';
import { describeOnPostgres, openPipelined, openPool } from './database.js';

const ONE = 'SELECT $1::int AS n';
const times = (count, fn) => Promise.all(Array.from({ length: count }, (_, n) => fn(n)));
const settled = (promises) => Promise.allSettled(promises);

describeOnPostgres('pipelined()', (here) => {
  test('uses free clients first, and shares connections when all are taken', async (t) => {
    const pool = await openPipelined(t, here, { texts: [[ONE, [0]]] });
    await times(2, (n) => pool.query(ONE, [n]));
    assert.equal(pool.pipelineStats().shared, 0);
    const results = await times(50, (n) => pool.query(ONE, [n]));
    assert.deepEqual(
      results.map(({ rows }) => rows[0].n),
      Array.from({ length: 50 }, (_, n) => n),
    );
    const stats = pool.pipelineStats();
    assert.ok(stats.shared > 30, `${stats.shared} shared`);
    assert.equal(pool.totalCount, 2);
    assert.equal(pool.waitingCount, 0);
    assert.deepEqual([stats.queued, stats.inFlight, stats.clients], [0, 0, 0]);
    assert.equal(pool.idleCount, 2);
  });

  test('leaves queries to the pool while a client is free, once their text has been measured', async (t) => {
    const pool = await openPipelined(t, here);
    const texts = ['SELECT 2 AS n', 'SELECT 3 AS n'];
    for (const text of [...texts, ...texts]) await pool.query(text);
    const stats = pool.pipelineStats();
    assert.deepEqual([stats.direct, stats.queries, stats.checkouts], [2, 2, 2]);
    // A text that can share no connection needs no measuring.
    await pool.query('SET application_name = DEFAULT');
    await new Promise((resolve) => pool.query(texts[0], resolve));
    assert.equal(pool.pipelineStats().direct, 4);
    const client = await pool.connect();
    await pool.query(texts[0]);
    client.release();
    const both = await times(2, () => pool.query(texts[1]));
    assert.deepEqual(
      both.map(({ rows }) => rows[0].n),
      [3, 3],
    );
    const after = pool.pipelineStats();
    assert.deepEqual([after.direct, after.queries, after.shared], [6, 3, 0]);
    assert.equal(pool.idleCount, 2);
    await assert.rejects(pool.query('SELECT * FROM nowhere;;'), { code: '42P01' });
    assert.deepEqual([pool.pipelineStats().direct, pool.totalCount], [7, 1]);
  });

  test('takes the forms of query() that pg takes, with results as pg gives them', async (t) => {
    const plain = openPool(t, here);
    const pool = await openPipelined(t, here, { config: { max: 1 } });
    const upper = { getTypeParser: () => (text) => `<${text}>` };
    const forms = [
      ['SELECT 1 AS a'],
      [ONE, [7]],
      [{ text: ONE, values: [8] }],
      [{ text: ONE }, [9]],
      [{ text: 'SELECT 1 AS a, 2 AS a', rowMode: 'array' }],
      [{ name: 'one', text: ONE, values: [10] }],
      [{ text: 'SELECT 1 AS a', types: upper }],
      [{ text: 'SELECT 1 AS a', queryMode: 'extended' }],
      [{ text: 'SELECT 1::int AS a', binary: true, values: [] }],
      ['SELECT $1::jsonb AS json', [{ a: [1] }]],
      ['SELECT $1::int[] AS list', [[1, null, 3]]],
      ['SELECT $1::bytea AS bytes, $2::timestamptz AS at', [Buffer.from('ab'), new Date(0)]],
      ['SELECT generate_series(1, 20000) AS n'],
      ['-- a comment\n(SELECT 1 AS a) ;'],
      ['SELECT 1 AS a; SELECT 2 AS b'],
      ['', []],
      ['CREATE TEMP TABLE gone (a int); DROP TABLE gone'],
    ];
    const copy = ([config, ...rest]) => [
      typeof config === 'object' ? { ...config } : config,
      ...rest,
    ];
    const picked = (result) =>
      Array.isArray(result)
        ? result.map(picked)
        : [result.command, result.rowCount, result.rows, result.fields?.map(({ name }) => name)];
    const expected = [];
    for (const form of forms) expected.push(picked(await plain.query(...copy(form))));
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(forms.map((form) => pool.query(...copy(form))));
      assert.deepEqual(results.map(picked), expected);
    }
    const shared = pool.pipelineStats().shared;
    assert.ok(shared > 5, `${shared} shared`);
    await new Promise((done) => {
      const returned = pool.query(ONE, [3], (error, { rows }) => {
        assert.deepEqual([error, rows], [undefined, [{ n: 3 }]]);
        done();
      });
      assert.equal(returned, undefined);
    });
    await new Promise((done) => pool.query('SELECT 1', () => done()));
  });

  test('an error stays with its query', async (t) => {
    const plain = openPool(t, here);
    const pool = await openPipelined(t, here, { config: { max: 1 }, texts: [[ONE, [0]]] });
    const division = 'SELECT 1 / $1::int AS n';
    await pool.query(division, [1]);
    const bad = [
      [division, [0]],
      [ONE, ['x']],
      ['SELECT broken syntax here', undefined],
      ['SELECT * FROM nowhere', undefined],
      [ONE, []],
      [ONE, 'no array'],
      [{ text: ONE, name: 'other' }, [1]],
    ];
    const errors = await settled(bad.map(([config, values]) => plain.query(config, values)));
    for (let round = 0; round < 3; round++) {
      const mixed = bad.flatMap(([config, values], n) => [
        pool.query(ONE, [n]),
        pool.query(config, values),
        pool.query(ONE, [n]),
      ]);
      const results = await settled(mixed);
      for (const [n, error] of errors.entries()) {
        const [first, failed, last] = results.slice(n * 3, n * 3 + 3);
        assert.equal(first.value?.rows[0].n, n);
        assert.equal(last.value?.rows[0].n, n);
        assert.equal(failed.status, error.status);
        assert.equal(failed.reason?.code, error.reason?.code);
        assert.equal(failed.reason?.message, error.reason?.message);
      }
    }
    assert.ok(pool.pipelineStats().shared > 0);
    const wrong = new Error('not written');
    const throwing = {
      toPostgres() {
        throw wrong;
      },
    };
    const named = { name: 'throws', text: ONE };
    const results = await settled([
      pool.query({ ...named, values: [1] }),
      pool.query({ ...named, values: [throwing] }),
      pool.query({ ...named, values: [2] }),
    ]);
    assert.deepEqual(
      results.map(({ value, reason }) => value?.rows[0].n ?? reason),
      [1, wrong, 2],
    );
  });

  test('the stack of an error leads to the call', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 } });
    async function caller() {
      await pool.query('SELECT * FROM nowhere');
    }
    await assert.rejects(caller(), (error) => /at async caller/.test(error.stack));
  });

  test('clients of connect() are in no pipeline, and their transactions see no other query', async (t) => {
    const pool = await openPipelined(t, here, {
      config: { max: 3 },
      options: { writes: true },
      texts: [[ONE, [0]]],
    });
    await pool.query('CREATE TABLE IF NOT EXISTS seen (pid int)');
    let seen = 0;
    const load = times(30, async () => {
      for (let n = 0; n < 20; n++) await pool.query(ONE, [n]);
    });
    await times(6, async () => {
      const client = await pool.connect();
      seen++;
      assert.equal(client.pipeline, false);
      await client.query('BEGIN');
      const { rows } = await client.query('SELECT pg_current_xact_id()::text AS id');
      await sleep(1);
      const again = await client.query('SELECT pg_current_xact_id()::text AS id');
      assert.equal(again.rows[0].id, rows[0].id);
      assert.equal(client.pipeline, false);
      await client.query('COMMIT');
      client.release();
    });
    await load;
    assert.equal(seen, 6);
    assert.ok(pool.pipelineStats().shared > 0);
    assert.equal(pool.idleCount, pool.totalCount);
  });

  test('a caller that waits for a client gets one while queries keep coming', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 }, texts: [[ONE, [0]]] });
    let stop = false;
    const load = times(20, async () => {
      while (!stop) await pool.query(ONE, [1]);
    });
    for (let n = 0; n < 5; n++) {
      const client = await pool.connect();
      await client.query('SELECT 1');
      client.release();
      await pool.query('SELECT 1 AS a; SELECT 2 AS b');
      await pool.query('SELECT $1::jsonb', [{ n }]);
    }
    stop = true;
    await load;
  });

  test('with one client, statements run in the order in which they came', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 } });
    await pool.query('CREATE TABLE counted (n int)');
    await pool.query('SELECT count(*)::int AS n FROM counted');
    const steps = [];
    for (let n = 1; n <= 30; n++) {
      const insert =
        n % 3 === 0 ? 'INSERT INTO counted VALUES (0); SELECT 1' : 'INSERT INTO counted VALUES (0)';
      steps.push(pool.query(insert).then(() => null));
      for (let k = 0; k < 3; k++) {
        steps.push(
          pool
            .query('SELECT count(*)::int AS n FROM counted')
            .then(({ rows }) => assert.equal(rows[0].n, n)),
        );
      }
    }
    await Promise.all(steps);
    assert.ok(pool.pipelineStats().shared > 0);
  });

  test('slow statements and those that write share no connection', async (t) => {
    const slow = 'SELECT pg_sleep(0.03), $1::int AS n';
    const insert = 'INSERT INTO written VALUES ($1)';
    const pool = await openPipelined(t, here, {
      config: { max: 1 },
      options: { slow: 10 },
      texts: [[ONE, [0]]],
    });
    await pool.query('CREATE TABLE IF NOT EXISTS written (n int)');
    for (let n = 0; n < 3; n++) await pool.query(slow, [n]);
    for (let n = 0; n < 3; n++) await pool.query(insert, [n]);
    const before = pool.pipelineStats().shared;
    await times(10, (n) => pool.query(n % 2 === 0 ? slow : insert, [n]));
    assert.equal(pool.pipelineStats().shared, before);
    const writing = await openPipelined(t, here, {
      config: { max: 1 },
      options: { writes: true },
      texts: [
        [ONE, [0]],
        [insert, [1]],
        [insert, [2]],
      ],
    });
    await times(10, (n) => writing.query(insert, [n]));
    assert.ok(writing.pipelineStats().shared > 0);
  });

  test('sends no more than maxDepth on a connection, and on no more than maxPipelined of them', async (t) => {
    const options = { maxDepth: 3, maxPipelined: 1 };
    const pool = await openPipelined(t, here, { options, texts: [[ONE, [0]]] });
    let most = 0;
    await times(40, async (n) => {
      const result = pool.query(ONE, [n]);
      most = Math.max(most, pool.pipelineStats().inFlight);
      await result;
      most = Math.max(most, pool.pipelineStats().inFlight);
    });
    assert.ok(pool.pipelineStats().shared > 0);
    assert.ok(most > 2 && most <= 4, `${most} in flight on two connections`);
  });

  test('with prepare, prepares texts with parameters that share connections, once per connection', async (t) => {
    const table = 'CREATE TABLE prepared AS SELECT n, n * 2 AS twice FROM generate_series(1, 50) n';
    const [text, plain, add] = [
      'SELECT * FROM prepared WHERE n = $1',
      'SELECT count(*)::int AS count FROM prepared',
      'ALTER TABLE prepared ADD COLUMN more int',
    ];
    const texts = [[table], [text, [1]], [plain], [{ name: 'mine', text: ONE }, [1]]];
    const config = { max: 1 };
    const pool = await openPipelined(t, here, { config, options: { prepare: true }, texts });
    const burst = async () => {
      const results = await settled([
        pool.query(plain),
        ...Array.from({ length: 20 }, (_, n) => pool.query(text, [n + 1])),
        pool.query(text, ['no number']),
        pool.query(plain),
        pool.query({ text, values: [21], rowMode: 'array' }),
        pool.query({ name: 'mine', text: ONE }, [22]),
      ]);
      return results.map(({ value, reason }) => value?.rows[0] ?? reason.code);
    };
    const rows = Array.from({ length: 20 }, (_, n) => ({ n: n + 1, twice: n * 2 + 2 }));
    const [count, wrong] = [{ count: 50 }, '22P02'];
    const expected = [count, ...rows, wrong, count, [21, 42], { n: 22 }];
    assert.deepEqual(await burst(), expected);
    assert.deepEqual(await burst(), expected);
    await Promise.all(Array.from({ length: 5 }, (_, n) => pool.query(text, [n + 1])));
    const { rows: kept } = await pool.query('SELECT name, statement FROM pg_prepared_statements');
    assert.deepEqual(kept, [{ name: 'millrace_1', statement: text }]);
    assert.ok(pool.pipelineStats().shared > 20);
    // So pg and the server do with any prepared statement: the connection that has it is of no use any more.
    await pool.query(add);
    const codes = (await settled(Array.from({ length: 5 }, () => pool.query(text, [1]))))
      .filter(({ reason }) => reason)
      .map(({ reason }) => reason.code);
    assert.deepEqual([...new Set(codes)], ['0A000']);
    const after = await times(5, (n) => pool.query(text, [n + 1]));
    assert.deepEqual(after[4].rows, [{ n: 5, twice: 10, more: null }]);
  });

  test('refuses queries beyond maxQueue, and counts them', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 }, options: { maxQueue: 5 } });
    const client = await pool.connect();
    const results = Array.from({ length: 8 }, (_, n) => pool.query(ONE, [n]));
    const refused = await settled(results.slice(5));
    for (const { reason } of refused) assert.equal(reason.code, 'MILLRACE_E_OVERLOADED');
    client.release();
    assert.equal(
      (await settled(results.slice(0, 5))).every(({ value }) => value),
      true,
    );
    const { refused: count, queued } = pool.pipelineStats();
    assert.deepEqual([count, queued], [3, 0]);
  });

  test('end() waits for queries in flight and for those that wait', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 }, texts: [[ONE, [0]]] });
    const client = await pool.connect();
    const queries = Array.from({ length: 10 }, (_, n) => pool.query(ONE, [n]));
    const ended = pool.end();
    await assert.rejects(pool.query(ONE, [1]), /after calling end/);
    await assert.rejects(pool.end(), /more than once/);
    client.release();
    await ended;
    const results = await settled(queries);
    assert.deepEqual(
      results.map(({ value }) => value?.rows[0].n),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    assert.equal(pool.totalCount, 0);
    await assert.rejects(pool.query(ONE, [1]), /after calling end/);
  });

  test('connectionTimeoutMillis limits the wait of each query', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 } });
    const client = await pool.connect();
    // Not from the beginning: on a busy machine a connection might take as long.
    pool.options.connectionTimeoutMillis = 50;
    const results = await settled([
      pool.query(ONE, [1]),
      pool.query(ONE, [2]),
      pool.query('SELECT 1; SELECT 2'),
    ]);
    for (const { reason } of results) assert.match(reason.message, /timeout exceeded when trying/);
    pool.options.connectionTimeoutMillis = undefined;
    client.release();
    assert.equal((await pool.query(ONE, [3])).rows[0].n, 3);
    assert.equal(pool.pipelineStats().queued, 0);
  });

  test('each caller finds its AsyncLocalStorage, in promises and in callbacks', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 }, texts: [[ONE, [0]]] });
    const storage = new AsyncLocalStorage();
    const inPromise = times(20, (n) =>
      storage.run(n, async () => {
        await pool.query(ONE, [n]);
        assert.equal(storage.getStore(), n);
      }),
    );
    const inCallback = times(20, (n) =>
      storage.run(
        n,
        () =>
          new Promise((resolve) => {
            pool.query(ONE, [n], () => resolve(assert.equal(storage.getStore(), n)));
          }),
      ),
    );
    await Promise.all([inPromise, inCallback]);
    assert.ok(pool.pipelineStats().shared > 0);
  });

  test('an error that a callback throws is uncaught, and the queries behind it get their results', async (t) => {
    const pool = await openPipelined(t, here, { config: { max: 1 }, texts: [[ONE, [0]]] });
    const thrown = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error.message));
    t.after(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    });
    const results = times(10, (n) => pool.query(ONE, [n]));
    pool.query(ONE, [0], () => {
      throw new Error('thrown by a callback');
    });
    const more = times(10, (n) => pool.query(ONE, [n]));
    assert.equal((await Promise.all([results, more])).flat().length, 20);
    assert.deepEqual(thrown, ['thrown by a callback']);
  });

  test('gives the same results as the pool alone in a random program', async (t) => {
    const plain = openPool(t, here);
    const pool = await openPipelined(t, here, {
      config: { max: 3 },
      options: { maxDepth: 4, writes: true },
    });
    await plain.query('CREATE TABLE IF NOT EXISTS model (k int PRIMARY KEY, v int NOT NULL)');
    let state = 12345;
    const random = (below) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 8) % below;
    };
    // Each worker has keys of its own, so that results depend on its own order alone.
    const program = (worker) =>
      Array.from({ length: 60 }, () => {
        const k = worker * 100 + random(5);
        return [
          ['INSERT INTO model VALUES ($1, $2) RETURNING v', [k, random(9)]],
          ['INSERT INTO model VALUES ($1, NULL)', [k]],
          ['UPDATE model SET v = v + 1 WHERE k = $1 RETURNING v', [k]],
          ['DELETE FROM model WHERE k = $1 RETURNING v', [k]],
          ['SELECT v FROM model WHERE k = $1', [k]],
          ['SELECT count(*)::int AS n FROM model WHERE k / 100 = $1', [worker]],
          [{ name: 'get', text: 'SELECT k, v FROM model WHERE k = $1' }, [k]],
          ['SELECT v / 0 FROM model WHERE k = $1', [k]],
          ['SELECT repeat($1::text, $2) AS text', ['x', random(20_000)]],
        ][random(9)];
      });
    const programs = Array.from({ length: 12 }, (_, worker) => program(worker));
    const run = async (on) => {
      await on.query('TRUNCATE model');
      return Promise.all(
        programs.map(async (steps) => {
          const results = [];
          for (const [config, values] of steps) {
            const given = typeof config === 'object' ? { ...config } : config;
            results.push(
              await on.query(given, values).then(
                ({ rows }) => rows,
                (error) => error.code,
              ),
            );
          }
          return results;
        }),
      );
    };
    assert.deepEqual(await run(pool), await run(plain));
    assert.ok(pool.pipelineStats().shared > 0);
  });
});

test('refuses pools that it cannot pipeline, and options that it does not know', () => {
  const refused = { code: 'MILLRACE_E_INVALID_ARGUMENT' };
  for (const pool of [undefined, null, {}, 'pool', { query() {}, connect() {} }]) {
    assert.throws(() => pipelined(pool), refused);
  }
  const fake = (Client) => ({ query() {}, connect() {}, end() {}, Client, options: { max: 1 } });
  class Old {}
  class Native {
    native = {};
    pipeline = false;
  }
  class Fixed {
    get pipeline() {
      return false;
    }
  }
  assert.throws(() => pipelined(fake(Old)), { ...refused, message: /install pg 8.23 or later/ });
  assert.throws(() => pipelined(fake(Native)), { ...refused, message: /native/ });
  assert.throws(() => pipelined(fake(Fixed)), refused);
  class Client {
    pipeline = false;
    getTransactionStatus() {}
  }
  const pool = fake(Client);
  assert.throws(() => pipelined(pool, { depth: 1 }), { code: 'MILLRACE_E_INVALID_OPTION' });
  assert.throws(() => pipelined(pool, { maxDepth: 0 }), { code: 'MILLRACE_E_INVALID_OPTION' });
  assert.equal(pipelined(pool), pool);
  assert.throws(() => pipelined(pool), { ...refused, message: /already/ });
});
