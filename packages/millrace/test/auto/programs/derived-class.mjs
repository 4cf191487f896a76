/** Servers with the class of ws and with one derived from it, one after the other. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sources } from '@millrace/base/sources';
import { WebSocket, WebSocketServer } from 'ws';

const { features } = process[Symbol.for('millrace.auto')];

class Derived extends WebSocket {}

for (const options of [{}, { WebSocket: Derived }]) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  const [socket] = await once(server, 'connection');
  while (features.ws.state === 'waiting') await sleep(1);
  // A class is looked at some milliseconds after its first socket; this one is installed already.
  for (let round = 0; round < 20; round++) await sleep(1);
  socket.send('x');
  await once(client, 'message');
  client.terminate();
  server.close();
}

const { state, why } = features.ws;
const [{ frames }] = sources()
  .filter(({ kind }) => kind === 'install')
  .map((each) => each.stats());
console.log(JSON.stringify({ state, why, frames }));
