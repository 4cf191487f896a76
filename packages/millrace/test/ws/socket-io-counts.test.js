/** What the adapter for socket.io tells metrics and dashboards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '@millrace/monitor/metrics';
import { sources } from 'millrace';
import { millraceAdapter } from 'millrace/ws';
import { inOneTurn, open } from './socket-io.js';

const names = {
  fanout_messages_total: 'frames',
  fanout_sends_total: 'writes',
  batch_size_sum: 'sum',
  batch_size_count: 'count',
};

function counted() {
  const points = collect().filter(({ labels }) => labels.source === 'socket-io');
  return Object.fromEntries(
    points.filter(({ name }) => name in names).map(({ name, value }) => [names[name], value]),
  );
}

test('frames and the writes that they took; clients that poll are not counted', async (t) => {
  assert.ok(!sources().some(({ kind }) => kind === 'socket-io'));
  const house = await open(t, { adapter: millraceAdapter() });
  const guests = await house.connectAll(['a', 'b']);
  guests.push(await house.connect({ name: 'c', transports: ['polling'] }));
  assert.deepEqual(counted(), { frames: 0, writes: 0, sum: 0, count: 0 });

  await inOneTurn([1, 2, 3].map((n) => () => house.io.emit('m', n)));
  for (const guest of guests) assert.equal((await guest.take()).length, 3);
  assert.deepEqual(counted(), { frames: 6, writes: 2, sum: 6, count: 2 });

  // Of a second server, and a message with an attachment.
  const other = await open(t, { adapter: millraceAdapter() });
  const guest = await other.connect({ name: 'd' });
  other.io.emit('m', Buffer.from('bytes'));
  assert.equal((await guest.take()).length, 1);
  assert.deepEqual(counted(), { frames: 7, writes: 3, sum: 7, count: 3 });
  assert.equal(sources().filter(({ kind }) => kind === 'socket-io').length, 1);
});
