import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder, until } from '../../../scripts/lib/program-tests.js';
import { MOST_STREAMS, MOST_UPLOAD_BYTES } from '../settings.js';
import { BODIES } from './bodies.js';
import { counted, countsOf, rawConnection, request, start, upload } from './support.js';

/** Minutes of work, unless somebody ends it. */
const ENDLESS = '/fibonacci?n=3000000&algorithm=paper';

/** Has a thread busy until the test ends it. */
function occupy(t, url) {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const answer = fetch(url + ENDLESS, { signal: ended.signal }).catch((error) => error);
  return { ended, answer };
}

const isIdle = ({ pool }) => {
  const { running, queued } = pool.stats();
  return running === 0 && queued.total === 0;
};

test('a client that gives up ends its task, and harms nobody', async (t) => {
  const service = await start(t, { threads: 1 });
  const { ended, answer } = occupy(t, service.url);
  await until(() => service.pool.stats().running === 1);
  const other = request(service.url, '/fibonacci?n=10');
  await until(() => service.pool.stats().queued.total === 1);
  ended.abort();
  assert.equal((await answer).name, 'AbortError');
  await until(() => isIdle(service));
  assert.equal((await other).body.first, '55');
  assert.equal(service.pool.stats().crashed, 0);
  assert.deepEqual(service.logged, []);
});

for (const path of [
  '/records?count=10000000',
  '/records?count=10000000&format=ndjson',
  '/rsa-fibonacci-multithreaded?n=3000000&algorithm=paper',
]) {
  test(`a client that gives up ends all tasks of ${path}`, async (t) => {
    const service = await start(t);
    const ended = new AbortController();
    const answer = fetch(service.url + path, { signal: ended.signal });
    await until(() => service.pool.stats().running === 2);
    ended.abort();
    await assert.rejects(
      answer.then((response) => response.text()),
      { name: 'AbortError' },
    );
    await until(() => isIdle(service));
    assert.equal((await request(service.url, '/fibonacci?n=10')).body.first, '55');
    assert.deepEqual(service.logged, []);
  });
}

test('a client that reads nothing is sent no more than fits', async (t) => {
  const service = await start(t);
  const raw = await rawConnection(t, service.url);
  raw.socket.pause();
  raw.socket.write('GET /records?count=10000000&format=ndjson HTTP/1.1\r\nhost: x\r\n\r\n');
  // Tasks end, and then no new ones begin: more than what the system's buffers hold would be 130 of them in all.
  await until(() => service.pool.completed > 0);
  let before = -1;
  await until(async () => {
    const now = service.pool.completed;
    const stands = now === before && isIdle(service);
    before = now;
    await request(service.url, '/fibonacci-single?n=20000&algorithm=paper');
    return stands;
  });
  assert.ok(service.pool.completed < 40, `${service.pool.completed} pieces for nobody`);
  raw.socket.destroy();
  // Its place is free again, as well.
  await until(async () => {
    const ask = () => request(service.url, '/records?count=1');
    const answers = await Promise.all([ask(), ask(), ask(), ask()]);
    return answers.every(({ status }) => status === 200);
  });
});

test('clients that are waited for in vain lose their connections, and others get their places', async (t) => {
  const service = await start(t, { idleMs: 500 });
  const stalled = [
    'GET /records?count=10000000&format=ndjson HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /records-single?count=10000000&format=ndjson HTTP/1.1\r\nhost: x\r\n\r\n',
    'POST /process-large-file HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n',
    'POST /process-large-file HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nwords',
  ];
  const closed = [];
  const watch = (socket) => closed.push(once(socket, 'close'));
  service.server.on('connection', watch);
  for (const head of stalled) {
    const raw = await rawConnection(t, service.url);
    raw.socket.pause();
    raw.socket.write(head);
  }
  await until(() => closed.length === stalled.length);
  service.server.off('connection', watch);
  // One that is slow is waited for in vain as well.
  const ask = () => request(service.url, '/records?count=1').catch(() => ({ status: 0 }));
  await Promise.all(closed);
  await until(async () => {
    const answers = await Promise.all([ask(), ask(), ask(), ask()]);
    return answers.every(({ status }) => status === 200);
  });
  assert.deepEqual(service.logged, []);
});

test('an upload that waits for a thread is not idle', async (t) => {
  const service = await start(t, { threads: 1, idleMs: 3_000 });
  const { ended } = occupy(t, service.url);
  await until(() => service.pool.stats().running === 1);
  const body = BODIES['newlines only'];
  const answer = upload(service.url, body);
  await until(() => service.pool.queueSize === 2);
  // Longer than a client may be idle that is waited for.
  await sleep(4_000);
  ended.abort();
  assert.deepEqual(countsOf((await answer).body), counted(body));
});

