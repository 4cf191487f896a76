/** Uses batch(), rooms and auto, however they were loaded. Returns what each did. */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

export async function run({ batch, Rooms, WebSocket, WebSocketServer, features, fs }) {
  const sizes = [];
  const double = batch(async (numbers) => {
    sizes.push(numbers.length);
    return numbers.map((number) => 2 * number);
  });
  const doubled = await Promise.all([double(1), double(2)]);
  const text = await publish({ Rooms, WebSocket, WebSocketServer });
  return { doubled, sizes, text, auto: await read(fs, features.fs) };
}

/** Returns the messages that a client in a room receives. */
async function publish({ Rooms, WebSocket, WebSocketServer }) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const rooms = new Rooms();
  server.on('connection', (socket) => {
    rooms.join(socket, 'lobby');
    rooms.publish('lobby', 'published');
  });
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  const [data] = await once(client, 'message');
  client.terminate();
  server.close();
  return String(data);
}

/** Reads files of one tick until auto does it. Returns its state, or why it does not. */
async function read({ promises }, feature) {
  const path = join(tmpdir(), `millrace-tools-${process.pid}`);
  writeFileSync(path, 'content');
  while (feature.state === 'waiting' && feature.why === null) {
    await Promise.all([1, 2, 3, 4].map(() => promises.readFile(path)));
    await turn();
  }
  rmSync(path);
  return feature.why ?? feature.state;
}
