/** Equal queries of pg, on a PostgreSQL of its own. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { batch } from 'millrace';
import { observe } from 'millrace/observe';
import pg from 'pg';
import { findPostgres, startPostgres } from '../../../../../scripts/lib/postgres.js';
import { defined, observed } from './queries.js';
import { turnOver } from './sockets.js';

const bin = findPostgres();
const skip = bin === undefined && 'PostgreSQL is not installed';

const byId = 'select * from users where id = $1';
const ids = Array.from({ length: 20 }, (_, i) => i);

describe('queries of pg', { skip }, () => {
  let server;
  let pool;
  before(async () => {
    server = await startPostgres(bin);
    // Idle connections stay, however long the machine lets the tests wait.
    pool = new pg.Pool({ connectionString: server.url, max: 4, idleTimeoutMillis: 0 });
    await pool.query('create table users (id int primary key, name text)');
    await pool.query("insert into users select i, 'user ' || i from generate_series(0, 99) i");
    // All its connections: each test finds them free.
    const clients = await Promise.all([1, 2, 3, 4].map(() => pool.connect()));
    for (const client of clients) client.release();
  });
  after(async () => {
    // end() waits for no connection: the server may stop while one is open.
    pool?.on('error', () => {});
    await pool?.end();
    await server?.remove();
  });

  /** What is seen of what `act` asks the pool, beside its result. */
  async function seenOf(t, act) {
    const observation = observe();
    t.after(() => observation.stop());
    const result = await act();
    await turnOver();
    return { result, ...observation.report().queries };
  }

  const figures = ({ statements }) =>
    statements.map(({ text, queries, ticks, mostInTick }) => [text, queries, ticks, mostInTick]);

  test('those of a pool are counted when they are asked, once each', async (t) => {
    const { result, ...seen } = await seenOf(t, () =>
      Promise.all(ids.map((id) => pool.query(byId, [id]))),
    );
    assert.deepEqual(
      result.map(({ rows }) => rows[0].id),
      ids,
    );
    assert.deepEqual(figures(seen), [[byId, 20, 1, 20]]);
    assert.deepEqual([seen.queries, seen.drivers, seen.unseen], [20, ['pg'], []]);
    const [{ places }] = seen.statements;
    assert.equal(places[0].file, import.meta.filename);
  });

  test('the suggested code does the same', async (t) => {
    const { result, statements } = await seenOf(t, () =>
      Promise.all([...ids, 7, 1000].map((id) => pool.query(byId, [id]))),
    );
    const many = defined(statements[0].instead, 'rowsById', { pool, batch });
    const rows = await Promise.all([...ids, 7, 1000].map((id) => many(id)));
    assert.deepEqual(
      rows,
      result.map(({ rows }) => rows),
    );
    assert.equal(many.stats().batches, 1);
  });

  test('so does that for insertions', async (t) => {
    await pool.query('create table pairs (a int, b text)');
    const text = 'insert into pairs (a, b) values ($1, $2)';
    const { statements } = await seenOf(t, () =>
      Promise.all(ids.map((id) => pool.query(text, [id, `b${id}`]))),
    );
    const insert = defined(statements[0].instead, 'insert', { pool, batch });
    await Promise.all(ids.map((id) => insert([id, `b${id}`])));
    const { rows } = await pool.query(
      'select a, b, count(*)::int n from pairs group by 1, 2 order by 1',
    );
    assert.deepEqual(
      rows,
      ids.map((id) => ({ a: id, b: `b${id}`, n: 2 })),
    );
  });

  test('prepared ones, objects, callbacks and clients count alike', async (t) => {
    const seen = await seenOf(t, async () => {
      const client = await pool.connect();
      const done = [
        client.query({ name: 'by-id', text: byId, values: [1] }),
        new Promise((resolve) => client.query(byId, [2], resolve)),
        client.query(new pg.Query(byId, [3])),
        pool.query({ text: byId, values: [4] }),
        new Promise((resolve) => pool.query(byId, [5], resolve)),
      ];
      await Promise.all(done);
      await client.query('select 1');
      client.release();
    });
    assert.deepEqual(figures(seen), [
      [byId, 5, 1, 5],
      ['select …', 1, 1, 1],
    ]);
  });

  test('no value is kept', async (t) => {
    const seen = await seenOf(t, () =>
      Promise.all(
        [1, 2].map((id) =>
          pool.query(`select 'secret ${id}' as a -- secret\n where ${id} = ${id}`),
        ),
      ),
    );
    assert.deepEqual(figures(seen), [["select '…' as a where … = …", 2, 1, 2]]);
    assert.doesNotMatch(JSON.stringify(seen.statements), /secret/);
  });

  test('one after another is no tick with several', async (t) => {
    const seen = await seenOf(t, async () => {
      for (const id of ids) await pool.query(byId, [id]);
    });
    assert.deepEqual(figures(seen), [[byId, 20, 20, 1]]);
    assert.equal(seen.poolWaits, 0);
  });

  test('a pool without a free connection is reported', async (t) => {
    const seen = await seenOf(t, () => Promise.all(ids.map((id) => pool.query(byId, [id]))));
    assert.deepEqual([seen.poolQueries, seen.poolWaits], [20, 16]);
  });

  test('statements beyond 200 are counted only, and a report has ten', async (t) => {
    const seen = await seenOf(t, async () => {
      for (let i = 0; i < 210; i++) await pool.query(`select 1 as a${i}`);
    });
    assert.deepEqual([seen.queries, seen.others, seen.statements.length], [210, 10, 10]);
  });

  for (const [name, load] of [
    ['app.cjs', "const pg = require('$pg/lib/index.js')"],
    ['app.mjs', "import pg from '$pg/lib/index.js'"],
    ['wrapped.mjs', "import pg from '$pg/esm/index.mjs'"],
  ]) {
    test(`a program is seen as it is: ${name}`, async (t) => {
      const program = `${load};
const pool = new pg.Pool({ connectionString: process.env.DATABASE, max: 2 });
const users = (ids) =>
  Promise.all(ids.map((id) => pool.query('${byId.replace('$', '\\x24')}', [id])));
users([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  .then(() => users([12, 13]))
  .then((both) => (console.log(both.length), pool.end()));
`;
      const { stdout, report } = await observed(t, name, program, { DATABASE: server.url });
      assert.equal(stdout, '2\n');
      const { queries, drivers, statements } = report.queries;
      assert.deepEqual([queries, drivers], [14, ['pg']]);
      // The first of all is what makes the driver known.
      assert.ok(statements[0].mostInTick >= 11);
      assert.deepEqual(statements[0].places, [`${name}:4`]);
      assert.match(statements[0].instead, /^import \{ batch \} from 'millrace';\n/);
    });
  }
});