test('the largest upload may come slowly', async (t) => {
  const { server } = await start(t);
  const { requestTimeout, headersTimeout } = server;
  assert.ok(MOST_UPLOAD_BYTES / (requestTimeout / 1000) < 256 * 1024, `${requestTimeout} ms`);
  assert.equal(headersTimeout, 60_000);
});

test('when the queue is full a request is refused, with the time to come back', async (t) => {
  const service = await start(t, { threads: 1, queue: 1 });
  const { ended } = occupy(t, service.url);
  await until(() => service.pool.stats().running === 1);
  const waiting = request(service.url, '/fibonacci?n=10');
  await until(() => service.pool.queueSize === 1);
  for (const path of ['/fibonacci?n=10', '/records?count=10', '/rsa-fibonacci-multithreaded?n=9']) {
    const { status, headers, body } = await request(service.url, path);
    assert.equal(status, 503);
    assert.match(headers.get('retry-after'), /^[1-9]\d?$/);
    assert.equal(body.error.code, 'overloaded');
  }
  // What is sent along with a refused request does not keep its answer from coming.
  const refused = await upload(service.url, Buffer.alloc(1024 * 1024));
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'overloaded']);
  ended.abort();
  assert.equal((await waiting).body.first, '55');
  assert.equal((await request(service.url, '/fibonacci?n=10')).status, 200);
});

test('without a queue a thread that is free is still used', async (t) => {
  const service = await start(t, { threads: 1, queue: 0 });
  assert.equal((await request(service.url, '/fibonacci?n=10')).status, 200);
  occupy(t, service.url);
  await until(() => service.pool.stats().running === 1);
  assert.equal((await request(service.url, '/fibonacci?n=10')).status, 503);
});

test('a task that has begun finishes, though the queue is full for others', async (t) => {
  const service = await start(t, { threads: 1, queue: 0 });
  const records = request(service.url, '/records?count=120000');
  await until(() => service.pool.stats().running === 1);
  assert.equal((await request(service.url, '/fibonacci?n=10')).status, 503);
  assert.equal((await records).body.records, 120_000);
});

test('of the requests that block the main thread only a few wait', async (t) => {
  const { url } = await start(t);
  const raw = await rawConnection(t, url);
  // Sent together, they are all read before the first begins.
  const ask = 'GET /fibonacci-single?n=1000 HTTP/1.1\r\nhost: x\r\n\r\n';
  raw.socket.write(ask.repeat(5) + ask.replace('host', 'connection: close\r\nhost'));
  await once(raw.socket, 'close');
  const statuses = Array.from(raw.text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);
  assert.deepEqual(statuses, ['200', '200', '200', '503', '503', '503']);
  assert.match(raw.text, /retry-after: 1/i);
  assert.equal((await request(url, '/fibonacci-single?n=10')).status, 200);
});

test('an upload that breaks off leaves nothing behind', async (t) => {
  const service = await start(t);
  for (let n = 0; n < 6; n += 1) {
    const raw = await rawConnection(t, service.url);
    const closed = once(raw.socket, 'close');
    const head = 'POST /process-large-file HTTP/1.1\r\nhost: x\r\n';
    const chunked = n % 2 === 1;
    raw.socket.write(
      `${head}${chunked ? 'transfer-encoding: chunked' : 'content-length: 50000000'}\r\n\r\n`,
    );
    const begun = service.pool.completed;
    if (chunked) raw.socket.write(`${(50_000_000).toString(16)}\r\n`);
    raw.socket.write(BODIES['newlines only']);
    await until(() => service.pool.completed > begun);
    if (n < 4) raw.socket.destroy();
    else raw.socket.end();
    await closed;
  }
  await until(() => isIdle(service));
  // All places are free again.
  const body = BODIES['no newline'];
  const answers = await Promise.all(Array.from({ length: 4 }, () => upload(service.url, body)));
  for (const answer of answers) assert.deepEqual(countsOf(answer.body), counted(body));
  assert.deepEqual(service.logged, []);
});

