import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder, until } from '../../../scripts/lib/program-tests.js';
import { ARMS, Client, start } from './support.js';

for (const policy of [...ARMS, 'fixed']) {
  describe(`rooms, ${policy}`, () => {
    test('a message reaches every member, the sender included, and the sender gets an ack', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      const bob = await Client.connect(t, url, { name: 'Bob' });
      assert.deepEqual(await ada.join('lobby'), {
        t: 'joined',
        room: 'lobby',
        members: ['Ada'],
        history: [],
        moderator: 'Ada',
      });
      assert.deepEqual((await bob.join('lobby')).members, ['Ada', 'Bob']);

      ada.say('lobby', 'hello', 'r1');
      const seen = await bob.next('msg');
      assert.equal(seen.from, 'Ada');
      assert.equal(seen.text, 'hello');
      assert.ok(Number.isSafeInteger(seen.at));
      assert.deepEqual(await ada.next('msg'), seen);
      assert.deepEqual(await ada.next('ack'), { t: 'ack', ref: 'r1', id: seen.id });

      bob.say('lobby', 'no ref, no ack');
      await bob.next('msg', (frame) => frame.text === 'no ref, no ack');
      await bob.settled();
      assert.equal(bob.frames.filter((frame) => frame.t === 'ack').length, 0);
    });

    test('the text is in the frame where a reader of raw frames expects it', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'load-3' });
      await ada.join('load-0');
      let raw;
      ada.ws.on('message', (data) => {
        if (String(data).includes('"t":"msg"')) raw = String(data);
      });
      ada.say('load-0', '#3.0.17.padding');
      await ada.next('msg');
      assert.match(raw, /^\{"t":"msg".*"text":"#3\.0\.17\.padding"/);
    });

    test('messages of many senders come once each and in the same order for everybody', async (t) => {
      const { url } = await start(t, { policy });
      const people = [];
      for (let i = 0; i < 5; i += 1) {
        const person = await Client.connect(t, url, { name: `p${i}` });
        await person.join('busy');
        people.push(person);
      }
      for (let n = 0; n < 20; n += 1) {
        people.forEach((person, i) => {
          person.say('busy', `${i}:${n}`);
        });
      }
      const heard = await Promise.all(
        people.map(async (person) => {
          const texts = [];
          let last = 0;
          for (let n = 0; n < 100; n += 1) {
            const { text, id } = await person.next('msg');
            assert.ok(id > last);
            last = id;
            texts.push(text);
          }
          return texts;
        }),
      );
      assert.equal(new Set(heard[0]).size, 100);
      for (const texts of heard) assert.deepEqual(texts, heard[0]);
      for (let i = 0; i < 5; i += 1) {
        const own = heard[0].filter((text) => text.startsWith(`${i}:`));
        assert.deepEqual(
          own,
          Array.from({ length: 20 }, (_, n) => `${i}:${n}`),
        );
      }
    });

    test('frames that follow a join at once count as said in the room', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      ada.send({ t: 'join', room: 'lobby' });
      ada.say('lobby', 'impatient', 'r1');
      const joined = await ada.next('joined');
      const { id } = await ada.next('ack');
      const heard = [...joined.history, ...ada.frames].filter((frame) => frame.t === 'msg');
      assert.deepEqual(
        heard.map((frame) => frame.id),
        [id],
      );
    });

    test('messages stay in their room', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      const bob = await Client.connect(t, url, { name: 'Bob' });
      await ada.join('one');
      await bob.join('two');
      ada.say('one', 'for one');
      await ada.next('msg');
      await bob.settled();
      assert.deepEqual(bob.frames, []);
    });

    test('presence and typing reach the others', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      const bob = await Client.connect(t, url, { name: 'Bob' });
      await ada.join('lobby');
      await bob.join('lobby');
      assert.deepEqual(await ada.next('presence'), {
        t: 'presence',
        room: 'lobby',
        name: 'Bob',
        on: true,
      });
      bob.send({ t: 'typing', room: 'lobby', on: true });
      assert.deepEqual(await ada.next('typing'), {
        t: 'typing',
        room: 'lobby',
        name: 'Bob',
        on: true,
      });
      bob.send({ t: 'leave', room: 'lobby' });
      assert.deepEqual(await bob.next('left'), { t: 'left', room: 'lobby' });
      assert.equal((await ada.next('presence')).on, false);
      await bob.join('lobby');
      assert.equal((await ada.next('presence')).on, true);
      bob.ws.close();
      assert.equal((await ada.next('presence')).on, false);
      assert.equal(bob.frames.filter((frame) => frame.t === 'typing').length, 0);
    });

    test('a person who joins gets the newest messages, also those of an earlier life of the room', async (t) => {
      const { url } = await start(t, { policy, limits: { historyLength: 3 } });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      await ada.join('lobby');
      for (const text of ['1', '2', '3', '4']) {
        ada.say('lobby', text, text);
        await ada.next('ack');
      }
      const bob = await Client.connect(t, url, { name: 'Bob' });
      const texts = async (client) => (await client.join('lobby')).history.map((m) => m.text);
      assert.deepEqual(await texts(bob), ['2', '3', '4']);
      ada.send({ t: 'leave', room: 'lobby' });
      bob.send({ t: 'leave', room: 'lobby' });
      await ada.next('left');
      await bob.next('left');
      assert.deepEqual(await texts(bob), ['2', '3', '4']);
    });

    test('a new name is announced and used from then on', async (t) => {
      const { url } = await start(t, { policy });
      const ada = await Client.connect(t, url, { name: 'Ada' });
      const bob = await Client.connect(t, url, { name: 'Bob' });
      await ada.join('lobby');
      await bob.join('lobby');
      ada.send({ t: 'nick', name: 'Countess' });
      assert.deepEqual(await ada.next('nick'), { t: 'nick', name: 'Countess' });
      const notice = await bob.next('notice');
      assert.equal(notice.kind, 'nick');
      assert.deepEqual([notice.old, notice.name], ['Ada', 'Countess']);
      ada.say('lobby', 'it is me');
      assert.equal((await bob.next('msg')).from, 'Countess');
    });

    test('a session brings name and moderation back, and ends its former connection', async (t) => {
      const { url } = await start(t, { policy });
      const first = await Client.connect(t, url, { name: 'Ada' });
      assert.equal((await first.join('lobby')).moderator, 'Ada');
      const second = await Client.connect(t, url, { name: 'Ada', session: first.hello.session });
      assert.equal(second.name, 'Ada');
      assert.equal((await first.closed).code, 4001);
      assert.deepEqual(await second.join('lobby').then((j) => [j.moderator, j.members]), [
        'Ada',
        ['Ada'],
      ]);
    });
  });
}

test('with batching, the audit log has the events from before it was open', async (t) => {
  const dataDir = await temporaryFolder(t);
  const chat = await start(t, { policy: 'adaptive', dataDir });
  const ada = await Client.connect(t, chat.url, { name: 'Ada' });
  await ada.join('lobby');
  const lines = await until(async () => {
    const text = await readFile(join(dataDir, 'audit.log'), 'utf8');
    return text.includes('"presence"') && text.trim().split('\n').map(JSON.parse);
  });
  assert.equal(lines[0].type, 'system');
  assert.equal(lines[0].kind, 'start');
  assert.deepEqual(lines.find((line) => line.type === 'presence').name, 'Ada');
  assert.equal(chat.stats().unhandled, 0);
});

test('without batching, an event without a listener is lost, and counted', async (t) => {
  const dataDir = await temporaryFolder(t);
  const chat = await start(t, { policy: 'direct', dataDir });
  assert.equal(chat.stats().unhandled, 1);
  const ada = await Client.connect(t, chat.url, { name: 'Ada' });
  await ada.join('lobby');
  const text = await until(async () => {
    const log = await readFile(join(dataDir, 'audit.log'), 'utf8');
    return log.includes('"presence"') && log;
  });
  assert.ok(!text.includes('"start"'));
});
