import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ARMS, Client, postJson, request, start } from './support.js';

for (const policy of ARMS) {
  describe(`moderation, ${policy}`, () => {
    async function room(t, options) {
      const chat = await start(t, { policy, ...options });
      const ada = await Client.connect(t, chat.url, { name: 'Ada' });
      const bob = await Client.connect(t, chat.url, { name: 'Bob' });
      const eve = await Client.connect(t, chat.url, { name: 'Eve' });
      for (const person of [ada, bob, eve]) await person.join('lobby');
      const mod = (person, action, target) =>
        person.send({ t: 'mod', room: 'lobby', action, target, ref: 'm' });
      return { ...chat, ada, bob, eve, mod };
    }

    test('a kicked person is out, hears why, and cannot come back at once under any name', async (t) => {
      const { ada, bob, eve, mod, url } = await room(t);
      mod(ada, 'kick', 'Eve');
      for (const person of [ada, bob, eve]) {
        const notice = await person.next('notice');
        assert.deepEqual([notice.kind, notice.name], ['kick', 'Eve']);
      }
      assert.equal((await eve.next('left')).reason, 'kick');
      assert.equal((await bob.next('presence', (f) => f.name === 'Eve' && !f.on)).room, 'lobby');
      eve.say('lobby', 'still here?', 'r1');
      assert.equal((await eve.next('error', (f) => f.ref === 'r1')).code, 'not_in_room');
      eve.send({ t: 'join', room: 'lobby', ref: 'r2' });
      assert.equal((await eve.next('error', (f) => f.ref === 'r2')).code, 'kicked');
      eve.send({ t: 'nick', name: 'Steve' });
      await eve.next('nick');
      eve.send({ t: 'join', room: 'lobby', ref: 'r3' });
      assert.equal((await eve.next('error', (f) => f.ref === 'r3')).code, 'kicked');
      const over = await postJson(url, '/api/rooms/lobby/messages', { from: 'Eve', text: 'hi' });
      assert.equal(over.body.error.code, 'kicked');
    });

    test('a kick ends after its time', async (t) => {
      const { ada, eve, mod } = await room(t, { limits: { kickMs: 1 } });
      mod(ada, 'kick', 'Eve');
      await eve.next('left');
      await sleep(10);
      assert.equal((await eve.join('lobby')).room, 'lobby');
    });

    test('a muted person is not heard until unmuted', async (t) => {
      const { ada, bob, eve, mod } = await room(t);
      mod(ada, 'mute', 'eve');
      assert.equal((await eve.next('notice')).kind, 'mute');
      eve.say('lobby', 'mmph', 'r1');
      assert.equal((await eve.next('error', (f) => f.ref === 'r1')).code, 'muted');
      eve.send({ t: 'typing', room: 'lobby', on: true, ref: 'r2' });
      assert.equal((await eve.next('error', (f) => f.ref === 'r2')).code, 'muted');
      mod(ada, 'unmute', 'Eve');
      assert.equal((await eve.next('notice')).kind, 'unmute');
      eve.say('lobby', 'thank you');
      assert.equal((await bob.next('msg')).text, 'thank you');
    });

    test('a deleted message is gone from the room, its history and the database', async (t) => {
      const { ada, bob, mod, url } = await room(t);
      bob.say('lobby', 'oops', 'r1');
      const { id } = await bob.next('ack');
      mod(ada, 'delete', id);
      const notice = await bob.next('notice');
      assert.deepEqual([notice.kind, notice.id], ['delete', id]);
      const late = await Client.connect(t, url, { name: 'Late' });
      assert.deepEqual((await late.join('lobby')).history, []);
      const { body } = await request(url, '/api/rooms/lobby/messages');
      assert.deepEqual(body.messages, []);
    });

    test('deleting a file message deletes the file', async (t) => {
      const { ada, mod, url } = await room(t);
      const path = '/api/rooms/lobby/files?from=Bot&name=a.txt';
      const { body } = await request(url, path, { method: 'POST', body: 'text' });
      assert.equal((await request(url, body.file.url)).status, 200);
      mod(ada, 'delete', body.id);
      await ada.next('notice');
      assert.equal((await request(url, body.file.url)).status, 404);
    });

    test('only the moderator moderates, and not themselves', async (t) => {
      const { ada, bob, eve, mod } = await room(t);
      for (const action of ['kick', 'mute', 'unmute']) {
        mod(bob, action, 'Eve');
        assert.equal((await bob.next('error')).code, 'not_moderator');
      }
      mod(bob, 'delete', 1);
      assert.equal((await bob.next('error')).code, 'not_moderator');
      mod(ada, 'kick', 'Ada');
      assert.equal((await ada.next('error')).code, 'bad_target');
      mod(ada, 'kick', 'Nobody');
      assert.equal((await ada.next('error')).code, 'unknown_person');
      mod(ada, 'delete', 999);
      assert.equal((await ada.next('error')).code, 'unknown_message');
      await eve.settled();
      assert.equal(eve.frames.filter((frame) => frame.t === 'notice').length, 0);
    });
  });
}
