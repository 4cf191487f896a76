import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../../scripts/lib/program-tests.js';
import { ARMS, Client, postJson, request, start } from './support.js';

for (const policy of ARMS) {
  describe(`HTTP, ${policy}`, () => {
    test('a posted message reaches the room and its history', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      const posted = await postJson(url, '/api/rooms/lobby/messages', {
        from: 'Bot',
        text: 'beep',
      });
      assert.equal(posted.status, 201);
      const heard = await ada.next('msg');
      assert.deepEqual([heard.from, heard.text, heard.id], ['Bot', 'beep', posted.body.id]);
      const { body } = await request(url, '/api/rooms/lobby/messages');
      assert.deepEqual(body, { room: 'lobby', messages: [heard] });
    });

    test('a person who is connected posts under their own name with their session', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      const path = '/api/rooms/lobby/messages';
      const asAda = await postJson(
        url,
        path,
        { text: 'me' },
        { authorization: `Bearer ${ada.hello.session}` },
      );
      assert.equal(asAda.status, 201);
      assert.equal((await ada.next('msg')).from, 'Ada');
      const stolen = await postJson(url, path, { from: 'ada', text: 'not me' });
      assert.deepEqual([stolen.status, stolen.body.error.code], [409, 'name_taken']);
      const wrong = await postJson(url, path, { text: 'x' }, { authorization: 'Bearer nonsense' });
      assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'bad_session']);
      const elsewhere = await Client.connect(t, url, { name: 'Bob' });
      const absent = await postJson(
        url,
        path,
        { text: 'x' },
        { authorization: `Bearer ${elsewhere.hello.session}` },
      );
      assert.deepEqual([absent.status, absent.body.error.code], [403, 'not_in_room']);
    });

    test('history is read in pages', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      for (let n = 0; n < 7; n += 1) {
        ada.say('lobby', String(n), 'r');
        await ada.next('ack');
      }
      const page = async (query) => {
        const { body } = await request(url, `/api/rooms/lobby/messages?${query}`);
        return body.messages;
      };
      const newest = await page('limit=3');
      assert.deepEqual(
        newest.map((m) => m.text),
        ['4', '5', '6'],
      );
      const older = await page(`limit=3&before=${newest[0].id}`);
      assert.deepEqual(
        older.map((m) => m.text),
        ['1', '2', '3'],
      );
      const oldest = await page(`limit=3&before=${older[0].id}`);
      assert.deepEqual(
        oldest.map((m) => m.text),
        ['0'],
      );
      assert.deepEqual(await page(`before=${oldest[0].id}`), []);
    });

    test('a room without anybody in it still takes and shows messages', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('quiet');
      ada.send({ t: 'leave', room: 'quiet' });
      await ada.next('left');
      assert.equal(
        (await postJson(url, '/api/rooms/quiet/messages', { from: 'Bot', text: 'x' })).status,
        201,
      );
      assert.deepEqual(
        (await ada.join('quiet')).history.map((m) => m.text),
        ['x'],
      );
    });

    test('a file goes up, is announced, listed and comes down unchanged and harmless', async (t) => {
      const dataDir = await temporaryFolder(t);
      const { url } = await start(t, { policy, dataDir });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      const bytes = Buffer.alloc(300_000, 'abc\u0000');
      const name = '../../etc/<i>evil\u202Egnp.html';
      const up = await request(url, `/api/rooms/lobby/files?name=${encodeURIComponent(name)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.hello.session}`, 'content-type': 'text/html' },
        body: bytes,
      });
      assert.equal(up.status, 201);
      const told = await ada.next('file');
      assert.deepEqual([told.from, told.id], ['Ada', up.body.id]);
      assert.deepEqual(told.file, up.body.file);
      assert.equal(told.file.name, '<i>evilgnp.html');
      assert.equal(told.file.size, bytes.length);

      const down = await fetch(url + told.file.url);
      assert.equal(down.status, 200);
      assert.deepEqual(Buffer.from(await down.arrayBuffer()), bytes);
      assert.equal(down.headers.get('content-type'), 'application/octet-stream');
      assert.equal(down.headers.get('x-content-type-options'), 'nosniff');
      assert.match(
        down.headers.get('content-disposition'),
        /^attachment; filename\*=UTF-8''[\w.%-]+$/,
      );
      assert.match(down.headers.get('content-security-policy'), /sandbox/);

      const { body } = await request(url, '/api/rooms/lobby/files');
      assert.deepEqual(body.files, [{ message: told.id, from: 'Ada', at: told.at, ...told.file }]);
      assert.deepEqual(await readdir(join(dataDir, 'files')), [told.file.id]);
      const elsewhere = told.file.url.replace('lobby', 'other');
      assert.equal((await request(url, elsewhere)).status, 404);
    });

    test('a picture is known by its content', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
      const path = '/api/rooms/lobby/files?from=Bot&name=picture.txt';
      const { body } = await request(url, path, { method: 'POST', body: png });
      assert.equal(body.file.type, 'image/png');
      assert.equal((await request(url, body.file.url)).headers.get('content-type'), 'image/png');
    });

    test('health and stats say how the server is', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      ada.say('lobby', 'x', 'r');
      await ada.next('ack');
      await ada.settled();
      const health = await request(url, '/health');
      assert.equal(health.status, 200);
      assert.equal(health.body.status, 'ok');
      assert.equal(health.body.policy, policy);
      assert.equal(health.body.members, 1);
      assert.equal(health.body.rooms, 1);
      assert.equal(health.body.queues.inserts, 0);
      assert.equal(health.body.storage.kind, 'sqlite');
      assert.deepEqual(health.body.errors, { unknown_type: 1 });

      const { body: stats } = await request(url, '/stats');
      assert.equal(stats.messages, 1);
      assert.equal(stats.insert_items, 1);
      assert.equal(stats.insert_batches, 1);
      assert.equal(stats.received_frames, 3);
      // hello, joined, msg, ack, error
      assert.equal(stats.delivered_frames, 5);
      assert.ok(stats.socket_writes >= 1 && stats.socket_writes <= 5);
      assert.ok(stats.cpu_user_us > 0 && stats.cpu_system_us > 0);
    });

    test('the page comes with its parts and a strict policy', async (t) => {
      const { url } = await start(t, { policy });
      const page = await request(url, '/');
      assert.equal(page.status, 200);
      const csp = page.headers.get('content-security-policy');
      assert.match(csp, /default-src 'none'/);
      assert.doesNotMatch(csp, /unsafe|http|\*/);
      for (const [, path] of page.body.matchAll(/(?:src|href)="(\/[^"]*)"/g)) {
        assert.equal((await request(url, path)).status, 200, path);
      }
      const etag = page.headers.get('etag');
      const again = await fetch(url, { headers: { 'if-none-match': etag } });
      assert.equal(again.status, 304);
    });
  });
}
