/** `net`: both ends of connections, however they were made, and off(). */
import assert from 'node:assert/strict';
import { createServer, Socket } from 'node:net';
import { sources } from '@millrace/base/sources';

const { features } = process[Symbol.for('millrace.auto')];
const own = ['write', 'uncork', 'end', 'destroy', 'connect'];
const sockets = [];
const counted = () =>
  sources()
    .find(({ kind }) => kind === 'coalesce')
    ?.stats().coalesced ?? 0;

const server = createServer((socket) => {
  sockets.push(socket);
  socket.once('data', () => {
    for (const text of ['a', 'b', 'c']) socket.write(text);
    socket.end('d');
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));

async function exchange() {
  const client = new Socket();
  sockets.push(client);
  client.connect(server.address().port, '127.0.0.1', () => {
    for (const text of ['1', '2', '3']) client.write(text);
  });
  let text = '';
  for await (const chunk of client) text += chunk;
  assert.equal(text, 'abcd');
}

// With --require the first connections may begin before millrace/net is loaded.
while (features.net.state === 'waiting') await exchange();
await exchange();
const first = counted();
assert.ok(first > 0);
assert.ok(sockets.slice(-2).every((socket) => own.every((name) => Object.hasOwn(socket, name))));
features.net.off();
assert.equal(features.net.state, 'off');
assert.ok(!Object.hasOwn(sockets.at(-1), 'write'));
await exchange();
assert.equal(counted(), first);
features.net.on();
await exchange();
assert.ok(counted() > first);
server.close();
