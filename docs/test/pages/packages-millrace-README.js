import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import * as names from '../lib/names.js';

const given = { ...names.storage(), line: 'a line\n', WebSocket };

export async function setup(name) {
  await writeFile('tasks.js', 'export const fibonacci = (n) => n;\n');
  if (name === 'millrace-4') return { server: new WebSocketServer({ port: 0 }) };
  if (name === 'millrace-7') given.redis = await names.redisLike();
  if (name === 'millrace-8') given.io = await names.io();
  return Object.assign(given, { server: createServer(), app: (req, res) => res.end('hello') });
}

export const checks = {
  'millrace-2': ({ id }) => assert.equal(id, 1),
  'millrace-3': () => assert.deepEqual(given.written, [[{ cpu: 0.7 }]]),
  'millrace-5': ({ digits }) => assert.equal(digits, 10_000),
  'millrace-9': async () => assert.equal(await readFile('events.log', 'utf8'), given.line),
};
