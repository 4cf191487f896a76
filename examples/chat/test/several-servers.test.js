/** Several servers with one database and one real broker; those that are killed or stopped are processes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { natsServer, unable } from '../../../packages/nats/test/nats.js';
import { startProgram, temporaryFolder, until } from '../../../scripts/lib/program-tests.js';
import { Client, postJson, request, start } from './support.js';

const SERVER = fileURLToPath(new URL('server.js', import.meta.url));
const room = 'lobby';

/**
 * Servers with one broker; the database is a file, which they share as they would share PostgreSQL. Where none is killed, a machine
 * that is slow must not make one of them seem to be.
 */
async function servers(t, count, begin = start, limits = {}) {
  const broker = await natsServer(t);
  const dir = await temporaryFolder(t);
  const options = {
    broker: broker.url,
    database: join(dir, 'chat.db'),
    floodLimit: 0,
    limits: {
      serverHeartbeatMs: 5_000,
      storageTimeoutMs: 60_000,
      stopMs: 600_000,
      ...limits,
    },
  };
  const started = [];
  for (let n = 0; n < count; n += 1) {
    // A folder of its own: a server that is killed removes none.
    started.push(await begin(t, { ...options, dataDir: join(dir, `server-${n}`) }));
  }
  return { broker, servers: started };
}

const asProcess = (t, options) =>
  startProgram(t, [SERVER, JSON.stringify(options)], { DATABASE_URL: '', BROKER_URL: '' });

/** One person at each server, all in the room and all aware of each other. */
async function people(t, started, names) {
  const here = [];
  for (const [n, name] of names.entries()) {
    const person = await Client.connect(t, started[n].url, { name });
    person.members = new Set();
    // Before it joins: what follows may come in the same packet.
    person.ws.on('message', (data) => {
      const { t: type, members, name: who, on } = JSON.parse(data);
      if (type === 'joined') person.members = new Set(members);
      if (type !== 'presence') return;
      if (on) person.members.add(who);
      else person.members.delete(who);
    });
    await person.join(room);
    here.push(person);
    for (const each of here) await knows(each, names.slice(0, n + 1));
  }
  return here;
}

const knows = (person, names) =>
  until(() => String([...person.members].sort()) === String([...names].sort()));

/** What a person has been told, by its sender: texts in the order in which they came. */
function heard(person) {
  const texts = {};
  for (const { from, text } of person.frames.filter(({ t }) => t === 'msg')) {
    texts[from] ??= [];
    texts[from].push(text);
  }
  return texts;
}

const numbers = (count) => Array.from({ length: count }, (_, n) => String(n));

