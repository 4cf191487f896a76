import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';
import { WebSocket } from 'ws';
import * as names from '../lib/names.js';

const httpServer = createServer();

export async function setup(name) {
  if (name !== 'coalesce') return { net, httpServer };
  const redis = await names.redisLike();
  class Redis {
    constructor() {
      queueMicrotask(() => redis.emit('connect'));
      // biome-ignore lint/correctness/noConstructorReturn: what `new Redis()` gives is the client above
      return redis;
    }
  }
  return { Redis };
}

export const checks = {
  batchconnections: async () => {
    httpServer.listen(0, '127.0.0.1');
    await once(httpServer, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${httpServer.address().port}/chat`);
    assert.equal(String((await once(client, 'message'))[0]), 'new: /chat');
    client.terminate();
    httpServer.close();
  },
};
