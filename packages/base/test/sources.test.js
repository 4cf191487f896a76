import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Guard } from '@millrace/guard';
import { cached } from '@millrace/guard/cached';
import { monitor } from '@millrace/monitor';
import { Pool } from '@millrace/pool';
import { BatchEmitter, batch, sources } from 'millrace';
import { stats as fileStats, readFile } from 'millrace/fs';
import { coalesce, enlarge } from 'millrace/net';
import { install, Rooms } from 'millrace/ws';
import { WebSocket } from 'ws';

v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');

/** What is told of while `make` runs. */
function toldOf(make) {
  const told = [];
  const take = (source) => told.push(source);
  subscribe('millrace:source', take);
  try {
    return { made: make(), told };
  } finally {
    unsubscribe('millrace:source', take);
  }
}

const newest = (kind) => sources().findLast((source) => source.kind === kind);

test('every object with counters is announced once, and found later', async (t) => {
  const { made, told } = toldOf(() => ({
    emitter: new BatchEmitter(),
    batch: batch(async (items) => items),
    rooms: new Rooms(),
    install: install(WebSocket),
    guard: new Guard(),
    cached: cached(() => {}, { ttl: 1 }),
    monitor: monitor(),
    pool: new Pool({ minThreads: 0 }),
  }));
  t.after(async () => {
    made.install.uninstall();
    made.monitor.stop();
    await made.pool.destroy();
  });
  assert.deepEqual(
    told.map(({ kind }) => kind),
    Object.keys(made),
  );
  for (const { kind, stats } of told) assert.equal(typeof stats, 'function', kind);
  for (const source of told) assert.ok(sources().includes(source), source.kind);
  const numbers = Object.fromEntries(told.map((source) => [source.kind, source.stats()]));
  assert.deepEqual(numbers.emitter, made.emitter.stats());
  assert.deepEqual(numbers.pool.queued, made.pool.stats().queued);
  assert.equal(typeof numbers.monitor.gc.count, 'number');
});

test('its counters are those of the object', async () => {
  const emitter = new BatchEmitter();
  const source = newest('emitter');
  emitter.on('event', () => {});
  emitter.emit('event', 1);
  emitter.emit('event', 2);
  await nextTurn();
  assert.equal(source.stats().pushed, 2);
  assert.equal(source.stats().delivered, 2);

  const load = batch(async (items) => items);
  const calls = newest('batch');
  await Promise.all([load(1), load(2)]);
  assert.equal(calls.stats().delivered, 2);
  assert.equal(calls.stats().batches, 1);
});

test('a class derived from the emitter may have a stats() of its own', () => {
  class Own extends BatchEmitter {
    stats() {
      return 'mine';
    }
  }
  const own = new Own();
  assert.equal(newest('emitter').stats().pushed, 0);
  assert.equal(own.stats(), 'mine');
});

test('files and sockets have one source for all of them', async (t) => {
  const files = newest('fs');
  const { reads } = fileStats();
  await readFile(import.meta.filename ?? new URL(import.meta.url).pathname);
  assert.equal(files.stats().reads, reads + 1);

  const server = net.createServer((socket) => {
    coalesce(socket);
    socket.write('a');
    socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const before = newest('coalesce').stats().writes;
  for (let i = 0; i < 2; i += 1) {
    const client = net.connect(server.address().port, '127.0.0.1');
    enlarge(client);
    await once(client.resume(), 'close');
  }
  assert.equal(newest('coalesce').stats().writes, before + 2);
  assert.equal(typeof newest('enlarge').stats().connections, 'number');
});

test('nothing is kept alive, and what is gone has no counters', async () => {
  const { told } = toldOf(() => {
    for (let i = 0; i < 50; i += 1) new BatchEmitter();
  });
  // A weak reference holds until the turn is over.
  await nextTurn();
  gc();
  await nextTurn();
  assert.equal(told.length, 50);
  assert.ok(told.filter((source) => source.stats() === null).length >= 49);
  const known = new Set(sources());
  assert.ok(told.filter((source) => known.has(source)).length <= 1);
});

test('there are places for so many of a kind, and those that are gone give them up', async () => {
  let held = Array.from({ length: 1000 }, () => new BatchEmitter());
  const emitters = () => sources().filter(({ kind }) => kind === 'emitter').length;
  assert.equal(emitters(), 256);
  assert.equal(toldOf(() => new BatchEmitter()).told.length, 0);
  assert.equal(toldOf(() => new Rooms()).told.length, 1, 'another kind');
  assert.equal(held.length, 1000);
  held = null;
  await nextTurn();
  gc();
  await nextTurn();
  assert.ok(emitters() < 10);
  assert.equal(toldOf(() => new BatchEmitter()).told.length, 1);
});
