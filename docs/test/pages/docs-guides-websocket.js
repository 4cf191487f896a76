import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';

export function setup() {
  process.env.PORT = '0';
}

/** What one client says reaches each member of its room, itself among them, and nobody of another one. */
async function isChat({ server }) {
  const { port } = server.address();
  const clients = ['a', 'a', 'b'].map(
    (room) => new WebSocket(`ws://127.0.0.1:${port}/?room=${room}`),
  );
  const texts = clients.map(() => []);
  for (const [i, client] of clients.entries()) {
    client.on('message', (data) => texts[i].push(String(data)));
  }
  await Promise.all(clients.map((client) => once(client, 'open')));
  const [one, other, stranger] = clients;
  const heard = [one, other].map((client) => once(client, 'message'));
  one.send('hello');
  await Promise.all(heard);
  const strange = once(stranger, 'message');
  stranger.send('is anybody here?');
  await strange;
  assert.deepEqual(texts, [['hello'], ['hello'], ['is anybody here?']]);
}

export const checks = { 'the-program': isChat, 'the-change-3': isChat };
