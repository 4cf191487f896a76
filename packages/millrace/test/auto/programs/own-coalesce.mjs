/** `net` beside an application that calls coalesce() by itself: off() ends what auto has begun, and nothing else. */
import assert from 'node:assert/strict';
import { createServer, Socket } from 'node:net';
import { coalesce } from '../../../dist/net/index.js';

const { features } = process[Symbol.for('millrace.auto')];
const isCoalesced = (socket) => Object.hasOwn(socket, 'write');

const server = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));

/** Both ends of a connection. `before` gets the client's before it connects. */
async function open(before = () => {}) {
  const client = new Socket();
  before(client);
  const accepted = new Promise((resolve) => server.once('connection', resolve));
  client.connect(server.address().port, '127.0.0.1');
  return [client, await accepted];
}

async function firstActive() {
  for (;;) {
    const ends = await open();
    if (features.net.state === 'active') return ends;
    for (const end of ends) end.destroy();
  }
}

const alone = await firstActive();
let own;
const [earlier] = await open((client) => {
  own = coalesce(client);
});
const [, later] = await open();
assert.ok([...alone, earlier, later].every(isCoalesced));
// From now on it is the application's, with its options.
const adopted = coalesce(later, { maxPendingBytes: 1 });
assert.equal(coalesce(later), adopted);
assert.equal(coalesce(earlier), own);

features.net.off();
assert.deepEqual(alone.map(isCoalesced), [false, false]);
assert.deepEqual([earlier, later].map(isCoalesced), [true, true]);
for (const text of ['a', 'b', 'c']) {
  earlier.write(text);
  later.write(text);
}
assert.deepEqual(own.stats(), { writes: 3, coalesced: 2, flushes: 0 });
// Each byte is its limit: nothing waits for the end of the turn.
assert.deepEqual(adopted.stats(), { writes: 3, coalesced: 2, flushes: 2 });

own.off();
adopted.off();
assert.deepEqual([earlier, later].map(isCoalesced), [false, false]);
process.exit();
