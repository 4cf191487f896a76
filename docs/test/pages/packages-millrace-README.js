import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import * as names from '../lib/names.js';

const given = { ...names.storage(), line: 'a line\n', pg: names.pg, WebSocket };

export async function setup(name) {
  if (name === 'millrace-4') return { server: new WebSocketServer({ port: 0 }) };
  if (name === 'millrace-5') given.redis = await names.redisLike();
  if (name === 'millrace-6') {
    Object.assign(given, { server: new WebSocketServer({ port: 0 }), rooms: new Rooms() });
  }
  if (name === 'millrace-8') given.io = await names.io();
  return given;
}

export const checks = {
  'millrace-2': ({ id }) => assert.equal(id, 1),
  'millrace-3': () => assert.deepEqual(given.written, [[{ cpu: 0.7 }]]),
  'millrace-9': async () => assert.equal(await readFile('events.log', 'utf8'), given.line),
};