test('an upload is read no faster than the threads can take it', async (t) => {
  const service = await start(t, { threads: 1 });
  const { ended } = occupy(t, service.url);
  await until(() => service.pool.stats().running === 1);
  const raw = await rawConnection(t, service.url);
  raw.socket.write(
    `POST /process-large-file HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${64 * 1024 * 1024}\r\n\r\n`,
  );
  const block = Buffer.alloc(1024 * 1024, 'some words\n');
  for (let n = 0; n < 64; n += 1) raw.socket.write(block);
  // Two tasks wait, as many as one thread may have under way; all the rest waits at the client.
  await until(() => service.pool.queueSize === 2);
  let before = -1;
  await until(async () => {
    const sent = raw.socket.bytesWritten - raw.socket.writableLength;
    const stands = sent === before;
    before = sent;
    await request(service.url, '/fibonacci-single?n=20000&algorithm=paper');
    return stands;
  });
  assert.equal(service.pool.queueSize, 2);
  assert.ok(raw.socket.writableLength > 30 * 1024 * 1024, `${raw.socket.writableLength} are left`);
  ended.abort();
  await once(raw.socket, 'close');
  assert.match(raw.text, /^HTTP\/1\.1 200 [\s\S]*"bytes":67108864,/);
});

test('files on the disk: the same counts, and nothing from outside of the folder', async (t) => {
  const data = await temporaryFolder(t);
  const expected = new Map();
  for (const [name, body] of Object.entries(BODIES)) {
    await writeFile(join(data, name), body);
    expected.set(name, counted(body));
  }
  const outside = join(await temporaryFolder(t), 'secret');
  await writeFile(outside, 'secret');
  await symlink(outside, join(data, 'link'));
  await mkdir(join(data, 'folder'));
  const { url } = await start(t, { data });
  for (const [name, counts] of expected) {
    const answer = await request(url, `/process-file?name=${encodeURIComponent(name)}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(countsOf(answer.body), counts, name);
  }
  const { body } = await request(url, '/files');
  assert.deepEqual(body.files, Object.keys(BODIES).sort());
  for (const name of [
    'absent',
    '../secret',
    outside,
    'link',
    'folder',
    '..',
    '.',
    'a\0b',
    'sample.ndjson',
  ]) {
    const { status, body } = await request(url, `/process-file?name=${encodeURIComponent(name)}`);
    assert.equal(status, 404, name);
    assert.equal(body.error.code, 'unknown_file');
  }
});

test('the sample is made when it is asked for, once', async (t) => {
  const { url } = await start(t, { sampleRecords: 30_001 });
  const ask = () => request(url, '/process-file?name=sample.ndjson');
  const [{ body: first }, { body: second }] = await Promise.all([ask(), ask()]);
  assert.deepEqual(countsOf(first), countsOf(second));
  const { body } = await request(url, '/records?count=30001');
  assert.deepEqual([first.lines, first.bytes, first.crc32], [30_001, body.bytes, body.crc32]);
});

test('a task that ends its worker is an error of the server, which goes on', async (t) => {
  const service = await start(t, { threads: 1 });
  await request(service.url, '/fibonacci?n=10');
  const { answer } = occupy(t, service.url);
  const [worker] = service.pool.threads;
  // A task that was sent, but has not begun, would run on another thread. Its loop does not wait for anything any more.
  let idle = -1;
  await until(() => {
    const before = idle;
    ({ idle } = worker.performance.eventLoopUtilization());
    return service.pool.stats().running === 1 && idle === before;
  });
  await worker.terminate();
  const response = await answer;
  assert.equal(response.status, 500);
  assert.equal((await response.json()).error.code, 'internal');
  assert.match(service.logged[0], /^GET \/fibonacci: /);
  assert.equal((await request(service.url, '/fibonacci?n=10')).body.first, '55');
});

test('events tell what happens, as long as somebody listens', async (t) => {
  const service = await start(t);
  occupy(t, service.url);
  const ended = new AbortController();
  t.after(() => ended.abort());
  const response = await fetch(`${service.url}/events`, { signal: ended.signal });
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const told = Array.from(text.matchAll(/^data: (.*)\n\n/gm), ([, json]) => JSON.parse(json));
    const busy = told.find(({ running }) => running === 1);
    if (!busy) continue;
    assert.equal(busy.workers, 2);
    assert.ok(busy.busy.length >= 1 && busy.busy.every((share) => share >= 0 && share <= 1));
    assert.ok(busy.rss > 0);
    break;
  }
});

test('limits the number of listening pages', async (t) => {
  const { url } = await start(t);
  const ended = new AbortController();
  t.after(() => ended.abort());
  const listen = () => fetch(`${url}/events`, { signal: ended.signal });
  const all = await Promise.all(Array.from({ length: MOST_STREAMS }, listen));
  assert.ok(all.every(({ status }) => status === 200));
  assert.equal((await request(url, '/events')).status, 503);
  all[0].body.cancel();
  await until(async () => (await listen()).status === 200);
});
