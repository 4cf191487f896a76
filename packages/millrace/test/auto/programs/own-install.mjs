/** An application that has called install() by itself keeps it when auto's feature is switched off. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { features } from 'millrace/auto';
import { install } from 'millrace/ws';
import WebSocket, { WebSocketServer } from 'ws';

const installation = install(WebSocket);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
const [socket] = await once(server, 'connection');
while (features.ws.why === null) await new Promise((resolve) => setTimeout(resolve, 1));
assert.match(features.ws.why, /by itself/);

features.ws.off();
socket.send('a');
socket.send('b');
await once(client, 'message');
assert.equal(installation.stats().frames, 2);

client.terminate();
server.close();
