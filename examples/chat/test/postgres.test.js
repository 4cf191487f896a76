import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findPostgres, startPostgres } from '../../../scripts/lib/postgres.js';
import { limits as defaults } from '../limits.js';
import { openStorage } from '../storage/index.js';
import { ARMS, Client, postJson, request, start } from './support.js';

const bin = findPostgres();
/** Limits of a database that takes its time. */
const patient = { limits: { ...defaults, storageTimeoutMs: 60_000 } };

if (!bin) {
  test('PostgreSQL', {
    skip: process.env.CI !== 'true' && 'initdb and pg_ctl are not installed',
  }, () => {
    assert.fail('initdb and pg_ctl are not installed, and CI=true allows no skips');
  });
} else {
  describe('PostgreSQL', () => {
    let postgres;
    before(async () => {
      postgres = await startPostgres(bin);
    });
    after(() => postgres?.remove());

    test('processes that start together on an empty database all start', async (t) => {
      const empty = await startPostgres(bin);
      t.after(() => empty.remove());
      const opened = await Promise.allSettled(
        Array.from({ length: 8 }, () => openStorage(empty.url, patient)),
      );
      for (const { value } of opened) await value?.close();
      assert.deepEqual(opened.map(({ reason }) => reason?.message).filter(Boolean), []);
    });

    const row = (text) => ({ room: 'rows', from: 'Ada', text, at: 1 });

    test('a bad row fails alone: the rest is committed, in order', async (t) => {
      const storage = await openStorage(postgres.url, patient);
      t.after(() => storage.close());
      const texts = ['a', 'nul \u0000 byte', 'b', '', 'c', 'd'];
      const results = await storage.insertMany(texts.map(row));
      assert.deepEqual(
        results.map((result) => (result instanceof Error ? result.code : typeof result)),
        ['number', 'bad_row', 'number', 'bad_row', 'number', 'number'],
      );
      const stored = await storage.history('rows', null, 50);
      assert.deepEqual(
        stored.map((message) => [message.id, message.text]),
        [0, 2, 4, 5].map((at) => [results[at], texts[at]]),
      );
      await assert.rejects(storage.insert(row('')), { code: 'bad_row' });
      assert.equal(storage.state.ok, true);
    });

    for (const policy of ARMS) {
      test(`the chat works on it, ${policy}`, async (t) => {
        const { url } = await start(t, { policy, database: postgres.url });
        const room = `work-${policy}`;
        const ada = await Client.connect(t, url, { name: 'Ada' });
        const bob = await Client.connect(t, url, { name: 'Bob' });
        assert.equal((await ada.join(room)).moderator, 'Ada');
        await bob.join(room);
        for (let n = 0; n < 100; n += 1) ada.say(room, String(n), String(n));
        let last = 0;
        for (let n = 0; n < 100; n += 1) {
          const { id, text } = await bob.next('msg');
          assert.equal(text, String(n));
          assert.ok(id > last);
          last = id;
          assert.equal((await ada.next('ack')).id, id);
        }
        const path = `/api/rooms/${room}/files?from=Bot&name=a.txt`;
        const up = await request(url, path, { method: 'POST', body: 'bytes' });
        assert.equal(up.status, 201);
        assert.equal((await request(url, up.body.file.url)).status, 200);
        const files = await request(url, `/api/rooms/${room}/files`);
        assert.equal(files.body.files.length, 1);

        ada.send({ t: 'mod', room, action: 'delete', target: last });
        assert.equal((await bob.next('notice')).id, last);
        const late = await Client.connect(t, url, { name: 'Late' });
        const { history } = await late.join(room);
        assert.equal(history.length, 50);
        assert.deepEqual([history.at(-2).text, history.at(-1).file.name], ['98', 'a.txt']);
        const older = await request(
          url,
          `/api/rooms/${room}/messages?before=${history[0].id}&limit=2`,
        );
        assert.deepEqual(
          older.body.messages.map((message) => message.text),
          ['48', '49'],
        );
        assert.equal((await request(url, '/api/rooms/nowhere/messages')).status, 404);
      });

      test(`gone and back, ${policy}`, async (t) => {
        const limits = { storageProbeMs: 50 };
        const { url } = await start(t, { policy, database: postgres.url, limits });
        const room = `outage-${policy}`;
        const ada = await Client.connect(t, url, { name: 'Ada' });
        const bob = await Client.connect(t, url, { name: 'Bob' });
        await ada.join(room);
        await bob.join(room);
        ada.say(room, 'before', 'r1');
        await ada.next('ack');

        await postgres.stop();
        for (const ref of ['r2', 'r3']) {
          ada.say(room, 'during', ref);
          const error = await ada.next('error', (frame) => frame.ref === ref);
          assert.equal(error.code, 'storage_unavailable');
          // Nothing of the inside is told: neither addresses nor the server's own words.
          assert.doesNotMatch(error.message, /127|ECONN|terminat/);
        }
        assert.equal((await bob.next('notice')).ok, false);
        const posted = await postJson(url, `/api/rooms/${room}/messages`, {
          from: 'Bot',
          text: 'x',
        });
        assert.deepEqual([posted.status, posted.body.error.code], [503, 'storage_unavailable']);
        assert.equal((await request(url, '/health')).body.storage.ok, false);

        await postgres.start();
        assert.equal((await bob.next('notice')).ok, true);
        ada.say(room, 'after', 'r4');
        await ada.next('ack');
        assert.equal(ada.frames.filter((frame) => frame.t === 'ack').length, 0);
        const { body } = await request(url, `/api/rooms/${room}/messages`);
        assert.deepEqual(
          body.messages.map((message) => message.text),
          ['before', 'after'],
        );
        bob.send({ t: 'leave', room });
        const { history } = await bob.join(room);
        assert.deepEqual(
          history.map((message) => message.text),
          ['before', 'after'],
        );
      });
    }

    test('a server that is not there ends the start with an error', async () => {
      const url = postgres.url.replace(/:\d+\//, ':1/');
      await assert.rejects(openStorage(url, patient), { kind: 'outage', reason: 'unreachable' });
    });
  });
}
