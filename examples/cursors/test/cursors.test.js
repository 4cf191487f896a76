// The server and its readers. Counts only: nothing here depends on how fast the machine is.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readArgs } from '../args.js';
import { Cursors, decode, encode, placeOf } from '../cursors.js';
import { Reader } from '../reader.js';
import { CursorServer } from '../server.js';

const cursors = 1000;

async function open(t, options = {}) {
  const server = new CursorServer({ cursors, rate: 20_000, slow: 100, ...options });
  t.after(() => server.close());
  return { server, port: await server.listen(0) };
}

/** A reader, and what it has of each cursor. */
async function openReader(t, port, path, slow = false) {
  const latest = new Map();
  const reader = new Reader({
    slow,
    onMessage(message) {
      const { id, time } = decode(message);
      latest.set(id, time);
    },
  });
  await reader.connect(port, path);
  t.after(() => reader.close());
  return { reader, latest };
}

/** Resolves when `holds()` does; it is looked at every few ms. */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const isAt = ({ latest }, time) =>
  latest.size === cursors && [...latest.values()].every((value) => value === time);

describe('a server of 1,000 cursors and 20 readers', () => {
  test('gives the one that reads nothing for 20 rounds the last place of each cursor', async (t) => {
    const { server, port } = await open(t);
    const fast = [];
    for (let n = 0; n < 19; n++) fast.push(await openReader(t, port, '/live'));
    const slow = await openReader(t, port, '/live', true);
    const rounds = 20;
    for (let round = 1; round <= rounds; round++) {
      for (let n = 0; n < cursors; n++) server.move(round);
      server.conflated.flush();
      for (const reader of fast) await until(() => isAt(reader, round));
    }
    slow.reader.allow(Number.POSITIVE_INFINITY);
    await until(() => isAt(slow, rounds));
    // Messages that were on their way when it stopped reading, and each cursor once.
    assert.ok(slow.reader.count < 2 * cursors, `${slow.reader.count}`);
    const { slowSuperseded, slowClosed, superseded } = server.conflated.stats();
    assert.deepEqual([slowClosed, superseded], [0, 0]);
    assert.ok(slowSuperseded > (rounds - 2) * cursors * 0.9, `${slowSuperseded}`);
  });

  test('publishes what moves again before it has left once', async (t) => {
    const { server, port } = await open(t);
    const reader = await openReader(t, port, '/live');
    for (let round = 1; round <= 10; round++) for (let n = 0; n < cursors; n++) server.move(round);
    server.conflated.flush();
    await until(() => isAt(reader, 10));
    assert.equal(reader.reader.count, cursors);
    assert.equal(server.conflated.stats().superseded, 9 * cursors);
  });

  test('gives a reader without keys the whole past', async (t) => {
    const { server, port } = await open(t, { slow: 1 });
    const past = await openReader(t, port, '/past');
    for (let round = 1; round <= 3; round++) for (let n = 0; n < cursors; n++) server.move(round);
    server.plain.flush();
    await until(() => isAt(past, 3));
    assert.equal(past.reader.count, 3 * cursors);
  });

  test('gives an event stream the same messages, in base64', async (t) => {
    const { server, port } = await open(t);
    const response = await fetch(`http://127.0.0.1:${port}/events`);
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    for (let n = 0; n < cursors; n++) server.move(7);
    server.conflated.flush();
    const latest = new Map();
    let text = '';
    for await (const bytes of response.body) {
      text += Buffer.from(bytes);
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) {
        const { id, time } = decode(Buffer.from(event.slice('data: '.length), 'base64'));
        latest.set(id, time);
      }
      if (isAt({ latest }, 7)) break;
    }
  });

  test('serves the page, and nothing else', async (t) => {
    const { port } = await open(t);
    for (const [path, status, type] of [
      ['/', 200, /html/],
      ['/app.js', 200, /javascript/],
      ['/style.css', 200, /css/],
      ['/server.js', 404, /^$/],
      ['/../args.js', 404, /^$/],
    ]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      assert.equal(response.status, status, path);
      assert.match(response.headers.get('content-type') ?? '', type);
      await response.arrayBuffer();
    }
  });
});

test('a message says where a cursor is', () => {
  const cursor = { id: 513, ...placeOf(513, 12_345), time: 1_700_000_000_123 };
  const { x, y, ...others } = decode(encode(cursor));
  assert.deepEqual(others, { id: 513, time: 1_700_000_000_123 });
  assert.ok(Math.abs(x - cursor.x) < 1e-4 && Math.abs(y - cursor.y) < 1e-4);
  for (let id = 0; id < 1000; id++) {
    for (const value of Object.values(placeOf(id, id * 977))) assert.ok(value >= 0 && value <= 1);
  }
  const few = new Cursors(2);
  assert.deepEqual(
    [1, 2, 3].map((time) => decode(few.move(time)).id),
    [0, 1, 0],
  );
});

test('options out of their range are refused by name', () => {
  assert.equal(readArgs([]).cursors, 1000);
  for (const [args, message] of [
    [['--cursors', '0'], '--cursors is "0"; allowed are whole numbers from 1 to 10000.'],
    [['--readers', '5'], '--readers is an option of --measure.'],
    [['--rate', 'fast'], '--rate is "fast"; allowed are whole numbers from 1 to 100000.'],
    [['--nothing'], "Unknown option '--nothing'. --help lists the options."],
  ]) {
    assert.throws(() => readArgs(args), { message });
  }
});
