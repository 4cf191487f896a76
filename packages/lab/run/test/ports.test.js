/** Ports that the lab picks: free ones, and no two of its processes get the same. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../up.js';

test('a port that was picked can be listened on', async (t) => {
  const server = createServer().listen(await freePort(), '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
});

test('a port that was picked is not picked again, though nobody listens on it yet', {
  skip: process.platform !== 'linux' && 'names of sockets without a file are of Linux',
}, async (t) => {
  const port = await freePort();
  const { random } = Math;
  t.after(() => {
    Math.random = random;
  });
  // The first of the ports that are looked at is the same one again.
  let looks = 0;
  Math.random = () => (looks++ === 0 ? (port - 10_000 + 0.5) / 22_768 : random());
  const other = await freePort();
  assert.ok(looks > 1, 'the first one was refused');
  assert.notEqual(other, port);
});