describe('several servers', { skip: unable, concurrency: true }, () => {
  for (const count of [2, 3]) {
    test(`${count}: everybody gets each message once, those of a sender in order`, async (t) => {
      const { servers: started } = await servers(t, count);
      const names = ['Ada', 'Bob', 'Cyd'].slice(0, count);
      const all = await people(t, started, names);
      const texts = numbers(60);
      for (const text of texts) for (const person of all) person.say(room, text, text);
      const expected = Object.fromEntries(names.map((name) => [name, texts]));
      for (const person of all) {
        await until(
          () => person.frames.filter(({ t: type }) => type === 'msg').length >= 60 * count,
        );
        await person.settled();
        assert.deepEqual(heard(person), expected);
        assert.equal(person.frames.filter(({ t: type }) => type === 'ack').length, 60);
      }
      // A member here, and the messages of all servers, whoever has loaded the room before.
      const late = await Client.connect(t, started[0].url, { name: 'Late' });
      const joined = await late.join(room);
      assert.deepEqual(joined.members.sort(), [...names, 'Late']);
      const { body } = await request(started.at(-1).url, `/api/rooms/${room}/messages`);
      assert.deepEqual(joined.history, body.messages);
    });
  }

  test('names, leaving and deleting are seen by everybody', async (t) => {
    const { servers: started } = await servers(t, 2);
    const [ada, bob] = await people(t, started, ['Ada', 'Bob']);
    ada.send({ t: 'nick', name: 'Adele' });
    assert.equal((await bob.next('notice')).name, 'Adele');
    ada.say(room, 'gone', 'x');
    const { id } = await bob.next('msg');
    // From now on it is in the memory of Bob's server, which Bob does not empty.
    const cyd = await Client.connect(t, started[1].url, { name: 'Cyd' });
    assert.equal((await cyd.join(room)).history.length, 1);
    ada.send({ t: 'mod', room, action: 'delete', target: id });
    assert.equal((await bob.next('notice')).id, id);
    bob.send({ t: 'leave', room });
    assert.equal((await ada.next('presence', ({ on }) => !on)).name, 'Bob');
    const again = await bob.join(room);
    assert.deepEqual(again.members.sort(), ['Adele', 'Bob', 'Cyd']);
    assert.deepEqual(again.history, []);
    // Who has another name from now on has neither come nor left.
    await ada.settled();
    const seen = [...ada.frames, ...bob.frames].filter(({ t: type }) => type === 'presence');
    assert.ok(!seen.some(({ name, on }) => name === 'Adele' || (name === 'Ada' && !on)));
  });

  test('a server is killed: its people leave, and come back elsewhere', async (t) => {
    const { servers: started } = await servers(t, 3, asProcess, { serverHeartbeatMs: 2_500 });
    const [ada, bob, cyd] = await people(t, started, ['Ada', 'Bob', 'Cyd']);
    started[1].child.kill('SIGKILL');
    for (const person of [ada, cyd]) {
      await knows(person, ['Ada', 'Cyd']);
      const offs = person.frames.filter(({ t: type, on }) => type === 'presence' && !on);
      assert.deepEqual(offs, [{ t: 'presence', room, name: 'Bob', on: false }]);
    }
    const { name, session } = bob.hello;
    const back = await Client.connect(t, started[2].url, { name, session });
    assert.deepEqual((await back.join(room)).members.sort(), ['Ada', 'Bob', 'Cyd']);
    await knows(ada, ['Ada', 'Bob', 'Cyd']);
    ada.say(room, 'hello', 'x');
    assert.equal((await back.next('msg')).text, 'hello');
  });

  test('a server that stops has told the others all that it has stored, and that its people left', async (t) => {
    const { servers: started } = await servers(t, 2, asProcess);
    const [ada, bob] = await people(t, started, ['Ada', 'Bob']);
    for (const text of numbers(300)) ada.say(room, text, text);
    await ada.next('ack');
    started[0].child.kill('SIGTERM');
    assert.equal((await started[0].exited).code, 0);
    await knows(bob, ['Bob']);
    const { history } = await (await Client.connect(t, started[1].url, { name: 'Cyd' })).join(room);
    await bob.settled();
    const texts = heard(bob).Ada;
    assert.deepEqual(texts, numbers(texts.length));
    assert.equal(history.at(-1).text, texts.at(-1));
  });

  test('the broker is away: each server goes on, and the history has what others missed', async (t) => {
    const { broker, servers: started } = await servers(t, 2);
    const [ada, bob] = await people(t, started, ['Ada', 'Bob']);
    await broker.kill();
    ada.say(room, 'alone', 'x');
    await ada.next('ack');
    await ada.next('msg', ({ text }) => text === 'alone');
    await broker.start();
    // Sent until the servers have found each other again.
    await until(async () => {
      await postJson(started[0].url, `/api/rooms/${room}/messages`, { from: 'Bot', text: 'again' });
      return heard(bob).Bot !== undefined;
    });
    assert.equal(heard(bob).Ada, undefined);
    assert.deepEqual([...bob.members].sort(), ['Ada', 'Bob']);
    bob.send({ t: 'leave', room });
    const { history } = await bob.join(room);
    assert.equal(history[0].text, 'alone');
  });
});
