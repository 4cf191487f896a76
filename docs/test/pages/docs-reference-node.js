import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import net from 'node:net';
import DataLoader from 'dataloader';
import { BatchEmitter, batch } from 'millrace';
import { millraceAdapter, Rooms } from 'millrace/ws';
import { WebSocket } from 'ws';
import * as names from '../lib/names.js';

const shipped = [];
const keyed = [];
const given = {
  ...names.storage(),
  batch,
  DataLoader,
  load: async (keys) => keys,
  line: 'a line\n',
  net,
  ship: (order) => shipped.push(order),
};

export async function setup(name) {
  await writeFile('index.html', '<p>hello</p>');
  if (name === 'keys') {
    given.bus = new BatchEmitter();
    for (const type of ['price', 'sold']) given.bus.on(type, (value) => keyed.push(value));
  }
  if (name === 'messages-with-a-key') given.rooms = new Rooms();
  if (name === 'event-streams') given.missedSince = () => [];
  if (name === 'broadcasts-with-a-key')
    Object.assign(given, { io: await names.io(), millraceAdapter });
  if (name === 'rooms') Object.assign(given, await names.socket());
  if (name === 'coalesce') {
    const redis = await names.redisLike();
    given.Redis = class {
      constructor() {
        queueMicrotask(() => redis.emit('connect'));
        // biome-ignore lint/correctness/noConstructorReturn: what `new Redis()` gives is the client above
        return redis;
      }
    };
  }
  if (name === 'pipelined') given.pg = names.pg;
  given.httpServer = createServer();
  return given;
}

export const checks = {
  batchconnections: async () => {
    given.httpServer.listen(0, '127.0.0.1');
    await once(given.httpServer, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${given.httpServer.address().port}/chat`);
    assert.equal(String((await once(client, 'message'))[0]), 'new: /chat');
    client.terminate();
    given.httpServer.close();
  },
  batch: ({ id }) => assert.equal(id, 1),
  pipelined: ({ users }) => assert.equal(users.rows[0].name, 'Ada'),
  batchemitter: () => {
    assert.deepEqual(shipped, [{ id: 1 }]);
  },
  keys: () => assert.deepEqual(keyed, [{ symbol: 'ABC', price: 8 }, 5]),
  files: async ({ page }) => {
    assert.equal(page, '<p>hello</p>');
    assert.equal(await readFile('events.log', 'utf8'), given.line);
  },
};
