import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Database from 'libsql';
import { temporaryFolder, until } from '../../../scripts/lib/program-tests.js';
import { createDelivery } from '../delivery/index.js';
import { ChatError } from '../errors.js';
import { limits as defaults } from '../limits.js';
import { Client, postJson, request, start } from './support.js';

const ARMS = ['direct', 'fixed', 'adaptive'];
const MESSAGES = '/api/rooms/lobby/messages';

/** A delivery whose reads of history end when the test says so, in the order in which they began. */
async function delivering(t, policy, limits) {
  const begun = [];
  const readPage = (page) =>
    new Promise((resolve, reject) => begun.push({ page, resolve, reject }));
  const delivery = await createDelivery({
    ...{ policy, maxDelay: 0, storage: {}, readPage, onError: assert.ifError },
    limits: { ...defaults, ...limits },
  });
  t.after(() => delivery.close());
  return { delivery, begun };
}

const page = (room, more) => ({ room, before: null, limit: 50, ...more });
const pagesOf = (begun) => begun.map(({ page: { room } }) => room);

/** Everything that is ready to run has run. */
const settled = () => new Promise((done) => setImmediate(done));

describe('shared reads of history', () => {
  test('give requests for the same page one query, which begins after all of them have asked', async (t) => {
    const { delivery, begun } = await delivering(t, 'adaptive');
    const first = delivery.history(page('a'));
    await settled();
    assert.deepEqual(pagesOf(begun), ['a']);

    // The read under way may have missed what they have to see.
    const later = ['a', 'b', 'a', 'a', 'b'].map((room) => delivery.history(page(room)));
    await settled();
    assert.deepEqual(pagesOf(begun), ['a']);
    assert.equal(delivery.stats().queues.reads, 2);

    begun[0].resolve('a, old');
    assert.equal(await first, 'a, old');
    await settled();
    assert.deepEqual(pagesOf(begun), ['a', 'a', 'b']);
    begun[2].resolve('b');
    begun[1].resolve('a, new');
    assert.deepEqual(await Promise.all(later), ['a, new', 'b', 'a, new', 'a, new', 'b']);
    assert.equal(delivery.stats().queues.reads, 0);
  });

  test('tell pages apart by room, end and length', async (t) => {
    const { delivery, begun } = await delivering(t, 'adaptive');
    const asked = [page('a'), page('b'), page('a', { before: 5 }), page('a', { limit: 5 })];
    const bodies = Promise.all([...asked, ...asked].map((each) => delivery.history(each)));
    await settled();
    assert.deepEqual(
      begun.map((read) => read.page),
      asked,
    );
    for (const [n, { resolve }] of begun.entries()) resolve(`body ${n}`);
    const each = asked.map((_, n) => `body ${n}`);
    assert.deepEqual(await bodies, [...each, ...each]);
  });

  test('read a bounded number of pages at the same time', async (t) => {
    const { delivery, begun } = await delivering(t, 'adaptive', { readBatch: 2 });
    const bodies = Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((room) => delivery.history(page(room))),
    );
    for (const rooms of [['a', 'b'], ['c', 'd'], ['e']]) {
      await settled();
      assert.deepEqual(pagesOf(begun), rooms);
      for (const { page: read, resolve } of begun.splice(0)) resolve(read.room);
    }
    assert.deepEqual(await bodies, ['a', 'b', 'c', 'd', 'e']);
  });

  test('give the error of a query to every request that shares it, and to no other', async (t) => {
    const { delivery, begun } = await delivering(t, 'adaptive');
    const outcomes = Promise.allSettled(
      ['a', 'b', 'a', 'a'].map((room) => delivery.history(page(room))),
    );
    await settled();
    const lost = new ChatError('storage_unavailable', 'The database is unavailable.');
    begun[0].reject(lost);
    begun[1].resolve('b');
    const [a1, b, a2, a3] = await outcomes;
    for (const each of [a1, a2, a3]) assert.equal(each.reason, lost);
    assert.equal(b.value, 'b');

    const again = delivery.history(page('a'));
    await settled();
    begun[2].resolve('a');
    assert.equal(await again, 'a');
  });

  test('are bounded: one request too many is refused, and the others get their page', async (t) => {
    const { delivery, begun } = await delivering(t, 'adaptive', { pendingReads: 2 });
    const first = delivery.history(page('a'));
    await settled();
    const queued = [delivery.history(page('a')), delivery.history(page('b'))];
    await assert.rejects(delivery.history(page('c')), { name: 'ChatError', code: 'overloaded' });
    const sharing = [delivery.history(page('a')), delivery.history(page('a'))];
    await assert.rejects(delivery.history(page('a')), { name: 'ChatError', code: 'overloaded' });
    begun[0].resolve('a');
    assert.equal(await first, 'a');
    await settled();
    for (const { page: read, resolve } of begun.slice(1)) resolve(read.room);
    assert.deepEqual(await Promise.all([...queued, ...sharing]), ['a', 'b', 'a', 'a']);
  });

  test('end with the server: reads that were asked for are made, later ones refused', async (t) => {
    const { delivery, begun } = await delivering(t, 'adaptive');
    const reads = [delivery.history(page('a')), delivery.history(page('a'))];
    const closed = delivery.close();
    await settled();
    begun[0].resolve('a');
    assert.deepEqual(await Promise.all(reads), ['a', 'a']);
    await closed;
    await assert.rejects(delivery.history(page('a')), { name: 'ChatError', code: 'stopping' });
  });

  for (const policy of ['direct', 'fixed']) {
    test(`do not exist under ${policy}: each request has a query of its own`, async (t) => {
      const { delivery, begun } = await delivering(t, policy);
      const bodies = Promise.all([1, 2, 3].map(() => delivery.history(page('a'))));
      assert.equal(begun.length, 3);
      for (const [n, { resolve }] of begun.entries()) resolve(n);
      assert.deepEqual(await bodies, [0, 1, 2]);
      assert.equal(delivery.stats().queues.reads, undefined);
    });
  }
});

