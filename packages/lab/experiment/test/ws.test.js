import assert from 'node:assert/strict';
import test from 'node:test';
import { rawServer } from '../../load/test/servers.js';
import { drive } from './drive.js';

test('ws: deliveries are counted, in both modes', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  const url = `ws://127.0.0.1:${server.port}/`;
  const times2 = { connections: 4, rooms: 2, warmup: 0.2, seconds: 1.2, drain: 600 };
  const closed = await drive('ws', times2, { url });
  assert.deepEqual(closed.marks, ['begin', 'end']);
  assert.deepEqual(closed.faults, []);
  assert.equal(closed.isClosed, true);
  assert.ok(closed.work[0].answers > 0 && closed.values.lost === 0);
  // None where a busy machine has let no message be sent in the window.
  assert.ok(closed.latency === null || closed.latency.p50 > 0);
  // A point for each whole quarter of a second; a window that ends late has one more.
  const { length } = closed.series.msgs_per_s;
  assert.ok(length === 4 || length === 5, `${length}`);
  const open = { ...times2, mode: 'open', rate: ({ seed }) => 50 * seed };
  const one = await drive('ws', open, { url });
  const other = await drive('ws', open, { url });
  assert.equal(one.isClosed, false);
  assert.deepEqual(one.work, other.work, 'the same seed is the same work');
});

test('ws: what is lost is a fault, or a value where it may be', async (t) => {
  let n = 0;
  const server = await rawServer((member, text) => {
    if (++n % 50 !== 0) member.send(text);
  });
  t.after(() => server.close());
  const url = `ws://127.0.0.1:${server.port}/`;
  const load = { connections: 4, mode: 'open', rate: 100, warmup: 0.2, seconds: 0.6, drain: 0.2 };
  const strict = await drive('ws', load, { url });
  assert.match(strict.faults[0], /^deliveries: \d+ lost/);
  const lenient = await drive('ws', { ...load, mayLose: true }, { url });
  assert.deepEqual(lenient.faults, []);
  assert.ok(lenient.values.lost > 0);
  assert.equal(lenient.work[0].mayFail, true);
});
