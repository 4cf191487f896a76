/** An application under auto, that does something for each feature to act on until every one acts, or says why it cannot. Prints both. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { promises } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { features } from 'millrace/auto';
import { WebSocket, WebSocketServer } from 'ws';

const path = fileURLToPath(import.meta.url);
const bulk = Buffer.alloc(3_000_000, 'x');
const listening = async (server) => {
  if (!(server instanceof WebSocketServer)) server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
};

const httpPort = await listening(createHttpServer((_, res) => res.end('answered')));
const tcpPort = await listening(createServer((socket) => socket.end(bulk)));
const webSockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const wsPort = await listening(webSockets);
webSockets.on('connection', (socket) => {
  for (let i = 0; i < 20; i++) socket.send(`${i}`);
});

async function work() {
  const files = await Promise.all([1, 2, 3].map(() => promises.readFile(path)));
  await Promise.all([1, 2].map(() => lookup('localhost')));
  const answer = await (await fetch(`http://127.0.0.1:${httpPort}/`)).text();
  const client = new WebSocket(`ws://127.0.0.1:${wsPort}`);
  const messages = [];
  await new Promise((resolve) => {
    client.on('message', (data) => {
      if (messages.push(Number(data)) === 20) resolve();
    });
  });
  client.terminate();
  const socket = connect(tcpPort, '127.0.0.1');
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  await once(socket, 'end');
  return { files: new Set(files.map(String)).size, answer, messages, received };
}

const done = await work();
const all = Object.values(features);
while (!all.every(({ state, why }) => state === 'active' || why !== null)) await work();
console.log(
  JSON.stringify({ done, features: all.map(({ name, state, why }) => ({ name, state, why })) }),
);
process.exit();