/** A response as it comes over the wire, without its date. */
async function raw(url, path) {
  const [response] = await once(get(url + path, { agent: false }), 'response');
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  const { date, ...headers } = response.headers;
  return { status: response.statusCode, headers, body: Buffer.concat(chunks).toString('latin1') };
}

test('all arms answer requests for history with the same bytes, alone and together', async (t) => {
  const dataDir = await temporaryFolder(t);
  const filled = await start(t, { policy: 'direct', dataDir });
  const ada = await Client.connect(t, filled.url, { name: 'Ada' });
  await ada.join('lobby');
  await ada.join('empty');
  for (const text of ['one', 'two "quoted"', 'drei ü', '四 🎉', '</script>']) {
    ada.say('lobby', text, 'r');
    await ada.next('ack');
  }
  const { body } = await postJson(filled.url, MESSAGES, { from: 'Bot', text: 'six' });
  const up = '/api/rooms/lobby/files?from=Bot&name=a%20file';
  assert.equal((await request(filled.url, up, { method: 'POST', body: 'bytes' })).status, 201);
  await filled.close();

  const paths = [
    MESSAGES,
    `${MESSAGES}?limit=3`,
    `${MESSAGES}?limit=2&before=${body.id}`,
    `${MESSAGES}?before=1`,
    `${MESSAGES}?limit=0`,
    '/api/rooms/LOBBY/messages',
    '/api/rooms/empty/messages',
    '/api/rooms/nowhere/messages',
  ];
  const answers = [];
  for (const policy of ARMS) {
    const { url, close } = await start(t, { policy, dataDir });
    const alone = [];
    for (const path of paths) alone.push(await raw(url, path));
    const asked = Array.from({ length: 6 }, () => paths).flat();
    const together = await Promise.all(asked.map((path) => raw(url, path)));
    for (const [n, answer] of together.entries()) {
      assert.deepEqual(answer, alone[n % paths.length], `${policy}: ${asked[n]}`);
    }
    answers.push(alone);
    await close();
  }
  assert.deepEqual(
    answers[0].map(({ status }) => status),
    [200, 200, 200, 200, 400, 200, 200, 404],
  );
  assert.equal(JSON.parse(Buffer.from(answers[0][0].body, 'latin1')).messages.length, 7);
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
});

for (const policy of ARMS) {
  test(`a page that is asked for after an acknowledgement has the message, however many others ask, ${policy}`, async (t) => {
    const { url } = await start(t, { policy, maxDelay: 0 });
    const ada = await Client.connect(t, url, { name: 'Ada' });
    await ada.join('lobby');
    let done = false;
    const others = Array.from({ length: 4 }, async () => {
      while (!done) assert.equal((await request(url, MESSAGES)).status, 200);
    });
    const newest = async () => (await request(url, MESSAGES)).body.messages.at(-1)?.id;
    try {
      for (let n = 0; n < 20; n += 1) {
        ada.say('lobby', `message ${n}`, 'r');
        const { id } = await ada.next('ack');
        assert.deepEqual(await Promise.all([newest(), newest()]), [id, id]);
      }
      ada.send({ t: 'mod', room: 'lobby', action: 'delete', target: await newest() });
      const { id: deleted } = await ada.next('notice');
      assert.equal(await newest(), deleted - 1);
    } finally {
      done = true;
      await Promise.all(others);
    }
    const { body: stats } = await request(url, '/stats');
    assert.ok(stats.history_requests >= 42);
    if (policy !== 'adaptive') assert.equal(stats.history_queries, stats.history_requests);
  });
}

test('with adaptive, requests that wait for the database share one query', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { url } = await start(t, {
    policy: 'adaptive',
    dataDir,
    limits: { storageTimeoutMs: 600_000 },
  });
  const ada = await Client.connect(t, url, { name: 'Ada' });
  await ada.join('lobby');
  const counted = async () => {
    const { body } = await request(url, '/stats');
    return [body.history_requests, body.history_queries];
  };

  // Saving waits for the lock, in the one thread that reads, too.
  const other = new Database(join(dataDir, 'chat.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  ada.say('lobby', 'hello', 'r');
  await until(async () => (await request(url, '/stats')).body.queues.commands === 1);
  const first = raw(url, MESSAGES);
  await until(async () => (await counted())[1] === 1);
  const rest = Array.from({ length: 20 }, () => raw(url, MESSAGES));
  await until(async () => (await counted())[0] === 21);
  assert.deepEqual(await counted(), [21, 1]);
  other.exec('ROLLBACK');

  const { id } = await ada.next('ack');
  const answers = await Promise.all([first, ...rest]);
  assert.deepEqual(await counted(), [21, 2]);
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  assert.equal(JSON.parse(answers[0].body).messages[0].id, id);
});
