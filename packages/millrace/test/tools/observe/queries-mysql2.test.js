/** Equal queries of mysql2, whose own server answers them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch } from 'millrace';
import { observe } from 'millrace/observe';
import callbacks from 'mysql2';
import mysql from 'mysql2/promise';
import { startMysql } from './mysql-server.js';
import { defined, observed } from './queries.js';
import { turnOver } from './sockets.js';

const byId = 'select id from users where id = ?';

async function poolOf(t, make = mysql) {
  const { queries, ...address } = await startMysql(t);
  const pool = make.createPool({ ...address, user: 'test', connectionLimit: 2 });
  t.after(() => pool.end());
  return { pool, queries };
}

function seenBy(t) {
  const observation = observe();
  t.after(() => observation.stop());
  return async () => {
    await turnOver();
    return observation.report().queries;
  };
}

const figures = ({ statements }) =>
  statements.map(({ text, queries, ticks, mostInTick }) => [text, queries, ticks, mostInTick]);

test('those of a pool are counted once each, and the code that is told does the same', async (t) => {
  const { pool, queries } = await poolOf(t);
  await pool.query('select 0');
  const read = seenBy(t);
  const ids = [3, 1, 4, 1, 5];
  const plain = await Promise.all(ids.map((id) => pool.query(byId, [id])));
  const { statements, drivers } = await read();
  assert.deepEqual(figures({ statements }), [[byId, 5, 1, 5]]);
  assert.deepEqual(drivers, ['mysql2']);
  assert.equal(statements[0].places[0].file, import.meta.filename);
  queries.length = 0;
  const many = defined(statements[0].instead, 'rowsById', { pool, batch });
  const rows = await Promise.all([3, 1, 4, 9].map((id) => many(id)));
  assert.deepEqual(queries, ['select id from users where id in (3, 1, 4, 9)']);
  assert.deepEqual(rows.slice(0, 3), [plain[0][0], plain[1][0], plain[2][0]]);
});

test('connections, objects, callbacks and values in the text count, and no value is kept', async (t) => {
  const { pool } = await poolOf(t, callbacks);
  const read = seenBy(t);
  const ask = (target, ...args) =>
    new Promise((resolve, reject) =>
      target.query(...args, (error, rows) => (error ? reject(error) : resolve(rows))),
    );
  const connection = await new Promise((resolve, reject) =>
    pool.getConnection((error, found) => (error ? reject(error) : resolve(found))),
  );
  await Promise.all([
    ask(connection, byId, [1]),
    ask(connection, { sql: byId }, [2]),
    ask(pool, byId, [3]),
    ask(pool, 'select id from users where id = 12 and name = "secret"'),
  ]);
  connection.release();
  const seen = await read();
  assert.deepEqual(figures(seen), [
    [byId, 3, 1, 3],
    ["select id from users where id = … and name = '…'", 1, 1, 1],
  ]);
});

for (const [name, load] of [
  ['app.cjs', "const mysql = require('$mysql2/promise.js')"],
  ['app.mjs', "import mysql from '$mysql2/promise.js'"],
]) {
  test(`a program is seen as it is: ${name}`, async (t) => {
    const { port } = await startMysql(t);
    const program = `${load};
const pool = mysql.createPool({ host: '127.0.0.1', port: ${port}, user: 'test' });
const users = (ids) =>
  Promise.all(ids.map((id) => pool.query('${byId}', [id])));
users([0, 1, 2, 3])
  .then(() => users([4, 5]))
  .then((both) => (console.log(both.length), pool.end()));
`;
    const { stdout, report } = await observed(t, name, program);
    assert.equal(stdout, '2\n');
    assert.deepEqual([report.queries.queries, report.queries.drivers], [6, ['mysql2']]);
    assert.deepEqual(report.queries.statements[0].places, [`${name}:4`]);
    assert.deepEqual(report.deadEmits, []);
  });
}
