/**
 * Arm of one round: `node insert.js SUBJECT AT_ONCE FOLDER` sends items per second, and what was wrong, or null.
 *
 * Inserts at once, again and again, each resolved when it is on the disk: SQLite with a write-ahead
 * log and synchronous=FULL, in a real file. Batched, the inserts of a tick share a transaction;
 * unbatched, each is one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { batch } from 'millrace';

const secondsMeasured = 1;
const [subject, atOnce, parent] = process.argv.slice(2);

const subjects = {
  millrace(database, insert) {
    const insertAll = database.transaction((texts) => texts.map(insert));
    return batch((texts) => insertAll(texts));
  },
  unbatched: (_database, insert) => async (text) => insert(text),
};

async function measure(database, atOnce) {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE messages (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  const statement = database.prepare('INSERT INTO messages (text) VALUES (?)');
  const insertOne = subjects[subject](database, (text) =>
    Number(statement.run(text).lastInsertRowid),
  );

  let calls = 0;
  const ids = new Set();
  const insertFor = async (seconds) => {
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const inserts = [];
      for (let i = 0; i < atOnce; i++) inserts.push(insertOne(`message ${++calls}`));
      for (const id of await Promise.all(inserts)) ids.add(id);
    }
  };
  await insertFor(0.2);
  const before = calls;
  const start = performance.now();
  await insertFor(secondsMeasured);
  const seconds = (performance.now() - start) / 1000;

  const [{ rows }] = database.prepare('SELECT count(*) AS rows FROM messages').all();
  const [{ journal_mode: journal }] = database.prepare('PRAGMA journal_mode').all();
  const [{ synchronous }] = database.prepare('PRAGMA synchronous').all();
  const isWhole = rows === calls && ids.size === calls && journal === 'wal' && synchronous === 2;
  return {
    items_per_s: (calls - before) / seconds,
    wrong: isWhole
      ? null
      : `of ${calls} inserts ${rows} are in the database (${journal}, synchronous=${synchronous})`,
  };
}

const folder = mkdtempSync(join(parent, 'insert-'));
const database = new Database(join(folder, 'messages.db'));
try {
  process.send(await measure(database, Number(atOnce)));
} finally {
  database.close();
  rmSync(folder, { recursive: true });
}
