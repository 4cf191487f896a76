/** Event streams of one node get what is published on another, with its event and its id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStreams } from '../../../millrace/test/ws/event-streams.js';
import { natsServer } from '../nats.js';
import { openNodes } from './fleet.js';

for (const durable of [false, true]) {
  test(`members of two nodes, ${durable ? 'durable' : 'not durable'}`, async (t) => {
    const server = await natsServer(t, { jetstream: durable });
    const [a, b] = await openNodes(t, server.url, 2, { durable });
    const { connect } = await openStreams(t, 'http', (response) => b.rooms.join(response, 'x'));
    const { reader } = await connect();
    a.rooms.publish('x', 'plain\nlines');
    a.rooms.publish('x', 'all', { event: 'price', id: '1', key: 'k' });
    a.rooms.publish('x', 'id', { id: 'ü' });
    a.rooms.publish('x', Buffer.from([1, 2]), { event: 'bytes' });
    await reader.until(({ texts }) => texts.length === 4);
    assert.deepEqual(reader.events, [
      { event: '', id: '', data: 'plain\nlines' },
      { event: 'price', id: '1', data: 'all' },
      { event: '', id: 'ü', data: 'id' },
      { event: 'bytes', id: 'ü', data: 'AQI=' },
    ]);
    await b.peer.until((received) => received.length === 4);
    assert.deepEqual(b.peer.received, ['plain\nlines', 'all', 'id', Buffer.from([1, 2])]);
    assert.equal(b.fleet().malformed, 0);
  });
}

test('an event or an id that is too long to travel is refused by name', async (t) => {
  const server = await natsServer(t);
  const [a] = await openNodes(t, server.url, 1);
  for (const name of ['event', 'id']) {
    assert.throws(() => a.rooms.publish('x', 'no', { [name]: 'x'.repeat(65_536) }), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: new RegExp(`^the ${name} of a message has 65536 bytes`),
    });
  }
});
