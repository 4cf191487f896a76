/** Drivers of databases that cannot be seen are told, and those that are not used are not; better-sqlite3, which answers at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReport, observe } from 'millrace/observe';
import { defined, observed } from './queries.js';
import { turnOver } from './sockets.js';

/** Version 13 of it makes Node.js 20 crash. There is no test there; the tests on later releases have these. */
const testOfIt = process.versions.node.startsWith('20.') ? () => {} : test;
const byId = 'select * from users where id = ?';
const ids = Array.from({ length: 20 }, (_, i) => i);

const connecting = (options) =>
  `require('node:net').connect(${options}).on('connect', function () { this.destroy(); }).on('error', () => {});`;

for (const [name, program, unseen] of [
  ['a port of PostgreSQL', connecting("5432, '127.0.0.1'"), ['PostgreSQL']],
  ['a port of MySQL', connecting("{ host: '127.0.0.1', port: '3306' }"), ['MySQL']],
  [
    'both ports, with pg loaded',
    `require('$pg/lib/index.js'); ${connecting("5432, '127.0.0.1'")} ${connecting("3306, '127.0.0.1'")}`,
    ['MySQL'],
  ],
  ['another port', connecting("1, '127.0.0.1'"), []],
  ['no connection', "require('$pg/lib/index.js')", []],
]) {
  test(`${name}: ${unseen.join(', ') || 'nothing'} cannot be seen`, async (t) => {
    const { report } = await observed(t, 'app.cjs', program);
    assert.deepEqual(report.queries.unseen, unseen);
    assert.equal(/cannot be seen/.test(formatReport(report)), unseen.length > 0);
  });
}

testOfIt('statements of a tick are counted, and the code that is told does the same', async (t) => {
  const { default: Database } = await import('better-sqlite3');
  const observation = observe();
  t.after(() => observation.stop());
  const db = new Database(':memory:');
  t.after(() => db.close());
  db.exec('create table users (id integer primary key, name text)');
  const insert = db.prepare('insert into users values (?, ?)');
  for (const id of ids) insert.run(id, `user ${id}`);
  await turnOver();
  const statement = db.prepare(byId);
  const one = ids.map((id) => statement.all(id));
  statement.get(1);
  db.prepare("select 'secret' where 1 = 2").all();
  await turnOver();
  const { statements, drivers, unseen } = observation.report().queries;
  assert.deepEqual(
    statements.map(({ text, queries, ticks, mostInTick }) => [text, queries, ticks, mostInTick]),
    [
      [byId, 21, 1, 21],
      ['insert into users values (?, ?)', 20, 1, 20],
      ["select '…' where … = …", 1, 1, 1],
    ],
  );
  assert.deepEqual([drivers, unseen], [['better-sqlite3'], []]);
  assert.equal(statements[0].places[0].file, import.meta.filename);
  assert.ok(statements[0].busyMs > 0);
  const many = defined(statements[0].instead, 'rowsById', { db });
  assert.deepEqual(many(ids), one);
  assert.deepEqual(many([]), []);
  const insertAll = defined(statements[1].instead, 'insertAll', { db });
  insertAll([
    [100, 'a'],
    [101, 'b'],
  ]);
  assert.equal(statement.all(101)[0].name, 'b');
  const { queries } = observation.report().queries;
  observation.stop();
  statement.get(1);
  assert.equal(observation.report().queries.queries, queries);
});

for (const [name, load] of [
  ['app.cjs', "const Database = require('$better-sqlite3/lib/index.js')"],
  ['app.mjs', "import Database from '$better-sqlite3/lib/index.js'"],
]) {
  testOfIt(`a program is seen as it is: ${name}`, async (t) => {
    const program = `${load};
const db = new Database(':memory:');
const statement = db.prepare('select ? as a');
for (let i = 0; i < 12; i++) {
  statement.get(i);
}
`;
    const { report } = await observed(t, name, program);
    const { queries, drivers, statements } = report.queries;
    assert.deepEqual([queries, drivers], [12, ['better-sqlite3']]);
    const [{ instead, places }] = statements;
    assert.deepEqual([instead, places], [null, [`${name}:5`]]);
  });
}
