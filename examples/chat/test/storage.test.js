import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Database from 'libsql';
import { temporaryFolder } from '../../../scripts/lib/program-tests.js';
import { limits as defaults } from '../limits.js';
import { openStorage } from '../storage/index.js';
import { ARMS, Client, postJson, request, start } from './support.js';

const row = (text, room = 'lobby') => ({ room, from: 'Ada', text, at: 1 });

test('a bad row fails alone: the rest of its transaction is committed, in order', async (t) => {
  const storage = await openStorage(join(await temporaryFolder(t), 'chat.db'));
  t.after(() => storage.close());
  const rows = [row('a'), row(''), row('b'), row(null), row('c')];
  const results = await storage.insertMany(rows);
  assert.deepEqual(
    results.map((result) => (result instanceof Error ? result.code : typeof result)),
    ['number', 'bad_row', 'number', 'bad_row', 'number'],
  );
  const stored = await storage.history('lobby', null, 50);
  assert.deepEqual(
    stored.map((message) => message.text),
    ['a', 'b', 'c'],
  );
  await assert.rejects(storage.insert(row('')), { code: 'bad_row' });
  assert.equal(storage.state.ok, true);
});

test('a database that is full refuses the whole transaction', async (t) => {
  const file = join(await temporaryFolder(t), 'chat.db');
  const limits = { ...defaults, databaseBytes: 40 * 4096 };
  const changes = [];
  const storage = await openStorage(file, {
    limits,
    onChange: (state) => changes.push(state.reason),
  });
  t.after(() => storage.close());
  const large = Array.from({ length: 100 }, () => row('x'.repeat(4_000)));
  await assert.rejects(storage.insertMany(large), {
    code: 'storage_unavailable',
    message: /disk full/,
  });
  assert.deepEqual(changes[0], 'disk full');
  assert.deepEqual(await storage.history('lobby', null, 50), []);
  assert.equal(typeof (await storage.insert(row('small'))), 'number');
  assert.equal(storage.state.ok, true);
});

for (const policy of ARMS) {
  describe(`storage, ${policy}`, () => {
    test('while the database is locked nothing is acknowledged, and all is well when it is back', async (t) => {
      const dataDir = await temporaryFolder(t);
      const limits = { storageTimeoutMs: 50, storageProbeMs: 20 };
      const { url } = await start(t, { policy, dataDir, limits });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      const bob = await Client.connect(t, url, { name: 'Bob' });
      await ada.join('lobby');
      await bob.join('lobby');

      const other = new Database(join(dataDir, 'chat.db'));
      t.after(() => other.close());
      other.exec('BEGIN IMMEDIATE');
      ada.say('lobby', 'lost', 'r1');
      ada.say('lobby', 'lost too', 'r2');
      for (const ref of ['r1', 'r2']) {
        const error = await ada.next('error', (frame) => frame.ref === ref);
        assert.equal(error.code, 'storage_unavailable');
        assert.match(error.message, /locked/);
      }
      assert.equal((await bob.next('notice')).ok, false);
      const posted = await postJson(url, '/api/rooms/lobby/messages', { from: 'Bot', text: 'x' });
      assert.deepEqual([posted.status, posted.body.error.code], [503, 'storage_unavailable']);
      const health = await request(url, '/health');
      assert.deepEqual([health.status, health.body.status], [503, 'degraded']);
      assert.equal(health.body.storage.reason, 'locked');
      assert.equal((await request(url, '/readyz')).status, 503);
      assert.equal((await request(url, '/livez')).status, 200);
      // What needs no database goes on.
      ada.send({ t: 'typing', room: 'lobby', on: true });
      await bob.next('typing');

      other.exec('ROLLBACK');
      assert.equal((await bob.next('notice')).ok, true);
      ada.say('lobby', 'found', 'r3');
      await ada.next('ack', (frame) => frame.ref === 'r3');
      assert.equal((await bob.next('msg')).text, 'found');
      const { body } = await request(url, '/api/rooms/lobby/messages');
      assert.deepEqual(
        body.messages.map((message) => message.text),
        ['found'],
      );
      assert.equal((await request(url, '/health')).status, 200);
    });

    test('a file whose message cannot be saved is not kept', async (t) => {
      const dataDir = await temporaryFolder(t);
      const { url } = await start(t, { policy, dataDir, limits: { storageTimeoutMs: 50 } });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      const other = new Database(join(dataDir, 'chat.db'));
      t.after(() => other.close());
      other.exec('BEGIN IMMEDIATE');
      const path = '/api/rooms/lobby/files?from=Bot&name=x';
      const up = await request(url, path, { method: 'POST', body: 'bytes' });
      assert.deepEqual([up.status, up.body.error.code], [503, 'storage_unavailable']);
      other.exec('ROLLBACK');
      assert.deepEqual(await readdir(join(dataDir, 'files')), []);
    });

    test('more messages than may wait for the database are refused with overloaded', async (t) => {
      const dataDir = await temporaryFolder(t);
      const limits = { storageTimeoutMs: 60_000, pendingInserts: 10 };
      const { url } = await start(t, { policy, dataDir, limits });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      const other = new Database(join(dataDir, 'chat.db'));
      t.after(() => other.close());
      other.exec('BEGIN IMMEDIATE');
      for (let n = 0; n < 30; n += 1) ada.say('lobby', 'x', `r${n}`);
      assert.equal((await ada.next('error')).code, 'overloaded');
      other.exec('ROLLBACK');
    });
  });
}
