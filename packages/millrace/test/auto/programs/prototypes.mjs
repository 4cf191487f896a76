/** What is replaced on the prototypes of node:net: nothing before the first connection, nothing after off(). */
import assert from 'node:assert/strict';
import { connect, createServer, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const { features } = process[Symbol.for('millrace.auto')];
const all = () => [Socket.prototype, Server.prototype].map(Object.getOwnPropertyDescriptors);
const before = all();

async function exchange() {
  const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = connect(server.address().port, '127.0.0.1').setNoDelay();
  let text = '';
  for await (const chunk of client.setEncoding('utf8')) text += chunk;
  assert.equal(text, 'hello');
  await new Promise((resolve) => server.close(resolve));
}

assert.equal(Object.hasOwn(Socket.prototype, 'push'), false);
await exchange();
assert.equal(Object.hasOwn(Socket.prototype, 'push'), true);
assert.notDeepEqual(all(), before);
for (const feature of Object.values(features)) feature.off();
assert.deepEqual(all(), before);
await exchange();
assert.deepEqual(all(), before);

// Again, and then somebody replaces one of ours, and one of those that are there.
features.ws.on();
features.reads.on();
await exchange();
const { push, setNoDelay } = Socket.prototype;
const calls = [];
Object.assign(Socket.prototype, {
  push(...args) {
    calls.push('push');
    return push.apply(this, args);
  },
  setNoDelay(...args) {
    calls.push('setNoDelay');
    return setNoDelay.apply(this, args);
  },
});
const theirs = all();
features.ws.off();
features.reads.off();
assert.deepEqual(all(), theirs);
await exchange();
features.ws.on();
features.reads.on();
await exchange();
assert.deepEqual(all(), theirs);
assert.deepEqual(new Set(calls), new Set(['push', 'setNoDelay']));

// The monitor comes when the process has lived for a while.
features.monitor.on();
assert.equal(features.monitor.state, 'waiting');
while (features.monitor.state === 'waiting') await sleep(10);
features.monitor.off();
assert.equal(features.monitor.state, 'off');
