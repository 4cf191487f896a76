/**
 * Makes each feature of auto act: a WebSocket connection, a large transfer over TCP, two reads of files and two equal look-ups in one tick.
 * Without auto it does the same once.
 */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { promises } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const { WebSocket, WebSocketServer } = createRequire(import.meta.url)('ws');

/** Features that are on by default. */
const usual = ['ws', 'fs', 'dns', 'reads', 'monitor'];
/** More than the first reads that `reads` looks at. */
const transferred = 1 << 20;

const features = process[Symbol.for('millrace.auto')]?.features;

const server = createServer((_request, response) => response.end(Buffer.alloc(transferred)));
const sockets = new WebSocketServer({ server });
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();

let tries = 0;
do {
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const [[socket]] = await Promise.all([once(sockets, 'connection'), once(client, 'open')]);
  for (const text of ['a', 'b']) socket.send(text);
  client.close();
  await once(client, 'close');

  const request = connect(port, '127.0.0.1');
  request.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  request.resume();
  await once(request, 'close');

  const file = new URL(import.meta.url).pathname;
  await Promise.all([promises.readFile(file), promises.readFile(file)]);
  await Promise.allSettled([lookup('localhost'), lookup('localhost')]);
  await setTimeout(50);
  tries += 1;
} while (tries < 40 && usual.some((name) => waits(features?.[name])));

sockets.close();
server.closeAllConnections();
server.close();
await once(server, 'close');

function waits(feature) {
  return feature !== undefined && feature.why === null && feature.state === 'waiting';
}
